//! Formulas applied to waves: order, error constant and modified wavenumber.

use std::f64::consts::{PI, TAU};

use super::check::{Check, distance, float, order, worse};
use super::setup::{Setup, spacing};
use crate::engine::{LineOperators, Op};
use crate::error::Result;
use crate::grid::{Axis, Domain, Grid};
use crate::real::Precision;
use crate::scheme::{Kind, LeadingError, Scheme, SchemeFamily, compact_filter, families};

/// A formula as an operator of a family.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    pub(super) family: &'static SchemeFamily,
    pub(super) scheme: Scheme,
    pub(super) op: Op,
}

impl Subject {
    /// Positions of the operand and of the result relative to the point, in spacings.
    fn shifts(&self) -> [f64; 2] {
        match self.op {
            Op::DerivativeToMidpoints | Op::InterpolateToMidpoints => [0.0, 0.5],
            Op::DerivativeToPoints => [0.5, 0.0],
            _ => [0.0, 0.0],
        }
    }

    /// Factor of its symbol on a grid of spacing h.
    fn scale(&self, h: f64) -> f64 {
        match self.scheme.kind {
            Kind::FirstDerivative | Kind::MidpointDerivative => 1.0 / h,
            Kind::SecondDerivative => 1.0 / (h * h),
            Kind::MidpointInterpolation | Kind::Filter => 1.0,
        }
    }

    /// Its exact result for sin θ, without the factor.
    fn exact_on_sine(&self, angle: f64) -> f64 {
        match self.scheme.kind {
            Kind::FirstDerivative | Kind::MidpointDerivative => angle.cos(),
            Kind::SecondDerivative => -angle.sin(),
            Kind::MidpointInterpolation | Kind::Filter => angle.sin(),
        }
    }

    /// Its operators on `grid`.
    fn operators(&self, grid: &Grid, precision: Precision) -> LineOperators {
        let filter = (self.op == Op::Filter).then_some(&self.scheme);
        LineOperators::new(self.family, filter, grid, precision)
    }
}

/// The operators of a family.
fn subjects(family: &'static SchemeFamily) -> [Subject; 5] {
    let SchemeFamily { first, second, midpoint_derivative, midpoint_interpolation, .. } = *family;
    [
        (first, Op::D1),
        (second, Op::D2),
        (midpoint_derivative, Op::DerivativeToMidpoints),
        (midpoint_derivative, Op::DerivativeToPoints),
        (midpoint_interpolation, Op::InterpolateToMidpoints),
    ]
    .map(|(scheme, op)| Subject { family, scheme, op })
}

/// The families whose formulas are checked: on a device each formula needs a compilation, and a quick check has time for one
/// family.
fn checked_families(setup: &Setup) -> impl Iterator<Item = &'static SchemeFamily> {
    let few = setup.is_quick_on_device();
    families().iter().filter(move |family| !few || family.name == "compact6")
}

/// The wave on a line: its number of periods k, and its phase.
type Wave = fn(usize, usize) -> (usize, f64);

/// One period per line.
const ONE_PERIOD: Wave = |line, _| (1, 0.7 * float(line));

/// `subject` applied to waves along `axis` of lines of `n` points with spacing `h`: its results, and for each point the k h of
/// its line and the exact result without the factor.
fn apply_to_waves(
    setup: &Setup,
    subject: &Subject,
    (axis, n, h): (Axis, usize, f64),
    precision: Precision,
    wave: Wave,
) -> Result<(Vec<f64>, Vec<[f64; 2]>)> {
    // Few lines.
    let mut points = [3, 2, 2];
    points[axis.index()] = n;
    let length = points.map(|n| h * float(n));
    let grid = Grid::periodic(points, &Domain { origin: [0.0; 3], length });
    let [from, to] = subject.shifts();
    let at = |point: usize, shift: f64| {
        let index = grid.index(point);
        let line = (0..3).filter(|&a| a != axis.index()).map(|a| index[a]).sum();
        let (k, phase) = wave(line, n);
        // Whole turns are removed, so that the angle is known to round-off.
        let turns = float(k * index[axis.index()] % n) + float(k) * shift;
        (TAU * float(k) / float(n), TAU * turns / float(n) + phase)
    };
    let operand: Vec<f64> = (0..grid.len()).map(|point| at(point, from).1.sin()).collect();
    let exact = (0..grid.len()).map(|point| {
        let (w, angle) = at(point, to);
        [w, subject.exact_on_sine(angle)]
    });
    let place = setup.along(axis, points, precision)?;
    let computed = place.apply(&subject.operators(&grid, precision), axis, subject.op, &operand)?;
    Ok((computed, exact.collect()))
}

/// Number of points on the coarse grid: fine enough for the leading term, and coarse enough for an error well above round-off.
fn coarsest_grid(order: u32) -> usize {
    match order {
        2 => 128,
        4 => 48,
        6 => 32,
        8 => 20,
        _ => 14,
    }
}

/// Order and constant of the error of sin x over a period, on two grids: C hᵖ (1 + c h²), where c is less than 0.3 for every
/// formula here.
pub(super) fn order_and_constant(
    setup: &Setup,
    subject: &Subject,
    axis: Axis,
) -> Result<Vec<Check>> {
    let (scheme, formal) = (&subject.scheme, f64::from(subject.scheme.order));
    let Some(LeadingError { coefficient, .. }) = scheme.lead else {
        return Ok(vec![published_decimals(setup, subject, axis)?]);
    };
    let error = |n: usize| -> Result<(f64, f64)> {
        let h = spacing(n);
        let (computed, exact) =
            apply_to_waves(setup, subject, (axis, n, h), Precision::F64, ONE_PERIOD)?;
        // The error as a signed fraction of the wave: a filter that amplifies has the wrong sign.
        let products = computed
            .iter()
            .zip(&exact)
            .map(|(computed, [_, wave])| (computed - wave) * wave)
            .sum::<f64>();
        Ok((h, 2.0 * products / float(computed.len())))
    };
    let coarse = coarsest_grid(scheme.order);
    let (coarse, fine) = (error(coarse)?, error(2 * coarse)?);
    let (slope, size) = (order(coarse, fine), fine.1 / (coefficient * fine.0.powf(formal)));
    let next = fine.0 * fine.0;
    let name = check_name(subject);
    Ok(vec![
        Check::at_most(format!("{name}-order"), (slope - formal).abs(), 1.3 * next)
            .shows(format!("order of {} is {}: found {slope:.4}", scheme.name, scheme.order))
            .source(format!("{}; next term of the Taylor series", scheme.source)),
        Check::at_most(format!("{name}-constant"), (size - 1.0).abs(), 0.3 * next)
            .shows(format!(
                "error of {} is {coefficient:.4e} h^{}: found {size:.5} of it",
                scheme.name, scheme.order
            ))
            .source(format!("{}; next term of the Taylor series", scheme.source)),
    ])
}

/// A formula with published decimals satisfies the order conditions only to 2e-7: the effect on a long wave, whose own error of
/// fourth order is 4e-8.
pub(super) fn published_decimals(setup: &Setup, subject: &Subject, axis: Axis) -> Result<Check> {
    let (n, h) = (128, spacing(128));
    let (computed, exact) =
        apply_to_waves(setup, subject, (axis, n, h), Precision::F64, ONE_PERIOD)?;
    let exact: Vec<f64> = exact.iter().map(|[_, wave]| *wave).collect();
    Ok(Check::at_most(
        format!("{}-decimals", subject.scheme.name),
        distance(&computed, &exact),
        2e-7,
    )
    .shows(format!("{} is consistent: error of a wave of {n} points", subject.scheme.name))
    .source(format!("{}: seven published decimals", subject.scheme.source)))
}

/// Its name among all checks: a formula used for two operators has two names.
fn check_name(subject: &Subject) -> String {
    match subject.op {
        Op::DerivativeToPoints => format!("{}-back", subject.scheme.name),
        _ => subject.scheme.name.into(),
    }
}

/// Largest error of the symbol times the wave, relative to the round-off of A⁻¹ B f, for all wavenumbers up to the shortest wave.
pub(super) fn symbol_error(
    setup: &Setup,
    subject: &Subject,
    axis: Axis,
    n: usize,
    precision: Precision,
) -> Result<f64> {
    let (scheme, h) = (&subject.scheme, [0.3, 1.7, 0.08][axis.index()]);
    // Lines with 1 ... n/2 periods: three to five of them, spread over the range.
    let wave: Wave =
        |line, n| ((1 + line * (n / 2 - 1) / 3).min(n / 2), (0.7 * float(line)).fract());
    let (computed, exact) = apply_to_waves(setup, subject, (axis, n, h), precision, wave)?;
    let exact: Vec<f64> =
        exact.iter().map(|[w, wave]| scheme.symbol(*w) * subject.scale(h) * wave).collect();
    Ok(distance(&computed, &exact) / (precision.epsilon() * round_off(scheme) * subject.scale(h)))
}

/// Round-off of A⁻¹ B f, in units of ε max |f| for h = 1: (‖B‖ + ‖A‖ max |symbol|) ‖A⁻¹‖ (Higham 2002, §7 and §9).
fn round_off(scheme: &Scheme) -> f64 {
    let weights = scheme.rhs.iter().zip(1_u32..).map(|(a, s)| {
        let s = f64::from(s);
        match scheme.kind {
            Kind::FirstDerivative => a.abs() / s,
            Kind::SecondDerivative => 4.0 * a.abs() / (s * s),
            Kind::MidpointDerivative => 2.0 * a.abs() / (2.0 * s - 1.0),
            Kind::MidpointInterpolation | Kind::Filter => a.abs(),
        }
    });
    let b = scheme.center.abs() + weights.sum::<f64>();
    let a = 1.0 + 2.0 * scheme.alpha.abs() + 2.0 * scheme.beta.abs();
    let w = (0..=64).map(|i| f64::from(i) * PI / 64.0);
    let smallest = w.map(|w| scheme.left_symbol(w)).fold(f64::INFINITY, f64::min);
    (b + a * scheme.max_symbol().0) / smallest
}

/// Allowed units of round-off: the operand and its angle are also rounded.
pub(super) const ROUND_OFF_UNITS: f64 = 8.0;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    let mut seen = Vec::new();
    let both = [Precision::F64, Precision::F32];
    let precisions = if setup.is_quick_on_device() { &both[..1] } else { &both };
    for family in checked_families(setup) {
        for (at, subject) in subjects(family).iter().enumerate() {
            let name = check_name(subject);
            if !seen.contains(&name) {
                checks.extend(order_and_constant(setup, subject, Axis::ALL[at % 3])?);
                seen.push(name);
            }
        }
        for &precision in precisions {
            checks.push(symbols(setup, family, precision)?);
        }
    }
    Ok(checks)
}

/// Every operator of a family along every axis multiplies waves by its symbol.
fn symbols(setup: &Setup, family: &'static SchemeFamily, precision: Precision) -> Result<Check> {
    // An even number and an odd prime number of points; the largest number is not a multiple of any block.
    let sizes: &[usize] = if setup.is_device() { &[37] } else { &[12, 37, 64] };
    let mut worst = 0.0;
    for (at, subject) in subjects(family).iter().enumerate() {
        let axes = if setup.is_quick_on_device() { &Axis::ALL[at % 3..][..1] } else { &Axis::ALL };
        for (axis, &n) in axes.iter().flat_map(|axis| sizes.iter().map(move |n| (axis, n))) {
            if n >= subject.scheme.min_points() {
                worst = worse(worst, symbol_error(setup, subject, *axis, n, precision)?);
            }
        }
    }
    Ok(Check::at_most(
        format!("{}-symbols-{}", family.name, precision.name()),
        worst,
        ROUND_OFF_UNITS,
    )
    .shows(format!(
        "modified wavenumbers of {} in {}, in units of round-off",
        family.name,
        precision.name()
    ))
    .source("k'(kh) of Lele 1992, §3; round-off of a banded solve (Higham 2002, §9)"))
}

/// The filter of the default family.
pub(super) fn filter(order: u32, alpha: f64) -> Subject {
    Subject { family: &families()[0], scheme: compact_filter(order, alpha), op: Op::Filter }
}
