//! Spherical shells of wavenumbers.

use std::f64::consts::TAU;

use super::Mode;
use crate::grid::{Axis, Grid};

/// The wavenumber shells of a grid: a mode with m = (mₓ, m_y, m_z) periods in the box has the wavenumbers kₐ = 2π mₐ/Lₐ and lies in shell s
/// = round(|k|/k₀), with k₀ the smallest 2π/Lₐ of the axes with more than one point.
#[derive(Clone, Copy, Debug)]
pub struct Shells {
    /// 2π/L.
    unit: [f64; 3],
    /// k₀; infinite for a single point.
    pub smallest: f64,
    /// Number of shells, from that of the mean to that of the highest mode.
    pub count: usize,
    /// The first shell in which the grid lacks a mode, or represents one only as a shortest wave, which is both k and −k.
    pub incomplete: usize,
}

impl Shells {
    /// The shells of `grid`.
    pub fn new(grid: &Grid) -> Self {
        let unit = std::array::from_fn(|a| TAU / (grid.points[a] as f64 * grid.spacing[a]));
        let active = || grid.active_axes().map(Axis::index);
        let smallest = active().map(|a| unit[a]).fold(f64::INFINITY, f64::min);
        let mut shells = Self { unit, smallest, count: 1, incomplete: 1 };
        shells.count += shells.shell(shells.wavenumber_of(grid.points.map(|n| (n / 2) as f64)));
        let missing = active().map(|a| {
            let mut periods = [0.0; 3];
            periods[a] = grid.points[a].div_ceil(2) as f64;
            shells.shell(shells.wavenumber_of(periods))
        });
        shells.incomplete = missing.min().unwrap_or(1);
        shells
    }

    /// (kₓ, k_y, k_z) of a mode.
    pub fn wavenumber(&self, mode: &Mode) -> [f64; 3] {
        self.wavenumber_of(mode.periods)
    }

    fn wavenumber_of(&self, periods: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.unit[a] * periods[a])
    }

    /// The shell of (kₓ, k_y, k_z).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to a few 10⁵")]
    pub fn shell(&self, k: [f64; 3]) -> usize {
        // For a single point k₀ is infinite and k is zero.
        (k.iter().map(|k| k * k).sum::<f64>().sqrt() / self.smallest).round() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Domain;

    #[test]
    fn first_incomplete_shell_follows_from_the_lowest_unresolved_wavenumber() {
        let shells = |points, length| {
            let domain = Domain { origin: [0.0; 3], length };
            Shells::new(&Grid::periodic(points, &domain)).incomplete
        };
        // Even n: n/2 itself, which represents both signs. Odd n: (n + 1)/2, which the grid does not resolve.
        assert_eq!(shells([16, 16, 16], [TAU; 3]), 8);
        assert_eq!(shells([15, 17, 19], [TAU; 3]), 8);
        assert_eq!(shells([16, 9, 1], [TAU; 3]), 5);
        // In a box of half the height, wavenumbers along z are multiples of 2.
        assert_eq!(shells([16, 16, 6], [TAU, TAU, TAU / 2.0]), 6);
        assert_eq!(shells([16, 1, 1], [1.0, 2.0, 3.0]), 8);
    }
}
