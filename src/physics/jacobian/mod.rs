//! An approximate Jacobian of dU/dt for implicit steps: nearest neighbours only, 5 x 5 blocks.
//!
//! I/(γ dt) − ∂R/∂U of a first-order discretisation on the same points, with ∇ξ of each grid direction a at the point of the row,
//! g = ∇ξₐ / hₐ:
//!
//! ```text
//! ∂F/∂x ≈ Σₐ ½ [A(U₊, g) U₊ − A(U₋, g) U₋] − ½ |A(U, g)| (U₊ − 2 U + U₋)      (Roe 1981)
//! ∂G/∂x ≈ Σₐ |g|² (μ/Re) [N₊ U₊ − 2 N U + N₋ U₋]                     (thin layer, without the cross derivatives)
//! ```
//!
//! It is used only as a preconditioner, so it may be far from the compact scheme; the solution is that of the compact scheme. A wall or
//! symmetry plane bounds half a cell, with no flux through that face; beyond open faces the state is constant. The colour of a point does
//! not depend on the number of ranks, so that sweeps are those of the whole grid.
//!
//! For steady flows Γ replaces I ([`PseudoTime`]), and the upwind speed of sound waves lies between c and Vᵣ.

mod blocks;
mod held;
mod neighbours;
mod pseudo_time;

use std::sync::Arc;

use super::formulas::dot;
use super::problem::Problem;
use super::slots::conserved::COUNT;
use crate::backend::Backend;
use crate::blocks::{BlockMatrix, Colouring, Halo, Pattern};
use crate::comm::Communicator;
use crate::error::Result;
use crate::gas::Gas;
use crate::grid::{End, Grid};
use crate::simd::mapped;
use blocks::{Flow, Matrix, scaled};
use held::ImposedVariables;
use neighbours::Neighbours;
pub use pseudo_time::PseudoTime;

/// Coefficient of the second difference that represents a filter of unit rate. With 1/4 it damps the shortest waves as the filter does,
/// but all others much more: GMRES then takes twice as many products. Found by trial with filters of eighth order.
const FILTER_COEFFICIENT: f64 = 1.0 / 32.0;

/// Exponent: the upwind speed V of sound waves is (V/c)² = (Vᵣ/c)² to this power. With V = c (0) the velocity is damped too much at low
/// Mach numbers, with V = Vᵣ (1) the pressure; found by trial at Ma = 0.005 to 0.2.
const UPWIND_EXPONENT: f64 = 0.3;

/// The sparsity pattern of the Jacobian, and the variables that boundaries impose.
pub struct Jacobian {
    gas: Gas,
    /// U = scale × unknowns. The scaled unknowns of a sound wave have about the same amplitude.
    scale: [f64; COUNT],
    colouring: Arc<Colouring>,
    halo: Halo,
    /// Number of points of this rank and of their neighbours on other ranks.
    count: usize,
    /// The links of each point, one after another in the order of the blocks of its row.
    links: Vec<Link>,
    /// Index of the first link of each point, and the total number of links.
    first_links: Vec<usize>,
    imposed: Vec<ImposedVariables>,
}

/// The neighbour of a point on one side along one axis.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// ∇ξ/h on the high side, −∇ξ/h on the low one.
    gradient: [f64; 3],
    /// 1 inside and with Taylor rows; at other ends the inverse of the end's weight.
    weight: f64,
    /// The neighbour, and its off-diagonal block; `None` beyond open faces.
    to: Option<(usize, usize)>,
}

impl Jacobian {
    /// The Jacobian of `problem` on this rank's block of `grid`.
    ///
    /// # Errors
    /// Too many points for the index type.
    pub fn new(problem: &Problem, backend: &dyn Backend, grid: &Grid) -> Result<Self> {
        let neighbours = Neighbours::new(backend, grid);
        let mut imposed = vec![ImposedVariables::default(); neighbours.block.len()];
        let (mut starts, mut columns) = (vec![0], Vec::new());
        let (mut links, mut first_links) = (Vec::new(), vec![0]);
        for (at, imposed) in imposed.iter_mut().enumerate() {
            let index = neighbours.block.index(at);
            for axis in grid.active_axes() {
                let a = axis.index();
                let faces = problem.boundaries.0[a].filter(|_| grid.ends[a].is_some());
                let ends = [index[a] == 0, index[a] + 1 == grid.points[a]];
                let bounded = |end: usize| faces.map(|it| it[end]).filter(|_| ends[end]);
                let own = (0..2).find(|end| ends[*end]).zip(grid.ends[a]);
                let weight = match own {
                    Some((end, kinds)) if kinds[end] != End::Taylor => {
                        1.0 / grid.end_weights[a][end][0]
                    }
                    _ => 1.0,
                };
                let is_closed = |end: usize| bounded(end).is_some_and(|face| face.open().is_none());
                for end in 0..2 {
                    if let Some(face) = bounded(end) {
                        imposed.add_face(face, a, &problem.gas);
                    }
                    if is_closed(end) {
                        continue;
                    }
                    let side = if end == 0 { -1.0 } else { 1.0 };
                    let to = neighbours.of(at, a, end).filter(|_| bounded(end).is_none());
                    links.push(Link {
                        gradient: gradient(grid, a, index).map(|g| side * g),
                        weight,
                        to: to.map(|to| (to, columns.len())),
                    });
                    #[allow(clippy::cast_possible_truncation, reason = "checked by the pattern")]
                    columns.extend(to.map(|to| to as u32));
                }
            }
            starts.push(columns.len());
            first_links.push(links.len());
        }
        let (count, colours) = neighbours.colours();
        let pattern = Pattern::with_columns(neighbours.count, starts, columns)?;
        let gas = problem.gas;
        let (sound, inner) = (1.0 / gas.mach, gas.gamma - 1.0);
        Ok(Self {
            gas,
            // Powers of 2: scaling without round-off.
            scale: [1.0 / sound, 1.0, 1.0, 1.0, sound / inner].map(|it| it.log2().round().exp2()),
            colouring: Arc::new(Colouring::given(&pattern, count, &colours)?),
            halo: neighbours.halo((count, &colours)),
            count: neighbours.count,
            links,
            first_links,
            imposed,
        })
    }

    /// The colouring that determines the order in which rows are solved.
    pub fn colouring(&self) -> &Arc<Colouring> {
        &self.colouring
    }

    /// The exchange of unknowns with other ranks.
    pub fn halo(&self) -> &Halo {
        &self.halo
    }

    /// Mach number of the reference state.
    pub fn mach(&self) -> f64 {
        self.gas.mach
    }

    /// U divided by the unknowns.
    pub fn scale(&self) -> [f64; COUNT] {
        self.scale
    }

    /// Whether boundaries impose each conserved variable, for each point.
    pub fn held(&self) -> impl ExactSizeIterator<Item = [bool; COUNT]> + '_ {
        self.imposed.iter().map(ImposedVariables::variables)
    }

    /// The formula for Γ − I times a change of the state.
    pub fn pseudo_time(&self) -> PseudoTime {
        PseudoTime { scale: self.scale, gamma: self.gas.gamma }
    }

    /// β of pseudo-time at each point of `state` (U of this rank, point by point).
    pub fn inertia(&self, state: &[f64]) -> Vec<f64> {
        let each = state.chunks_exact(COUNT).zip(self.first_links.windows(2));
        let inertia = |(state, links): (&[f64], &[usize])| {
            let squares =
                self.links[links[0]..links[1]].iter().map(|it| dot(it.gradient, it.gradient));
            Flow::new(&self.gas, state).inertia(&self.gas, squares.fold(0.0, f64::max).sqrt())
        };
        each.map(inertia).collect()
    }

    /// The blocks at `state` with this 1/(γ dt), β of pseudo-time (if used), and the rate of the filter. Collective.
    ///
    /// # Errors
    /// Insufficient memory.
    pub fn blocks(
        &self,
        comm: &dyn Communicator,
        mut state: Vec<f64>,
        (per_dt, inertia): (f64, Option<&[f64]>),
        filter_rate: f64,
    ) -> Result<BlockMatrix<f32>> {
        state.resize(COUNT * self.count, 0.0);
        self.halo.fill(comm, COUNT, &mut state);
        let mut matrix = BlockMatrix::zeros(self.colouring.clone(), COUNT)?;
        let flow = |at: usize| Flow::new(&self.gas, &state[COUNT * at..COUNT * (at + 1)]);
        for (at, imposed) in self.imposed.iter().enumerate() {
            let own = flow(at);
            let inertia = inertia.map_or(0.0, |it| it[at]);
            let epsilon = (1.0 + inertia * own.sound_speed().powi(2)).powf(-UPWIND_EXPONENT);
            let mut diagonal = Matrix::identity(per_dt);
            diagonal.add_product(per_dt * inertia, &own.carried(), &own.pressure_derivative());
            for link in &self.links[self.first_links[at]..self.first_links[at + 1]] {
                let upwind = own.upwind(link.gradient, epsilon);
                diagonal.add(0.5 * link.weight, &own.convection(link.gradient));
                diagonal.add(0.5 * link.weight, &upwind);
                diagonal.add(link.weight, &own.diffusion(&self.gas, link.gradient));
                diagonal.add_identity(FILTER_COEFFICIENT * filter_rate);
                let Some((to, block)) = link.to else { continue };
                let other = flow(to);
                let mut off_diagonal = Matrix::identity(-FILTER_COEFFICIENT * filter_rate);
                off_diagonal.add(-0.5 * link.weight, &upwind);
                off_diagonal.add(0.5 * link.weight, &other.convection(link.gradient));
                off_diagonal.add(-link.weight, &other.diffusion(&self.gas, link.gradient));
                imposed.clear_rows(&mut off_diagonal);
                let entries = scaled(&off_diagonal, &self.scale);
                #[allow(clippy::cast_possible_truncation, reason = "to 32 bit")]
                let entries = mapped(entries, |entry| entry as f32);
                matrix.block_mut(block).copy_from_slice(&entries);
            }
            imposed.set_diagonal(&mut diagonal, per_dt, &own);
            matrix.diagonal_mut(at).copy_from_slice(&scaled(&diagonal, &self.scale));
        }
        Ok(matrix)
    }
}

/// ∇ξ/h of axis `a` at a point.
fn gradient(grid: &Grid, a: usize, index: [usize; 3]) -> [f64; 3] {
    let mut gradient = [0.0; 3];
    match grid.plane.as_ref().filter(|_| a < 2) {
        None => gradient[a] = 1.0 / (grid.spacing[a] * grid.jacobian(a, index[a])),
        Some(plane) => {
            let own = plane.gradient(grid.in_plane(index), a);
            gradient[..2].copy_from_slice(&own.map(|it| it / grid.spacing[a]));
        }
    }
    gradient
}
