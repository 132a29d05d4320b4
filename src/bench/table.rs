//! Printed tables.

use std::fmt;

use crate::io::page::aligned;

/// A table with a heading; its first column contains words.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) heading: String,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows; `columns` are names separated by `|`.
    pub(super) fn new(heading: impl Into<String>, columns: &str) -> Self {
        Self { heading: heading.into(), rows: vec![columns.split('|').map(String::from).collect()] }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [&dyn fmt::Display; N]) {
        self.rows.push(cells.map(ToString::to_string).to_vec());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.heading, aligned(&self.rows, &[0]))
    }
}

/// The text of a value, or a dash if it is absent.
pub(super) fn or_dash<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_string(), text)
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
