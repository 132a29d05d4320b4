//! Results do not depend on the number of threads, the axis, or the position of a line in a tile.

use kolmo::backend::cpu::PointCode;
use kolmo::engine::{Formula, Number, PointFormula};

use super::*;

const THREADS: [usize; 4] = [1, 2, 3, 5];

/// u, u v, 1.
struct Products;

impl Formula<2, 3> for Products {
    fn at<N: Number>(&self, [u, v]: [N; 2], _: [N; 3], _: [N; 0]) -> [N; 3] {
        [u, u * v, N::of(1.0)]
    }
}

/// u, 1.
struct WithOne;

impl Formula<1, 2> for WithOne {
    fn at<N: Number>(&self, [u]: [N; 1], _: [N; 2], _: [N; 0]) -> [N; 2] {
        [u, N::of(1.0)]
    }
}

/// Replaces b and c with b + s a and c + 1.
struct Visit;

impl Formula<1, 2, 1> for Visit {
    fn at<N: Number>(&self, [a]: [N; 1], [b, c]: [N; 2], [s]: [N; 1]) -> [N; 2] {
        [b + s * a, c + N::of(1.0)]
    }
}

/// A field of numbers with very different magnitudes and both signs.
fn rough<T: Real>(grid: &Grid, seed: u32) -> Field<T> {
    let noise = crate::lines::noise(grid.len(), seed);
    let mut field = Field::zeros(grid.len());
    field.iter_mut().zip(noise).for_each(|(to, x)| *to = T::of(x * (8.0 * x).exp()));
    field
}

fn sweep_bits<T: Real>(threads: usize, periodic: bool) -> Vec<u64> {
    let cpu = Cpu::<T>::new(Some(threads)).unwrap();
    assert_eq!(cpu.threads(), threads);
    let mut bits = Vec::new();
    for axis in Axis::ALL {
        let grid = grid(axis, 37, [83, 9], periodic);
        let filter = compact_filter(8, 0.45);
        let operators = LineOperators::new(
            family("compact10-penta").unwrap(),
            Some(&filter),
            &grid,
            T::PRECISION,
        );
        let s = SweepBuilder::new();
        let (u, v) = (s.read(0), s.read(1));
        s.add(0, u * s.d1(u * v) + 0.1 * s.d2(v));
        s.store(1, s.apply(Op::Filter, s.previous(1)));
        let program = Program::new(&s.build(), axis, grid.points, &operators);
        let (u, v) = (rough::<T>(&grid, 1), rough(&grid, 2));
        let (mut a, mut b) = (rough::<T>(&grid, 3), rough(&grid, 4));
        cpu.run(&program, &[&u, &v], &mut [&mut a, &mut b], Weights::times(0.3));
        bits.extend(a.iter().chain(b.iter()).map(|x| x.f64().to_bits()));
    }
    bits
}

#[test]
fn sweeps_are_bitwise_identical_for_any_number_of_threads() {
    for periodic in [true, false] {
        let [one, more @ ..] = THREADS.map(|threads| sweep_bits::<f64>(threads, periodic));
        assert!(more.iter().all(|bits| *bits == one));
        let [one, more @ ..] = THREADS.map(|threads| sweep_bits::<f32>(threads, periodic));
        assert!(more.iter().all(|bits| *bits == one));
    }
}

#[test]
fn lines_are_bitwise_identical_along_every_axis_and_anywhere_in_a_tile() {
    let cpu = Cpu::<f64>::new(Some(2)).unwrap();
    let filter = compact_filter(10, 0.45);
    let line = crate::lines::noise(27, 5);
    for periodic in [true, false] {
        for (family, op) in families().iter().flat_map(|f| OPS.map(|op| (f, op))) {
            if !periodic && !matches!(op, Op::D1 | Op::D2 | Op::Filter) {
                continue;
            }
            let results = Axis::ALL.map(|axis| {
                let grid = Grid { spacing: [0.3; 3], ..grid(axis, 27, [81, 2], periodic) };
                let operators =
                    LineOperators::new(family, Some(&filter), &grid, kolmo::Precision::F64);
                let f = field(&grid, axis, |point, _| line[point]);
                let found = apply(&cpu, &operators, &grid, axis, op, &f);
                let mut first = vec![0.0; 27];
                for at in 0..grid.len() {
                    let (point, line) = place(&grid, axis, at);
                    match line {
                        0 => first[point] = found[at],
                        _ => assert_eq!(
                            first[point].to_bits(),
                            found[at].to_bits(),
                            "{axis:?}, line {line}"
                        ),
                    }
                }
                first
            });
            assert!(results.iter().all(|r| same(r, &results[0])), "{} {op:?}", family.name);
        }
    }
}

#[test]
fn sums_and_maxima_are_bitwise_identical_for_any_number_of_threads() {
    for points in
        [[1, 1, 1], [8, 1, 1], [4095, 1, 1], [64, 64, 1], [4097, 1, 1], [37, 29, 23], [64, 64, 65]]
    {
        let grid = Grid::periodic(points, &Domain::cube(1.0));
        let (u, v) = (rough::<f64>(&grid, 1), rough::<f64>(&grid, 2));
        let bits = |threads| {
            let cpu = Cpu::<f64>::new(Some(threads)).unwrap();
            let [sum, max] = [PointFormula::sum(Products), PointFormula::max(WithOne)];
            let sums = cpu.reduce::<3>(&PointCode::new(sum), &[&u, &v], &[]);
            let [largest, _] = cpu.reduce::<2>(&PointCode::new(max), &[&u], &[]);
            assert_eq!(sums[2], grid.len() as f64);
            assert_eq!(largest, u.iter().copied().fold(f64::NEG_INFINITY, f64::max));

            // Pairwise sums of chunks of 4096: the error is below (4096/8 + 8 + log₂ chunks) ε/2 times the sum of magnitudes.
            let size: f64 = u.iter().map(|u| u.abs()).sum();
            let exact = exact_sum(&u);
            assert!((sums[0] - exact).abs() <= 270.0 * f64::EPSILON * size, "{} {exact}", sums[0]);
            [sums[0], sums[1], largest].map(f64::to_bits)
        };
        let [one, more @ ..] = THREADS.map(bits);
        assert!(more.iter().all(|bits| *bits == one));
    }
}

/// Σ u by compensated summation (Neumaier 1974).
fn exact_sum(u: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for &u in u {
        let new = sum + u;
        lost += if sum.abs() >= u.abs() { (sum - new) + u } else { (u - new) + sum };
        sum = new;
    }
    sum + lost
}

#[test]
fn maxima_report_nan_as_infinity_and_sums_propagate_nan() {
    let cpu = Cpu::<f32>::new(Some(2)).unwrap();
    let [sum, max] = [PointFormula::sum(WithOne), PointFormula::max(WithOne)].map(PointCode::new);
    for at in [0, 7, 4095, 4096, 9999] {
        let mut u = Field::<f32>::zeros(10_000);
        u.fill(-3.0);
        let maxima = |u: &Field<f32>| cpu.reduce::<2>(&max, &[u], &[]);
        assert_eq!(maxima(&u), [-3.0, 1.0]);
        u[at] = f32::NAN;
        assert_eq!(maxima(&u), [f64::INFINITY, 1.0]);
        let [sum, ones] = cpu.reduce::<2>(&sum, &[&u], &[]);
        assert!(sum.is_nan() && ones == 10_000.0);
    }
}

#[test]
fn maps_visit_every_point_once_with_the_values_of_that_point() {
    for threads in THREADS {
        let cpu = Cpu::<f64>::new(Some(threads)).unwrap();
        for len in [1, 7, 4095, 4096, 4097, 12_289] {
            let (mut a, mut b, mut c) = (Field::zeros(len), Field::zeros(len), Field::zeros(len));
            (0..len).for_each(|i| a[i] = i as f64);
            let visit = PointCode::new(PointFormula::map(Visit));
            cpu.map(&visit, &[&a], &mut [&mut b, &mut c], &[2.0]);
            assert!((0..len).all(|i| b[i] == 2.0 * i as f64 && c[i] == 1.0));
        }
    }
}
