//! The fused sweeps of a right-hand side, ready to run.

use super::discretisation::Discretisation;
use super::fused::{Ending, Fused};
use super::navier_stokes::exactly;
use super::reference::Reference;
use super::slots;
use super::system::Stage;
use crate::backend::{Backend, Weights};
use crate::config::Config;
use crate::engine::Sweep;
use crate::error::Result;
use crate::grid::Axis;
use crate::scheme::Form;

/// Programs in the order in which they run.
pub(super) struct Schedule<B: Backend> {
    /// For velocity gradients, those along the last axis first.
    passes: Vec<B::Program>,
    /// All sweeps but the last.
    inner: Vec<B::Program>,
    /// The last, where no stage of the step follows.
    end: B::Program,
    /// The last, which leaves gradients for the stage that follows in the place of the first pass; none where it cannot.
    link: Option<B::Program>,
}

/// The equations of `config` swept along `axes`; `whole`: whether lines along an axis are.
fn fused<'a>(
    config: &'a Config,
    axes: &[Axis],
    whole: impl Fn(Axis) -> bool,
    reference: Reference,
) -> Fused<'a> {
    let stored = !axes.iter().all(|&axis| whole(axis));
    Fused { axes: axes.to_vec(), scheme: &config.scheme, gas: &config.gas, reference, stored }
}

/// The sweeps along `axes` of a stage in 2N storage that is not the first of its step, in the order in which they run, those
/// of one list together. `whole`: whether lines along an axis are.
pub(super) fn sweeps(
    config: &Config,
    axes: &[Axis],
    whole: impl Fn(Axis) -> bool,
) -> Vec<Vec<(Axis, Sweep)>> {
    let fused = fused(config, axes, whole, Reference::of::<f64>(&config.gas));
    let mut passes = fused.passes();
    let mut ending = Ending::Advance;
    if !fused.stored {
        passes = passes.split_off(passes.len().min(1));
        ending = Ending::AdvanceAndGradients;
    }
    let sweep = |at: usize| (axes[at], fused.sweep(at, ending));
    vec![passes, (0..axes.len()).map(sweep).collect()]
}

impl<B: Backend> Schedule<B> {
    pub(super) fn new(
        backend: &B,
        discretisation: &Discretisation<B::Real>,
        config: &Config,
        reference: Reference,
    ) -> Result<Self> {
        let grid = &discretisation.grid;
        let axes: Vec<Axis> = grid.active_axes().collect();
        let block = backend.block(grid.points).points;
        let whole = |axis: Axis| block[axis.index()] == grid.points[axis.index()];
        let fused = fused(config, &axes, whole, reference);
        let program = |(axis, sweep)| discretisation.program(backend, axis, &sweep);
        let last = axes.len() - 1;
        let sweep = |at: usize, ending| program((axes[at], fused.sweep(at, ending)));
        let low_storage = matches!(config.time.integrator.form, Form::LowStorage { .. });
        let passes = fused.passes();
        let chained = low_storage
            && !fused.stored
            && !passes.is_empty()
            && backend.applies_to_advanced(axes[last], grid.points);
        Ok(Self {
            passes: passes.into_iter().map(program).collect::<Result<_>>()?,
            inner: (0..last).map(|at| sweep(at, Ending::Rates)).collect::<Result<_>>()?,
            end: sweep(last, if low_storage { Ending::Advance } else { Ending::Rates })?,
            link: chained.then(|| sweep(last, Ending::AdvanceAndGradients)).transpose()?,
        })
    }

    /// The rates, and the state advanced where the integrator has 2N storage.
    pub(super) fn run(
        &self,
        backend: &B,
        fields: [&mut [B::Field]; 3],
        weights: Weights,
        stage: Stage,
    ) {
        let mut fields: [&mut B::Field; slots::fused::COUNT] =
            exactly(fields.into_iter().flat_map(|fields| fields.iter_mut()));
        let left = usize::from(self.link.is_some() && !stage.first);
        let passes = &self.passes[left..];
        backend.run_all(passes.iter(), &[], &mut fields, weights);
        let end = self.link.as_ref().filter(|_| !stage.last).unwrap_or(&self.end);
        backend.run_all(self.inner.iter().chain([end]), &[], &mut fields, weights);
    }
}
