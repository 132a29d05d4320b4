//! What the pages have in common: each is one HTML file that needs nothing but itself.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use crate::io::figures::Figure;
use crate::io::write_whole;
use crate::{Error, Result};

/// From the beginning of a page to the line below its heading; `title` and `what` are plain text.
pub(crate) fn head(title: &str, what: &str) -> String {
    let (title, what) = (escape(title), escape(what));
    let style = include_str!("report.css");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}, {what}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p class=\"what\">{what}</p>\n"
    )
}

/// The end of a page: where its numbers lie, as HTML.
pub(crate) fn foot(version: &str, data: &str) -> String {
    format!(
        "</main>\n<footer>Kolmo {}. Everything is non-dimensional. Data: {data}.</footer>\n</body>\n</html>\n",
        escape(version)
    )
}

/// Draw figures, each as SVG to the path that `place` gives it, and return them with their drawings.
pub(crate) fn draw(
    figures: Vec<Figure>,
    place: impl Fn(&Figure) -> PathBuf,
) -> Result<Vec<(Figure, String)>> {
    let drawn = figures.into_iter().map(|figure| {
        let path = place(&figure);
        let svg = figure.plot.svg().map_err(Error::io(&path))?;
        write_whole(&path, |writer| writer.write_all(svg.as_bytes()))?;
        Ok((figure, svg))
    });
    drawn.collect()
}

/// Drawings with their captions below a heading; nothing where there are none.
pub(crate) fn gallery(heading: &str, drawn: &[(Figure, String)]) -> String {
    if drawn.is_empty() {
        return String::new();
    }
    let mut html = format!("<h2>{heading}</h2>\n<div class=\"plots\">\n");
    for (figure, svg) in drawn {
        // Writing to a string cannot fail.
        let _ = writeln!(
            html,
            "<figure role=\"group\" aria-label=\"{}\">\n{svg}<figcaption>{}</figcaption>\n</figure>",
            escape(&figure.plot.title),
            figure.caption
        );
    }
    html + "</div>\n"
}

/// A table that scrolls where the screen is narrow; its cells are plain text.
pub(crate) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, row: &[String]| -> String {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
    };
    let rows: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells("td", row))).collect();
    let head = cells("th", header);
    format!("<div class=\"wide\"><table>\n<tr>{head}</tr>\n{rows}</table></div>\n")
}

/// The same table as lines of text: columns as wide as what stands in them, the first to the left, the others right.
pub(crate) fn text_table(header: &[String], rows: &[Vec<String>]) -> String {
    let all = || std::iter::once(header).chain(rows.iter().map(Vec::as_slice));
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |row: &[String]| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    all().map(line).collect()
}

/// Text as HTML, also inside an attribute.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_stands_in_them() {
        let words = |row: &[&str]| -> Vec<String> { row.iter().map(ToString::to_string).collect() };
        let rows = [words(&["runs/a", "1"]), words(&["b", "12.5"])];
        let text = text_table(&words(&["run", "ε"]), &rows);
        assert_eq!(text, "run        ε\nruns/a     1\nb       12.5\n");
    }
}
