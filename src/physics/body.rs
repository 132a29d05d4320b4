//! Forces of the flow on a body, whose surface is the first line of points of a curvilinear grid.

use super::Gas;
use super::base_state::BaseState;
use super::collective::host_values;
use super::formulas::Primitives;
use super::problem::Problem;
use super::slots::{conserved, flow};
use crate::backend::{Backend, Field};
use crate::boundary::{Known, Stream};
use crate::engine::Formula as _;
use crate::error::Result;
use crate::grid::{Block, Grid};

/// A wall at the low end of η, surrounded by lines along ξ.
pub(super) struct Body {
    gas: Gas,
    base: BaseState,
    /// u, v and p in the far field.
    far_field: [f64; 3],
    /// Whether the initial state, not known at first, defines the far field.
    far_is_initial: bool,
}

/// ½ ρ₀ V₀².
const DYNAMIC_PRESSURE: f64 = 0.5;

impl Body {
    /// The body of `problem`, if it has one.
    pub(super) fn of(problem: &Problem, base: BaseState) -> Option<Self> {
        if !problem.has_body() {
            return None;
        }
        let beyond = problem.boundaries.faces().find_map(|(.., face)| face.open()?.known());
        let at_rest = Stream::at_rest(&problem.gas);
        let Stream { velocity: [u, v, _], pressure, .. } =
            beyond.and_then(Known::stream).unwrap_or(at_rest);
        let far_is_initial = beyond == Some(Known::Start);
        Some(Self { gas: problem.gas, base, far_field: [u, v, pressure], far_is_initial })
    }

    /// Set the far field if the initial state defines it: the mean over the last line around the body. Collective.
    ///
    /// # Errors
    /// Device errors, on all ranks if they occur on one.
    pub(super) fn capture_initial(
        &mut self,
        backend: &dyn Backend,
        (grid, block): (&Grid, &Block),
        start: &[Field],
    ) -> Result<()> {
        if !self.far_is_initial {
            return Ok(());
        }
        let fields = host_values(backend, flow(start))?;
        let (mut sums, shares) = ([0.0; 4], grid.averaging_weights(2));
        let last = |at: &usize| block.index(*at)[1] + 1 == grid.points[1];
        for at in (0..block.len()).filter(last) {
            let state = std::array::from_fn(|k| fields[k].at(at));
            let [u, v, _, p, _] = self.primitives(state);
            let share = shares[block.index(at)[2]];
            let values = [u, v, p + self.base.pressure, 1.0];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += share * value);
        }
        backend.comm().sum(&mut sums);
        self.far_field = [0, 1, 2].map(|k| sums[k] / sums[3]);
        Ok(())
    }

    /// u, v, w, and p and T relative to the gas at rest, of a state.
    fn primitives(&self, state: [f64; conserved::COUNT]) -> [f64; 5] {
        Primitives { gas: self.gas, base: self.base }.at(state, state, [])
    }

    /// [`BODY_COLUMNS`](super::BODY_COLUMNS), of U and ∂uᵢ/∂xⱼ. Collective.
    pub(super) fn row(
        &self,
        backend: &dyn Backend,
        place: (&Grid, &Block),
        u: &[Field],
        gradients: &[&mut Field; 9],
    ) -> Result<[f64; 6]> {
        let all = self.tractions(backend, place, u, gradients)?;
        let mut sums = [0.0; 4];
        for point in all.chunks(4) {
            sums.iter_mut().zip(point).for_each(|(sum, part)| *sum += part);
        }
        let [p_x, p_y, f_x, f_y] = sums.map(|sum| sum * place.0.spacing[0] / DYNAMIC_PRESSURE);
        let [u, v, _] = self.far_field;
        let speed = u.hypot(v);
        let [x, y] = if speed > 0.0 { [u / speed, v / speed] } else { [1.0, 0.0] };
        let (drag, lift) = (|a: [f64; 2]| x * a[0] + y * a[1], |a: [f64; 2]| x * a[1] - y * a[0]);
        let (pressure, friction) = ([p_x, p_y], [f_x, f_y]);
        let both = [p_x + f_x, p_y + f_y];
        Ok([drag(both), drag(pressure), drag(friction), lift(both), lift(pressure), lift(friction)])
    }

    /// At each point of the wall, averaged over the span: x, y, and the coefficients of pressure and of friction along the direction of
    /// increasing ξ, c = (p − p∞, τ) / (½ ρ₀ V₀²). Collective.
    pub(super) fn surface(
        &self,
        backend: &dyn Backend,
        place: (&Grid, &Block),
        u: &[Field],
        gradients: &[&mut Field; 9],
    ) -> Result<Vec<[f64; 4]>> {
        let all = self.tractions(backend, place, u, gradients)?;
        let Some(plane) = &place.0.plane else { return Ok(Vec::new()) };
        let point = |(at, traction): (usize, &[f64])| {
            let [x_xi, _, y_xi, _] = plane.slopes.each_ref().map(|slope| slope[at]);
            let [.., a_x, a_y] = plane.areas(at);
            let (along, area) = (x_xi.hypot(y_xi), a_x.hypot(a_y));
            let normal = -(traction[0] * a_x + traction[1] * a_y) / (area * area);
            let shear = (traction[2] * x_xi + traction[3] * y_xi) / (along * area);
            let [x, y] = plane.coordinates.each_ref().map(|it| it[at]);
            [x, y, normal / DYNAMIC_PRESSURE, shear / DYNAMIC_PRESSURE]
        };
        Ok(all.chunks(4).enumerate().map(point).collect())
    }

    /// Traction times area at every point of the wall, averaged over the span: pressure, then friction, along x and y.
    fn tractions(
        &self,
        backend: &dyn Backend,
        (grid, block): (&Grid, &Block),
        u: &[Field],
        gradients: &[&mut Field; 9],
    ) -> Result<Vec<f64>> {
        let gradients = gradients.iter().map(|field| &**field);
        let fields = host_values(backend, flow(u).into_iter().chain(gradients))?;
        let (mut all, shares) = (vec![0.0; 4 * grid.points[0]], grid.averaging_weights(2));
        for at in 0..block.len() {
            let index = block.index(at);
            if index[1] > 0 {
                continue;
            }
            let values = std::array::from_fn(|k| fields[k].at(at));
            let parts = self.traction(grid, index, values);
            let share = shares[index[2]];
            let own = &mut all[4 * index[0]..4 * index[0] + 4];
            own.iter_mut().zip(parts).for_each(|(sum, part)| *sum += share * part);
        }
        backend.comm().sum(&mut all);
        Ok(all)
    }

    /// −p n + τ·n at a point of the wall, with n = J ∇η, which points into the gas; p is relative to the far-field pressure.
    fn traction(&self, grid: &Grid, index: [usize; 3], values: [f64; 14]) -> [f64; 4] {
        let Some(plane) = &grid.plane else { return [0.0; 4] };
        let [.., a_x, a_y] = plane.areas(grid.in_plane(index));
        let [rho, m0, m1, m2, e, g @ ..] = values;
        let [.., p, t] = self.primitives([rho, m0, m1, m2, e]);
        let p = p + (self.base.pressure - self.far_field[2]);
        let mu = self.gas.mu(t + self.base.temperature) / self.gas.reynolds;
        let bulk = -2.0 / 3.0 * (g[0] + g[4] + g[8]);
        let shear = mu * (g[1] + g[3]);
        [
            -p * a_x,
            -p * a_y,
            mu * (2.0 * g[0] + bulk) * a_x + shear * a_y,
            shear * a_x + mu * (2.0 * g[4] + bulk) * a_y,
        ]
    }
}
