//! Stability limits of the discrete equations, which define `cfl`.

use super::heat_flux::MAX_DECAY_RATE;
use super::problem::Problem;
use super::{Convection, SchemeConfig, ViscousForm};
use crate::engine::Number;
use crate::grid::{Axis, End, Grid};
use crate::scheme::{Scheme, Tableau};

/// Linear stability limits of a scheme with an integrator on a grid. A step is considered stable if dt (C/I + V/R) ≤ 1, with C = k'max
/// (Σ|uⱼ|/hⱼ + c √Σhⱼ⁻²) and V = κ ν Σhⱼ⁻²: the triangle between the integrator's limits I on the imaginary and R on the negative real
/// axis. The step is stable up to 0.99 with `bogey-bailly62` and 0.97 with `berland64`, for which the triangle leaves the stability region,
/// and up to 1 with the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// k'max / I.
    pub convection: f64,
    /// κ / R, κ the largest symbol of the second derivative in its discrete form.
    pub diffusion: f64,
    /// 1/hⱼ, hⱼ the smallest Δξ dx/dξ along the axis; 0 along an axis with one point.
    pub inverse_spacing: [f64; 3],
    /// σ/R of damping in addition to the terms of the flow.
    pub damping: f64,
}

impl Limits {
    /// The limits of the flow equations.
    pub fn flow(scheme: &SchemeConfig, integrator: &Tableau, grid: &Grid) -> Self {
        let family = &scheme.derivative;
        let first = family.first.max_symbol().0;
        let staggered = max_product(&family.midpoint_derivative, &family.midpoint_interpolation);
        let convective = match scheme.convection {
            // Split energy equations use collocated derivatives in addition to the staggered ones.
            Convection::Staggered => staggered.max(first),
            _ => first,
        };
        let diffusive = match scheme.viscous {
            ViscousForm::Laplacian => family.second.max_symbol().0,
            ViscousForm::Midpoint => family.midpoint_derivative.max_symbol().0.powi(2),
            ViscousForm::Conservative => first * first,
        };
        Self::new(convective, diffusive, integrator, grid)
    }

    /// The limits of scalar advection and diffusion.
    pub fn scalar(scheme: &SchemeConfig, integrator: &Tableau, grid: &Grid) -> Self {
        let family = &scheme.derivative;
        let (first, second) = (family.first.max_symbol().0, family.second.max_symbol().0);
        Self::new(first, second, integrator, grid)
    }

    fn new(convective: f64, diffusive: f64, integrator: &Tableau, grid: &Grid) -> Self {
        let mut inverse_spacing = [0.0; 3];
        for axis in grid.active_axes() {
            inverse_spacing[axis.index()] = 1.0 / grid.smallest_spacing(axis.index());
        }
        Self {
            convection: convective / integrator.imaginary_limit(),
            diffusion: diffusive / integrator.negative_real_limit(),
            inverse_spacing,
            damping: 0.0,
        }
    }

    /// The limit of diffusion at walls with a given flux in this viscous form: that of the inner points, or of the [decay
    /// rate](MAX_DECAY_RATE) at the wall.
    pub(super) fn diffusion_at_flux_walls(
        &self,
        viscous: ViscousForm,
        integrator: &Tableau,
    ) -> f64 {
        match viscous {
            ViscousForm::Laplacian | ViscousForm::Midpoint => self.diffusion,
            ViscousForm::Conservative => {
                self.diffusion.max(MAX_DECAY_RATE / integrator.negative_real_limit())
            }
        }
    }

    /// The limits with an additional source −σ (U − U∞), of the largest σ `strength`.
    #[must_use]
    pub fn damped(self, strength: f64, integrator: &Tableau) -> Self {
        Self { damping: strength / integrator.negative_real_limit(), ..self }
    }

    /// 1/dt at the limit, for velocity `u`, speed of sound `c` and diffusivity `nu` at a point.
    #[inline(always)]
    pub fn rate<N: Number>(&self, u: [N; 3], c: N, nu: N) -> N {
        let [x, y, z] = self.inverse_spacing;
        let squares = x * x + y * y + z * z;
        let convective = u[0].abs() * N::of(x) + u[1].abs() * N::of(y) + u[2].abs() * N::of(z);
        let rate = N::of(self.convection) * (convective + c * N::of(squares.sqrt()))
            + N::of(self.diffusion * squares) * nu;
        if self.damping == 0.0 { rate } else { rate + N::of(self.damping) }
    }
}

impl Limits {
    /// [`Self::rate`] on a grid curvilinear in the plane, with ∂ξ/∂x, ∂ξ/∂y, ∂η/∂x, ∂η/∂y: waves along both families of lines together.
    #[inline(always)]
    pub fn rate_on_curves<N: Number>(&self, u: [N; 3], c: N, nu: N, slopes: [N; 4]) -> N {
        let [x, y, z] = self.inverse_spacing;
        let [xi_x, xi_y, eta_x, eta_y] = slopes;
        let [xi, eta] = [[xi_x * N::of(x), xi_y * N::of(x)], [eta_x * N::of(y), eta_y * N::of(y)]];
        let dot = |a: [N; 2], b: [N; 2]| a[0] * b[0] + a[1] * b[1];
        let squares = dot(xi, xi) + dot(eta, eta) + N::of(2.0) * dot(xi, eta).abs() + N::of(z * z);
        let flow = [u[0], u[1]];
        let convective = dot(flow, xi).abs() + dot(flow, eta).abs() + u[2].abs() * N::of(z);
        let rate = N::of(self.convection) * (convective + c * squares.sqrt())
            + N::of(self.diffusion) * squares * nu;
        if self.damping == 0.0 { rate } else { rate + N::of(self.damping) }
    }
}

/// max over 0 ≤ w ≤ π of the product of two symbols: interpolation to midpoints, and derivative back to the points.
fn max_product(a: &Scheme, b: &Scheme) -> f64 {
    const SAMPLES: usize = 512;
    (0..=SAMPLES)
        .map(|i| std::f64::consts::PI * i as f64 / SAMPLES as f64)
        .map(|w| a.symbol(w) * b.symbol(w))
        .fold(0.0, f64::max)
}

/// Notes on ends of lines where waves grow: see `validation/stability.py`.
pub(crate) fn instabilities(problem: &Problem, grid: &Grid) -> Vec<String> {
    let (scheme, mut notes) = (&problem.scheme, Vec::new());
    // No rows that sum by parts.
    let is_pentadiagonal = scheme.derivative.first.half_band() == 2;
    if is_pentadiagonal && scheme.filter.is_none() && grid.has_end(|end| end != End::Symmetry) {
        let name = scheme.derivative.name;
        notes.push(format!(
            "note: {name} is unstable at walls and open faces without `scheme.filter`"
        ));
    }
    // The ends of each axis with points that are open faces.
    let open = [0, 1, 2].map(|a| {
        let faces = problem.boundaries.0[a].filter(|_| grid.points[a] > 1);
        faces.map_or([false; 2], |faces| faces.map(|face| face.open().is_some()))
    });
    for (a, axis) in Axis::ALL.into_iter().enumerate() {
        let last = grid.points[a] - 1;
        let widest = (0..=last).map(|i| grid.jacobian(a, i)).fold(0.0, f64::max);
        let is_clustered = |i: usize| grid.jacobian(a, i) < CLUSTERING_LIMIT * widest;
        let here = (0..2).any(|end| open[a][end] && is_clustered(end * last));
        if here && (0..3).any(|b| b != a && open[b] != [false; 2]) {
            let x = axis.name();
            notes.push(format!(
                "note: points along {x} are clustered towards an open face that meets others: waves may grow at the edges; leave the largest spacing there"
            ));
        }
    }
    notes
}

/// Spacing at an open face over the largest one below which waves grow at edges with other open faces: at 0.07 along both axes by 0.05 V₀/L
/// with a filter of order 8 and α = 0.45.
const CLUSTERING_LIMIT: f64 = 0.6;
