//! Fields on any backend and any number of ranks, gathered as f64 arrays on every rank: the grids of the checks are small.

use std::f64::consts::TAU;
use std::sync::Arc;

use num_complex::Complex;

use super::check::float;
use crate::backend::{Backend, Field, Weights};
use crate::comm::{Communicator, Solo, all_or_error};
use crate::config::Config;
use crate::engine::{LineOperators, Op, SweepBuilder};
use crate::error::Result;
use crate::grid::{Axis, Block, Boxes, Decomposition, redistribute};
use crate::physics::{NavierStokes, Problem, TermGroup};
use crate::real::Values;
use crate::time::Simulation;

/// A backend and the decomposition of a grid on it.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) comm: Arc<dyn Communicator>,
    pub(super) cut: Decomposition,
    pub(super) points: [usize; 3],
}

impl Place {
    /// The whole grid on one rank.
    pub(super) fn alone(backend: Arc<dyn Backend>, points: [usize; 3]) -> Self {
        Self { backend, comm: Arc::new(Solo), cut: Decomposition::ONE, points }
    }

    /// The points of this rank.
    pub(super) fn block(&self) -> Block {
        self.cut.block(self.comm.rank(), self.points)
    }

    /// The part of `whole` on this rank.
    fn field(&self, whole: &[f64]) -> Result<Field> {
        let (block, [nx, ny, _]) = (self.block(), self.points);
        let at = |[i, j, k]: [usize; 3]| whole[i + nx * (j + ny * k)];
        let own: Vec<f64> = (0..block.len()).map(|point| at(block.index(point))).collect();
        self.backend.field(&own.into())
    }

    /// The values of a field at all points of the grid. Collective.
    pub(super) fn whole(&self, field: &Field) -> Result<Vec<f64>> {
        let own = self.backend.values(field).map(Values::into_owned);
        let own: Vec<f64> = all_or_error(&*self.comm, own)?.into();
        let have = Boxes::blocks(self.cut, self.points);
        let first = Boxes::on_rank_0(Block::whole(self.points));
        let all = redistribute(&*self.comm, &have, &first, 1, &own, f64::NAN);
        let all = all.into_iter().flat_map(f64::to_ne_bytes).collect();
        let all = self.comm.broadcast(0, all);
        Ok(all.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect())
    }

    /// Apply `op` to `f` along `axis`. The result field is filled with NaN before. Collective.
    pub(super) fn apply(
        &self,
        operators: &LineOperators,
        axis: Axis,
        op: Op,
        f: &[f64],
    ) -> Result<Vec<f64>> {
        let sweep = SweepBuilder::new();
        sweep.add(0, sweep.apply(op, sweep.read(0)));
        let prepare = || {
            let program = self.backend.program(&sweep.build(), (axis, self.points, operators))?;
            Ok((program, self.field(f)?, self.field(&vec![f64::NAN; f.len()])?))
        };
        let (program, from, mut to) = all_or_error(&*self.comm, prepare())?;
        self.backend.run(&program, &[&from], &mut [&mut to], Weights::SET);
        self.whole(&to)
    }
}

/// A run without files.
pub(super) struct Run {
    pub(super) simulation: Simulation,
    place: Place,
    pub(super) problem: Problem,
}

impl Run {
    pub(super) fn new(place: Place, config: &Config) -> Result<Self> {
        let simulation = Simulation::on(place.backend.clone(), config)?;
        Ok(Self { simulation, place, problem: config.problem() })
    }

    /// U at all points: (ρ, ρu, ρv, ρw, ρE), or the scalar. Collective.
    pub(super) fn state(&mut self) -> Result<Vec<Vec<f64>>> {
        let base = self.simulation.system_and_state().0.base_state();
        let mut state = self.all(self.simulation.state())?;
        for (field, base) in state.iter_mut().zip(base) {
            field.iter_mut().for_each(|value| *value += base);
        }
        Ok(state)
    }

    fn all(&self, fields: &[Field]) -> Result<Vec<Vec<f64>>> {
        fields.iter().map(|field| self.place.whole(field)).collect()
    }

    /// dU/dt of the current U. Collective.
    pub(super) fn rate(&mut self) -> Result<Vec<Vec<f64>>> {
        let mut rate = self.nan_fields()?;
        self.simulation.rhs(&mut rate);
        self.all(&rate)
    }

    /// The contribution of one group of terms to dU/dt. Collective.
    pub(super) fn terms(&mut self, group: TermGroup) -> Result<Vec<Vec<f64>>> {
        let mut rate = self.nan_fields()?;
        let equations = NavierStokes::new(&self.problem, self.place.backend.clone());
        let mut equations = all_or_error(&*self.place.comm, equations)?;
        equations.rhs_group(group, self.simulation.state(), &mut rate);
        self.all(&rate)
    }

    /// Fields of NaN, as many as U has.
    fn nan_fields(&self) -> Result<Vec<Field>> {
        let nan = vec![f64::NAN; self.simulation.grid().len()];
        let fields = self.simulation.state().iter().map(|_| self.place.field(&nan)).collect();
        all_or_error(&*self.place.comm, fields)
    }

    /// Set U from (ρ, u, v, w, p) and passive scalars, or the scalar, at every point: `flow(index, coordinates)`. Collective.
    pub(super) fn set<const N: usize>(
        &mut self,
        flow: impl Fn([usize; 3], [f64; 3]) -> [f64; N],
    ) -> Result<()> {
        let (grid, block) = (self.simulation.grid().clone(), self.place.block());
        let at = |point: usize| (block.index(point), grid.coordinates(block.index(point)));
        let own: Vec<[f64; N]> =
            (0..block.len()).map(|point| flow(at(point).0, at(point).1)).collect();
        let (system, _) = self.simulation.system_and_state();
        let new_state = system.state_of(&|point, to| to.copy_from_slice(&own[point][..to.len()]));
        let new_state = all_or_error(&*self.place.comm, new_state)?;
        self.simulation.state_mut().iter_mut().zip(new_state).for_each(|(field, new)| *field = new);
        Ok(())
    }

    /// Take `steps` steps. Collective.
    pub(super) fn steps(&mut self, steps: usize) -> Result<()> {
        (0..steps).try_for_each(|_| self.simulation.step(None).map(|_| ()))
    }

    /// Run until `end`, which the last step reaches exactly. Collective.
    pub(super) fn advance(&mut self, end: f64) -> Result<()> {
        while self.simulation.time() < end {
            self.simulation.step(Some(end))?;
        }
        Ok(())
    }

    /// (root mean square, maximum) of the error against the exact solution. Collective.
    pub(super) fn error(&self) -> Result<[f64; 2]> {
        Ok(self.simulation.error()?.unwrap_or([f64::NAN; 2]))
    }

    /// The factor by which `steps` steps multiply a wave with the given `periods` along each axis in a field of U. Collective.
    pub(super) fn gain(
        &mut self,
        field: usize,
        periods: [usize; 3],
        steps: usize,
    ) -> Result<Complex<f64>> {
        let before = projection(self.place.points, periods, &self.state()?[field]);
        self.steps(steps)?;
        Ok(projection(self.place.points, periods, &self.state()?[field]) / before)
    }

    /// Columns of the time series. Collective.
    pub(super) fn quantities<const N: usize>(&mut self, names: [&str; N]) -> Result<[f64; N]> {
        let row = self.simulation.row()?;
        let columns = self.simulation.columns();
        Ok(names.map(|name| {
            let at = columns.iter().position(|column| *column == name);
            at.map_or(f64::NAN, |at| row[at])
        }))
    }
}

/// (2/N) Σ f exp(−i Σ nₐ θₐ), θₐ = 2π iₐ / Nₐ: the coefficient of a wave with n periods along each axis; f = sin gives −i.
fn projection(points: [usize; 3], periods: [usize; 3], field: &[f64]) -> Complex<f64> {
    let [nx, ny, nz] = points;
    let mut sum = Complex::ZERO;
    for (at, value) in field.iter().enumerate() {
        let index = [at % nx, at / nx % ny, at / (nx * ny)];
        let turn = |a: usize| TAU * float(periods[a] * index[a]) / float(points[a]);
        sum += value * Complex::cis(-(turn(0) + turn(1) + turn(2)));
    }
    2.0 * sum / float(nx * ny * nz)
}
