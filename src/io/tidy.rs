//! A CSV file with a row for every observation, some of its columns words.

use std::path::{Path, PathBuf};

use crate::io::read_text;
use crate::{Error, Result};

/// The cells of such a file.
pub(crate) struct Tidy {
    path: PathBuf,
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Tidy {
    /// Read a header line and rows; lines that start with `#` are comments, and a last line without its end is left out.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = read_text(path)?;
        let wrong = |what: String| Error::Format { path: path.to_path_buf(), what };
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let lines = whole.lines().enumerate();
        let mut lines = lines.filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
        let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_string()).collect();
        let (_, header) = lines.next().ok_or_else(|| {
            wrong("the file is empty: a line of column names is missing".to_string())
        })?;
        let names: Vec<String> = cells(header);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (number, line) in lines {
            rows.push(cells(line));
            let found = rows.last().map_or(0, Vec::len);
            if found != names.len() {
                return Err(wrong(format!(
                    "line {}: {found} values where the header names {} columns",
                    number + 1,
                    names.len()
                )));
            }
        }
        Ok(Self { path: path.to_path_buf(), names, rows })
    }

    /// A column of words.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&str>> {
        let column = self.names.iter().position(|known| known == name);
        let column = column.ok_or_else(|| {
            self.wrong(format!(
                "column `{name}` is missing; the file has {}",
                self.names.join(", ")
            ))
        })?;
        Ok(self.rows.iter().map(|row| row[column].as_str()).collect())
    }

    /// A column of numbers.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>> {
        let number = |cell: &str| {
            cell.parse()
                .map_err(|_| self.wrong(format!("`{cell}` in column `{name}` is not a number")))
        };
        self.texts(name)?.into_iter().map(number).collect()
    }

    /// The last number of a column; `None` where there are no rows.
    pub(crate) fn last(&self, name: &str) -> Result<Option<f64>> {
        Ok(self.numbers(name)?.last().copied())
    }

    fn wrong(&self, what: String) -> Error {
        Error::Format { path: self.path.clone(), what }
    }
}
