//! The conformal map from the exterior of a circle to the exterior of a slender contour.

use std::f64::consts::TAU;

use num_complex::Complex;
use rustfft::FftPlanner;

/// A closed contour, and two points inside it.
pub(super) struct Contour {
    /// Points at equal arc lengths, anticlockwise from the tail.
    pub(super) points: Vec<Complex<f64>>,
    /// Points half a radius of curvature inside nose and tail.
    pub(super) foci: [Complex<f64>; 2],
}

/// z(ζ), |ζ| ≥ 1, in two steps. Joukowski's map from a near-circle, with the foci f₁ and f₂ of the contour,
///
/// ```text
/// z = (f₁ + f₂)/2 + k (w + 1/w),  k = (f₂ − f₁)/4
/// ```
///
/// and the series of Theodorsen and Garrick (1934, NACA Report 452) from there to the circle:
///
/// ```text
/// log w = log R + log ζ + Σ cₙ ζ⁻ⁿ,  n ≥ 1
/// ```
pub(super) struct Exterior {
    middle: Complex<f64>,
    /// k.
    scale: Complex<f64>,
    /// R.
    radius: f64,
    /// c₁, c₂, ...
    series: Vec<Complex<f64>>,
    /// arg ζ of the tail.
    pub(super) tail: f64,
}

/// Maximum number of corrections of arg w at the points of the circle, and the largest correction of a converged iteration.
const MAX_ITERATIONS: usize = 400;
const TOLERANCE: f64 = 1e-12;
/// Terms below this are round-off.
const NEGLIGIBLE: f64 = 1e-16;

impl Exterior {
    /// The map for `contour`; `None` if the iteration does not converge.
    ///
    /// Im log w − arg ζ is conjugate to Re log w on the circle, and both are known on the contour. Hence arg w is computed from Re log w at
    /// the previous arg w, at as many equal angles as the contour has points.
    pub(super) fn new(contour: &Contour) -> Option<Self> {
        let [nose, tail] = contour.foci;
        let (middle, scale) = (0.5 * (nose + tail), 0.25 * (tail - nose));
        let near_circle = logarithms(contour, middle, scale);
        let n = near_circle.len();
        let mut planner = FftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(n));
        // Positions on the contour of the points of the circle, in intervals of the contour; the initial guess is
        // arg w − arg w(tail) = arg ζ.
        let mut places = Vec::with_capacity(n);
        let mut behind = 0;
        for j in 0..n {
            let angle = |i: usize| near_circle[i % n].im - near_circle[0].im + part(i, n);
            while behind + 1 < n && angle(behind + 1) <= part(j, n) {
                behind += 1;
            }
            let [low, high] = [angle(behind), angle(behind + 1)];
            places.push(float(behind) + (part(j, n) - low) / (high - low));
        }
        let mut line = vec![Complex::ZERO; n];
        for _ in 0..MAX_ITERATIONS {
            let found: Vec<Complex<f64>> =
                places.iter().map(|&place| interpolated(&near_circle, place)).collect();
            line.iter_mut().zip(&found).for_each(|(value, log)| *value = log.re.into());
            forward.process(&mut line);
            line.iter_mut().for_each(|value| *value /= float(n));
            let radius = line[0].re.exp();
            line[0] = Complex::ZERO;
            // Coefficients of ζ⁻ⁿ: twice the modes of negative order.
            line[1..=n / 2].fill(Complex::ZERO);
            line[n / 2 + 1..].iter_mut().for_each(|mode| *mode *= 2.0);
            let series: Vec<Complex<f64>> = line[n / 2 + 1..].iter().rev().copied().collect();
            inverse.process(&mut line);
            let mut largest = 0.0_f64;
            for (j, place) in places.iter_mut().enumerate() {
                let angle = found[j].im + TAU * *place / float(n);
                let off = part(j, n) + line[j].im - angle;
                *place += off / slope(&near_circle, *place);
                largest = if off.is_nan() { f64::NAN } else { largest.max(off.abs()) };
            }
            if largest < TOLERANCE {
                let last =
                    series.iter().rposition(|c| c.norm() > NEGLIGIBLE).map_or(0, |at| at + 1);
                let series = series[..last].to_vec();
                let map = Self { middle, scale, radius, series, tail: 0.0 };
                let tail = map.angle_of(near_circle[0].im);
                return Some(Self { tail, ..map });
            }
            if largest.is_nan() || largest >= TAU {
                return None;
            }
        }
        None
    }

    /// z and dz / d log ζ at ζ = r exp(iθ).
    pub(super) fn at(&self, r: f64, angle: f64) -> [Complex<f64>; 2] {
        let [log_w, growth] = self.logarithm(r, angle);
        let w = log_w.exp();
        [self.middle + self.scale * (w + w.inv()), self.scale * (w - w.inv()) * growth]
    }

    /// |z / ζ| far from the contour.
    pub(super) fn magnification(&self) -> f64 {
        self.scale.norm() * self.radius
    }

    /// log w and d log w / d log ζ.
    fn logarithm(&self, r: f64, angle: f64) -> [Complex<f64>; 2] {
        let log = Complex::new(r.ln(), angle);
        let inverse = (-log).exp();
        let terms = self.series.len().min(integer_part(-NEGLIGIBLE.ln() / log.re));
        let (mut sum, mut slope) = (Complex::ZERO, Complex::ZERO);
        for (n, c) in self.series[..terms].iter().enumerate().rev() {
            sum = (sum + c) * inverse;
            slope = (slope + float(n + 1) * c) * inverse;
        }
        [self.radius.ln() + log + sum, 1.0 - slope]
    }

    /// arg ζ on the circle where arg w equals `argument`, by Newton's method.
    fn angle_of(&self, argument: f64) -> f64 {
        let mut angle = argument;
        for _ in 0..50 {
            let [log_w, growth] = self.logarithm(1.0, angle);
            angle -= (log_w.im - argument) / growth.re;
        }
        angle
    }
}

/// log w − 2πi s at the points of the contour, s from 0 to 1 around it: periodic.
fn logarithms(contour: &Contour, middle: Complex<f64>, scale: Complex<f64>) -> Vec<Complex<f64>> {
    let n = contour.points.len();
    let mut before = 0.0;
    let log = |(i, z): (usize, &Complex<f64>)| {
        // w² − 2 u w + 1 = 0; the branch cut of this product lies only between the foci.
        let u = (z - middle) / (2.0 * scale);
        let log = (u + (u - 1.0).sqrt() * (u + 1.0).sqrt()).ln();
        let turns = ((before - log.im) / TAU).round();
        before = log.im + TAU * turns;
        Complex::new(log.re, before - part(i, n))
    };
    contour.points.iter().enumerate().map(log).collect()
}

/// Number of neighbours used on either side for interpolation.
const NEIGHBOURS_PER_SIDE: usize = 5;

/// The value of a periodic table at `place`, in its intervals, by a Lagrange polynomial of degree 9.
fn interpolated(table: &[Complex<f64>], place: f64) -> Complex<f64> {
    let first = neighbour(table.len(), place);
    let from_first = float(NEIGHBOURS_PER_SIDE - 1) + place - place.floor();
    let mut sum = Complex::ZERO;
    // Π (x − m) over m < k, and Π 1 / (k − m) over m ≠ k.
    let mut below = 1.0;
    let mut scale = -1.0 / (1..2 * NEIGHBOURS_PER_SIDE).map(float).product::<f64>();
    for k in 0..2 * NEIGHBOURS_PER_SIDE {
        let above: f64 = (k + 1..2 * NEIGHBOURS_PER_SIDE).map(|m| from_first - float(m)).product();
        sum += table[(first + k) % table.len()] * (below * above * scale);
        below *= from_first - float(k);
        scale *= -float(2 * NEIGHBOURS_PER_SIDE - 1 - k) / float(k + 1);
    }
    sum
}

/// d arg w / d place from the difference of the nearest two entries of a table of log w − 2πi s.
fn slope(table: &[Complex<f64>], place: f64) -> f64 {
    let (n, first) = (table.len(), neighbour(table.len(), place) + NEIGHBOURS_PER_SIDE - 1);
    table[(first + 1) % n].im - table[first % n].im + TAU / float(n)
}

/// The first of the neighbours of `place` in a periodic table.
fn neighbour(n: usize, place: f64) -> usize {
    (integer_part(place.floor().rem_euclid(float(n))) + n + 1 - NEIGHBOURS_PER_SIDE) % n
}

/// The integer part of a number ≥ 0; the largest integer for an infinite one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(super) fn integer_part(x: f64) -> usize {
    x as usize
}

/// 2π i / n.
fn part(i: usize, n: usize) -> f64 {
    TAU * float(i) / float(n)
}

pub(super) fn float(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The map onto an ellipse with these semi-axes, from `n` points on it and the foci ±1.
    fn of_ellipse(n: usize, centre: Complex<f64>, [a, b]: [f64; 2]) -> Exterior {
        let point = |i: usize| centre + Complex::new(a * part(i, n).cos(), b * part(i, n).sin());
        let foci = [-1.0, 1.0].map(Complex::from);
        Exterior::new(&Contour { points: (0..n).map(point).collect(), foci }).unwrap()
    }

    /// For an ellipse with the foci ±1, w = R ζ and R = a + b: the series is zero. Detects errors in foci, scale, radius, the side of the
    /// branch cut, and the direction of the contour.
    #[test]
    fn confocal_ellipse_needs_only_the_joukowski_map() {
        let map = of_ellipse(256, Complex::ZERO, [1.25, 0.75]);
        assert!((map.radius - 2.0).abs() < 1e-12 && map.tail.abs() < 1e-12);
        assert!((map.magnification() - 1.0).abs() < 1e-12);
        for (r, angle) in [(1.0, 0.3), (1.7, 2.0), (30.0, -1.0)] {
            let zeta = Complex::from_polar(r, angle);
            let exact = zeta + 0.25 * zeta.inv();
            let [z, slope] = map.at(r, angle);
            assert!(
                (z - exact).norm() < 1e-11 && (slope - (zeta - 0.25 * zeta.inv())).norm() < 1e-10
            );
        }
    }

    /// For a shifted ellipse the series is not zero: the image of the circle is the contour only if conjugate functions have the correct
    /// sign. Detects a slope that is not the derivative.
    #[test]
    fn circle_maps_to_the_contour_and_the_slope_is_the_derivative() {
        let centre = Complex::new(0.1, 0.05);
        let map = of_ellipse(1024, centre, [1.3, 0.5]);
        for i in 0..50 {
            let [z, slope] = map.at(1.0, 0.13 * float(i));
            let off = z - centre;
            assert!(((off.re / 1.3).powi(2) + (off.im / 0.5).powi(2) - 1.0).abs() < 1e-10);
            let step = 1e-5;
            let [behind, ahead] = [-step, step].map(|step| map.at(1.0, 0.13 * float(i) + step)[0]);
            let found = (ahead - behind) / (2.0 * step);
            assert!((found - Complex::<f64>::I * slope).norm() < 1e-7);
        }
    }

    #[test]
    fn interpolation_is_accurate_at_and_between_table_points() {
        let table: Vec<_> = (0..40).map(|i| Complex::from_polar(1.0, part(i, 40))).collect();
        for place in [0.0, 7.0, 39.0, -0.4, 12.3, 39.9] {
            let exact = Complex::from_polar(1.0, TAU * place / 40.0);
            assert!((interpolated(&table, place) - exact).norm() < 1e-10, "{place}");
        }
    }
}
