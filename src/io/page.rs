//! What the pages have in common: each is one HTML file that needs nothing but itself.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::io::figures::Figure;
use crate::io::progress::visible;
use crate::io::{open, write_whole};
use crate::{Error, Result};

/// From the beginning of a page to the line below its heading; `title` and `what` are plain text, and `command` writes the page.
pub(crate) fn head(command: &str, title: &str, what: &str) -> String {
    let (title, what, generator) = (escape(title), escape(what), generator(command));
    let style = include_str!("report.css");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         {generator}\n<title>{title}, {what}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p class=\"what\">{what}</p>\n"
    )
}

/// What makes a page known as one that `command` wrote.
fn generator(command: &str) -> String {
    format!("<meta name=\"generator\" content=\"kolmo {command}\">")
}

/// What makes a picture known as one of ours; it stands behind the drawing.
const DRAWN: &str = "<!-- drawn by kolmo -->\n";

/// Write a picture that [`check_replaceable`] knows again.
pub(crate) fn write_drawing(path: &Path, svg: &str) -> Result<()> {
    write_whole(path, |writer| {
        writer.write_all(svg.trim_end().as_bytes())?;
        writer.write_all(b"\n")?;
        writer.write_all(DRAWN.as_bytes())
    })
}

/// Whether `path` is free, or holds a page of `command` or a drawing, which may be replaced.
///
/// # Errors
/// [`Error::Config`] where somebody else's file would be lost.
pub(crate) fn check_replaceable(path: &Path, command: &str) -> Result<()> {
    const LARGEST: u64 = 1 << 30;
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let is_ours = |text: &str| text.contains(&generator(command)) || text.ends_with(DRAWN);
    let why = match open::text(path, LARGEST) {
        Ok(text) if is_ours(&text) => return Ok(()),
        Ok(_) => format!("`kolmo {command}` did not write it"),
        Err(why) => why.to_string(),
    };
    Err(Error::Config(vec![
        format!("error: {} would be replaced: {why}", path.display()),
        "       choose another name, or replace it with `--overwrite`".into(),
        "1 error; nothing was written".into(),
    ]))
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
        let svg = figure.plot.svg();
        write_drawing(&path, &svg)?;
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

/// The same with a column for each row, where rows are few and have many cells: it is as wide as they need, and what names
/// the cells stays in sight where it scrolls.
pub(crate) fn columns(header: &[String], rows: &[Vec<String>]) -> String {
    let line = |(at, name): (usize, &String)| -> String {
        let cells = rows.iter().map(|row| format!("<td>{}</td>", escape(&row[at])));
        format!("<tr><th>{}</th>{}</tr>\n", escape(name), cells.collect::<String>())
    };
    let lines: String = header.iter().enumerate().map(line).collect();
    let count = rows.len();
    format!(
        "<div class=\"wide side\" style=\"--columns: {count}\"><table>\n{lines}</table></div>\n"
    )
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
    visible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
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
