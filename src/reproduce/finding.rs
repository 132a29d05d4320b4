//! The results of an experiment, and its files.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::Experiment;
use super::chart::Chart;
use crate::error::Result;
use crate::io::{make_directory, write_text};

/// A table as CSV.
pub(super) struct Csv {
    header: &'static str,
    rows: Vec<String>,
}

impl Csv {
    pub(super) fn new(header: &'static str) -> Self {
        Self { header, rows: Vec::new() }
    }

    /// Append a row.
    ///
    /// # Panics
    /// If a cell contains a comma, or the number of cells is not the number of columns.
    pub(super) fn row<const N: usize>(&mut self, cells: [&dyn Display; N]) {
        let row = cells.map(ToString::to_string).join(",");
        let columns = self.header.split(',').count();
        assert_eq!((N, row.split(',').count()), (columns, columns), "cells of `{row}`");
        self.rows.push(row);
    }

    fn text(&self) -> String {
        let rows = self.rows.iter().flat_map(|row| [row.as_str(), "\n"]);
        [self.header, "\n"].into_iter().chain(rows).collect()
    }
}

/// A number in a cell, with all its digits.
pub(super) fn cell(value: f64) -> String {
    format!("{value:?}")
}

/// The smallest and the largest of `values`.
pub(super) fn range(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    [f64::min, f64::max].map(|of| values.clone().reduce(of).unwrap_or(f64::NAN))
}

/// The last line of the text of an unfinished figure.
pub(super) const UNFINISHED: &str = "Unfinished: run the same command again to complete it.";

/// The path of the text of `one`, which is the first and the last file to be written.
pub(super) fn text_of(one: &Experiment, directory: &Path) -> PathBuf {
    directory.join(format!("{}.md", one.id))
}

/// Create `directory`, with a text that marks `one` as unfinished.
pub(super) fn begin(one: &Experiment, directory: &Path) -> Result<()> {
    make_directory(directory)?;
    write_text(&text_of(one, directory), &format!("{}{UNFINISHED}\n", heading(one)))
}

fn heading(one: &Experiment) -> String {
    format!("# {}: {}\n\n", one.source, one.what)
}

/// Numbers, figures, and their description.
pub(super) struct Finding {
    csv: Csv,
    /// (suffix of the name of the experiment, SVG).
    pictures: Vec<(&'static str, String)>,
    /// The results of the paper.
    pub(super) paper: String,
    /// The results of this code.
    pub(super) here: String,
    /// Reasons for the differences.
    pub(super) difference: String,
}

impl Finding {
    /// Numbers in a table without a chart.
    pub(super) fn table(csv: Csv, pictures: Vec<(&'static str, String)>) -> Self {
        let [paper, here, difference] = [const { String::new() }; 3];
        Self { csv, pictures, paper, here, difference }
    }

    /// Numbers that are all drawn in charts.
    pub(super) fn charts(charts: &[(&'static str, Chart)]) -> Self {
        let mut csv = Csv::new("picture,basis,series,x,y");
        for (name, chart) in charts {
            chart.rows(name, &mut csv);
        }
        Self::table(csv, charts.iter().map(|(name, chart)| (*name, chart.svg())).collect())
    }

    /// Sets the three parts of the text.
    pub(super) fn with_text(
        self,
        paper: impl Into<String>,
        here: impl Into<String>,
        difference: impl Into<String>,
    ) -> Self {
        Self { paper: paper.into(), here: here.into(), difference: difference.into(), ..self }
    }

    /// Write all files, the text with `last_line` at its end; returns the text to print.
    pub(super) fn write(
        &self,
        one: &Experiment,
        directory: &Path,
        last_line: &str,
    ) -> Result<String> {
        let file = |ending: &str| directory.join(format!("{}{ending}", one.id));
        write_text(&file(".csv"), &self.csv.text())?;
        for (name, svg) in &self.pictures {
            write_text(&file(&format!("{name}.svg")), svg)?;
        }
        let text = text_of(one, directory);
        write_text(&text, &format!("{}\n{last_line}\n", self.text(one)))?;
        Ok(format!("{}\n", text.display()))
    }

    /// The text, in Markdown.
    fn text(&self, one: &Experiment) -> String {
        let Self { paper, here, difference, .. } = self;
        let basis = one.basis_in_words();
        let mut text = heading(one);
        text += &format!(
            "**The paper.** {paper}\n**Here** ({basis}). {here}\n**The difference.** {difference}\n\n\
             Numbers: [`{0}.csv`]({0}.csv)\n",
            one.id
        );
        for (name, _) in &self.pictures {
            text += &format!("\n![{0}{name}]({0}{name}.svg)\n", one.id);
        }
        text
    }
}
