//! Sweeps compared with a pointwise evaluation of their expressions, and guarantees of their execution.

use kolmo::Precision;
use kolmo::backend::{self, Backend, ComputeConfig, Simd, Weights};
use kolmo::engine::{Expr, Formula, Number, Sweep, Value};

use super::*;
use crate::common::{host_with_threads, scheme_family};

/// Pseudorandom numbers (Knuth's linear congruential generator).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn number(&mut self) -> f64 {
        self.below(2001) as f64 / 1000.0 - 1.0
    }
}

/// Every operation that a sweep may apply to points.
struct Quotients;

impl Formula<3, 2> for Quotients {
    fn at<N: Number>(&self, [x, y, z]: [N; 3], _: [N; 2], _: [N; 0]) -> [N; 2] {
        let (third, one) = (N::of(1.0 / 3.0), N::of(1.0));
        let norm = (x * x + y.abs() + one).sqrt();
        [(third - y * z) / norm - x, -(x * y - third * z) * third + y]
    }
}

/// A sweep under construction, together with its pointwise evaluation.
struct Twin {
    s: SweepBuilder,
    random: Random,
    grid: Grid,
    axis: Axis,
    /// A⁻¹ B of every operator.
    matrices: Vec<DMatrix<f64>>,
    /// The values defined so far.
    pool: Vec<(Value, Vec<f64>)>,
    /// Whether formulas may be applied.
    formulas: bool,
}

impl Twin {
    fn expression(&mut self) -> (Expr, Vec<f64>) {
        let (mut expr, mut values) = (Expr::zero(), vec![0.0; self.grid.len()]);
        for _ in 0..1 + self.random.below(4) {
            let coefficient = self.random.number();
            let (mut term, mut product) =
                (Expr::from(coefficient), vec![coefficient; values.len()]);
            for _ in 0..self.random.below(6) {
                let (value, numbers) = &self.pool[self.random.below(self.pool.len())];
                term = term * *value;
                product.iter_mut().zip(numbers).for_each(|(p, x)| *p *= x);
            }
            let minus = self.random.below(2) == 0;
            expr = if minus { expr - term } else { expr + term };
            let sign = if minus { -1.0 } else { 1.0 };
            values.iter_mut().zip(product).for_each(|(v, p)| *v += sign * p);
        }
        (expr, values)
    }

    fn along_lines(&self, matrix: &DMatrix<f64>, f: &[f64]) -> Vec<f64> {
        let n = matrix.nrows();
        let mut lines = vec![vec![0.0; n]; f.len() / n];
        for (at, f) in f.iter().enumerate() {
            let (point, line) = place(&self.grid, self.axis, at);
            lines[line][point] = *f;
        }
        let row = |(point, line): (usize, usize)| {
            matrix.row(point).iter().zip(&lines[line]).map(|(a, f)| a * f).sum()
        };
        (0..f.len()).map(|at| row(place(&self.grid, self.axis, at))).collect()
    }

    /// Adds a value: the result of an operator, a definition, or a formula.
    fn grow(&mut self) {
        let old = self.random.below(self.pool.len());
        let new = match self.random.below(if self.formulas { 10 } else { 8 }) {
            8.. => {
                let operands: [usize; 3] =
                    std::array::from_fn(|_| self.random.below(self.pool.len()));
                let results = self.s.map(Quotients, operands.map(|at| self.pool[at].0));
                let result = self.random.below(2);
                let at_point = |at: usize| {
                    Quotients.at(operands.map(|of| self.pool[of].1[at]), [0.0; 2], [])[result]
                };
                (results[result], (0..self.grid.len()).map(at_point).collect())
            }
            6 => {
                let (expr, numbers) = self.expression();
                (self.s.define(expr), numbers)
            }
            7 => {
                let (value, numbers) = &self.pool[old];
                (self.s.define(*value), numbers.clone())
            }
            at => {
                let (operand, numbers) = match self.random.below(2) {
                    0 => (Expr::from(self.pool[old].0), self.pool[old].1.clone()),
                    _ => self.expression(),
                };
                let value = self.s.apply(OPS[at], operand);
                (value, self.along_lines(&self.matrices[at], &numbers))
            }
        };
        self.pool.push(new);
    }
}

fn noisy<T: Real>(grid: &Grid, seed: usize) -> Field<T> {
    let noise = crate::lines::noise(grid.len(), seed as u32);
    let mut field = Field::zeros(grid.len());
    field.iter_mut().zip(noise).for_each(|(to, x)| *to = T::of(x));
    field
}

/// A random sweep with its fields.
struct RandomSweep {
    sweep: Sweep,
    axis: Axis,
    grid: Grid,
    operators: LineOperators,
    read: [Vec<f64>; 3],
    write: [Vec<f64>; 4],
    beta: f64,
    /// The fields that are written, by pointwise evaluation.
    expected: [Vec<f64>; 4],
    /// Magnitude of the values.
    size: f64,
}

impl RandomSweep {
    /// Runs it and returns the fields that are written.
    fn run(&self, backend: &dyn Backend) -> [Vec<f64>; 4] {
        let lines = (self.axis, self.grid.points, &self.operators);
        let program = backend.program(&self.sweep, lines).unwrap();
        let read = self.read.clone().map(|field| backend.field(&field.into()).unwrap());
        let mut write = self.write.clone().map(|field| backend.field(&field.into()).unwrap());
        let [a, b, c, d] = &mut write;
        let weights = Weights::times(self.beta);
        backend.run(&program, &read.each_ref(), &mut [a, b, c, d], weights);
        write.map(|field| Vec::<f64>::from(backend.values(&field).unwrap()))
    }
}

fn random_grid(seed: usize) -> Grid {
    let across = [[3, 2], [17, 1], [16, 2], [1, 1], [83, 1], [48, 1]][seed / 3 % 6];
    let n = [11 + seed % 7, 31 + seed % 7][seed / 7 % 2];
    Grid { spacing: [2.0; 3], ..grid(Axis::ALL[seed % 3], n, across, true) }
}

/// `longer`: additional points of a line; `formulas`: whether formulas are applied.
fn random_sweep(seed: usize, precision: Precision, longer: usize, formulas: bool) -> RandomSweep {
    let (axis, mut grid) = (Axis::ALL[seed % 3], random_grid(seed));
    grid.points[axis.index()] += longer;
    let n = grid.points[axis.index()];
    let family = &families()[seed % families().len()];
    let filter = compact_filter(2 * (1 + seed as u32 % 5), 0.3);
    let operators = LineOperators::new(family, Some(&filter), &grid, precision);
    let matrix = |op| {
        let (scheme, shift, ..) = formula(op, family, &filter);
        periodic_matrix(&scheme, shift, n, 2.0)
    };

    let rounded = |x: f64| match precision {
        Precision::F64 => x,
        Precision::F32 => f32::of(x).f64(),
    };
    let noise = |slot| -> Vec<f64> {
        let noise = crate::lines::noise(grid.len(), (10 * seed + slot) as u32);
        noise.into_iter().map(rounded).collect()
    };
    let (read, mut write) = ([0, 1, 2].map(noise), [3, 4, 5, 6].map(noise));
    let mut random = Random(seed as u64);
    let beta = [0.0, 1.0, -0.7, 2.0][random.below(4)];
    let s = SweepBuilder::new();
    let mut pool: Vec<_> = (0..3).map(|slot| (s.read(slot), read[slot].clone())).collect();
    if beta == 0.0 {
        write[0].fill(f64::NAN); // must not be read
    } else {
        pool.push((s.previous(0), write[0].clone()));
    }
    pool.push((s.previous(2), write[2].clone()));

    let mut expected = write.clone();
    let matrices = OPS.map(matrix).to_vec();
    let mut twin = Twin { s, random, grid: grid.clone(), axis, matrices, pool, formulas };
    for slot in [0, 1] {
        expected[slot].iter_mut().for_each(|x| *x = if beta == 0.0 { 0.0 } else { beta * *x });
    }
    for _ in 0..4 {
        for slot in [0, 1] {
            twin.grow();
            let (expr, values) = twin.expression();
            twin.s.add(slot, expr);
            expected[slot].iter_mut().zip(values).for_each(|(x, v)| *x += v);
        }
    }
    let (expr, values) = twin.expression();
    twin.s.store(2, expr);
    expected[2] = values;

    let values = twin.pool.iter().map(|value| &value.1).chain(&expected);
    let size = values.flatten().fold(1.0, |a: f64, b| a.max(b.abs()));
    let sweep = twin.s.build();
    RandomSweep { sweep, axis, grid, operators, read, write, beta, expected, size }
}

/// Runs a random sweep on the backend that `open` creates for the number of points, and compares with the pointwise
/// evaluation.
pub(crate) fn check_random(
    open: impl Fn(usize) -> Box<dyn Backend>,
    seed: usize,
    largest_error: f64,
) {
    let backend = open(random_grid(seed).len());
    let sweep = random_sweep(seed, backend.precision(), 0, false);
    let found = sweep.run(&*backend);
    for (slot, (found, expected)) in found.iter().zip(&sweep.expected).enumerate() {
        let error = distance::<f64>(found, expected) / sweep.size;
        assert!(error <= largest_error, "sweep {seed}, field {slot}: {error:e}");
    }
    assert_eq!(found[3], sweep.expected[3], "sweep {seed} changed a field that it does not write");
}

#[test]
fn random_sweeps_match_a_pointwise_evaluation() {
    let cpu = |_| -> Box<dyn Backend> { host_with_threads(Precision::F64, 2) };
    (0..400).for_each(|seed| check_random(cpu, seed, 1e-12));
}

#[test]
fn random_sweeps_match_a_pointwise_evaluation_in_single_precision() {
    let cpu = |_| -> Box<dyn Backend> { host_with_threads(Precision::F32, 1) };
    (0..100).for_each(|seed| check_random(cpu, seed, 1e-3));
}

/// The host with generated code and with compiled loops, for every instruction set that it has.
fn generated_and_compiled(precision: Precision) -> Vec<[Box<dyn Backend>; 2]> {
    let pair = |simd| {
        let compute = ComputeConfig {
            precision,
            simd: Some(simd),
            threads: Some(1),
            ..ComputeConfig::default()
        };
        let generated = backend::on_host(&compute, None).ok()?;
        let mut compiled = backend::on_host(&compute, None).unwrap();
        assert_eq!(generated.shape(), Some("generated code"));
        compiled.set_shape("compiled loops");
        Some([generated, compiled].map(|backend| -> Box<dyn Backend> { backend }))
    };
    [Simd::Avx2, Simd::Avx512].into_iter().filter_map(pair).collect()
}

#[test]
fn generated_code_and_compiled_loops_are_bitwise_identical() {
    for precision in [Precision::F64, Precision::F32] {
        for pair in generated_and_compiled(precision) {
            for seed in 0..400 {
                // Up to four blocks of rows: those after the second need no correction of the periodic end.
                let sweep = random_sweep(seed, precision, [0, 70][seed % 2], seed % 4 > 1);
                let [a, b] = pair.each_ref().map(|backend| sweep.run(&**backend));
                let simd = pair[0].simd();
                assert!(a.iter().zip(&b).all(|(a, b)| same(a, b)), "{precision:?} {simd} {seed}");
            }
        }
    }
}

/// Detects stores that bypass the caches and are lost or displaced: only those of large fields do.
#[test]
fn generated_code_and_compiled_loops_are_bitwise_identical_on_large_fields() {
    let s = SweepBuilder::new();
    let (u, v) = (s.read(0), s.read(1));
    s.store(0, u * s.d1(u * v) + 2.0 * s.d2(v));
    s.store(1, s.d1(u) - v);
    let sweep = s.build();
    for precision in [Precision::F64, Precision::F32] {
        for axis in [Axis::Y, Axis::Z] {
            let grid = grid(axis, 130, [128, 128], true);
            let (family, axes) = (family("compact6").unwrap(), (axis, grid.points));
            let operators = LineOperators::new(family, None, &grid, precision);
            let noise = [1, 2].map(|seed| crate::lines::noise(grid.len(), seed));
            for pair in generated_and_compiled(precision) {
                let [a, b] = pair.each_ref().map(|backend| {
                    let lines = (axes.0, axes.1, &operators);
                    let program = backend.program(&sweep, lines).unwrap();
                    let field = |values: &Vec<f64>| backend.field(&values.clone().into()).unwrap();
                    let read = noise.each_ref().map(field);
                    let [mut a, mut b] = noise.each_ref().map(field);
                    let write = &mut [&mut a, &mut b];
                    backend.run(&program, &read.each_ref(), write, Weights::SET);
                    [a, b].map(|field| Vec::<f64>::from(backend.values(&field).unwrap()))
                });
                let simd = pair[0].simd();
                assert!(a.iter().zip(&b).all(|(a, b)| same(a, b)), "{precision:?} {simd} {axis:?}");
            }
        }
    }
}

/// u D1(v) + D2(u v), 3 + filter(u), in place.
fn sample() -> Sweep {
    let s = SweepBuilder::new();
    let (u, v) = (s.previous(0), s.read(0));
    s.add(1, u * s.d1(v) + s.d2(u * v));
    s.store(0, 3.0 * s.apply(Op::Filter, u) + Expr::from(1.0));
    s.build()
}

/// The sample sweep along `axis` on noise; line `nan_line` of one operand is NaN.
fn run_sample(cpu: &Cpu<f64>, grid: &Grid, axis: Axis, nan_line: Option<usize>) -> [Field<f64>; 2] {
    let operators = LineOperators::new(
        family("compact6").unwrap(),
        Some(&compact_filter(8, 0.45)),
        grid,
        Precision::F64,
    );
    let program = Program::new(&sample(), axis, grid.points, &operators);
    let v = noisy(grid, 1);
    let (mut u, mut rate) = (noisy::<f64>(grid, 2), poisoned(grid));
    for at in 0..grid.len() {
        if nan_line == Some(place(grid, axis, at).1) {
            u[at] = f64::NAN;
        }
    }
    cpu.run(&program, &[&v], &mut [&mut u, &mut rate], Weights::SET);
    [u, rate]
}

#[test]
fn nan_does_not_spread_to_other_lines() {
    let cpu = Cpu::new(Some(2)).unwrap();
    for axis in Axis::ALL {
        let grid = grid(axis, 13, [83, 2], true);
        let clean = run_sample(&cpu, &grid, axis, None);
        for nan_line in [0, 1, 15, 16, 63, 64, 82, 83, 165] {
            let found = run_sample(&cpu, &grid, axis, Some(nan_line));
            for at in 0..grid.len() {
                for (found, clean) in found.iter().zip(&clean) {
                    let expected = place(&grid, axis, at).1 == nan_line;
                    assert_eq!(
                        found[at].is_nan(),
                        expected,
                        "{axis:?}, line {nan_line}, point {at}"
                    );
                    assert!(expected || found[at].to_bits() == clean[at].to_bits());
                }
            }
        }
    }
}

#[test]
fn sweeps_are_independent_of_previous_programs() {
    let used = Cpu::new(Some(1)).unwrap();
    let long = grid(Axis::X, 64, [4, 5], true);
    for line in 0..20 {
        run_sample(&used, &long, Axis::X, Some(line));
    }
    for periodic in [true, false] {
        for axis in Axis::ALL {
            let grid = grid(axis, 17, [71, 3], periodic);
            let fresh = Cpu::new(Some(1)).unwrap();
            let [a, b] = run_sample(&fresh, &grid, axis, None);
            let [c, d] = run_sample(&used, &grid, axis, None);
            assert!(same(&a, &c) && same(&b, &d), "{axis:?}, periodic {periodic}");
            assert!(distance(&a, &a) == 0.0 && distance(&b, &b) == 0.0, "NaN");
        }
    }
}

#[test]
fn in_place_and_out_of_place_filtering_are_bitwise_identical() {
    let cpu = Cpu::<f64>::new(Some(2)).unwrap();
    let in_place = SweepBuilder::new();
    in_place.store(0, in_place.apply(Op::Filter, in_place.previous(0)));
    let in_place = in_place.build();
    for periodic in [true, false] {
        for axis in Axis::ALL {
            let grid = grid(axis, 21, [70, 2], periodic);
            let filter = compact_filter(10, 0.49);
            let operators =
                LineOperators::new(&families()[0], Some(&filter), &grid, Precision::F64);
            let mut u = noisy(&grid, 3);
            let elsewhere = apply(&cpu, &operators, &grid, axis, Op::Filter, &u);
            let program = Program::new(&in_place, axis, grid.points, &operators);
            cpu.run(&program, &[], &mut [&mut u], Weights::ADD);
            assert!(same(&u, &elsewhere), "{axis:?}, periodic {periodic}");
        }
    }
}

#[test]
fn common_subexpressions_are_computed_once() {
    let s = SweepBuilder::new();
    let (u, v) = (s.read(0), s.read(1));
    let h = s.define(u * v + 2.0 * u);
    assert_eq!(s.read(0), u);
    assert_eq!(s.define(u * v + 2.0 * u), h);
    assert_eq!(s.define(h), h);
    assert_eq!(s.define(Expr::from(h)), h);
    assert_eq!(s.previous(0), s.previous(0));
    assert_ne!(s.previous(0), u);
    assert_eq!(s.d1(u), s.d1(Expr::from(u)));
    s.add(0, s.d1(u * v) + u * s.d1(v) + v * s.d1(u));
    s.subtract(1, s.d1(u * v) + s.d2(u));
    s.add(1, s.d1(2.0 * (u * v)) + s.apply(Op::Filter, u));
    let sweep = s.build();
    assert_eq!(OPS.map(|op| sweep.count(op)), [4, 1, 0, 0, 0, 1]); // D1 of u v, v, u, 2 u v
    assert!(!sweep.is_empty());
    assert!(SweepBuilder::new().build().is_empty());
}

#[test]
fn adding_zero_gives_an_empty_sweep() {
    let s = SweepBuilder::new();
    s.add(0, Expr::zero());
    assert!(s.build().is_empty());
}

#[test]
fn constants_are_written_by_sweeps_that_read_no_field() {
    let cpu = Cpu::<f32>::new(Some(1)).unwrap();
    let s = SweepBuilder::new();
    s.store(0, Expr::from(2.5));
    s.add(1, Expr::from(-1.0));
    s.store(2, Expr::zero());
    let grid = grid(Axis::Y, 9, [5, 2], true);
    let operators = LineOperators::new(&families()[0], None, &grid, Precision::F64);
    let program = Program::new(&s.build(), Axis::Y, grid.points, &operators);
    let [mut a, mut b, mut c] = [0, 1, 2].map(|_| poisoned(&grid));
    cpu.run(&program, &[], &mut [&mut a, &mut b, &mut c], Weights::SET);
    assert!(
        a.iter().all(|x| *x == 2.5) && b.iter().all(|x| *x == -1.0) && c.iter().all(|x| *x == 0.0)
    );
}

#[test]
#[should_panic(expected = "written before its previous value is read")]
fn reading_the_previous_value_after_a_write_panics() {
    let s = SweepBuilder::new();
    s.store(0, s.read(0));
    s.previous(0);
}

#[test]
#[should_panic(expected = "both stored and added to")]
fn storing_and_adding_to_the_same_field_panics() {
    let s = SweepBuilder::new();
    s.store(0, s.read(0));
    s.add(0, s.read(1));
}

#[test]
#[should_panic(expected = "stored twice")]
fn storing_a_field_twice_panics() {
    let s = SweepBuilder::new();
    s.store(0, s.read(0));
    s.store(0, s.read(1));
}

/// Runs a program for 4 x `n` x 3 points, whose operators are for n = 8: D1 along y of a field of `read` points to one of `write` points.
fn run_with_sizes(n: usize, read: usize, write: usize) {
    let s = SweepBuilder::new();
    s.add(0, s.d1(s.read(0)));
    let operators =
        LineOperators::new(&families()[0], None, &grid(Axis::Y, 8, [4, 3], true), Precision::F64);
    let program = Program::<f64>::new(&s.build(), Axis::Y, [4, n, 3], &operators);
    let cpu = Cpu::new(Some(1)).unwrap();
    cpu.run(&program, &[&Field::zeros(read)], &mut [&mut Field::zeros(write)], Weights::SET);
}

#[test]
fn fields_of_the_right_size_are_accepted() {
    run_with_sizes(8, 96, 96);
}

#[test]
#[should_panic(expected = "another grid")]
fn a_program_for_another_grid_is_rejected() {
    run_with_sizes(9, 108, 108);
}

#[test]
#[should_panic(expected = "field to read")]
fn an_input_field_of_another_size_is_rejected() {
    run_with_sizes(8, 95, 96);
}

#[test]
#[should_panic(expected = "field to write")]
fn an_output_field_of_another_size_is_rejected() {
    run_with_sizes(8, 96, 97);
}

#[test]
#[should_panic(expected = "compact6 needs 5 points")]
fn too_few_periodic_points_are_rejected() {
    kolmo::engine::LineOperator::periodic(&scheme_family("compact6").first, Shift::None, 4, 0.1);
}

#[test]
#[should_panic(expected = "compact6 with sbp-compact6 needs 17 points")]
fn too_few_points_for_two_closures_are_rejected() {
    let closure = default_closure(&scheme_family("compact6").first).unwrap();
    kolmo::engine::LineOperator::closed(&scheme_family("compact6").first, &closure, 16, 0.1);
}

#[test]
#[should_panic(expected = "compact6 needs a closure of 2 rows")]
fn a_closure_with_too_few_rows_is_rejected() {
    let c3 = closure("c3").unwrap();
    kolmo::engine::LineOperator::closed(&scheme_family("compact6").first, &c3, 12, 0.1);
}

#[test]
#[should_panic(expected = "D2 does not exist along Z")]
fn an_operator_along_a_single_point_axis_is_rejected() {
    let operators =
        LineOperators::new(&families()[0], None, &grid(Axis::X, 8, [8, 1], true), Precision::F64);
    let s = SweepBuilder::new();
    s.add(0, s.d2(s.read(0)));
    Program::<f64>::new(&s.build(), Axis::Z, [8, 8, 1], &operators);
}
