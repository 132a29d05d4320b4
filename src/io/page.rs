//! Common parts of the pages: each is one self-contained HTML file, complete without its scripts.

use std::io::Write as _;
use std::path::Path;

use crate::io::figures::Figure;
use crate::io::progress::visible;
use crate::io::{open, write_atomically, write_text};
use crate::{Error, Result};

/// The plotting library, <https://github.com/leeoniya/uPlot>, with the notice that its licence requires.
const UPLOT: [&str; 3] = [
    include_str!("vendor/uplot/LICENSE"),
    include_str!("vendor/uplot/uPlot.iife.min.js"),
    include_str!("vendor/uplot/uPlot.min.css"),
];

/// An unfinished page.
pub(crate) struct Page {
    html: String,
    /// Scripts of the page, each once.
    scripts: Vec<Script>,
}

/// A script of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// Plots with values at the cursor.
    Plots,
    /// Pictures with a slider.
    Pictures,
    /// Polling for newer numbers during a run.
    Live,
}

impl Script {
    fn text(self) -> &'static str {
        match self {
            Self::Plots => include_str!("scripts/plots.js"),
            Self::Pictures => include_str!("scripts/pictures.js"),
            Self::Live => include_str!("scripts/live.js"),
        }
    }
}

impl Page {
    /// Start a page, down to the line below its heading; `title` and `subtitle` are plain text, and `command` writes the page.
    pub(crate) fn new(command: &str, title: &str, subtitle: &str) -> Self {
        let (title, subtitle, generator) = (escape(title), escape(subtitle), generator(command));
        let style = include_str!("report.css");
        let html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             {generator}\n<title>{title}, {subtitle}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n\
             <h1>{title}</h1>\n<p class=\"what\">{subtitle}</p>\n"
        );
        Self { html, scripts: Vec::new() }
    }

    /// Add a script at the end of the page.
    pub(crate) fn add_script(&mut self, script: Script) {
        if !self.scripts.contains(&script) {
            self.scripts.push(script);
        }
    }

    /// Append HTML and a line end.
    pub(crate) fn push(&mut self, html: &str) {
        self.html.push_str(html);
        self.html.push('\n');
    }

    /// Append a paragraph of plain text.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.push(&format!("<p>{}</p>", escape(text)));
    }

    /// A section that a live page updates by itself; `write` fills it.
    pub(crate) fn section<T>(&mut self, id: &str, write: impl FnOnce(&mut Self) -> T) -> T {
        self.push(&format!("<section id=\"{id}\">"));
        let written = write(self);
        self.push("</section>");
        written
    }

    /// A heading, and figures with their captions; nothing without figures. The drawing of a figure is for paper and for readers
    /// without scripts, its data for the script.
    pub(crate) fn gallery(&mut self, heading: &str, drawn: &[(Figure, String)]) {
        if drawn.is_empty() {
            return;
        }
        self.add_script(Script::Plots);
        self.push(&format!("<h2>{heading}</h2>\n<div class=\"plots\">"));
        for (Figure { plot, caption, name }, svg) in drawn {
            let (title, name, data) = (escape(&plot.title), escape(name), plot.data());
            self.push(&format!(
                "<figure role=\"group\" id=\"plot-{name}\" aria-label=\"{title}\">\n{svg}<figcaption>{caption}</figcaption>\n\
                 <script type=\"application/json\">{data}</script>\n</figure>"
            ));
        }
        self.push("</div>");
    }

    /// The whole page with its footer: Kolmo's version, and the locations of the data as HTML.
    pub(crate) fn html(mut self, version: &str, data: &str) -> String {
        let version = escape(version);
        self.push(&format!(
            "</main>\n<footer>Kolmo {version}. Everything is non-dimensional. Data: {data}.</footer>"
        ));
        if !self.scripts.is_empty() {
            let [licence, library, style] = UPLOT;
            self.push(&format!(
                "<style>\n{style}\n</style>\n<script>\n/*\n{licence}\n*/\n{library}</script>"
            ));
        }
        for script in std::mem::take(&mut self.scripts) {
            self.push(&format!("<script>\n{}</script>", script.text()));
        }
        self.push("</body>\n</html>");
        self.html
    }

    /// Write the page with its footer.
    pub(crate) fn write(self, path: &Path, version: &str, data: &str) -> Result<()> {
        write_text(path, &self.html(version, data))
    }
}

/// The tag that marks a page as written by `command`.
fn generator(command: &str) -> String {
    format!("<meta name=\"generator\" content=\"kolmo {command}\">")
}

/// The mark of Kolmo's drawings, written after the drawing.
const DRAWING_MARK: &str = "<!-- drawn by kolmo -->\n";

/// Write a drawing that [`check_replaceable`] recognises.
pub(crate) fn write_drawing(path: &Path, svg: &str) -> Result<()> {
    write_atomically(path, |writer| write!(writer, "{svg}{DRAWING_MARK}"))
}

/// Check that `path` is free, or holds a page of `command` or a drawing of Kolmo, which may be replaced.
///
/// # Errors
/// [`Error::Config`] where the file of another program would be lost.
pub(crate) fn check_replaceable(path: &Path, command: &str) -> Result<()> {
    check_own_file(path, command, &|text| {
        text.contains(&generator(command)) || text.ends_with(DRAWING_MARK)
    })
}

/// Check that a drawing of `command` may be written to `path`, with `overwrite` over any file.
///
/// # Errors
/// As [`check_replaceable`], and where the file name has the ending of another format.
pub(crate) fn check_drawing(path: &Path, command: &str, overwrite: bool) -> Result<()> {
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        let problem = format!("{} does not end with .svg", path.display());
        return Err(Error::refused(
            problem,
            "drawings are SVG files; give a name that ends with .svg",
        ));
    }
    if overwrite { Ok(()) } else { check_replaceable(path, command) }
}

/// The same check for a table that `command` writes below this `header`.
pub(crate) fn check_replaceable_table(path: &Path, command: &str, header: &str) -> Result<()> {
    check_own_file(path, command, &|text| text.starts_with(header))
}

fn check_own_file(path: &Path, command: &str, is_own: &dyn Fn(&str) -> bool) -> Result<()> {
    const MAX_SIZE: u64 = 1 << 30;
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let why = match open::text(path, MAX_SIZE) {
        Ok(text) if is_own(&text) => return Ok(()),
        Ok(_) => format!("`kolmo {command}` did not write it"),
        Err(why) => why.to_string(),
    };
    Err(Error::Config(vec![
        format!("error: {} would be replaced: {why}", path.display()),
        "       choose another name, or replace it with `--overwrite`".into(),
        "1 error; nothing was written".into(),
    ]))
}

/// Draw figures, pass each drawing to `keep`, and return the figures with their drawings.
pub(crate) fn draw(
    figures: Vec<Figure>,
    keep: impl Fn(&Figure, &str) -> Result<()>,
) -> Result<Vec<(Figure, String)>> {
    let drawn = figures.into_iter().map(|figure| {
        let svg = figure.plot.svg();
        keep(&figure, &svg)?;
        Ok((figure, svg))
    });
    drawn.collect()
}

/// A table of plain text, shown as HTML or on a terminal.
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// HTML that scrolls on a narrow screen.
    pub(crate) fn html(&self) -> String {
        let cells = |tag: &str, row: &[String]| -> String {
            row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
        };
        let row = |row: &Vec<String>| format!("<tr>{}</tr>\n", cells("td", row));
        let (head, rows) = (cells("th", &self.header), self.rows.iter().map(row));
        let rows: String = rows.collect();
        format!("<div class=\"wide\"><table>\n<tr>{head}</tr>\n{rows}</table></div>")
    }

    /// HTML with one column per row, for few rows of many cells: it is as wide as needed, and the cell names stay visible when it
    /// scrolls.
    pub(crate) fn html_by_columns(&self) -> String {
        let line = |(at, name): (usize, &String)| -> String {
            let cells = self.rows.iter().map(|row| format!("<td>{}</td>", escape(&row[at])));
            format!("<tr><th>{}</th>{}</tr>\n", escape(name), cells.collect::<String>())
        };
        let lines: String = self.header.iter().enumerate().map(line).collect();
        let style = format!("--columns: {}", self.rows.len());
        format!("<div class=\"wide side\" style=\"{style}\"><table>\n{lines}</table></div>")
    }

    /// Lines of text, the first column left-aligned.
    pub(crate) fn text(&self) -> String {
        let rows: Vec<_> = std::iter::once(&self.header).chain(&self.rows).collect();
        aligned(&rows, &[0])
    }
}

/// Lines of text: columns as wide as their widest cell, those in `left_aligned` left-aligned, the others right-aligned.
pub(crate) fn aligned<R: AsRef<[String]>>(rows: &[R], left_aligned: &[usize]) -> String {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &R| {
        let cells = row.as_ref().iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, &width))| match left_aligned.contains(&column) {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Text escaped for HTML, also inside an attribute.
pub(crate) fn escape(text: &str) -> String {
    let text = visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let words = |row: &[&str]| -> Vec<String> { row.iter().map(ToString::to_string).collect() };
        let rows = vec![words(&["runs/a", "1"]), words(&["b", "12.5"])];
        let table = Table { header: words(&["run", "ε"]), rows };
        assert_eq!(table.text(), "run        ε\nruns/a     1\nb       12.5\n");
    }
}
