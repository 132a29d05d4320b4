//! The largest grid that fits.

use super::memory::Parts;
use crate::config::Config;
use crate::grid::{Block, MAX_POINTS_PER_AXIS};

/// The largest grid of the proportions of `config` for which `fits` says that it fits into `free` bytes: `None`, or at least 16
/// points along each axis, enough for all formulas, in multiples of 8, or of 64 beyond 1024. On a device, lines of other lengths
/// may need more fields.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most MAX_POINTS_PER_AXIS"
)]
pub(super) fn largest(
    config: &Config,
    free: f64,
    fits: impl Fn(&Config) -> bool,
) -> Option<[usize; 3]> {
    let points = config.grid.points;
    let longest = points.into_iter().max().unwrap_or(1);
    let scaled = |to: usize| {
        let mut config = config.clone();
        let one = |n: usize| (n * to / longest / 8 * 8).max(16);
        config.grid.points = points.map(|n| if n > 1 { one(n) } else { 1 });
        config
    };
    // No device needs fewer fields than the host.
    let bytes = Parts::of(config, &Block::whole(points), None).bytes_per_point();
    let active = || points.iter().filter(|n| **n > 1);
    let shape: f64 = active().map(|&n| n as f64 / longest as f64).product();
    let estimate = (free / bytes / shape).powf(1.0 / active().count() as f64);
    let most = ((estimate / 64.0) as usize + 1).min(MAX_POINTS_PER_AXIS / 64) * 64;
    let smaller = |n: &usize| Some(n - if *n > 1024 { 64 } else { 8 }).filter(|n| *n > 8);
    let lengths = std::iter::successors(Some(most), smaller);
    lengths.map(scaled).find(fits).map(|config| config.grid.points)
}

/// Advice where a grid does not fit.
pub(super) fn advice(largest: Option<[usize; 3]>) -> String {
    let alternatives = "`compute.precision = \"f32\"`, or an integrator in 2N storage";
    match largest {
        Some([x, y, z]) => {
            format!("at most {x} x {y} x {z} points of this shape fit; or use {alternatives}")
        }
        None => format!("no grid of this shape fits; use {alternatives}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::of_case;
    use crate::time::sweep_blocks::tests::gpu;

    #[test]
    fn largest_grid_is_the_largest_that_fits_in_memory() {
        let gpu = gpu();
        for (case, points, device, gib, expected) in [
            // 15 fields of 8 bytes take 120 GiB on 1024^3 points.
            ("taylor-green", [64, 64, 64], None, 120.0, Some([1024, 1024, 1024])),
            ("taylor-green", [64, 64, 64], None, 119.0, Some([1016, 1016, 1016])),
            ("taylor-green", [64, 64, 64], Some(&gpu), 120.0, Some([1024, 1024, 1024])),
            // Lines of more than 1024 points need operators one after another, which take 50 fields or more.
            ("taylor-green", [64, 64, 64], Some(&gpu), 200.0, Some([1024, 1024, 1024])),
            ("isentropic-vortex", [100, 50, 1], None, 1.0, Some([4224, 2112, 1])),
            ("acoustic-wave", [32, 1, 1], Some(&gpu), 78.0, Some([65536, 1, 1])),
            ("taylor-green", [16, 16, 16], None, 1e-9, None),
        ] {
            let free = gib * f64::from(1 << 30);
            let config = of_case(case, points, &[]).unwrap();
            let fits = |config: &Config| {
                let block = Block::whole(config.grid.points);
                Parts::of(config, &block, device).bytes(&block) <= free
            };
            assert_eq!(largest(&config, free, fits), expected);
        }
    }
}
