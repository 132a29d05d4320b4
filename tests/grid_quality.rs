//! The report of `kolmo grid` for grids with known spacings and angles.

use kolmo::grid::Axis;
use kolmo::quality::Quality;

use crate::common::{assert_close, config};

const WALLS: &str = "boundary.y={ low = 'wall', high = 'wall' }";

/// Lines along y lean by atan 1/2, and J = 1. Catches angles between the wrong lines, radians instead of degrees, and spacings that
/// ignore the period.
#[test]
fn sheared_box_has_its_exact_angle_and_spacings() {
    let set = "grid.mapping={ kind = 'expressions', x = '2*pi*(s + 0.5*t)', y = '2*pi*t' }";
    let quality = Quality::of(&config("taylor-green", [18, 20, 1], &[set]));
    assert_close(quality.angle.unwrap().value, 0.5_f64.atan().to_degrees(), 1e-12, "angle");
    assert_close(quality.jacobian.value, 1.0, 1e-12, "Jacobian");
    let tau = std::f64::consts::TAU;
    for (spacings, h) in quality.spacings.iter().zip([tau / 18.0, 1.25_f64.sqrt() * tau / 20.0]) {
        for (found, expected) in
            [(spacings.smallest, h), (spacings.largest, h), (spacings.ratio, 1.0)]
        {
            assert_close(found.value, expected, 1e-12, spacings.axis.name());
        }
    }
}

/// Radii are a geometric sequence from 1/2 to 4 in 18 steps. Catches first cells along the wrong axis or at the wrong end, and ratios
/// below one.
#[test]
fn ring_has_the_cell_sizes_of_its_geometric_sequence() {
    let set = ["grid.mapping={ kind = 'ring', inner = 0.5, outer = 4.0 }", WALLS];
    let quality = Quality::of(&config("taylor-green", [24, 19, 1], &set));
    let q = 8.0_f64.powf(1.0 / 18.0);
    let [low, high] = &quality.walls[..] else { panic!("two walls") };
    assert!((low.axis, low.is_high, high.is_high) == (Axis::Y, false, true));
    for (cells, expected) in [(low, 0.5 * (q - 1.0)), (high, 4.0 * (1.0 - 1.0 / q))] {
        for size in cells.sizes {
            assert_close(size, expected, 1e-12, "first cells");
        }
    }
    let [around, outward] = &quality.spacings[..] else { panic!("two axes") };
    assert_close(outward.ratio.value, q, 1e-12, "ratio");
    assert_close(around.smallest.value, (std::f64::consts::PI / 24.0).sin(), 1e-12, "chord");
    assert_close(around.largest.value, 8.0 * (std::f64::consts::PI / 24.0).sin(), 1e-12, "chord");
    assert_eq!(around.largest.index[1], 18);
    assert!(quality.angle.unwrap().value < 1e-2, "{:?}", quality.angle);
}

/// Catches a map that is treated as equal spacings: the tanh map gives the position of the second point.
#[test]
fn stretched_axis_has_the_first_cell_and_jacobian_of_its_map() {
    let set = ["grid.stretching={ y = { map = 'tanh', factor = 2.0 } }", WALLS];
    let config = config("taylor-green", [16, 33, 16], &set);
    let quality = Quality::of(&config);
    let tau = std::f64::consts::TAU;
    let first = 0.5 * tau * (1.0 - (2.0 * (1.0 - 2.0 / 32.0_f64)).tanh() / 2.0_f64.tanh());
    assert_close(quality.walls[0].sizes[0], first, 1e-12, "first cell");
    assert_close(quality.spacings[1].smallest.value, first, 1e-12, "smallest");
    // dx/dξ at the wall is 2F / sinh 2F, computed with a third-order derivative there.
    assert_close(quality.jacobian.value, 4.0 / 4.0_f64.sinh(), 0.02, "Jacobian");
    assert!(quality.angle.is_none());
    assert_close(quality.spacings[2].ratio.value, 1.0, 1e-12, "equal spacings");
}
