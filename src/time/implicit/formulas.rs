//! Pointwise formulas of implicit steps.

use crate::engine::{Formula, Number};

/// Number of unknowns per point.
pub(super) const COUNT: usize = 5;

/// Σₖ aₖ bₖ over the unknowns of a point.
#[inline(always)]
fn product<N: Number>(a: &[N], b: &[N]) -> N {
    let mut sum = a[0] * b[0];
    for k in 1..COUNT {
        sum = sum + a[k] * b[k];
    }
    sum
}

/// x·x of a vector at one point, to be summed.
pub(super) struct Square;

impl Formula<COUNT, 1> for Square {
    fn at<N: Number>(&self, x: [N; COUNT], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [product(&x, &x)]
    }
}

/// vᵢ·x of K vectors and the vector x after them at one point, to be summed.
pub(super) struct Products<const K: usize>;

/// x + Σᵢ aᵢ vᵢ of K vectors.
pub(super) struct Sums<const K: usize>;

macro_rules! of_several_vectors {
    ($($k:literal)*) => {$(
        impl Formula<{ ($k + 1) * COUNT }, $k> for Products<$k> {
            fn at<N: Number>(
                &self,
                read: [N; ($k + 1) * COUNT],
                _: [N; $k],
                _: [N; 0],
            ) -> [N; $k] {
                let (vectors, x) = read.split_at($k * COUNT);
                let mut products = [x[0]; $k];
                for i in 0..$k {
                    products[i] = product(&vectors[i * COUNT..], x);
                }
                products
            }
        }

        impl Formula<{ $k * COUNT }, COUNT, $k> for Sums<$k> {
            fn at<N: Number>(
                &self,
                vectors: [N; $k * COUNT],
                mut x: [N; COUNT],
                a: [N; $k],
            ) -> [N; COUNT] {
                for i in 0..$k {
                    for k in 0..COUNT {
                        x[k] = x[k] + a[i] * vectors[i * COUNT + k];
                    }
                }
                x
            }
        }
    )*};
}
of_several_vectors!(1 2 3);

/// x times a number.
pub(super) struct Scaled;

impl Formula<0, COUNT, 1> for Scaled {
    fn at<N: Number>(&self, _: [N; 0], x: [N; COUNT], [a]: [N; 1]) -> [N; COUNT] {
        let mut scaled = x;
        for k in 0..COUNT {
            scaled[k] = a * x[k];
        }
        scaled
    }
}

/// (V − U*)/(γ dt): the rate of a stage, from V, U* and γ dt.
pub(super) struct Slope;

impl Formula<{ 2 * COUNT }, COUNT, 1> for Slope {
    fn at<N: Number>(
        &self,
        read: [N; 2 * COUNT],
        mut rate: [N; COUNT],
        [dt]: [N; 1],
    ) -> [N; COUNT] {
        for k in 0..COUNT {
            rate[k] = (read[k] - read[COUNT + k]) / dt;
        }
        rate
    }
}

/// U* of backward differences, from Uₙ and the previous Uₙ₋₁: U* = ((1 + ω)² Uₙ − ω² Uₙ₋₁) / (1 + 2ω), with the ratio ω of the step to
/// the previous one.
pub(super) struct Extrapolated;

impl Formula<COUNT, COUNT, 1> for Extrapolated {
    fn at<N: Number>(&self, before: [N; COUNT], u: [N; COUNT], [ratio]: [N; 1]) -> [N; COUNT] {
        let one = N::of(1.0);
        let (whole, next) = (one + N::of(2.0) * ratio, one + ratio);
        let mut base = u;
        for k in 0..COUNT {
            base[k] = (next * next * u[k] - ratio * ratio * before[k]) / whole;
        }
        base
    }
}

/// Each unknown times its own factor.
#[derive(Clone, Copy)]
pub(super) struct Rescaled(pub(super) [f64; COUNT]);

impl Formula<COUNT, COUNT> for Rescaled {
    fn at<N: Number>(&self, v: [N; COUNT], mut u: [N; COUNT], _: [N; 0]) -> [N; COUNT] {
        for k in 0..COUNT {
            u[k] = N::of(self.0[k]) * v[k];
        }
        u
    }
}

/// [`Rescaled`] applied to V + ε x.
#[derive(Clone, Copy)]
pub(super) struct RescaledAlong(pub(super) [f64; COUNT]);

impl Formula<{ 2 * COUNT }, COUNT, 1> for RescaledAlong {
    fn at<N: Number>(
        &self,
        read: [N; 2 * COUNT],
        mut u: [N; COUNT],
        [epsilon]: [N; 1],
    ) -> [N; COUNT] {
        for k in 0..COUNT {
            u[k] = N::of(self.0[k]) * (read[k] + epsilon * read[COUNT + k]);
        }
        u
    }
}

/// The equation of a stage for one unknown, from U and dU/dt with the boundary conditions, V, U*, 1 if boundaries impose the unknown
/// (otherwise 0), 1/(γ dt), and the factor that scales U.
#[inline(always)]
fn equation<N: Number>([u, rate, v, base, held]: [N; 5], [per_dt, scale]: [N; 2]) -> N {
    let own = scale * u;
    held * (per_dt * (v - own)) + (N::of(1.0) - held) * (per_dt * (own - base) - scale * rate)
}

/// (V − U*)/(γ dt) − R(V) of one unknown, or (V − P(V))/(γ dt) if boundaries impose it.
pub(super) struct Equation;

impl Formula<5, 1, 2> for Equation {
    fn at<N: Number>(&self, read: [N; 5], _: [N; 1], parameters: [N; 2]) -> [N; 1] {
        [equation(read, parameters)]
    }
}

/// The difference of [`Equation`] at V + ε x and at V, divided by ε: reads the five fields of [`Equation`], x, and minus the equation at V.
pub(super) struct AlongEquation;

impl Formula<7, 1, 3> for AlongEquation {
    fn at<N: Number>(
        &self,
        [u, rate, v, base, held, x, right]: [N; 7],
        _: [N; 1],
        [per_dt, scale, epsilon]: [N; 3],
    ) -> [N; 1] {
        let moved = [u, rate, v + epsilon * x, base, held];
        [(equation(moved, [per_dt, scale]) + right) / epsilon]
    }
}

/// A third of density and internal energy at V, minus their values at V + f ΔV: both are negative if the fraction f is admissible.
/// U = scale × V.
pub(super) struct Shortfall(pub(super) [f64; COUNT]);

impl Shortfall {
    /// ρ and ρe.
    #[inline(always)]
    fn density_and_energy<N: Number>(&self, mut u: [N; COUNT]) -> [N; 2] {
        for k in 0..COUNT {
            u[k] = N::of(self.0[k]) * u[k];
        }
        let [rho, x, y, z, e] = u;
        [rho, e - N::of(0.5) * (x * x + y * y + z * z) / rho]
    }
}

impl Formula<{ 2 * COUNT }, 2, 1> for Shortfall {
    fn at<N: Number>(&self, read: [N; 2 * COUNT], _: [N; 2], [fraction]: [N; 1]) -> [N; 2] {
        let least = N::of(1.0 / 3.0);
        let (mut v, mut moved) = ([fraction; COUNT], [fraction; COUNT]);
        for k in 0..COUNT {
            v[k] = read[k];
            moved[k] = read[k] + fraction * read[COUNT + k];
        }
        let [rho, energy] = self.density_and_energy(v);
        let [rho_after, energy_after] = self.density_and_energy(moved);
        [least * rho - rho_after, least * energy - energy_after]
    }
}
