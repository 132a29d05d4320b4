//! The fused sweeps of a right-hand side, ready to run.

use super::discretisation::Discretisation;
use super::fused::{Ending, Fused};
use super::navier_stokes::exactly;
use super::reference::Reference;
use super::slots::fused;
use crate::backend::{Backend, Weights};
use crate::config::Config;
use crate::engine::Sweep;
use crate::error::Result;
use crate::grid::Axis;
use crate::scheme::Form;

/// Programs in the order in which they run.
pub(super) struct Schedule<B: Backend> {
    /// Along the last axis, where its own sweep did not leave the gradients.
    gradients_along_last: Option<B::Program>,
    gradients_between: Option<B::Program>,
    /// All sweeps but the last.
    inner: Vec<B::Program>,
    /// The last, where no stage of the step follows.
    end: B::Program,
    /// The last, which leaves gradients for the stage that follows; none where it cannot.
    link: Option<B::Program>,
}

/// The axes in the order of the sweeps: an axis whose lines are whole comes last where there is one, since its sweep can
/// differentiate what it has just advanced.
pub(super) fn in_order(
    axes: impl Iterator<Item = Axis>,
    whole: impl Fn(Axis) -> bool,
) -> Vec<Axis> {
    let mut axes: Vec<Axis> = axes.collect();
    if let Some(at) = axes.iter().rposition(|&axis| whole(axis)) {
        let last = axes.remove(at);
        axes.push(last);
    }
    axes
}

/// The sweeps along `axes` of a stage in 2N storage that is not the first of its step, in the order in which they run, those
/// of one list together. `whole`: whether lines along an axis are.
pub(super) fn sweeps(
    config: &Config,
    axes: &[Axis],
    whole: impl Fn(Axis) -> bool,
) -> Vec<Vec<(Axis, Sweep)>> {
    let axes = in_order(axes.iter().copied(), &whole);
    let last = axes.len() - 1;
    let chained = whole(axes[last]);
    let ending = if chained { Ending::AdvanceAndGradients } else { Ending::Advance };
    let (scheme, gas) = (&config.scheme, &config.gas);
    let fused = Fused { axes, scheme, gas, reference: Reference::of::<f64>(gas) };
    let before = fused.gradients_along_last().filter(|_| !chained).into_iter();
    let before = before.chain(fused.gradients_between()).collect();
    let sweep = |at: usize| (fused.axes[at], fused.sweep(at, ending));
    vec![before, (0..=last).map(sweep).collect()]
}

impl<B: Backend> Schedule<B> {
    pub(super) fn new(
        backend: &B,
        discretisation: &Discretisation<B::Real>,
        sweeps: &Fused,
        form: Form,
    ) -> Result<Self> {
        let points = discretisation.grid.points;
        let program = |(axis, sweep)| discretisation.program(backend, axis, &sweep);
        let count = sweeps.axes.len();
        let last_axis = sweeps.axes[count - 1];
        let gradients_along_last = sweeps.gradients_along_last();
        let low_storage = matches!(form, Form::LowStorage { .. });
        let chained = low_storage
            && gradients_along_last.is_some()
            && backend.applies_to_advanced(last_axis, points);
        let last = |ending| program((last_axis, sweeps.sweep(count - 1, ending)));
        let inner = |at: usize| program((sweeps.axes[at], sweeps.sweep(at, Ending::Rates)));
        Ok(Self {
            gradients_along_last: gradients_along_last.map(program).transpose()?,
            gradients_between: sweeps.gradients_between().map(program).transpose()?,
            inner: (0..count - 1).map(inner).collect::<Result<_>>()?,
            end: last(if low_storage { Ending::Advance } else { Ending::Rates })?,
            link: chained.then(|| last(Ending::AdvanceAndGradients)).transpose()?,
        })
    }

    /// The rates, and the state advanced where `advances`. `first`: no stage of this step was before; `last`: none follows.
    pub(super) fn run(
        &self,
        backend: &B,
        fields: [&mut [B::Field]; 3],
        weights: Weights,
        [first, last]: [bool; 2],
    ) {
        let mut fields: [&mut B::Field; fused::COUNT] =
            exactly(fields.into_iter().flat_map(|fields| fields.iter_mut()));
        let along_last = self.gradients_along_last.iter().filter(|_| first || self.link.is_none());
        let passes = along_last.chain(&self.gradients_between);
        backend.run_all(passes, &[], &mut fields, weights);
        let end = self.link.as_ref().filter(|_| !last).unwrap_or(&self.end);
        backend.run_all(self.inner.iter().chain([end]), &[], &mut fields, weights);
    }
}
