//! The results of a benchmark: printed as a table or as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::blocks::{BlockRow, MeshRow};
use super::measure::Times;
use super::ranks::report::{MessageRow, RanksRow};
use super::sweeps::SweepRow;
use super::table::{Table, figure, or_dash};
use crate::backend::device::{Api, DeviceInfo};
use crate::error::{Error, Result};
use crate::io::page::aligned;
use crate::io::summary::Machine;
use crate::model::Rates;

/// All measurements of one command. Its [`Display`](std::fmt::Display) is a table.
#[derive(Debug, Serialize)]
pub struct Report {
    pub(crate) machine: MachineReport,
    pub(super) copy: CopyReport,
    pub(crate) results: Vec<Row>,
    /// Messages between ranks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) messages: Vec<MessageRow>,
    /// Meshes, and sweeps over blocks on them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) meshes: Vec<MeshRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) blocks: Vec<BlockRow>,
    /// Rates for `kolmo model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rates: Option<Rates>,
    /// Printed tables for data that do not fit the table of results.
    #[serde(skip)]
    pub(super) tables: Vec<Table>,
    /// Omitted parts and remarks on the figures, as sentences.
    pub(super) notes: Vec<String>,
    /// Failures as sentences: wrong results, and parts that a device refused.
    pub(super) failures: Vec<String>,
}

/// The copy measured with the last results; every result also has its own.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct CopyReport {
    pub(super) gb_per_s: f64,
    pub(super) bytes_per_point: usize,
    pub(super) ns_per_point: Spread,
}

/// The machine and the device, if one was used.
#[derive(Debug, Serialize)]
pub(crate) struct MachineReport {
    version: &'static str,
    #[serde(flatten)]
    pub(crate) machine: Machine,
    pub(crate) device: Option<DeviceReport>,
}

impl MachineReport {
    /// The name of the device, or of the processor.
    pub(crate) fn name(&self) -> &str {
        self.device.as_ref().map_or(&self.machine.cpu, |device| &device.name)
    }
}

/// The properties of a device that affect speed.
#[derive(Debug, Serialize)]
pub(crate) struct DeviceReport {
    api: &'static str,
    index: usize,
    name: String,
    driver: String,
    is_gpu: bool,
    memory: u64,
}

impl DeviceReport {
    fn of(info: &DeviceInfo) -> Self {
        let api = match info.api {
            Api::Cuda => "cuda",
            Api::OpenCl => "opencl",
        };
        let DeviceInfo { index, name, driver, is_gpu, memory, .. } = info.clone();
        Self { api, index, name, driver, is_gpu, memory }
    }
}

/// Minimum and median of all repeats.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(super) median: f64,
}

impl Spread {
    pub(super) fn seconds(times: &Times) -> Self {
        Self { min: times.min(), median: times.median() }
    }

    /// Nanoseconds per part, for `parts` parts.
    pub(super) fn ns(times: &Times, parts: f64) -> Self {
        let each = 1e9 / parts;
        Self { min: each * times.min(), median: each * times.median() }
    }
}

/// One result.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(super) name: &'static str,
    pub(super) axis: Option<&'static str>,
    pub(crate) points: [usize; 3],
    pub(super) scheme: Option<&'static str>,
    pub(crate) method: &'static str,
    pub(crate) backend: &'static str,
    pub(crate) threads: usize,
    pub(super) precision: &'static str,
    /// Minimum traffic of the algorithm.
    pub(super) bytes_per_point: Option<usize>,
    pub(crate) ns_per_point: Spread,
    /// Bandwidth at the smallest time.
    pub(super) gb_per_s: Option<f64>,
    /// Smallest time divided by the smallest time of the copy; for a step, the time per stage.
    pub(super) time_over_copy: f64,
    /// Largest difference from the reference, relative to the largest value.
    pub(super) error: Option<f64>,
    pub(super) repeats: u32,
    /// Bandwidth of the copy that ran between the repeats.
    pub(super) copy_gb_per_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ends: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pencils: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) order: Option<&'static str>,
    /// The difference from the part that is measured in turn with this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) beside: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ns_per_point_stage: Option<Spread>,
    /// Seconds of the host's clock, summed over all repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phases: Option<BTreeMap<&'static str, f64>>,
    /// If the part is one sweep of a stage.
    #[serde(flatten)]
    pub(super) sweep: Option<SweepRow>,
    /// If several ranks took part.
    #[serde(flatten)]
    pub(super) spread: Option<RanksRow>,
}

impl Row {
    /// The row of a part that moves `bytes_per_point`, from the `times` of the part and of the `copy`.
    pub(super) fn timed(
        self,
        bytes_per_point: Option<usize>,
        times: &Times,
        copy: CopyReport,
    ) -> Self {
        let ns_per_point = Spread::ns(times, self.points.iter().product::<usize>() as f64);
        Self {
            bytes_per_point,
            ns_per_point,
            gb_per_s: bytes_per_point.map(|bytes| rate(bytes, ns_per_point)),
            time_over_copy: ns_per_point.min / copy.ns_per_point.min,
            copy_gb_per_s: copy.gb_per_s,
            ..self
        }
    }
}

/// Points along x, y, z in the form of the command line.
pub(super) fn shape([x, y, z]: [usize; 3]) -> String {
    format!("{x}x{y}x{z}")
}

/// Bytes per nanosecond: GB/s.
fn rate(bytes: usize, ns: Spread) -> f64 {
    bytes as f64 / ns.min
}

impl CopyReport {
    /// A copy of `len` numbers of `size` bytes.
    pub(super) fn new(times: &Times, len: usize, size: usize) -> Self {
        let (bytes_per_point, ns_per_point) = (2 * size, Spread::ns(times, len as f64));
        Self { gb_per_s: rate(bytes_per_point, ns_per_point), bytes_per_point, ns_per_point }
    }
}

impl Report {
    pub(super) fn new(machine: Machine, device: Option<&DeviceInfo>) -> Self {
        let device = device.map(DeviceReport::of);
        let machine = MachineReport { version: env!("CARGO_PKG_VERSION"), machine, device };
        let mut notes = Vec::new();
        if let Some(device) = machine.device.as_ref().filter(|device| !device.is_gpu) {
            let name = &device.name;
            notes.push(format!("{name} is a CPU behind OpenCL: its times say nothing of a GPU"));
        }
        let (copy, results, failures) = (CopyReport::default(), Vec::new(), Vec::new());
        let (messages, rates, tables) = (Vec::new(), None, Vec::new());
        let (meshes, blocks) = (Vec::new(), Vec::new());
        Self { machine, copy, results, messages, meshes, blocks, rates, tables, notes, failures }
    }

    /// Add results, which must agree with the reference within `tolerance`.
    pub(super) fn add(&mut self, copy: CopyReport, tolerance: f64, rows: Vec<Row>) {
        self.copy = copy;
        for row in &rows {
            let Some(error) = row.error else { continue };
            self.check(&row.part_and_method(), row.points, error, tolerance);
        }
        self.results.extend(rows);
    }

    /// Record a failure of `what` if its error is above `tolerance`.
    pub(super) fn check(&mut self, what: &str, points: [usize; 3], error: f64, tolerance: f64) {
        if error > tolerance || error.is_nan() {
            let points = shape(points);
            self.failures.push(format!(
                "{what} on {points}: {error:.1e} from the reference, tolerance {tolerance:.0e}"
            ));
        }
    }

    /// Add a remark on the figures.
    pub(super) fn note(&mut self, sentence: String) {
        if !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }

    /// Continue after a failure of `what`, unless it was a mistake of the user.
    pub(super) fn attempt(&mut self, what: &str, result: Result<()>) -> Result<()> {
        match result {
            Err(error @ Error::Config(_)) => Err(error),
            Err(error) => {
                self.failures.push(format!("{what}: {error}"));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Whether every part ran and gave a correct result.
    pub fn sound(&self) -> bool {
        self.failures.is_empty()
    }

    /// The failures, one per line.
    pub fn failures(&self) -> String {
        self.failures.join("\n")
    }
}

impl Row {
    /// The name of this part.
    fn part(&self) -> String {
        let closed = self.ends.filter(|ends| *ends != "periodic");
        let words = [Some(self.name), self.axis, closed, self.order, self.beside.as_deref()];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The ratio of its time to that of `other`, which was measured in turn with it.
    pub(super) fn ratio_to(&self, other: &Row) -> String {
        let [a, b] = [self, other].map(|row| row.ns_per_point);
        let (part, beside, points) = (self.part(), other.part(), shape(self.points));
        let [smallest, median] = [a.min / b.min, a.median / b.median].map(figure);
        format!(
            "{part} over {beside} on {points}: {smallest} of the smallest times, {median} of the medians"
        )
    }

    /// The name of this part and its method.
    pub(super) fn part_and_method(&self) -> String {
        format!("{} {}", self.part(), self.method)
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Machine { cpu, cores, threads, simd, .. } = &self.machine.machine;
        match &self.machine.device {
            Some(device) => {
                writeln!(f, "{} {}: {} ({})", device.api, device.index, device.name, device.driver)?
            }
            None => writeln!(f, "cpu: {cpu}, {cores} cores, {threads} threads, {simd}")?,
        }
        if let Some(row) = self.results.first() {
            let scheme = row.scheme.map_or(String::new(), |scheme| format!("{scheme}, "));
            writeln!(
                f,
                "{scheme}{}, {} repeats; GB/s from the stated bytes and the smallest time",
                row.precision, row.repeats
            )?;
        }
        if !self.blocks.is_empty() {
            write!(f, "{}\n{}", MeshRow::table(&self.meshes), BlockRow::table(&self.blocks))?;
        } else if self.results.iter().all(|row| row.sweep.is_none()) {
            let columns = "part|points|method|bytes|ns/point|median|ms|GB/s|copy GB/s|of copy|time/copy|error";
            let mut table = vec![columns.split('|').map(String::from).collect()];
            table.extend(self.results.iter().map(Row::cells));
            f.write_str(&aligned(&table, &[0, 2]))?;
        }
        for row in &self.results {
            if let (Some(stage), Some(phases)) = (row.ns_per_point_stage, &row.phases) {
                writeln!(
                    f,
                    "{:.4} ns per point and stage, median {:.4}; seconds of all repeats:",
                    stage.min, stage.median
                )?;
                phases
                    .iter()
                    .try_for_each(|(name, seconds)| writeln!(f, "  {seconds:9.4}  {name}"))?;
            }
        }
        self.tables.iter().try_for_each(|table| write!(f, "\n{table}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let points: usize = self.points.iter().product();
        let Spread { min, median } = self.ns_per_point;
        vec![
            self.part(),
            shape(self.points),
            self.method.to_string(),
            or_dash(self.bytes_per_point, |bytes| bytes.to_string()),
            figure(min),
            figure(median),
            figure(1e-6 * min * points as f64),
            or_dash(self.gb_per_s, figure),
            figure(self.copy_gb_per_s),
            or_dash(self.gb_per_s, |rate| format!("{:.1} %", 100.0 * rate / self.copy_gb_per_s)),
            figure(self.time_over_copy),
            or_dash(self.error, |error| format!("{error:.1e}")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_or_non_finite_errors_make_a_report_unsound() {
        let row = |error| Row { name: "derivative", axis: Some("y"), error, ..Row::default() };
        for (error, sound) in [
            (None, true),
            (Some(1e-12), true),
            (Some(2e-12), false),
            (Some(f64::INFINITY), false),
            (Some(f64::NAN), false),
        ] {
            let mut report = Report::new(Machine::here(1, "none", None), None);
            report.add(CopyReport::default(), 1e-12, vec![row(None), row(error)]);
            assert_eq!(report.sound(), sound, "{error:?}");
            assert_eq!(report.failures().contains("derivative y"), !sound);
        }
    }

    #[test]
    fn failed_parts_are_reported_and_a_mistake_of_the_user_ends_the_bench() {
        let mut report = Report::new(Machine::here(1, "none", None), None);
        let device = Err(Error::Device("out of memory".into()));
        assert!(report.attempt("lines cr on 8x8x8", device).is_ok());
        assert_eq!(report.failures(), "lines cr on 8x8x8: out of memory");
        assert!(report.attempt("", Err(Error::Config(Vec::new()))).is_err());
    }
}
