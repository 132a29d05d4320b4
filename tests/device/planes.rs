//! Planes: a sweep or a formula gives the same result for the values of one plane as for a field with these values at every z.

use std::any::Any;

use kolmo::backend::device::Fusing;
use kolmo::backend::{Backend, Weights};
use kolmo::config::Precision;
use kolmo::engine::{Formula, LineOperators, Number, PointFormula, SweepBuilder};
use kolmo::grid::{Axis, Grid};
use kolmo::scheme::family;

use super::gpu;
use crate::common::{host_with_threads, max_difference, noise};
use crate::operators::grid;

/// a p + b, which replaces b.
struct Blend;

impl Formula<2, 1> for Blend {
    fn at<N: Number>(&self, [a, p]: [N; 2], [b]: [N; 1], _: [N; 0]) -> [N; 1] {
        [a * p + b]
    }
}

/// a p.
struct Product;

impl Formula<2, 1> for Product {
    fn at<N: Number>(&self, [a, p]: [N; 2], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [a * p]
    }
}

/// Products with p as operands and as factors of operators, p itself, and formulas of it; p is a `plane`, or a field. Also returns the
/// objects that must live until the end of the test (see `small.rs`).
fn results(
    backend: &dyn Backend,
    scheme: &str,
    grid: &Grid,
    axis: Axis,
    plane: bool,
) -> (Vec<Vec<f64>>, Box<dyn Any>) {
    let points = grid.points[0] * grid.points[1];
    let mut random = noise(7);
    let a: Vec<f64> = (0..grid.len()).map(|_| random()).collect();
    let p: Vec<f64> = (0..points).map(|_| random()).collect();
    let p = if plane { p } else { p.into_iter().cycle().take(grid.len()).collect() };
    let [a, p] = [a, p].map(|values| backend.field(&values.into()).unwrap());
    let s = SweepBuilder::new();
    let (of_a, of_p) = (s.read(0), if plane { s.read_plane(1) } else { s.read(1) });
    s.add(0, s.d1(of_a * of_p) + of_p * s.d1(of_a));
    s.store(1, s.d1(of_p));
    s.store(2, of_p + of_a);
    let operators = LineOperators::new(family(scheme).unwrap(), None, grid, Precision::F64);
    let program = backend.program(&s.build(), (axis, grid.points, &operators)).unwrap();
    let mut written = [0; 3].map(|_| backend.zeros(grid.len()).unwrap());
    let [first, second, third] = &mut written;
    backend.run(&program, &[&a, &p], &mut [first, second, third], Weights::SET);
    let of = |formula: PointFormula| {
        let formula = if plane { formula.with_planes(1, points) } else { formula };
        backend.prepare(formula).unwrap()
    };
    let (product, blend) = (of(PointFormula::max(Product)), of(PointFormula::map(Blend)));
    let [largest] = backend.reduce(&product, &[&a, &p], &[]).unwrap().wait().unwrap();
    backend.map(&blend, &[&a, &p], &mut [&mut written[0]], &[]);
    let values = written.iter().map(|field| backend.values(field).unwrap().into());
    let values = values.chain([vec![largest]]).collect();
    (values, Box::new((a, p, written, program, product, blend)))
}

fn check(
    backend: &dyn Backend,
    scheme: &str,
    axis: Axis,
    grid: &Grid,
    bound: f64,
) -> [Box<dyn Any>; 2] {
    let [(found, retained), (expected, retained_too)] =
        [true, false].map(|plane| results(backend, scheme, grid, axis, plane));
    for (found, expected) in found.iter().zip(&expected) {
        let deviation = max_difference(found, expected);
        assert!(deviation <= bound, "{scheme} along {axis:?}: {deviation:e}");
    }
    [retained, retained_too]
}

/// Catches errors in tiles of lines along x and chunks of points that cross the end of a plane, and in the stride along z.
#[test]
fn planes_act_as_fields_that_are_constant_along_z() {
    // On the host, more points than a chunk of a formula.
    for (axis, n, across) in
        [(Axis::X, 43, [11, 13]), (Axis::Y, 35, [13, 11]), (Axis::Z, 13, [19, 29])]
    {
        let grid = grid(axis, n, across, true);
        check(&*host_with_threads(Precision::F64, 2), "compact6", axis, &grid, 0.0);
    }
    // Without line systems kernels compile several times faster; planes are loaded in the same way.
    for fusing in [Fusing::All, Fusing::Nothing] {
        for (axis, n, across) in
            [(Axis::X, 20, [3, 5]), (Axis::Y, 24, [5, 3]), (Axis::Z, 13, [5, 3])]
        {
            let grid = grid(axis, n, across, true);
            let gpu = gpu(Precision::F64, grid.len()).fusing(fusing);
            check(&gpu, "explicit4", axis, &grid, 1e-13);
        }
    }
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_sweeps_that_read_planes() {
    let mut retained = Vec::new();
    for (axis, n, across) in [(Axis::X, 9, [3, 2]), (Axis::Z, 7, [3, 2])] {
        let grid = grid(axis, n, across, true);
        let gpu = gpu(Precision::F64, grid.len()).fusing(Fusing::All);
        retained.push((check(&gpu, "explicit4", axis, &grid, 1e-13), gpu));
    }
}
