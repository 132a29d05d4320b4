//! Which sweeps run plane by plane: those along x and y meet at the same points of a plane, which stay in the caches from one to
//! the next.

use super::{Cpu, Program};
use crate::backend::Weights;
use crate::grid::Axis;
use crate::real::Real;

impl<T: Real> Cpu<T> {
    /// How many of the first programs run plane by plane; fewer than two are better run alone.
    pub(super) fn in_planes(&self, programs: &[(&Program<T>, Weights)]) -> usize {
        let [(first, _), ..] = programs else { return 0 };
        if !shared_out(first.grid[2], self.threads()) {
            return 0;
        }
        let in_planes = |(program, _): &&(&Program<T>, Weights)| {
            program.axis != Axis::Z && program.packs.is_empty()
        };
        programs.iter().take_while(in_planes).count()
    }
}

/// Whether `threads` threads have nearly equal parts of `planes` planes: they wait for each other at the end for a ninth of the time at
/// most.
fn shared_out(planes: usize, threads: usize) -> bool {
    8 * planes.div_ceil(threads) * threads <= 9 * planes
}
