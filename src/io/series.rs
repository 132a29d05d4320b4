//! `series.csv`: the history of a run, one row per time, readable by anything that reads CSV.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::io::read_text;
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

/// Writes a series row by row. A run that is killed leaves whole rows.
#[derive(Debug)]
pub struct SeriesWriter {
    path: PathBuf,
    file: File,
    columns: usize,
    length: u64,
    row: String,
}

impl SeriesWriter {
    /// Create `path` with a header line; the first column is `step`, an integer.
    pub fn create(path: &Path, columns: &[&str]) -> Result<Self> {
        assert_eq!(columns.first(), Some(&"step"), "a series begins with the column `step`");
        let file = File::create(path).map_err(Error::io(path))?;
        let mut writer = Self {
            path: path.to_path_buf(),
            file,
            columns: columns.len(),
            length: 0,
            row: columns.join(","),
        };
        writer.write_row()?;
        Ok(writer)
    }

    /// Append a row: `values` are those of the columns after `step`, each written with the fewest digits that read
    /// back to the same number.
    pub fn append(&mut self, step: u64, values: &[f64]) -> Result<()> {
        assert_eq!(
            values.len() + 1,
            self.columns,
            "a row of the series has a value for every column"
        );
        self.row.clear();
        let _ = write!(self.row, "{step}");
        for value in values {
            let _ = write!(self.row, ",{value:?}");
        }
        self.write_row()
    }

    /// One write for the whole row; where it fails half-way (a full disk), the half is taken back.
    fn write_row(&mut self) -> Result<()> {
        self.row.push('\n');
        match self.file.write_all(self.row.as_bytes()) {
            Ok(()) => {
                self.length += self.row.len() as u64;
                Ok(())
            }
            Err(error) => {
                let _ = self.file.set_len(self.length);
                Err(Error::io(&self.path)(error))
            }
        }
    }
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
