//! `series.csv`: the history of a run, one row per time, readable by anything that reads CSV.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::io::{open, read_text, unshare};
use crate::{Error, Result};

/// Columns of a flow, in order: non-dimensional, volume averages over the box.
pub const FLOW_COLUMNS: [&str; 22] = [
    "step",
    "time",
    "dt",
    "kinetic_energy",
    "enstrophy",
    "dissipation",
    "dissipation_solenoidal",
    "dissipation_dilatational",
    "pressure_dilatation",
    "ke_rate",
    "ke_rate_convection",
    "ke_rate_pressure",
    "ke_rate_viscous",
    "ke_rate_filter",
    "mass",
    "momentum_x",
    "momentum_y",
    "momentum_z",
    "total_energy",
    "max_mach",
    "min_density",
    "min_temperature",
];

/// Columns of an advected scalar φ, in order; `mass` is ⟨φ⟩ and `scalar_variance` is ⟨φ²⟩ − ⟨φ⟩².
pub const SCALAR_COLUMNS: [&str; 7] =
    ["step", "time", "dt", "mass", "scalar_variance", "scalar_min", "scalar_max"];

/// Columns added where the exact solution is known: norms of the error of the density, or of the scalar.
pub const ERROR_COLUMNS: [&str; 2] = ["error_l2", "error_max"];

/// What a table holds up to some row: by this a restart knows that no row was lost or changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableMark {
    /// Its length.
    pub bytes: u64,
    /// XXH3 (128 bits) of these bytes, in hexadecimal digits.
    pub xxh3: String,
}

impl TableMark {
    /// # Errors
    /// Where the table at `path` does not begin with what was marked.
    pub fn check(&self, path: &Path) -> Result<()> {
        let wrong = |what: String| Error::Format {
            path: path.to_path_buf(),
            what: format!(
                "{what}, and the checkpoint goes on behind its rows\n       restore the file, or go on from an older \
                 checkpoint with `--from STEP`; a run with case.name = \"from-checkpoint\" needs no tables"
            ),
        };
        let text = match open::read(path, open::MOST_TEXT) {
            Ok(text) => text,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                return Err(wrong("the file is gone".into()));
            }
            Err(why) => return Err(Error::io(path)(why)),
        };
        let marked = usize::try_from(self.bytes).ok().and_then(|bytes| text.get(..bytes));
        match marked {
            None => Err(wrong(format!(
                "rows are missing: it has {} bytes and had {}",
                text.len(),
                self.bytes
            ))),
            Some(marked) if xxh3(marked) != self.xxh3 => {
                Err(wrong("rows were changed, removed or added".into()))
            }
            Some(_) => Ok(()),
        }
    }
}

/// The XXH3 (128 bits) of some bytes, in hexadecimal digits.
pub(super) fn xxh3(bytes: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}

/// Writes a series row by row. A run that is killed leaves whole rows, and at most a part of one behind them.
pub struct SeriesWriter {
    path: PathBuf,
    file: File,
    columns: usize,
    /// Bytes of the rows that are written, and their hash.
    length: u64,
    hash: Xxh3,
    /// Rows that are not, since the disk was full.
    pending: String,
}

impl SeriesWriter {
    /// Create `path` with a header line; the first column is `step`, an integer.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(path: &Path, columns: &[&str]) -> Result<Self> {
        assert_eq!(columns.first(), Some(&"step"), "a series begins with the column `step`");
        File::create(path).map_err(Error::io(path))?;
        // Behind its end always: a half row that is taken back leaves no hole.
        let file = File::options().append(true).open(path).map_err(Error::io(path))?;
        let pending = columns.join(",") + "\n";
        let path = path.to_path_buf();
        let (columns, hash) = (columns.len(), Xxh3::new());
        let mut writer = Self { path, file, columns, length: 0, hash, pending };
        writer.flush()?;
        Ok(writer)
    }

    /// Go on with a series that is there, or begin one: rows of steps after `last`, all where there is none, and a last line
    /// without its line end are cut off.
    ///
    /// # Errors
    /// Where it has other columns; nothing is changed then.
    pub fn resume(path: &Path, columns: &[&str], last: Option<u64>) -> Result<Self> {
        if !path.exists() {
            return Self::create(path, columns);
        }
        let (_, length) = kept(path, columns, last)?;
        unshare(path)?;
        let file = File::options().append(true).open(path).map_err(Error::io(path))?;
        file.set_len(length).map_err(Error::io(path))?;
        let mut hash = Xxh3::new();
        hash.update(read_text(path)?.as_bytes());
        let (path, columns) = (path.to_path_buf(), columns.len());
        Ok(Self { path, file, columns, length, hash, pending: String::new() })
    }

    /// Whether there is a series at `path` that can be gone on with behind its row of the step `last`.
    ///
    /// # Errors
    /// Where it has other columns, no such row, or a row before it that is damaged.
    pub fn check(path: &Path, columns: &[&str], last: u64) -> Result<()> {
        let missing = |found: String| Error::Format {
            path: path.to_path_buf(),
            what: format!(
                "the checkpoint counts on a row of step {last}, and {found}\n       `--from STEP` goes on from \
                 an older checkpoint; a run with case.name = \"from-checkpoint\" needs no series"
            ),
        };
        if !path.exists() {
            return Err(missing("there is no such file".into()));
        }
        match kept(path, columns, Some(last))?.0 {
            Some(newest) if newest == last => Ok(()),
            Some(newest) => Err(missing(format!("the last before that is step {newest}"))),
            None => Err(missing("there is no row before that".into())),
        }
    }

    /// Whether [`SeriesWriter::resume`] would go on with what is at `path`, wherever it is cut.
    ///
    /// # Errors
    /// As there.
    pub fn check_rows(path: &Path, columns: &[&str]) -> Result<()> {
        if path.exists() { kept(path, columns, Some(u64::MAX)).map(|_| ()) } else { Ok(()) }
    }

    /// The same as [`SeriesWriter::resume`] behind a row of the step `last`, which has to be there.
    ///
    /// # Errors
    /// Where there is no such row, and as there; nothing is changed then.
    pub fn resume_behind(path: &Path, columns: &[&str], last: u64) -> Result<Self> {
        Self::check(path, columns, last)?;
        Self::resume(path, columns, Some(last))
    }

    /// Append a row: `values` are those of the columns after `step`, each written with the fewest digits that read
    /// back to the same number.
    ///
    /// # Errors
    /// What the system says. The row is kept, and written before the next one.
    pub fn append(&mut self, step: u64, values: &[f64]) -> Result<()> {
        self.append_labelled(step, values, None)
    }

    /// Append a row one of whose columns may be text: `label` is (the position in `values` before which it stands, the text,
    /// without a comma).
    pub fn append_labelled(
        &mut self,
        step: u64,
        values: &[f64],
        label: Option<(usize, &str)>,
    ) -> Result<()> {
        assert_eq!(
            values.len() + usize::from(label.is_some()) + 1,
            self.columns,
            "a row of the series has a value for every column"
        );
        let _ = write!(self.pending, "{step}");
        for (at, value) in values.iter().enumerate() {
            if let Some((_, text)) = label.filter(|(before, _)| *before == at) {
                let _ = write!(self.pending, ",{text}");
            }
            let _ = write!(self.pending, ",{value:?}");
        }
        self.pending.push('\n');
        self.flush()
    }

    /// Have all rows on disk, and mark them.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&mut self) -> Result<TableMark> {
        self.flush()?;
        self.file.sync_all().map_err(Error::io(&self.path))?;
        Ok(TableMark { bytes: self.length, xxh3: format!("{:032x}", self.hash.digest128()) })
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// One write for whole rows; where it fails half-way (a full disk), the half is taken back.
    fn flush(&mut self) -> Result<()> {
        match self.file.write_all(self.pending.as_bytes()) {
            Ok(()) => {
                self.length += self.pending.len() as u64;
                self.hash.update(self.pending.as_bytes());
                self.pending.clear();
                Ok(())
            }
            Err(error) => {
                let _ = self.file.set_len(self.length);
                Err(Error::io(&self.path)(error))
            }
        }
    }
}

/// Remove the rows of steps after `last` from the table at `path`, all where that is none, whatever its columns are.
///
/// # Errors
/// What the system says.
pub fn cut(path: &Path, last: Option<u64>) -> Result<()> {
    let text = read_text(path)?;
    let header = text.lines().next().unwrap_or_default();
    let columns: Vec<&str> = header.split(',').collect();
    let (_, length) = kept(path, &columns, last)?;
    unshare(path)?;
    let file = File::options().write(true).open(path).map_err(Error::io(path))?;
    file.set_len(length).map_err(Error::io(path))
}

/// (the step of the last row, the bytes) of what is not after the step `last` in the series at `path`.
fn kept(path: &Path, columns: &[&str], last: Option<u64>) -> Result<(Option<u64>, u64)> {
    let wrong = |what: String| Error::Format { path: path.to_path_buf(), what };
    let text = read_text(path)?;
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let header = lines.next().unwrap_or_default();
    if header.trim_end() != columns.join(",") {
        let columns = columns.join(",");
        return Err(wrong(format!("its columns are `{}`, not `{columns}`", header.trim_end())));
    }
    let (mut newest, mut length) = (None, header.len() as u64);
    for (number, line) in lines.enumerate() {
        let mut cells = line.trim_end().split(',');
        let step: Option<u64> = cells.next().and_then(|step| step.parse().ok());
        if step.is_some() && step > last {
            break;
        }
        if step.is_none() || step < newest || cells.count() + 1 != columns.len() {
            return Err(wrong(format!("line {} is damaged: {}", number + 2, line.trim_end())));
        }
        newest = step;
        length += line.len() as u64;
    }
    Ok((newest, length))
}

/// A series read back, column by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Series {
    /// Read a CSV file of numbers with a header line; lines that start with `#` are comments. A last line without its
    /// line end is a row that was never finished, and is left out.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&read_text(path)?)
            .map_err(|what| Error::Format { path: path.to_path_buf(), what })
    }

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let mut lines = whole
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
        let (_, header) =
            lines.next().ok_or("the file is empty: a line of column names is missing")?;
        let names: Vec<String> = header.split(',').map(|name| name.trim().to_string()).collect();
        let mut columns = vec![Vec::new(); names.len()];
        for (number, line) in lines {
            let cells = line.split(',').count();
            if cells != names.len() {
                return Err(format!(
                    "line {}: {cells} values where the header names {} columns",
                    number + 1,
                    names.len()
                ));
            }
            for ((cell, column), name) in line.split(',').zip(&mut columns).zip(&names) {
                let value = cell.trim().parse::<f64>().map_err(|_| {
                    format!("line {}: `{cell}` in column `{name}` is not a number", number + 1)
                })?;
                column.push(value);
            }
        }
        Ok(Self { names, columns })
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The values of a column, where there is one of this name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.names.iter().position(|n| n == name).map(|index| self.columns[index].as_slice())
    }

    /// The values of a column that has to be there; `path` is the file to name in the message.
    pub fn required(&self, name: &str, path: &Path) -> Result<&[f64]> {
        self.column(name).ok_or_else(|| Error::Format {
            path: path.to_path_buf(),
            what: format!("column `{name}` is missing; the file has {}", self.names.join(", ")),
        })
    }
}
