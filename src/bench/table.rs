//! Tables for people.

use std::fmt::{self, Write as _};

/// A table with a heading; its first column is words.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) heading: String,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// Without rows yet.
    pub(super) fn new(heading: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|name| (*name).to_string()).collect();
        Self { heading: heading.into(), rows: vec![columns] }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [&dyn fmt::Display; N]) {
        self.rows.push(cells.map(ToString::to_string).to_vec());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.heading)?;
        write_aligned(f, &self.rows, &[0])
    }
}

/// Rows of cells; the columns that are `words` to the left, numbers to the right.
pub(super) fn write_aligned<R: AsRef<[String]>>(
    f: &mut fmt::Formatter<'_>,
    rows: &[R],
    words: &[usize],
) -> fmt::Result {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.as_ref().iter().zip(&widths).enumerate() {
            let _ = match words.contains(&column) {
                true => write!(line, "{cell:width$}  "),
                false => write!(line, "{cell:>width$}  "),
            };
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Four significant figures: a time may be picoseconds or minutes.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 8")]
pub(super) fn figure(x: f64) -> String {
    let before = if x > 0.0 { x.log10().floor() } else { 0.0 };
    let decimals = (3.0 - before).clamp(0.0, 8.0) as usize;
    format!("{x:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits_from_picoseconds_to_seconds() {
        assert_eq!(
            [3.72e-3, 0.5, 12.345, 6543.2, 0.0].map(figure).join(" "),
            "0.003720 0.5000 12.35 6543 0.000"
        );
    }
}
