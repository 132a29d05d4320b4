//! Report of sweeps that run separately.

use serde::{Serialize, Serializer};

use crate::backend::device::SweepKernel;
use crate::bench::output::Row;
use crate::bench::table::{Table, figure, or_dash};
use crate::physics::{StagePart, StageSweep};

/// Additional data of a result for one sweep.
#[derive(Clone, Debug, Serialize)]
pub(in crate::bench) struct SweepRow {
    #[serde(rename = "sweep", serialize_with = "name")]
    part: StagePart,
    /// The stages of a step that include it.
    stages: &'static str,
    /// Whether it leaves gradients for the next stage.
    links: bool,
    /// Values read and written per point.
    pub(super) words: usize,
    /// The kernel, if it is a single one on a device.
    kernel: Option<SweepKernel>,
}

fn name<S: Serializer>(part: &StagePart, output: S) -> Result<S::Ok, S::Error> {
    output.serialize_str(part.name())
}

impl SweepRow {
    pub(super) fn new(sweep: &StageSweep, kernel: Option<SweepKernel>) -> Self {
        Self {
            part: sweep.part,
            stages: sweep.part.stages(),
            links: sweep.part == StagePart::LinkedTerms,
            words: sweep.words,
            kernel,
        }
    }

    /// The table that is printed.
    pub(super) fn table(heading: &str, rows: &[Row]) -> Table {
        let columns = "sweep|stages|kernel|words|ns/point|median|GB/s|of copy|registers|bytes on chip|threads|points|lines|resident|blocks|error";
        let mut table = Table::new(heading, columns);
        for row in rows {
            if let Some(sweep) = &row.sweep {
                table.rows.push(sweep.cells(row));
            }
        }
        table
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let rate = row.gb_per_s.unwrap_or_default();
        let mut cells = vec![
            format!("{}: {}", row.axis.unwrap_or_default(), self.part.name()),
            self.stages.into(),
            if self.kernel.is_some() { "one" } else { "-" }.into(),
            self.words.to_string(),
            figure(row.ns_per_point.min),
            figure(row.ns_per_point.median),
            figure(rate),
            format!("{:.1} %", 100.0 * rate / row.copy_gb_per_s),
        ];
        cells.extend(match self.kernel {
            None => vec!["-".to_string(); 7],
            Some(SweepKernel { registers, on_chip, threads, points, lines, resident, blocks }) => {
                let registers = or_dash(registers, |registers| registers.to_string());
                let counts = [on_chip, threads, points, lines, resident, blocks];
                std::iter::once(registers).chain(counts.map(|n| n.to_string())).collect()
            }
        });
        cells.push(or_dash(row.error, |error| format!("{error:.1e}")));
        cells
    }
}

impl Row {
    /// Whether it belongs to this part of a stage.
    pub(super) fn is_part(&self, part: StagePart) -> bool {
        self.sweep.as_ref().is_some_and(|sweep| sweep.part == part)
    }
}
