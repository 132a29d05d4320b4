//! Fourier transform of a real field in three dimensions.

use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;
use rustfft::{Fft, FftPlanner};

use super::lines::{Scratch, map_lines};
use super::pencils::{Pencils, transfer};
use crate::comm::Communicator;
use crate::grid::{Axis, Block, Boxes, Decomposition};

/// Planned transforms between fields of one grid and their modes. A field takes 8 bytes per point, and its modes take as much; a transform
/// takes at most 24 at a time, including its argument and its result.
pub struct Fourier {
    decomposition: Decomposition,
    points: [usize; 3],
    /// Whole lines of the field along x.
    lines: Pencils,
    /// Whole lines of the modes along x, and along y and z if they have several points: the stages of a transform, in order.
    stages: Vec<(Axis, Pencils)>,
    /// (forward, inverse) along every axis.
    plans: [[Arc<dyn Fft<f64>>; 2]; 3],
}

/// The modes that a rank holds.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Points of the field.
    points: [usize; 3],
    /// The modes of this rank, by the index of their coefficients in a box of nx/2 + 1, ny and nz.
    pub block: Block,
    /// û of every mode of the block, x fastest.
    pub values: Vec<Complex<f64>>,
}

/// The mode of a coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// mₓ, m_y, m_z: numbers of periods in the box; n/2, not −n/2, for the shortest wave of an even number of points.
    pub periods: [f64; 3],
    /// True along an axis where the mode is this shortest wave, which represents both signs.
    pub shortest: [bool; 3],
    /// Number of modes represented by this coefficient: 2 if the coefficient of −m is not stored, else 1.
    pub count: f64,
}

impl Fourier {
    /// Transforms for fields of `points` points, distributed over `ranks` ranks by `decomposition`.
    pub fn new(decomposition: Decomposition, points: [usize; 3], ranks: usize) -> Self {
        let mut planner = FftPlanner::new();
        let half = [points[0] / 2 + 1, points[1], points[2]];
        let stages =
            Axis::ALL.into_iter().filter(|axis| axis.index() == 0 || points[axis.index()] > 1);
        Self {
            decomposition,
            points,
            lines: Pencils::new(Axis::X, points, ranks),
            stages: stages.map(|axis| (axis, Pencils::new(axis, half, ranks))).collect(),
            plans: points.map(|n| [planner.plan_fft_forward(n), planner.plan_fft_inverse(n)]),
        }
    }

    /// The modes of this rank for a zero field, as a start for a sum of modes.
    pub fn zero_modes(&self, comm: &dyn Communicator) -> Modes {
        let block = self.last_pencils().block(comm.rank());
        Modes { points: self.points, block, values: vec![Complex::ZERO; block.len()] }
    }

    /// The modes of a field, from its values at the points of this rank's block. Collective.
    pub fn forward(&self, comm: &dyn Communicator, values: Vec<f64>) -> Modes {
        let rank = comm.rank();
        let values = transfer(comm, &self.blocks(), &self.lines.boxes(), values);
        let per_point = 1.0 / self.points.iter().product::<usize>() as f64;
        let plan = &self.plans[0][0];
        let mode_count = self.points[0] / 2 + 1;
        let lines = self.lines.block(rank).points;
        let mut modes = map_lines(
            lines,
            Axis::X,
            &values,
            mode_count,
            |line: &[f64], out, buffers: &mut Scratch| {
                let [full_line, scratch] = buffers;
                full_line.clear();
                full_line.extend(line.iter().map(|value| Complex::from(value * per_point)));
                transform_line(&**plan, full_line, scratch);
                out.copy_from_slice(&full_line[..mode_count]);
            },
        );
        drop(values);
        for pair in self.stages.windows(2) {
            let (axis, pencils) = pair[1];
            modes = transfer(comm, &pair[0].1.boxes(), &pencils.boxes(), modes);
            modes =
                transform_lines(axis, pencils.block(rank), &modes, &*self.plans[axis.index()][0]);
        }
        Modes { points: self.points, block: self.last_pencils().block(rank), values: modes }
    }

    /// The values of the field at the points of this rank's block, from its modes. Collective.
    pub fn inverse(&self, comm: &dyn Communicator, modes: Modes) -> Vec<f64> {
        let rank = comm.rank();
        let mut modes = modes.values;
        for pair in self.stages.windows(2).rev() {
            let (axis, pencils) = pair[1];
            modes =
                transform_lines(axis, pencils.block(rank), &modes, &*self.plans[axis.index()][1]);
            modes = transfer(comm, &pencils.boxes(), &pair[0].1.boxes(), modes);
        }
        let (n, plan) = (self.points[0], &self.plans[0][1]);
        let lines = self.stages[0].1.block(rank).points;
        let values = map_lines(
            lines,
            Axis::X,
            &modes,
            n,
            |line: &[Complex<f64>], out, buffers: &mut Scratch| {
                let [full_line, scratch] = buffers;
                full_line.clear();
                full_line.extend_from_slice(line);
                full_line.extend((line.len()..n).map(|m| line[n - m].conj()));
                transform_line(&**plan, full_line, scratch);
                for (value, from) in out.iter_mut().zip(full_line) {
                    *value = from.re;
                }
            },
        );
        drop(modes);
        transfer(comm, &self.lines.boxes(), &self.blocks(), values)
    }

    /// Distribution of fields.
    fn blocks(&self) -> Boxes {
        Boxes::blocks(self.decomposition, self.points)
    }

    /// Distribution of the modes after all axes.
    fn last_pencils(&self) -> Pencils {
        self.stages[self.stages.len() - 1].1
    }
}

/// Transform every line of modes along `axis`.
fn transform_lines(
    axis: Axis,
    block: Block,
    modes: &[Complex<f64>],
    plan: &dyn Fft<f64>,
) -> Vec<Complex<f64>> {
    let n = block.points[axis.index()];
    map_lines(block.points, axis, modes, n, |line: &[Complex<f64>], out, buffers: &mut Scratch| {
        out.copy_from_slice(line);
        transform_line(plan, out, &mut buffers[0]);
    })
}

/// Transform one line in place.
pub(super) fn transform_line(
    plan: &dyn Fft<f64>,
    line: &mut [Complex<f64>],
    scratch: &mut Vec<Complex<f64>>,
) {
    scratch.resize(plan.get_inplace_scratch_len(), Complex::ZERO);
    plan.process_with_scratch(line, scratch);
}

impl Modes {
    /// Add to every coefficient the value of `term` for its index in `values` and its mode.
    pub fn add(&mut self, term: impl Fn(usize, &Mode) -> Complex<f64> + Sync) {
        let mut values = std::mem::take(&mut self.values);
        values
            .par_iter_mut()
            .enumerate()
            .for_each(|(at, value)| *value += term(at, &self.mode(at)));
        self.values = values;
    }

    /// The mode of `values[at]`.
    pub fn mode(&self, at: usize) -> Mode {
        let index = self.block.index(at);
        let signed = |a: usize| match index[a] {
            m if m <= self.points[a] / 2 => m as f64,
            m => m as f64 - self.points[a] as f64,
        };
        let shortest = std::array::from_fn(|a| index[a] > 0 && 2 * index[a] == self.points[a]);
        let is_single = index[0] == 0 || shortest[0];
        let count = if is_single { 1.0 } else { 2.0 };
        Mode { periods: std::array::from_fn(signed), shortest, count }
    }
}
