//! Operators multiply a wave by the symbol of their scheme, for every n.

use std::f64::consts::TAU;

use super::*;

/// Points across the lines: one line, fewer lines than a tile of 16, a full tile, one line more, more than several tiles.
const ACROSS: [[usize; 2]; 6] = [[1, 1], [5, 3], [16, 1], [17, 2], [1, 33], [83, 1]];

/// Checks every operator of `family` along `axis` on lines of `n` points, each line with a different wavenumber and phase.
fn check<T: Real>(cpu: &Cpu<T>, family: &SchemeFamily, filter: &Scheme, axis: Axis, n: usize) {
    let grid = grid(axis, n, ACROSS[n % ACROSS.len()], true);
    let operators = LineOperators::new(family, Some(filter), &grid, T::PRECISION);
    let h = SPACING[axis.index()];
    for op in OPS {
        let (scheme, _, from, to) = formula(op, family, filter);
        if n < scheme.min_points() {
            continue;
        }
        let wave = |point: usize, line: usize, shift: f64| {
            let k = line % (n / 2 + 1);
            let turns = (k * point % n) as f64 + k as f64 * shift;
            (TAU * k as f64 / n as f64, TAU * turns / n as f64 + (0.7 * line as f64).fract())
        };
        let operand = field(&grid, axis, |point, line| wave(point, line, from).1.sin());
        let exact = field(&grid, axis, |point, line| {
            let (w, angle) = wave(point, line, to);
            let value = match scheme.kind {
                Kind::FirstDerivative | Kind::MidpointDerivative => angle.cos(),
                Kind::SecondDerivative => -angle.sin(),
                Kind::MidpointInterpolation | Kind::Filter => angle.sin(),
            };
            scheme.symbol(w) * per_spacing(&scheme, h) * value
        });
        let error = distance::<T>(&apply(cpu, &operators, &grid, axis, op, &operand), &exact);
        // The operand itself has an error of a few ε: the argument of the sine reaches 8.
        let unit = T::EPSILON * round_off(&scheme, h);
        assert!(
            error <= 8.0 * unit,
            "{} along {axis:?} of {:?}: {error:e}, round-off {unit:e}",
            scheme.name,
            grid.points
        );
    }
}

fn check_all<T: Real>(alpha: f64) {
    let cpu = Cpu::<T>::new(Some(2)).unwrap();
    let filters = [2, 4, 6, 8, 10].map(|order| compact_filter(order, alpha));
    for (at, family) in families().iter().enumerate() {
        for axis in Axis::ALL {
            for n in (2..=20).chain([31, 32, 37, 64]) {
                check(&cpu, family, &filters[(at + n) % filters.len()], axis, n);
            }
        }
    }
}

#[test]
fn operators_multiply_waves_by_their_symbol_along_every_axis_for_every_size() {
    check_all::<f64>(0.45);
}

#[test]
fn operators_multiply_waves_by_their_symbol_in_single_precision() {
    check_all::<f32>(0.3);
}

#[test]
fn pentadiagonal_filters_multiply_waves_by_their_symbol() {
    let cpu = Cpu::<f64>::new(Some(1)).unwrap();
    for filter in [CF90, LELE_CUTOFF] {
        for axis in Axis::ALL {
            for n in [9, 10, 33, 128] {
                check(&cpu, &families()[0], &filter, axis, n);
            }
        }
    }
}

#[test]
fn operators_exist_from_their_minimum_number_of_points_upwards() {
    let filter = compact_filter(10, 0.45);
    for family in families() {
        for op in OPS {
            let (scheme, ..) = formula(op, family, &filter);
            let needed = scheme.min_points();
            for n in [needed - 1, needed, needed + 1] {
                let grid = grid(Axis::Y, n, [4, 1], true);
                let operators =
                    LineOperators::new(family, Some(&filter), &grid, kolmo::Precision::F64);
                let get = || operators.get(Axis::Y, op).len();
                let exists = std::panic::catch_unwind(std::panic::AssertUnwindSafe(get)).is_ok();
                assert_eq!(exists, n >= needed.max(2), "{} on {n} points", scheme.name);
            }
        }
    }
}
