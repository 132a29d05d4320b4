//! Sparsity pattern of a block matrix.

use crate::error::{Error, Result};

/// The off-diagonal blocks of a matrix in compressed sparse row format (Saad 2003, section 3.4): those of row i are `columns[starts[i]]` to
/// `columns[starts[i + 1]]`, exclusive. Diagonal blocks are not listed: every row has one. Columns beyond the rows are rows of other ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// Number of columns: rows on this rank, and rows of other ranks that blocks may refer to.
    width: usize,
}

impl Pattern {
    /// A pattern from the `starts` of the rows, with one more entry than rows.
    ///
    /// # Errors
    /// If the arrays do not describe such rows: what was found, and in which row.
    pub fn new(starts: Vec<usize>, columns: Vec<u32>) -> Result<Self> {
        Self::with_columns(starts.len().saturating_sub(1), starts, columns)
    }

    /// A pattern with `width` columns.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_columns(width: usize, starts: Vec<usize>, columns: Vec<u32>) -> Result<Self> {
        let advice = "give every row a range of blocks, and every off-diagonal block once";
        match fault(width, &starts, &columns) {
            Some(found) => Err(Error::refused(found, advice)),
            None => Ok(Self { starts, columns, width }),
        }
    }

    /// Number of columns: rows on this rank, and those of other ranks.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of block rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of off-diagonal blocks.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }

    /// The numbers of the off-diagonal blocks of `row`.
    #[inline]
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// The columns of the off-diagonal blocks of `row`.
    #[inline]
    pub fn columns_of(&self, row: usize) -> &[u32] {
        &self.columns[self.row(row)]
    }

    /// The pattern combined with its transpose, without columns of other ranks: rows that are not coupled in either direction can be solved
    /// at once.
    #[allow(clippy::cast_possible_truncation, reason = "rows are fewer than 2^32")]
    pub(super) fn symmetric(&self) -> Self {
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.rows()];
        for row in 0..rows.len() {
            for &column in self.columns_of(row) {
                if let Some(other) = rows.get_mut(column as usize) {
                    other.push(row as u32);
                    rows[row].push(column);
                }
            }
        }
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
            columns.extend_from_slice(row);
            starts.push(columns.len());
        }
        Self { starts, columns, width: rows.len() }
    }

    /// The pattern with row `order[at]` at index `at`, where `places` has the new index of each row, and the original number of each block;
    /// the columns of a row are in ascending order if `rising`.
    pub(super) fn reordered(
        &self,
        order: &[u32],
        places: &[u32],
        rising: bool,
    ) -> (Self, Vec<usize>) {
        let mut starts = Vec::with_capacity(order.len() + 1);
        let mut found: Vec<(u32, usize)> = Vec::with_capacity(self.blocks());
        starts.push(0);
        for &row in order {
            let own = self.row(row as usize);
            let first = found.len();
            found.extend(own.map(|block| (places[self.columns[block] as usize], block)));
            if rising {
                found[first..].sort_unstable();
            }
            starts.push(found.len());
        }
        let (columns, from) = found.into_iter().unzip();
        (Self { starts, columns, width: self.width }, from)
    }
}

/// The error that these arrays are not rows of blocks.
fn fault(width: usize, starts: &[usize], columns: &[u32]) -> Option<String> {
    let (rows, blocks) = (starts.len().saturating_sub(1), columns.len());
    let ends = [starts.first(), starts.last()];
    if ends != [Some(&0), Some(&blocks)] {
        return Some(format!("the rows of {blocks} blocks begin and end at {ends:?}"));
    }
    if width < rows {
        return Some(format!("{rows} rows have {width} columns"));
    }
    if u32::try_from(width).is_err() {
        return Some(format!("{width} rows of blocks, more than 2^32"));
    }
    // The last row in which each column was found.
    let mut seen = vec![usize::MAX; width];
    for row in 0..rows {
        let own = starts[row]..starts[row + 1];
        let Some(columns) = columns.get(own.clone()) else {
            return Some(format!("row {row} has the blocks {own:?} of {blocks}"));
        };
        for &column in columns {
            let Some(seen) = seen.get_mut(column as usize) else {
                return Some(format!("row {row} has a block in column {column} of {width}"));
            };
            if column as usize == row {
                return Some(format!("row {row} lists its diagonal block"));
            }
            if std::mem::replace(seen, row) == row {
                return Some(format!("row {row} has two blocks in column {column}"));
            }
        }
    }
    None
}
