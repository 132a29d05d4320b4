//! The forces of the flow on a body, the first line of points of a curvilinear grid.

use super::Gas;
use super::base_state::BaseState;
use super::formulas::Primitives;
use super::problem::Problem;
use super::slots::conserved;
use crate::backend::{Backend, Field};
use crate::comm::all_or_error;
use crate::engine::Formula as _;
use crate::error::Result;
use crate::grid::{Block, Grid};

/// A wall at the low end of η that lines along ξ go round.
pub(super) struct Body {
    gas: Gas,
    base: BaseState,
    /// The direction of the stream far from it.
    stream: [f64; 2],
}

/// ½ ρ₀ V₀².
const DYNAMIC_PRESSURE: f64 = 0.5;

impl Body {
    /// That of `problem`, where it has one.
    pub(super) fn of(problem: &Problem, base: BaseState) -> Option<Self> {
        if !problem.has_body() {
            return None;
        }
        let beyond =
            problem.boundaries.faces().find_map(|(.., face)| face.open()?.known()?.stream());
        let [u, v] = beyond.map_or([1.0, 0.0], |stream| [stream.velocity[0], stream.velocity[1]]);
        let speed = u.hypot(v);
        let stream = if speed > 0.0 { [u / speed, v / speed] } else { [1.0, 0.0] };
        Some(Self { gas: problem.gas, base, stream })
    }

    /// [`BODY_COLUMNS`](super::BODY_COLUMNS), of U and ∂uᵢ/∂xⱼ. Collective.
    ///
    /// # Errors
    /// What the device says.
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
        let [x, y] = self.stream;
        let (drag, lift) = (|a: [f64; 2]| x * a[0] + y * a[1], |a: [f64; 2]| x * a[1] - y * a[0]);
        let (pressure, friction) = ([p_x, p_y], [f_x, f_y]);
        let both = [p_x + f_x, p_y + f_y];
        Ok([drag(both), drag(pressure), drag(friction), lift(both), lift(pressure), lift(friction)])
    }

    /// At each point of the wall, mean over the span: x, y, and the coefficients of pressure and of friction along the direction in which
    /// points are counted, c = (p − p∞, τ) / (½ ρ₀ V₀²). Collective.
    ///
    /// # Errors
    /// What the device says.
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

    /// The traction times the area at every point of the wall, mean over the span: of pressure, then of friction, along x and y.
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 points")]
    fn tractions(
        &self,
        backend: &dyn Backend,
        (grid, block): (&Grid, &Block),
        u: &[Field],
        gradients: &[&mut Field; 9],
    ) -> Result<Vec<f64>> {
        let fields = u.iter().take(conserved::COUNT).chain(gradients.iter().map(|field| &**field));
        let fields = fields.map(|field| backend.values(field)).collect::<Result<Vec<_>>>();
        let fields = all_or_error(backend.comm(), fields)?;
        let mut all = vec![0.0; 4 * grid.points[0]];
        for at in 0..block.len() {
            let index = block.index(at);
            if index[1] > 0 {
                continue;
            }
            let values = std::array::from_fn(|k| fields[k].at(at));
            let parts = self.traction(grid, index, values);
            let own = &mut all[4 * index[0]..4 * index[0] + 4];
            own.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part / grid.points[2] as f64);
        }
        backend.comm().sum(&mut all);
        Ok(all)
    }

    /// −p n + τ·n at a point of the wall, with n = J ∇η, which points into the gas; p is relative to that far away.
    fn traction(&self, grid: &Grid, index: [usize; 3], values: [f64; 14]) -> [f64; 4] {
        let Self { gas, base, .. } = self;
        let Some(plane) = &grid.plane else { return [0.0; 4] };
        let [.., a_x, a_y] = plane.areas(grid.in_plane(index));
        let [rho, m0, m1, m2, e, g @ ..] = values;
        let state = [rho, m0, m1, m2, e];
        let [.., p, t] = Primitives { gas: *gas, base: *base }.at(state, state, []);
        let p = p + base.pressure - gas.reference_pressure();
        let mu = gas.mu(t + base.temperature) / gas.reynolds;
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
