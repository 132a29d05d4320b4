//! Which blocks of a matrix are not zero.

use crate::error::{Error, Result};

/// The off-diagonal blocks of a matrix in compressed rows (Saad 2003, section 3.4): those of row i are `columns[starts[i]]` to
/// `columns[starts[i + 1]]`, exclusive. Diagonal blocks are not listed: every row has one. Columns beyond the rows are rows of other ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// Rows here and on other ranks that there may be blocks for.
    width: usize,
}

impl Pattern {
    /// `starts` has one entry more than there are rows.
    ///
    /// # Errors
    /// Where the arrays do not describe such rows: what was found, and in which row.
    pub fn new(starts: Vec<usize>, columns: Vec<u32>) -> Result<Self> {
        Self::with_columns(starts.len().saturating_sub(1), starts, columns)
    }

    /// The same of so many columns.
    ///
    /// # Errors
    /// As there.
    pub fn with_columns(width: usize, starts: Vec<usize>, columns: Vec<u32>) -> Result<Self> {
        let advice = "give every row a range of blocks, and every off-diagonal block once";
        match fault(width, &starts, &columns) {
            Some(found) => Err(Error::refused(found, advice)),
            None => Ok(Self { starts, columns, width }),
        }
    }

    /// Columns: rows here, and those of other ranks.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows of blocks.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Off-diagonal blocks.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }

    /// The off-diagonal blocks of `row`, by their numbers.
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// The columns of the off-diagonal blocks of `row`.
    pub fn columns_of(&self, row: usize) -> &[u32] {
        &self.columns[self.row(row)]
    }

    /// Rows that do not know each other in either direction may be solved at once: the pattern and its transpose together, without
    /// columns of other ranks.
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

    /// The same with row `order[at]` at place `at`, where `places` has the place of each row, and which block each was; columns of a row
    /// in rising order where it is `rising`.
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

/// Why these arrays are no rows of blocks.
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
