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

/// The traction of the gas on the body at a point, times the area of the face there.
struct Traction {
    pressure: [f64; 2],
    friction: [f64; 2],
}

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
        (grid, block): (&Grid, &Block),
        u: &[Field],
        gradients: &[&mut Field; 9],
    ) -> Result<[f64; 4]> {
        let mut sums = [0.0; 4];
        let fields = u.iter().take(conserved::COUNT).chain(gradients.iter().map(|field| &**field));
        let fields = fields.map(|field| backend.values(field)).collect::<Result<Vec<_>>>();
        let fields = all_or_error(backend.comm(), fields)?;
        for at in 0..block.len() {
            let index = block.index(at);
            if index[1] > 0 {
                continue;
            }
            let values = std::array::from_fn(|k| fields[k].at(at));
            let Some(Traction { pressure, friction }) = self.traction(grid, index, values) else {
                continue;
            };
            for (sum, part) in sums.iter_mut().zip(pressure.into_iter().chain(friction)) {
                *sum += part;
            }
        }
        backend.comm().sum(&mut sums);
        #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 points")]
        let dynamic_pressure = 0.5 * grid.points[2] as f64;
        let [p_x, p_y, f_x, f_y] = sums.map(|sum| sum * grid.spacing[0] / dynamic_pressure);
        let [x, y] = self.stream;
        let (drag, lift) = (|a: [f64; 2]| x * a[0] + y * a[1], |a: [f64; 2]| x * a[1] - y * a[0]);
        Ok([drag([p_x, p_y]), drag([f_x, f_y]), lift([p_x, p_y]), lift([f_x, f_y])])
    }

    /// −p n + τ·n at a point of the wall, with n = J ∇η, which points into the gas; p is relative to that far away.
    fn traction(&self, grid: &Grid, index: [usize; 3], values: [f64; 14]) -> Option<Traction> {
        let Self { gas, base, .. } = self;
        let [.., a_x, a_y] = grid.plane.as_ref()?.areas(grid.in_plane(index));
        let [rho, m0, m1, m2, e, g @ ..] = values;
        let state = [rho, m0, m1, m2, e];
        let [.., p, t] = Primitives { gas: *gas, base: *base }.at(state, state, []);
        let p = p + base.pressure - gas.reference_pressure();
        let mu = gas.mu(t + base.temperature) / gas.reynolds;
        let bulk = -2.0 / 3.0 * (g[0] + g[4] + g[8]);
        let shear = mu * (g[1] + g[3]);
        Some(Traction {
            pressure: [-p * a_x, -p * a_y],
            friction: [
                mu * (2.0 * g[0] + bulk) * a_x + shear * a_y,
                shear * a_x + mu * (2.0 * g[4] + bulk) * a_y,
            ],
        })
    }
}
