//! Comparison of line solvers: table 4.1 and figures 4.1 to 4.4 of Srinath 2015, sorted and unsorted reduction of Esfahanian et
//! al. 2014.

use std::collections::BTreeSet;

use super::Basis;
use super::chart::Chart;
use super::finding::{Csv, Finding, cell, range};
use super::lab::Lab;
use super::published::{SOLVER_TIMES, SolverTimes};
use crate::bench::Row;
use crate::error::Result;
use crate::io::plot::Point;

const SHARED: &str = "neato-shared";
const GLOBAL: &str = "neato-global";
/// Measurements of the thesis, and the differences here.
const MACHINE: &str = "The thesis times given right-hand sides in f64 on a K20, and MKL on a Xeon E5-2670 v2; here the stencil that makes \
                       them is part of every time, and `cr` reduces its coefficients once for the lines of a tile.";

/// Time of one size with one solver.
struct Time {
    rows: usize,
    systems: usize,
    method: &'static str,
    ms: f64,
}

/// Times of all solvers of the backend on systems of the sizes [rows, systems].
struct Measured {
    times: Vec<Time>,
    command: String,
    /// `host` or the name of the device.
    machine: String,
}

impl Measured {
    fn new(lab: &Lab<'_>, sizes: &[[usize; 2]], precision: &str) -> Result<Self> {
        let points = |[rows, systems]: &[usize; 2]| match rows == systems {
            true => format!("{rows}x{rows}x1"),
            false => format!("{rows}x{rows}x{rows}"),
        };
        let sizes = sizes.iter().map(points).collect::<Vec<_>>().join(",");
        let words = format!(
            "lines --points {sizes} --scheme compact4 --ends closed --precision {precision}"
        );
        let (report, command) = lab.bench(&words)?;
        let (name, threads) = (report.machine.name(), report.machine.machine.threads);
        let machine = match report.machine.device {
            None => format!("{name}, {threads} threads"),
            Some(_) => name.to_string(),
        };
        Ok(Self { times: report.results.iter().map(time).collect(), command, machine })
    }

    /// The plane problems or the boxes of table 4.1; with `--quick` only the small ones.
    fn of_kind(lab: &Lab<'_>, plane: bool) -> Result<Self> {
        let max_rows = lab.pick(usize::MAX, if plane { 512 } else { 128 });
        let is_selected = |times: &&SolverTimes| is_plane(times) == plane && times.rows <= max_rows;
        let sizes: Vec<[usize; 2]> = SOLVER_TIMES
            .iter()
            .filter(is_selected)
            .map(|times| [times.rows, times.systems])
            .collect();
        Self::new(lab, &sizes, "f64")
    }

    fn methods(&self) -> Vec<&'static str> {
        let mut seen = BTreeSet::new();
        self.times.iter().map(|time| time.method).filter(|method| seen.insert(*method)).collect()
    }

    /// (rows, `of` applied to the time of `method`) of plane problems or of boxes.
    fn points(
        &self,
        is_plane: bool,
        method: &str,
        of: impl Fn(&Time) -> Option<f64>,
    ) -> Vec<Point> {
        let is_selected =
            |time: &&Time| time.method == method && (time.rows == time.systems) == is_plane;
        let point = |time: &Time| Some((time.rows as f64, of(time)?));
        self.times.iter().filter(is_selected).filter_map(point).collect()
    }

    /// The time of another method for the same systems.
    fn other(&self, time: &Time, method: &str) -> Option<f64> {
        let same = |other: &&Time| {
            (other.rows, other.systems) == (time.rows, time.systems) && other.method == method
        };
        self.times.iter().find(same).map(|other| other.ms)
    }

    /// Smallest and largest of `points`, as text.
    fn range(points: &[Point]) -> String {
        let [low, high] = range(points.iter().map(|point| point.1));
        format!("{low:.2} to {high:.2}")
    }
}

fn time(row: &Row) -> Time {
    let [rows, across, planes] = row.points;
    let ms = 1e-6 * row.ns_per_point.min * (rows * across * planes) as f64;
    Time { rows, systems: across * planes, method: row.method, ms }
}

fn is_plane(times: &SolverTimes) -> bool {
    times.rows == times.systems
}

fn published(plane: bool, of: impl Fn(&SolverTimes) -> Option<f64>) -> Vec<Point> {
    let of_kind = SOLVER_TIMES.iter().filter(|times| is_plane(times) == plane);
    of_kind.filter_map(|times| Some((times.rows as f64, of(times)?))).collect()
}

/// Srinath 2015, table 4.1.
pub(super) fn table_4_1(lab: &Lab<'_>) -> Result<Finding> {
    let (mut measured, boxes) = (Measured::of_kind(lab, true)?, Measured::of_kind(lab, false)?);
    measured.times.extend(boxes.times);
    measured.command += &format!(" and {}", boxes.command);
    let mut csv = Csv::new("rows,systems,basis,method,ms");
    let mut row = |[rows, systems]: [usize; 2], basis: &str, method: &str, ms: f64| {
        csv.row([&rows, &systems, &basis, &method, &cell(ms)]);
    };
    for SolverTimes { rows, systems, mkl, cusparse, neato } in &SOLVER_TIMES {
        let size = [*rows, *systems];
        row(size, "published", "MKL 1 core", mkl[0]);
        row(size, "published", "MKL 8 cores", mkl[1]);
        cusparse.iter().for_each(|ms| row(size, "published", "CUSPARSE", *ms));
        row(size, "published", GLOBAL, neato[0]);
        row(size, "published", SHARED, neato[1]);
        let own = measured.times.iter().filter(|time| [time.rows, time.systems] == size);
        own.for_each(|time| row(size, "measured", time.method, time.ms));
    }
    let Measured { command, machine, .. } = &measured;
    let largest = measured.times.iter().max_by_key(|time| time.rows * time.systems);
    let largest = largest.map_or(String::new(), |time| {
        let each = measured.methods().into_iter().filter_map(|method| {
            Some(format!("`{method}` {:.3} ms", measured.other(time, method)?))
        });
        let each: Vec<_> = each.collect();
        format!("On {} systems of {} rows: {}.", time.systems, time.rows, each.join(", "))
    });
    Ok(Finding::table(csv, Vec::new()).with_text(
        "Times in ms of MKL (dgtsv), CUSPARSE and both NEATO solvers for n systems of n rows, n = 32 to 2048, and n² systems, n = 32 to \
         512 (p. 54). NEATO in shared memory takes 125.3 ms for 512² systems of 512 rows, MKL on 8 cores 196.7 ms.",
        format!("{command} on {machine}. {largest}"),
        format!(
            "{MACHINE} On a host a tile of lines fills the vector instructions and stays in the caches, so that operations count \
             (`esfahanian-operations`); parallel work within a line, which a GPU needs, has no benefit there."
        ),
    ))
}

/// Figures 4.1 and 4.2: NEATO in global and in shared memory.
pub(super) fn compare_memories(lab: &Lab<'_>, plane: bool) -> Result<Finding> {
    let measured = Measured::of_kind(lab, plane)?;
    let kind = if plane { "n systems" } else { "n² systems" };
    let title = format!("NEATO, {kind} of n rows");
    let mut chart = Chart::new(&title, "rows n", "time, ms");
    for method in [SHARED, GLOBAL] {
        chart.add(Basis::Measured, method, measured.points(plane, method, |time| Some(time.ms)));
    }
    chart.add(Basis::Published, SHARED, published(plane, |times| Some(times.neato[1])));
    chart.add(Basis::Published, GLOBAL, published(plane, |times| Some(times.neato[0])));
    let of = |time: &Time| measured.other(time, GLOBAL).map(|ms| ms / time.ms);
    let ratios = measured.points(plane, SHARED, of);
    let Measured { command, machine, .. } = &measured;
    let here = match ratios.is_empty() {
        true => format!(
            "{command} on {machine}: `neato-shared` alone. A host does not have both kinds of memory; `--backend cuda` or `--backend \
             opencl` measures `neato-global` too."
        ),
        false => format!(
            "{command} on {machine}: the version in global memory takes {} times as long.",
            Measured::range(&ratios)
        ),
    };
    let published_ratios = published(plane, |times| Some(times.neato[0] / times.neato[1]));
    Ok(Finding::charts(&[("", chart.logarithmic([true; 2]))]).with_text(
        format!(
            "Both implementations for {kind}: the one in global memory takes {} times as long as that in shared memory (from table 4.1).",
            Measured::range(&published_ratios)
        ),
        here,
        MACHINE,
    ))
}

/// Figures 4.3 and 4.4: times relative to NEATO in shared memory.
pub(super) fn relative(lab: &Lab<'_>, plane: bool) -> Result<Finding> {
    let measured = Measured::of_kind(lab, plane)?;
    let kind = if plane { "n systems" } else { "n² systems" };
    let over = |mine: fn(&SolverTimes) -> Option<f64>| {
        published(plane, move |times| mine(times).map(|ms| ms / times.neato[1]))
    };
    let title = format!("Time relative to NEATO, {kind} of n rows");
    let mut chart = Chart::new(&title, "rows n", "time relative to NEATO (shared)");
    let others = measured.methods().into_iter().filter(|method| *method != SHARED);
    let others = others.filter(|method| !method.starts_with("cr-sorted"));
    let mut summaries = Vec::new();
    for method in others {
        let of = |time: &Time| measured.other(time, SHARED).map(|ms| time.ms / ms);
        let points = measured.points(plane, method, of);
        summaries.push(format!("`{method}` {}", Measured::range(&points)));
        chart.add(Basis::Measured, method, points);
    }
    chart.add(Basis::Published, "MKL on 1 core", over(|times| Some(times.mkl[0])));
    chart.add(Basis::Published, "MKL on 8 cores", over(|times| Some(times.mkl[1])));
    chart.add(Basis::Published, "CUSPARSE", over(|times| times.cusparse));
    let Measured { command, machine, .. } = &measured;
    Ok(Finding::charts(&[("", chart.logarithmic([true; 2]))]).with_text(
        format!(
            "Relative to NEATO in shared memory, {kind}: MKL on one core {}, on eight {}, CUSPARSE {} (from table 4.1).",
            Measured::range(&over(|times| Some(times.mkl[0]))),
            Measured::range(&over(|times| Some(times.mkl[1]))),
            Measured::range(&over(|times| times.cusparse))
        ),
        format!("{command} on {machine}, relative to `neato-shared` on the same machine: {}.", summaries.join(", ")),
        format!(
            "{MACHINE} All solvers run on the same machine here, so a ratio gives the cost of the method there, not the gain of a GPU \
             over cores."
        ),
    ))
}

/// Esfahanian et al. 2014: cyclic reduction sorted and unsorted.
pub(super) fn sorted(lab: &Lab<'_>) -> Result<Finding> {
    let rows: &[usize] = lab.pick(&[64, 128, 256, 512, 1024, 2048], &[64, 256, 1024]);
    let sizes: Vec<[usize; 2]> = rows.iter().map(|&n| [n, n]).collect();
    let mut charts = Vec::new();
    let mut here = String::new();
    for (picture, precision) in [("-f64", "f64"), ("-f32", "f32")] {
        let measured = Measured::new(lab, &sizes, precision)?;
        let title = format!("Time relative to thomas, n systems of n rows, {precision}");
        let mut chart = Chart::new(&title, "rows n", "time relative to thomas");
        let mut summaries = Vec::new();
        for method in ["cr", "cr-sorted-direct", "cr-sorted-stepwise"] {
            let of = |time: &Time| measured.other(time, "thomas").map(|ms| time.ms / ms);
            let points = measured.points(true, method, of);
            summaries.push(format!("`{method}` {}", Measured::range(&points)));
            chart.add(Basis::Measured, method, points);
        }
        let Measured { command, machine, .. } = &measured;
        here += &format!("{command} on {machine}, over `thomas`: {}. ", summaries.join(", "));
        charts.push((picture, chart.logarithmic([true; 2])));
    }
    Ok(Finding::charts(&charts).with_text(
        "On a GTX 480 sorting step by step fits best; against the Thomas algorithm on one core of a Core 2 Duo its speedup is up to 3.47 \
         in f32 and 2.1 in f64 (abstract). The figures with the curves by size are not available.",
        here.trim_end(),
        "There sorting makes global memory deliver whole rows to the threads of a warp. On a host the rows of a tile are whole cache lines \
         in any order, so sorting only moves data: it pays where strides of a power of two meet in few sets of a cache. The sorted \
         solvers here use coefficients computed beforehand, `cr` reduces them with the data, once per tile; the paper \
         sorts and reduces them with every system.",
    ))
}
