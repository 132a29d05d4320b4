//! NACA four-digit aerofoils with a round trailing edge, and O-grids around them.

use std::f64::consts::TAU;

use num_complex::Complex;
use rustfft::FftPlanner;

use super::conformal::{Contour, Exterior, float, integer_part};

/// An O-grid around an aerofoil of chord 1 with its leading edge at the origin. Its lines are the images of circles and rays under a
/// conformal map: they cross at right angles, and the cells along a line around the body all have the same aspect ratio.
pub(super) struct AerofoilGrid {
    map: Exterior,
    /// e in θ = θ(tail) − 2πs − e sin 2πs, which equalises the spacing at nose and tail, limited by [`MAX_SHIFT`].
    shift: f64,
    /// The largest |dz / d log ζ| on the contour, near mid-chord.
    max_slope: f64,
}

/// The largest |e|: spacings change by a factor of 3 at most.
const MAX_SHIFT: f64 = 0.5;

impl AerofoilGrid {
    /// A grid around the section `digits` with this trailing-edge radius.
    ///
    /// # Errors
    /// The invalid parameter, and the reason: a sentence, with the allowed values on a second line.
    pub(super) fn new(digits: &str, radius: f64) -> Result<Self, (&'static str, String)> {
        let section = Section::new(digits).map_err(|why| ("digits", why))?;
        let contour = section.contour(radius).map_err(|why| ("radius", why))?;
        let map = Exterior::new(&contour).ok_or_else(|| {
            let why = "the conformal map onto a circle does not converge for this section";
            ("digits", format!("\"{digits}\": {why}\nallowed: less camber, or a thicker section"))
        })?;
        const SAMPLES: usize = 512;
        let spacing = |i: usize| map.at(1.0, map.tail + TAU * float(i) / float(SAMPLES))[1].norm();
        let max_slope = (0..SAMPLES).map(spacing).fold(0.0, f64::max);
        let nose = (SAMPLES / 4..3 * SAMPLES / 4).map(spacing).fold(f64::INFINITY, f64::min);
        let shift = (nose - spacing(0)) / (nose + spacing(0));
        Ok(Self { map, shift: shift.clamp(-MAX_SHIFT, MAX_SHIFT), max_slope })
    }

    /// Radii in the plane of the circle, where the contour has radius 1: that of a far circle of radius `outer`, and the distance from the
    /// contour of the first line, which lies `first` outside of the contour near mid-chord, to first order.
    pub(super) fn radii(&self, outer: f64, first: Option<f64>) -> (f64, Option<f64>) {
        (outer / self.map.magnification(), first.map(|first| first / self.max_slope))
    }

    /// The point at s along the circle of radius `r`.
    pub(super) fn place(&self, s: f64, r: f64) -> [f64; 2] {
        let turn = TAU * s;
        let [z, _] = self.map.at(r, self.map.tail - turn - self.shift * turn.sin());
        [z.re, z.im]
    }
}

/// A four-digit section (Jacobs, Ward and Pinkerton 1933, NACA Report 460) of chord 1.
struct Section {
    /// The largest ordinate of the mean line, and its position.
    camber: f64,
    crest: f64,
    thickness: f64,
}

/// Half the thickness over 5 t: a₀ √x + a₁ x + a₂ x² + a₃ x³ + a₄ x⁴. NACA's a₄ is −0.1015; this one closes the trailing edge.
const ORDINATES: [f64; 5] = [0.2969, -0.1260, -0.3516, 0.2843, -0.1036];
/// Sections with a thickness outside this range are refused.
const THICKNESS_RANGE: [f64; 2] = [0.04, 0.3];
/// The circle must touch both sides behind this fraction of the chord.
const MIN_CONTACT: f64 = 0.8;
/// The width σ of the Gaussian that smooths the contour, as a fraction of the smaller of the two radii, and the minimum number of points
/// per width.
const SMOOTHING_WIDTH: f64 = 0.25;
const POINTS_PER_WIDTH: f64 = 4.0;
/// The smallest trailing-edge radius: 65536 points around the contour.
const MIN_RADIUS: f64 = 0.0005;

impl Section {
    fn new(digits: &str) -> Result<Self, String> {
        let numbers: Vec<u32> = digits.chars().filter_map(|digit| digit.to_digit(10)).collect();
        let refused =
            |why: String, allowed: &str| Err(format!("\"{digits}\": {why}\nallowed: {allowed}"));
        let ([camber, crest, tens, ones], 4) = (&numbers[..], digits.len()) else {
            return refused("not four digits".into(), "such as \"0012\"");
        };
        if (*camber == 0) != (*crest == 0) {
            let why = "camber and its position, the first two digits, must be given together";
            return refused(why.into(), "both 0, or neither");
        }
        let thickness = f64::from(10 * tens + ones) / 100.0;
        let [least, most] = THICKNESS_RANGE;
        if !(least..=most).contains(&thickness) {
            let why = format!("the section is {:.0} % thick", 100.0 * thickness);
            return refused(why, "04 to 30 for the last two digits");
        }
        Ok(Self { camber: f64::from(*camber) / 100.0, crest: f64::from(*crest) / 10.0, thickness })
    }

    /// The contour with this trailing-edge radius: closed, cut where a circle of this radius touches both sides, and smoothed along its
    /// length by a Gaussian, which makes it analytic.
    fn contour(&self, radius: f64) -> Result<Contour, String> {
        if radius < MIN_RADIUS {
            return Err(format!(
                "{radius} is below what the map resolves\nallowed: {MIN_RADIUS} or more"
            ));
        }
        let Some(tail) = self.tail(radius) else {
            let why = format!(
                "a circle of this radius touches both sides before {MIN_CONTACT} of the chord"
            );
            return Err(format!("{radius}: {why}\nallowed: smaller numbers"));
        };
        let nose_radius = 0.5 * (5.0 * self.thickness * ORDINATES[0]).powi(2);
        let width = SMOOTHING_WIDTH * radius.min(nose_radius);
        let sides = self.length(tail.ends);
        let arc = radius * (tail.angles[0] - tail.angles[1]);
        let total = sides + arc;
        let n = integer_part((POINTS_PER_WIDTH * total / width).ceil()).next_power_of_two();
        let middle = 0.5 * (tail.angles[0] + tail.angles[1]);
        let on_arc =
            |along: f64| tail.centre + Complex::from_polar(radius, middle + along / radius);
        let (mut q, mut reached) = (tail.ends[0], 0.5 * arc);
        let mut points: Vec<Complex<f64>> = Vec::with_capacity(n);
        for i in 0..n {
            let along = total * float(i) / float(n);
            points.push(if along <= 0.5 * arc {
                on_arc(along)
            } else if along >= total - 0.5 * arc {
                on_arc(along - total)
            } else {
                q = self.step(q, along - reached);
                reached = along;
                self.at(q)[0]
            });
        }
        smooth(&mut points, width / total);
        let slope = Complex::new(1.0, self.mean_line(0.0)[1]);
        let nose = 0.5 * nose_radius * slope / slope.norm();
        let tail = tail.centre + Complex::from_polar(0.5 * radius, middle);
        Ok(Contour { points, foci: [nose, tail] })
    }

    /// y, y' and y'' of the mean line.
    fn mean_line(&self, x: f64) -> [f64; 3] {
        let (m, p) = (self.camber, self.crest);
        if m == 0.0 {
            return [0.0; 3];
        }
        let (scale, rest) = if x < p {
            (m / (p * p), 0.0)
        } else {
            let scale = m / ((1.0 - p) * (1.0 - p));
            (scale, scale * (1.0 - 2.0 * p))
        };
        [rest + scale * (2.0 * p - x) * x, 2.0 * scale * (p - x), -2.0 * scale]
    }

    /// Half the thickness and its derivative at x = q², negative on the lower side, where q < 0.
    fn half_thickness(&self, q: f64) -> [f64; 2] {
        let [a0, a1, a2, a3, a4] = ORDINATES;
        let x = q * q;
        let even = x * (a1 + x * (a2 + x * (a3 + x * a4)));
        let slope = q.abs() * (2.0 * a1 + x * (4.0 * a2 + x * (6.0 * a3 + x * 8.0 * a4)));
        let scale = 5.0 * self.thickness;
        [scale * (a0 * q + q.signum() * even), scale * (a0 + slope)]
    }

    /// The point z = x + iy of the section at q = ±√x, and dz/dq: half the thickness is measured normal to the mean line.
    fn at(&self, q: f64) -> [Complex<f64>; 2] {
        let x = q * q;
        let [y, slope, bend] = self.mean_line(x);
        let [half, half_slope] = self.half_thickness(q);
        let tangent = Complex::new(1.0, slope);
        let across = Complex::<f64>::I * tangent / tangent.norm();
        let turn = 2.0 * q * bend / (1.0 + slope * slope);
        let z = Complex::new(x, y) + across * half;
        [z, 2.0 * q * tangent + across * Complex::new(half_slope, turn * half)]
    }

    /// q after this `length` along the contour, which runs from the upper side around the nose (fourth-order Runge-Kutta).
    fn step(&self, q: f64, length: f64) -> f64 {
        let rate = |q: f64| -1.0 / self.at(q)[1].norm();
        let k1 = rate(q);
        let k2 = rate(q + 0.5 * length * k1);
        let k3 = rate(q + 0.5 * length * k2);
        let k4 = rate(q + length * k3);
        q + length / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
    }

    /// The length of the contour between two values of q, by Simpson's rule.
    fn length(&self, [high, low]: [f64; 2]) -> f64 {
        const PAIRS: usize = 4096;
        let half = 0.5 * (high - low) / float(PAIRS);
        let speed = |i: usize| self.at(low + half * float(i))[1].norm();
        let pair = |i: usize| speed(2 * i) + 4.0 * speed(2 * i + 1) + speed(2 * i + 2);
        half / 3.0 * (0..PAIRS).map(pair).sum::<f64>()
    }

    /// The circle of this radius that touches both sides, by Newton's method.
    fn tail(&self, radius: f64) -> Option<Tail> {
        let normal = |q: f64| {
            let slope = self.at(q)[1];
            Complex::<f64>::I * slope / slope.norm()
        };
        // Centre of the circle if it touches at q.
        let centre = |q: f64| self.at(q)[0] - radius * normal(q);
        let mut ends = [0.98_f64.sqrt(), -(0.98_f64.sqrt())];
        for _ in 0..50 {
            let off = centre(ends[0]) - centre(ends[1]);
            let step = 1e-6;
            let [a, b] = ends.map(|q| (centre(q + step) - centre(q - step)) / (2.0 * step));
            // off + a dq₀ − b dq₁ = 0.
            let across = a.re * b.im - a.im * b.re;
            let dq = [off.im * b.re - off.re * b.im, off.im * a.re - off.re * a.im];
            for (q, dq) in ends.iter_mut().zip(dq) {
                *q += dq / across;
            }
        }
        let off = (centre(ends[0]) - centre(ends[1])).norm();
        let foremost = ends[0].powi(2).min(ends[1].powi(2));
        let touches = off < 1e-10 && ends[0] > 0.0 && ends[1] < 0.0;
        let behind = foremost > MIN_CONTACT && ends.iter().all(|q| q.abs() < 1.0);
        let angles = ends.map(|q| normal(q).arg());
        (touches && behind).then(|| Tail { centre: centre(ends[0]), ends, angles })
    }
}

/// The circle of the trailing edge.
struct Tail {
    centre: Complex<f64>,
    /// q of the contact points on the upper and the lower side.
    ends: [f64; 2],
    /// Directions of these points from the centre.
    angles: [f64; 2],
}

/// Convolution of a closed line with a Gaussian of this width, in units of the line's length: its modes times exp(−(2π m σ)² / 2).
fn smooth(points: &mut [Complex<f64>], width: f64) {
    let n = points.len();
    let mut planner = FftPlanner::new();
    planner.plan_fft_forward(n).process(points);
    for (i, mode) in points.iter_mut().enumerate() {
        let order = float(i.min(n - i));
        *mode *= (-0.5 * (TAU * order * width).powi(2)).exp() / float(n);
    }
    planner.plan_fft_inverse(n).process(points);
}

#[cfg(test)]
mod tests {
    use super::*;

    const RADIUS: f64 = 0.003;

    /// y where the contour first, or for `lower` last, reaches x.
    fn ordinate(contour: &Contour, x: f64, lower: bool) -> f64 {
        let points = &contour.points;
        let between = |pair: &[Complex<f64>]| (pair[0].re - x) * (pair[1].re - x) <= 0.0;
        let mut pairs = points.windows(2).filter(|pair| between(pair));
        let pair = if lower { pairs.next_back() } else { pairs.next() }.unwrap();
        let part = (x - pair[0].re) / (pair[1].re - pair[0].re);
        pair[0].im + part * (pair[1].im - pair[0].im)
    }

    /// Ordinates of Jacobs, Ward and Pinkerton (1933), in hundredths of the chord. Their a₄ = −0.1015 is corrected for; their ordinates
    /// of 2412 are off by up to 2e-4. Detects a wrong coefficient, a wrong offset from the mean line, and too wide smoothing.
    #[test]
    fn contours_have_the_published_ordinates() {
        let x_0012 = [1.25, 5.0, 10.0, 20.0, 30.0, 50.0, 70.0, 90.0];
        let y_0012 = [1.894, 3.555, 4.683, 5.737, 6.002, 5.294, 3.664, 1.448];
        let x_2412 = [10.0, 20.0, 30.0, 40.0, 60.0, 80.0];
        let upper_2412 = [5.63, 7.26, 7.88, 7.80, 6.36, 3.75];
        let lower_2412 = [-3.75, -4.23, -4.12, -3.80, -2.76, -1.50];
        let check = |digits: &str, lower: bool, x: &[f64], y: &[f64], tolerance: f64| {
            let contour = Section::new(digits).unwrap().contour(RADIUS).unwrap();
            for (x, y) in x.iter().zip(y).map(|(x, y)| (x / 100.0, y / 100.0)) {
                let side = if lower { -1.0 } else { 1.0 };
                let found = ordinate(&contour, x, lower) + side * 0.6 * 0.0021 * x.powi(4);
                assert!((found - y).abs() < tolerance, "{digits} at {x}: {found}, {y}");
            }
        };
        check("0012", false, &x_0012, &y_0012, 1.5e-5);
        check("0012", true, &x_0012, &y_0012.map(|y| -y), 1.5e-5);
        check("2412", false, &x_2412, &upper_2412, 2e-4);
        check("2412", true, &x_2412, &lower_2412, 2e-4);
    }

    /// Detects a gap or a step where the arc of the trailing edge meets the sides.
    #[test]
    fn contour_has_equal_segments_and_the_radius_at_the_trailing_edge() {
        for digits in ["0012", "4415"] {
            let points = Section::new(digits).unwrap().contour(RADIUS).unwrap().points;
            let n = points.len();
            let length = |i: usize| (points[(i + 1) % n] - points[i]).norm();
            let mean = (0..n).map(length).sum::<f64>() / float(n);
            // Smoothing shortens the arc by a relative amount of (σ / r)² / 2 = 1/32.
            assert!((0..n).all(|i| (length(i) / mean - 1.0).abs() < 0.05), "{digits}");
            let (ahead, behind) = (points[1] - points[0], points[0] - points[n - 1]);
            let turn = (ahead * behind.conj()).arg();
            assert!((mean / turn / RADIUS - 1.0).abs() < 0.05, "{digits}: {}", mean / turn);
        }
    }

    /// The distance from `z` to the nearest point of the curve given by the modes of the contour.
    fn distance(contour: &Contour, modes: &[Complex<f64>], z: Complex<f64>) -> f64 {
        let n = contour.points.len();
        let nearest = (0..n).min_by(|&i, &j| {
            let [i, j] = [i, j].map(|i| (contour.points[i] - z).norm());
            i.total_cmp(&j)
        });
        let mut angle = TAU * float(nearest.unwrap()) / float(n);
        let mut off = Complex::ZERO;
        for _ in 0..4 {
            let (mut at, mut slope) = (Complex::ZERO, Complex::ZERO);
            for (m, mode) in modes.iter().enumerate() {
                let order = if m <= n / 2 { float(m) } else { -float(n - m) };
                let term = mode * Complex::from_polar(1.0, order * angle);
                at += term;
                slope += term * Complex::new(0.0, order);
            }
            off = z - at;
            angle += (off * slope.conj()).re / slope.norm_sqr();
        }
        off.norm()
    }

    /// Detects an iteration that stops too early, and a series that is too short.
    #[test]
    fn wall_points_are_on_the_contour() {
        for digits in ["0012", "4415"] {
            let contour = Section::new(digits).unwrap().contour(RADIUS).unwrap();
            let n = contour.points.len();
            let mut modes = contour.points.clone();
            FftPlanner::new().plan_fft_forward(n).process(&mut modes);
            modes.iter_mut().for_each(|mode| *mode /= float(n));
            let grid = AerofoilGrid::new(digits, RADIUS).unwrap();
            for i in 0..61 {
                let [x, y] = grid.place(float(i) / 61.0, 1.0);
                let off = distance(&contour, &modes, Complex::new(x, y));
                assert!(off < 1e-10, "{digits}, point {i}: {off:.1e}");
            }
        }
    }

    /// Detects a map that is not conformal.
    #[test]
    fn grid_lines_are_orthogonal() {
        for digits in ["0012", "2412"] {
            let grid = AerofoilGrid::new(digits, RADIUS).unwrap();
            for (s, r) in
                [(0.0, 1.001), (0.002, 1.001), (0.3, 1.01), (0.5, 1.1), (0.71, 3.0), (0.9, 90.0)]
            {
                let slope = |ds: f64, dr: f64| {
                    let [a, b] = [-1.0, 1.0].map(|sign| {
                        let [x, y] = grid.place(s + sign * ds, r + sign * dr);
                        Complex::new(x, y)
                    });
                    (b - a) / (b - a).norm()
                };
                let (along, out) = (slope(1e-6, 0.0), slope(0.0, 1e-6 * r));
                let cosine = (along * out.conj()).re;
                assert!(cosine.abs() < 1e-8, "{digits} at ({s}, {r}): {cosine:.1e}");
                // s runs clockwise, r outward.
                assert!((along.conj() * out).im > 0.0);
            }
        }
    }

    #[test]
    fn bad_parameters_are_rejected_with_the_allowed_values() {
        let four = ("digits", ": not four digits", "such as \"0012\"");
        let thin = ("digits", ": the section is 0 % thick", "04 to 30 for the last two digits");
        let together = ": camber and its position, the first two digits, must be given together";
        let together = ("digits", together, "both 0, or neither");
        let diverges = ": the conformal map onto a circle does not converge for this section";
        let diverges = ("digits", diverges, "less camber, or a thicker section");
        let wide = ": a circle of this radius touches both sides before 0.8 of the chord";
        let wide = ("radius", wide, "smaller numbers");
        let sharp = ("radius", " is below what the map resolves", "0.0005 or more");
        for (digits, radius, (key, why, allowed)) in [
            ("12", 0.003, four),
            ("00a2", 0.003, four),
            ("0000", 0.003, thin),
            ("2012", 0.003, together),
            ("9904", 0.003, diverges),
            ("0012", 0.1, wide),
            ("0012", 1e-4, sharp),
        ] {
            let given = if key == "digits" { format!("{digits:?}") } else { radius.to_string() };
            let found = AerofoilGrid::new(digits, radius).err();
            assert_eq!(found, Some((key, format!("{given}{why}\nallowed: {allowed}"))));
        }
    }
}
