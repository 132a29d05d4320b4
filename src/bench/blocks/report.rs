//! Report of sweeps over blocks.

use serde::Serialize;

use crate::bench::measure::Times;
use crate::bench::output::{CopyReport, Spread, shape};
use crate::bench::table::{Table, figure};
use crate::blocks::{Colouring, Factored};
use crate::real::Real;

/// A mesh, with the columns of table II.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MeshRow {
    /// Points of the box.
    points: [usize; 3],
    pub(crate) rows: usize,
    /// Off-diagonal blocks.
    pub(crate) blocks: usize,
    /// Rows of each colour.
    pub(crate) colours: Vec<usize>,
}

impl MeshRow {
    pub(super) fn new(points: [usize; 3], colouring: &Colouring) -> Self {
        let (rows, blocks) = (colouring.rows(), colouring.pattern().blocks());
        let colours = colouring.colours().map(|colour| colour.len()).collect();
        Self { points, rows, blocks, colours }
    }

    /// The table that is printed.
    pub(in crate::bench) fn table(meshes: &[MeshRow]) -> Table {
        let columns = "mesh|rows|blocks|colours|most rows of a colour|fewest";
        let mut table = Table::new("tetrahedral meshes of boxes", columns);
        for MeshRow { points, rows, blocks, colours } in meshes {
            let most = colours.iter().max().unwrap_or(&0);
            let fewest = colours.iter().min().unwrap_or(&0);
            table.row([&shape(*points), rows, blocks, &colours.len(), most, fewest]);
        }
        table
    }
}

/// Results of sweeps over one matrix.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BlockRow {
    points: [usize; 3],
    pub(crate) rows: usize,
    blocks: usize,
    pub(crate) nb: usize,
    off_diagonal: &'static str,
    /// The solver: `host`, or the kernels of a device.
    solver: &'static str,
    /// Minimum traffic of one sweep.
    bytes: usize,
    /// Seconds of one sweep over all colours.
    pub(crate) seconds: Spread,
    /// Bandwidth at the smallest time.
    gb_per_s: f64,
    /// Bandwidth of the copy that ran between the repeats.
    copy_gb_per_s: f64,
    /// Largest residual of a row, relative to the sum of its terms.
    error: f64,
    repeats: u32,
}

impl BlockRow {
    pub(super) fn new<S: Real>(
        points: [usize; 3],
        (matrix, solver): (&Factored<S>, &'static str),
        (times, copy): (&Times, CopyReport),
        error: f64,
        repeats: u32,
    ) -> Self {
        let pattern = matrix.colouring.pattern();
        let (bytes, seconds) = (matrix.bytes(), Spread::seconds(times));
        Self {
            points,
            rows: pattern.rows(),
            blocks: pattern.blocks(),
            nb: matrix.nb,
            off_diagonal: S::PRECISION.name(),
            solver,
            bytes,
            seconds,
            gb_per_s: 1e-9 * bytes as f64 / seconds.min,
            copy_gb_per_s: copy.gb_per_s,
            error,
            repeats,
        }
    }

    /// The table that is printed.
    pub(in crate::bench) fn table(rows: &[BlockRow]) -> Table {
        let columns =
            "sweeps|rows|nb|blocks in|solver|bytes/row|ms|median|GB/s|copy GB/s|of copy|error";
        let heading =
            "one sweep over all colours; GB/s from the stated bytes and the smallest time";
        let mut table = Table::new(heading, columns);
        for row in rows {
            table.row([
                &shape(row.points),
                &row.rows,
                &row.nb,
                &row.off_diagonal,
                &row.solver,
                &(row.bytes / row.rows),
                &figure(1e3 * row.seconds.min),
                &figure(1e3 * row.seconds.median),
                &figure(row.gb_per_s),
                &figure(row.copy_gb_per_s),
                &format!("{:.1} %", 100.0 * row.gb_per_s / row.copy_gb_per_s),
                &format!("{:.1e}", row.error),
            ]);
        }
        table
    }
}
