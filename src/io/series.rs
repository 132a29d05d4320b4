//! `series.csv`: the history of a run, one row per time, readable by any CSV reader.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::io::{malformed, open, read_text, unshare};
use crate::{Error, Result};

/// Text columns in the tables of statistics; all others are numeric.
const TEXT_COLUMNS: [&str; 2] = ["axis", "quantity"];

/// State of a table up to some row, by which a restart detects lost or changed rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableMark {
    /// Length.
    pub bytes: u64,
    /// XXH3 (128 bits) of these bytes, in hexadecimal digits.
    pub xxh3: String,
}

impl TableMark {
    /// # Errors
    /// Where the table at `path` does not begin with the marked bytes.
    pub fn check(&self, path: &Path) -> Result<()> {
        let what = match open::read(path, open::MAX_TEXT_BYTES) {
            Err(why) if why.kind() == ErrorKind::NotFound => "the file is gone".to_string(),
            Err(why) => return Err(Error::io(path)(why)),
            Ok(text) => {
                let marked = usize::try_from(self.bytes).ok().and_then(|bytes| text.get(..bytes));
                match marked.map(|marked| xxh3(marked) == self.xxh3) {
                    Some(true) => return Ok(()),
                    Some(false) => "rows were changed, removed or added".into(),
                    None => format!(
                        "rows are missing: it has {} bytes and had {}",
                        text.len(),
                        self.bytes
                    ),
                }
            }
        };
        Err(malformed(
            path,
            format!(
                "{what}, but the checkpoint continues after its rows\n       restore the file, or continue from an older \
                 checkpoint with `--from STEP`; a run with case.name = \"from-checkpoint\" needs no tables"
            ),
        ))
    }
}

/// The XXH3 (128 bits) of some bytes, in hexadecimal digits.
pub(super) fn xxh3(bytes: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}

/// Writes a series row by row. A killed run leaves whole rows, and at most one partial row after them.
pub struct SeriesWriter {
    path: PathBuf,
    file: File,
    columns: usize,
    /// Bytes of the written rows, and their hash.
    length: u64,
    hash: Xxh3,
    /// Rows that are not written yet, for example because the disk was full.
    pending: String,
}

impl SeriesWriter {
    /// Create `path` with a header line; the first column is `step`, an integer.
    pub fn create(path: &Path, columns: &[impl AsRef<str>]) -> Result<Self> {
        let first = columns.first().map(AsRef::as_ref);
        assert_eq!(first, Some("step"), "a series begins with the column `step`");
        File::create(path).map_err(Error::io(path))?;
        let mut writer = Self::append_to(path, columns.len())?;
        writer.pending = header(columns) + "\n";
        writer.flush()?;
        Ok(writer)
    }

    /// Continue an existing series, or start one: rows of steps after `last` (all where it is `None`) and an unfinished last line
    /// are cut off.
    ///
    /// # Errors
    /// Where it has other columns; nothing is changed in this case.
    pub fn resume(path: &Path, columns: &[impl AsRef<str>], last: Option<u64>) -> Result<Self> {
        if !path.exists() {
            return Self::create(path, columns);
        }
        let (_, length) = rows_up_to(path, columns, last)?;
        unshare(path)?;
        let mut writer = Self::append_to(path, columns.len())?;
        writer.file.set_len(length).map_err(Error::io(path))?;
        writer.length = length;
        writer.hash.update(read_text(path)?.as_bytes());
        Ok(writer)
    }

    /// Open the file for appending, so that the removal of a partial row leaves no hole.
    fn append_to(path: &Path, columns: usize) -> Result<Self> {
        let file = File::options().append(true).open(path).map_err(Error::io(path))?;
        let (path, pending) = (path.to_path_buf(), String::new());
        Ok(Self { path, file, columns, length: 0, hash: Xxh3::new(), pending })
    }

    /// Check that the series at `path` can be continued after its row of the step `last`.
    ///
    /// # Errors
    /// Where it has other columns, lacks that row, or has a damaged row before it.
    pub fn check(path: &Path, columns: &[impl AsRef<str>], last: u64) -> Result<()> {
        let found = match path.exists() {
            false => "there is no such file".into(),
            true => match rows_up_to(path, columns, Some(last))?.0 {
                Some(last_step) if last_step == last => return Ok(()),
                Some(last_step) => format!("the last before that is step {last_step}"),
                None => "there is no row before that".into(),
            },
        };
        Err(malformed(
            path,
            format!(
                "the checkpoint needs the row of step {last}, but {found}\n       `--from STEP` continues from \
                 an older checkpoint; a run with case.name = \"from-checkpoint\" needs no series"
            ),
        ))
    }

    /// Check that [`SeriesWriter::resume`] could continue the series at `path`, wherever it is cut.
    pub fn check_rows(path: &Path, columns: &[impl AsRef<str>]) -> Result<()> {
        if path.exists() { rows_up_to(path, columns, Some(u64::MAX)).map(|_| ()) } else { Ok(()) }
    }

    /// Append a row: `values` are those of the columns after `step`, each written with the fewest digits that read back to the
    /// same number.
    ///
    /// # Errors
    /// An error of the system. The row is kept, and written before the next one.
    pub fn append(&mut self, step: u64, values: &[f64]) -> Result<()> {
        self.add(step, values, None);
        self.flush()
    }

    /// Add a row that [`SeriesWriter::flush`] writes. One of its columns may be text: `label` is (the position in `values` before
    /// which it is inserted, the text, without a comma).
    pub fn add(&mut self, step: u64, values: &[f64], label: Option<(usize, &str)>) {
        let mut cells: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        if let Some((at, text)) = label {
            cells.insert(at, text.to_string());
        }
        assert_eq!(cells.len() + 1, self.columns, "a row has a value for every column");
        self.pending += &format!("{step},{}\n", cells.join(","));
    }

    /// Flush all rows to disk, and mark them.
    pub fn sync(&mut self) -> Result<TableMark> {
        self.flush()?;
        self.file.sync_all().map_err(Error::io(&self.path))?;
        Ok(TableMark { bytes: self.length, xxh3: format!("{:032x}", self.hash.digest128()) })
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Write the pending rows, in one write of whole rows; if it fails half-way (a full disk), the partial rows are removed.
    ///
    /// # Errors
    /// An error of the system. The rows are kept, and written with the next ones.
    pub fn flush(&mut self) -> Result<()> {
        if let Err(error) = self.file.write_all(self.pending.as_bytes()) {
            let _ = self.file.set_len(self.length);
            return Err(Error::io(&self.path)(error));
        }
        self.length += self.pending.len() as u64;
        self.hash.update(self.pending.as_bytes());
        self.pending.clear();
        Ok(())
    }
}

/// Remove the rows of steps after `last` (all where it is `None`) from the table at `path`, for any columns.
pub fn cut(path: &Path, last: Option<u64>) -> Result<()> {
    let text = read_text(path)?;
    let header = text.lines().next().unwrap_or_default();
    let columns: Vec<&str> = header.split(',').collect();
    let (_, length) = rows_up_to(path, &columns, last)?;
    unshare(path)?;
    let file = File::options().write(true).open(path).map_err(Error::io(path))?;
    file.set_len(length).map_err(Error::io(path))
}

/// The difference between the header `found` and the header `wanted`.
fn column_mismatch(found: &str, wanted: &str) -> String {
    let not_in = |of: &str, other: &str| -> Vec<String> {
        let is_known = |name: &str| other.split(',').any(|known| known == name);
        of.split(',').filter(|name| !is_known(name)).map(str::to_string).collect()
    };
    let parts =
        [("it lacks", not_in(wanted, found)), ("nothing is written to", not_in(found, wanted))];
    let non_empty = parts.iter().filter(|(_, names)| !names.is_empty());
    let message: Vec<String> =
        non_empty.map(|(what, names)| format!("{what} the columns {}", names.join(", "))).collect();
    let message = if message.is_empty() {
        "its columns are in another order".into()
    } else {
        message.join("; ")
    };
    format!(
        "{message}\n       a run keeps its columns; for other columns start a new run with `case.name = \"from-checkpoint\"`"
    )
}

/// (the step of the last row, the bytes) of the part of the series at `path` up to the step `last`.
fn rows_up_to(
    path: &Path,
    columns: &[impl AsRef<str>],
    last: Option<u64>,
) -> Result<(Option<u64>, u64)> {
    let text = read_text(path)?;
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let header = lines.next().unwrap_or_default();
    let (found, columns) = (header.trim_end(), self::header(columns));
    if found != columns {
        return Err(malformed(path, column_mismatch(found, &columns)));
    }
    let count = columns.split(',').count();
    let (mut last_step, mut length) = (None, header.len() as u64);
    for (number, line) in lines.enumerate() {
        let row = line.trim_end();
        let step: Option<u64> = row.split(',').next().and_then(|step| step.parse().ok());
        if step.is_some() && step > last {
            break;
        }
        if step.is_none() || step < last_step || row.split(',').count() != count {
            return Err(malformed(path, format!("line {} is damaged: {row}", number + 2)));
        }
        last_step = step;
        length += line.len() as u64;
    }
    Ok((last_step, length))
}

/// The header line of a table with these columns.
fn header(columns: &[impl AsRef<str>]) -> String {
    columns.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(",")
}

/// A table read back, column by column.
#[derive(Clone, Debug)]
pub struct Series {
    path: PathBuf,
    /// Comment lines before the header, without `#`.
    comments: Vec<String>,
    names: Vec<String>,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
enum Column {
    Numbers(Vec<f64>),
    Text(Vec<String>),
}

impl Series {
    /// Read a CSV file with a header line; lines that start with `#` are comments. An unfinished last line is left out.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &read_text(path)?)
    }

    /// Read the `text` of the file at `path` in the same way.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self> {
        let complete = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let is_row = |(_, line): &(usize, &str)| !line.starts_with('#') && !line.is_empty();
        let mut lines = complete.lines().enumerate().filter(is_row);
        let (first, header) = lines.next().ok_or_else(|| {
            malformed(path, "the file is empty: a line of column names is missing")
        })?;
        let comments = complete.lines().take(first).filter_map(|line| line.strip_prefix('#'));
        let comments = comments.map(|line| line.trim_start_matches('#').trim().into()).collect();
        let names: Vec<String> = header.split(',').map(|name| name.trim().to_string()).collect();
        let is_duplicate =
            |(at, name): &(usize, &String)| !name.is_empty() && names[..*at].contains(name);
        let duplicate = names.iter().enumerate().find(is_duplicate);
        if let Some((_, name)) = duplicate {
            let what = format!("line {}: column `{name}` appears twice", first + 1);
            return Err(malformed(path, what));
        }
        let column = |name: &String| match TEXT_COLUMNS.contains(&name.as_str()) {
            true => Column::Text(Vec::new()),
            false => Column::Numbers(Vec::new()),
        };
        let mut columns: Vec<Column> = names.iter().map(column).collect();
        for (at, line) in lines {
            let (number, cells) = (at + 1, line.split(',').count());
            if cells != names.len() {
                let expected = names.len();
                let what = format!("{cells} values where the header names {expected} columns");
                return Err(malformed(path, format!("line {number}: {what}")));
            }
            for ((cell, column), name) in line.split(',').zip(&mut columns).zip(&names) {
                match column {
                    Column::Text(words) => words.push(cell.trim().to_string()),
                    Column::Numbers(numbers) => {
                        numbers.push(cell.trim().parse().map_err(|_| {
                            let what = format!("`{cell}` in column `{name}` is not a number");
                            malformed(path, format!("line {number}: {what}"))
                        })?)
                    }
                }
            }
        }
        Ok(Self { path: path.to_path_buf(), comments, names, columns })
    }

    /// The lines before the header, without `#`.
    pub(crate) fn comments(&self) -> &[String] {
        &self.comments
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self.columns.first() {
            Some(Column::Numbers(values)) => values.len(),
            Some(Column::Text(words)) => words.len(),
            None => 0,
        }
    }

    /// The values of a column; `None` where there is no such column.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        match self.find_column(name)? {
            Column::Numbers(values) => Some(values),
            Column::Text(_) => None,
        }
    }

    /// Whether it contains the error against an exact solution.
    pub(crate) fn has_error(&self) -> bool {
        self.column("error_max").is_some()
    }

    /// The values of a required column.
    pub fn required(&self, name: &str) -> Result<&[f64]> {
        self.column(name).ok_or_else(|| self.missing_column(name))
    }

    /// The ascending times of the rows.
    pub fn times(&self) -> Result<&[f64]> {
        let time = self.required("time")?;
        if !time.iter().all(|t| t.is_finite()) || !time.is_sorted() {
            return Err(malformed(&self.path, "the times do not increase from row to row"));
        }
        Ok(time)
    }

    /// A required text column, `axis` or `quantity`.
    pub(super) fn text_column(&self, name: &str) -> Result<&[String]> {
        match self.find_column(name) {
            Some(Column::Text(words)) => Ok(words),
            _ => Err(self.missing_column(name)),
        }
    }

    fn find_column(&self, name: &str) -> Option<&Column> {
        self.names.iter().position(|known| known == name).map(|at| &self.columns[at])
    }

    fn missing_column(&self, name: &str) -> Error {
        let what = format!("column `{name}` is missing; the file has {}", self.names.join(", "));
        malformed(&self.path, what)
    }
}
