//! A curve supplied by the user, drawn over those of the run. It does not affect the verdict.

use std::path::Path;

use crate::Result;
use crate::io::figures::{Figure, cited};
use crate::io::plot::{Curve, Line};
use crate::io::series::Series;
use crate::io::{malformed, read_text};

/// Its copy in the run directory.
pub(crate) const USER_REFERENCE: &str = "user_reference.csv";
/// Columns to draw, named as in the series, and the figures that they belong to.
const DRAWN_COLUMNS: [(&str, &str); 5] = [
    ("kinetic_energy", "kinetic_energy"),
    ("dissipation", "dissipation"),
    ("enstrophy", "enstrophy"),
    ("ke_rate", "budget"),
    ("scalar_variance", "scalar_variance"),
];

/// The text of the table at `path`: comments, a line of names, and rows of numbers, in the scaling of the run.
///
/// # Errors
/// Where it cannot be read, has no ascending column `time`, or no column to draw.
pub(crate) fn user_reference(path: &Path) -> Result<String> {
    let text = read_text(path)?;
    // Spreadsheets start a table with a byte order mark.
    let mut text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let table = Series::parse(path, &text)?;
    let time = table.required("time")?;
    if time.is_empty() {
        return Err(malformed(path, "a reference needs rows of numbers"));
    }
    if !time.is_sorted_by(|a, b| a < b) {
        return Err(malformed(path, "the times of a reference must increase"));
    }
    if DRAWN_COLUMNS.iter().all(|(column, _)| table.column(column).is_none()) {
        let drawn = DRAWN_COLUMNS.map(|(column, _)| column).join(", ");
        let what = format!("no column that is drawn; a reference has time and some of {drawn}");
        return Err(malformed(path, what));
    }
    Ok(text)
}

/// Draw the columns of `table` into the figures that show them, up to the time `end`.
pub(crate) fn draw_over(figures: &mut [Figure], table: &Series, end: f64) {
    let time = table.column("time").unwrap_or_default();
    let covered = time.partition_point(|&t| t <= end);
    let source = table.comments().join(" ");
    for figure in figures {
        let column = DRAWN_COLUMNS.iter().find(|(_, name)| *name == figure.name);
        let Some(values) = column.and_then(|(column, _)| table.column(column)) else { continue };
        let curve = Curve::new("your reference", Line::Ink, &time[..covered], values);
        figure.plot.curves.push(curve);
        if !source.is_empty() {
            figure.caption += &format!(" Your reference: {}.", cited(&source));
        }
    }
}
