//! Operators and sweeps on the host: compact schemes applied to fields along every axis, compared with exact results.

#![allow(clippy::cast_possible_truncation, reason = "test grids are small")]

mod closures;
mod direct;
mod reductions;
mod sweeps;
mod threads;
mod waves;

use kolmo::Real;
use kolmo::backend::Weights;
use kolmo::backend::cpu::{Cpu, Field, Program};
use kolmo::cases::Domain;
use kolmo::engine::{LineOperators, Op, Shift, SweepBuilder};
use kolmo::grid::{Axis, End, Grid};
use kolmo::scheme::*;
use nalgebra::DMatrix;
pub(crate) use sweeps::check_random;

const OPS: [Op; 6] = [
    Op::D1,
    Op::D2,
    Op::DerivativeToMidpoints,
    Op::DerivativeToPoints,
    Op::InterpolateToMidpoints,
    Op::Filter,
];

/// Spacings that differ from axis to axis.
const SPACING: [f64; 3] = [0.3, 1.7, 0.08];

/// The scheme of `op`, and the offsets of its operand and its result from the grid point, in spacings.
fn formula(op: Op, family: &SchemeFamily, filter: &Scheme) -> (Scheme, Shift, f64, f64) {
    match op {
        Op::D1 => (family.first, Shift::None, 0.0, 0.0),
        Op::D2 => (family.second, Shift::None, 0.0, 0.0),
        Op::DerivativeToMidpoints => (family.midpoint_derivative, Shift::ToMidpoints, 0.0, 0.5),
        Op::DerivativeToPoints => (family.midpoint_derivative, Shift::ToPoints, 0.5, 0.0),
        Op::InterpolateToMidpoints => (family.midpoint_interpolation, Shift::ToMidpoints, 0.0, 0.5),
        Op::Filter => (*filter, Shift::None, 0.0, 0.0),
        Op::D1OfOdd | Op::D2OfOdd | Op::FilterOfOdd => unreachable!("no plane of symmetry"),
    }
}

/// The factor from an operator for h = 1 to one for spacing h.
fn per_spacing(scheme: &Scheme, h: f64) -> f64 {
    match scheme.kind {
        Kind::FirstDerivative | Kind::MidpointDerivative => 1.0 / h,
        Kind::SecondDerivative => 1.0 / (h * h),
        Kind::MidpointInterpolation | Kind::Filter => 1.0,
    }
}

/// Weights of f at i + s and i − s (at i ± (s − ½) if staggered) for h = 1, and the weight of f at i.
fn weights(scheme: &Scheme) -> (Vec<(f64, f64)>, f64) {
    let sides = |(a, s): (&f64, u32)| {
        let s = f64::from(s);
        match scheme.kind {
            Kind::FirstDerivative => (a / (2.0 * s), -a / (2.0 * s)),
            Kind::SecondDerivative => (a / (s * s), a / (s * s)),
            Kind::MidpointDerivative => (a / (2.0 * s - 1.0), -a / (2.0 * s - 1.0)),
            Kind::MidpointInterpolation | Kind::Filter => (a / 2.0, a / 2.0),
        }
    };
    let pairs: Vec<_> = scheme.rhs[..scheme.half_width()].iter().zip(1..).map(sides).collect();
    let center = match scheme.kind {
        Kind::SecondDerivative => -pairs.iter().map(|pair| pair.0 + pair.1).sum::<f64>(),
        _ => scheme.center,
    };
    (pairs, center)
}

/// Round-off of A⁻¹ B f in units of ε max |f|: (‖B‖ + ‖A‖ max |symbol|) ‖A⁻¹‖ on a line with spacing h.
fn round_off(scheme: &Scheme, h: f64) -> f64 {
    let (pairs, center) = weights(scheme);
    let b = center.abs() + pairs.iter().map(|pair| pair.0.abs() + pair.1.abs()).sum::<f64>();
    let a = 1.0 + 2.0 * scheme.alpha.abs() + 2.0 * scheme.beta.abs();
    let w = (0..=64).map(|i| f64::from(i) * std::f64::consts::PI / 64.0);
    let smallest = w.map(|w| scheme.left_symbol(w)).fold(f64::INFINITY, f64::min);
    (b + a * scheme.max_symbol().0) / smallest * per_spacing(scheme, h)
}

/// A⁻¹ B on a periodic line of n points as a dense matrix.
fn periodic_matrix(scheme: &Scheme, shift: Shift, n: usize, h: f64) -> DMatrix<f64> {
    let (mut a, mut b) = (DMatrix::identity(n, n), DMatrix::zeros(n, n));
    let (pairs, center) = weights(scheme);
    let (up, down) = match shift {
        Shift::None => (0, 0),
        Shift::ToMidpoints => (0, 1),
        Shift::ToPoints => (-1, 0),
    };
    for m in 0..n {
        let column = |d: isize| (m + n).checked_add_signed(d).unwrap() % n;
        for (d, weight) in [(1, scheme.alpha), (2, scheme.beta)] {
            a[(m, column(d))] += weight;
            a[(m, column(-d))] += weight;
        }
        b[(m, m)] += center;
        for (s, pair) in (1..).zip(&pairs) {
            b[(m, column(s + up))] += pair.0;
            b[(m, column(down - s))] += pair.1;
        }
    }
    a.lu().solve(&b).unwrap() * per_spacing(scheme, h)
}

/// A grid with `n` points along `axis` and `across` points along the other two, in the order x, y, z.
pub(crate) fn grid(axis: Axis, n: usize, across: [usize; 2], periodic: bool) -> Grid {
    let [a, b] = across;
    let points = match axis {
        Axis::X => [n, a, b],
        Axis::Y => [a, n, b],
        Axis::Z => [a, b, n],
    };
    let intervals = |at: usize| (if periodic { points[at] } else { points[at].max(2) - 1 }) as f64;
    let length = std::array::from_fn(|at| SPACING[at] * intervals(at));
    Grid::new(
        points,
        &Domain { origin: [0.0; 3], length },
        [(!periodic).then_some([End::ByParts; 2]); 3],
    )
}

/// (position on the line, index of the line) of point `at` of a field, for lines along `axis`.
fn place(grid: &Grid, axis: Axis, at: usize) -> (usize, usize) {
    let [i, j, k] = grid.index(at);
    let [nx, ny, _] = grid.points;
    match axis {
        Axis::X => (i, j + ny * k),
        Axis::Y => (j, i + nx * k),
        Axis::Z => (k, i + nx * j),
    }
}

/// A field given by lines along `axis`: `value(point, line)`.
pub(crate) fn field<T: Real>(
    grid: &Grid,
    axis: Axis,
    value: impl Fn(usize, usize) -> f64,
) -> Field<T> {
    let mut field = Field::zeros(grid.len());
    for at in 0..grid.len() {
        let (point, line) = place(grid, axis, at);
        field[at] = T::of(value(point, line));
    }
    field
}

/// A field of NaN, which must not be read.
fn poisoned<T: Real>(grid: &Grid) -> Field<T> {
    let mut field = Field::zeros(grid.len());
    field.fill(T::of(f64::NAN));
    field
}

/// `op` applied to `f` along `axis`, added to a field of NaN with β = 0.
pub(crate) fn apply<T: Real>(
    cpu: &Cpu<T>,
    operators: &LineOperators,
    grid: &Grid,
    axis: Axis,
    op: Op,
    f: &Field<T>,
) -> Field<T> {
    let s = SweepBuilder::new();
    s.add(0, s.apply(op, s.read(0)));
    let program = Program::new(&s.build(), axis, grid.points, operators);
    let mut to = poisoned(grid);
    cpu.run(&program, &[f], &mut [&mut to], Weights::SET);
    to
}

/// Largest |a − b| of two fields, NaN if any difference is NaN.
fn distance<T: Real>(a: &[T], b: &[T]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| (a.f64() - b.f64()).abs());
    differences.fold(0.0, |worst: f64, d| if d.is_nan() { d } else { worst.max(d) })
}

/// Whether two fields are bitwise identical, NaN included.
fn same<T: Real>(a: &[T], b: &[T]) -> bool {
    let equal = |(a, b): (&T, &T)| a.f64().to_bits() == b.f64().to_bits();
    a.len() == b.len() && a.iter().zip(b).all(equal)
}
