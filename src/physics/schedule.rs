//! The fused sweeps of a right-hand side, ready to run.

use std::sync::Arc;

use super::discretisation::{Discretisation, on_grid};
use super::fused::Fused;
use super::metric::Metric;
use super::slots::fused::Gradients;
use super::slots::{conserved, exactly, flow};
use super::stage_sweep::{StagePart, StageSweep};
use super::system::Stage;
use super::term_group::TermGroup;
use crate::backend::{Backend, Field, Program, Weights};
use crate::engine::Sweep;
use crate::error::Result;
use crate::grid::Axis;

/// Programs in the order of execution.
pub(super) struct Schedule {
    /// Whether all gradients are stored before the sweeps.
    stored: bool,
    /// Passes for velocity gradients.
    passes: Vec<Program>,
    /// For every [`TermGroup`], one sweep per active axis.
    sweeps: [Vec<Program>; 4],
    /// Stages, if the integrator has 2N storage.
    pub(super) stages: Option<Stages>,
    metric: Arc<Metric>,
}

/// Programs of stages that advance the state.
pub(super) struct Stages {
    stored: bool,
    /// Passes, the one along the last axis first.
    passes: Vec<Program>,
    /// All sweeps except the last.
    inner: Vec<Program>,
    /// The last sweep, in the last stage of a step.
    end: Program,
    /// The last sweep with gradients for the next stage, which replace the first pass; `None` where the backend cannot run it, or where
    /// walls change the velocity after it.
    link: Option<Program>,
    /// Descriptions of these programs, in the order of [`Stages::programs`].
    each: Vec<StageSweep>,
    metric: Arc<Metric>,
}

/// How a program is requested.
#[derive(Clone, Copy)]
enum Asked {
    /// Needed by every step.
    Now,
    /// Needed only by rows, or not at all.
    Later,
    /// As [`Stages::link`].
    Link,
}

/// All passes and sweeps that a run requests on any backend.
pub(super) fn all_sweeps(fused: &Fused) -> Vec<(Axis, Sweep)> {
    let [all, kinds @ ..] = TermGroup::ALL.map(|group| fused.rates(group));
    let advancing = fused.problem.is_low_storage().then(|| fused.clone());
    let each = [all].into_iter().chain(advancing).chain(kinds);
    each.flat_map(|of| of.passes().into_iter().chain(of.sweeps(false)).collect::<Vec<_>>())
        .collect()
}

/// The passes and sweeps of a stage in 2N storage that is not the first of its step, in the order of execution; sweeps of one list run
/// together.
pub(super) fn sweeps_of_stage(fused: &Fused) -> Vec<Vec<(Axis, Sweep)>> {
    let (passes, stored) = (fused.passes(), fused.stored.are_stored());
    let chained = !stored && fused.problem.boundaries.is_periodic();
    let sweeps = fused.sweeps(chained);
    if stored {
        return vec![passes, sweeps.collect()];
    }
    vec![passes.into_iter().skip(usize::from(chained)).chain(sweeps).collect()]
}

/// The passes, then the sweeps of stages in 2N storage; if stages are `linked`, also the last sweep with gradients for the next stage.
fn each_of_stage(fused: &Fused, linked: bool) -> Vec<(StagePart, Axis, Sweep)> {
    let (first, end) = match linked {
        true => (StagePart::FirstGradients, StagePart::LastTerms),
        false => (StagePart::Gradients, StagePart::Terms),
    };
    let passes = fused.passes().into_iter().enumerate();
    let pass = |at: usize| if at == 0 { first } else { StagePart::Gradients };
    let mut each: Vec<_> = passes.map(|(at, (axis, sweep))| (pass(at), axis, sweep)).collect();
    each.extend(fused.sweeps(false).map(|(axis, sweep)| (StagePart::Terms, axis, sweep)));
    if let Some((_, axis, last)) = each.pop() {
        let link = || (StagePart::LinkedTerms, axis, fused.sweep(fused.axes.len() - 1, true));
        each.extend(linked.then(link));
        each.push((end, axis, last));
    }
    each
}

/// Whether the last sweep of a stage can compute gradients for the next.
fn can_link(fused: &Fused) -> bool {
    !fused.stored.are_stored()
        && !fused.passes().is_empty()
        && fused.problem.boundaries.is_periodic()
        // A filter rate changes the state after the last sweep, so linked gradients would be out of date.
        && fused.problem.scheme.filter.is_none_or(|filter| filter.time.is_none())
}

/// As [`each_of_stage`], for cost counts only, with the link wherever it is possible.
pub(super) fn all_of_stages(fused: &Fused) -> Vec<(StagePart, Axis, Sweep)> {
    each_of_stage(fused, can_link(fused))
}

impl Schedule {
    pub(super) fn new(on: &Discretisation<'_>) -> Result<Self> {
        let Discretisation { problem, grid, block, base, .. } = on;
        let axes: Vec<Axis> = grid.active_axes().collect();
        let whole = |axis: Axis| block.points[axis.index()] == grid.points[axis.index()];
        let fused = Fused { base: *base, ..Fused::new(problem, &axes, whole) };
        // All programs are requested together: a device compiles those of a step at once, and the others when a row is due.
        let low_storage = problem.is_low_storage();
        let of_rows = if low_storage { Asked::Later } else { Asked::Now };
        let mut asked = Vec::new();
        let mut ask = |sweeps: Vec<(Axis, Sweep)>, how: Asked| {
            let count = sweeps.len();
            asked.extend(sweeps.into_iter().map(|(axis, sweep)| (axis, sweep, how)));
            count
        };
        for group in TermGroup::ALL {
            let how = if group == TermGroup::All { of_rows } else { Asked::Later };
            ask(fused.rates(group).sweeps(false).collect(), how);
        }
        let passes = ask(fused.rates(TermGroup::All).passes(), of_rows);
        let stored = fused.stored.are_stored();
        let last = axes.len().saturating_sub(1);
        let stages = low_storage.then(|| {
            let passes = ask(fused.passes(), Asked::Now);
            let link = can_link(&fused).then(|| (axes[last], fused.sweep(last, true)));
            let links = ask(link.into_iter().collect(), Asked::Link);
            ask(fused.sweeps(false).collect(), Asked::Now);
            [passes, links]
        });
        let made = on.backend.all_of(&asked, |(axis, sweep, how)| match how {
            Asked::Now => on.program(*axis, sweep).map(Some),
            Asked::Later => on.program_later(*axis, sweep).map(Some),
            Asked::Link => on.program_of_advanced(*axis, sweep),
        })?;
        let mut made = made.into_iter();
        let mut take = |count: usize| made.by_ref().take(count).flatten().collect::<Vec<_>>();
        Ok(Self {
            stored,
            sweeps: TermGroup::ALL.map(|_| take(axes.len())),
            passes: take(passes),
            stages: stages.and_then(|[passes, links]| {
                let (passes, link, inner) = (take(passes), take(links).pop(), take(last));
                let (end, metric) = (take(1).pop()?, on.metric.clone());
                let each = each_of_stage(&fused, link.is_some()).into_iter();
                let each = each.map(|(part, axis, sweep)| {
                    let words = on_grid(&sweep, axis, grid).words(block.points[2]);
                    StageSweep { axis, part, words }
                });
                let each = each.collect();
                Some(Stages { stored, passes, inner, end, link, each, metric })
            }),
            metric: on.metric.clone(),
        })
    }

    /// The programs run by [`Schedule::add_terms`].
    pub(super) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.passes.iter().chain(self.sweeps.iter().flatten())
    }

    /// `rate` = β × `rate` + the terms `group` of dU/dt, in the fields that these terms affect.
    pub(super) fn add_terms(
        &self,
        backend: &dyn Backend,
        group: TermGroup,
        u: &[Field],
        fields: [&mut [Field]; 2],
        weights: Weights,
    ) {
        let read = self.metric.behind(&flow(u));
        on_stack(fields, |fields| {
            let passes = if group.has(TermGroup::Viscous) { &self.passes[..] } else { &[] };
            let sweeps = &mut self.sweeps[group as usize].iter();
            let passes = (passes, self.stored);
            run(backend, passes, sweeps, (&read, fields), weights);
        });
    }
}

impl Stages {
    /// The part of the first stage of a step that does not depend on dt: all sweeps except the last. False if there is only one.
    pub(super) fn begin(&self, backend: &dyn Backend, fields: [&mut [Field]; 3]) -> bool {
        if self.inner.is_empty() {
            return false;
        }
        on_stack(fields, |fields| {
            let passes = (&self.passes[..], self.stored);
            let read = self.metric.behind(&[]);
            run(backend, passes, &mut self.inner.iter(), (&read, fields), Weights::SET);
        });
        true
    }

    /// Each pass and sweep, with its program.
    pub(super) fn each(&self) -> impl Iterator<Item = (StageSweep, &Program)> {
        self.each.iter().copied().zip(self.programs())
    }

    fn programs(&self) -> impl Iterator<Item = &Program> {
        self.passes.iter().chain(&self.inner).chain(&self.link).chain([&self.end])
    }

    /// Run program number `at` alone, without change of the state.
    pub(super) fn run_alone(&self, backend: &dyn Backend, at: usize, fields: [&mut [Field]; 3]) {
        let Some(program) = self.programs().nth(at) else { return };
        // However often it runs, the rates remain below twice its contribution.
        let weights = Weights { beta: 0.5, advance: 0.0 };
        let read = self.metric.behind(&[]);
        on_stack(fields, |fields| backend.run(program, &read, fields, weights));
    }

    /// Compute the rates and advance the state; `fields` are the rates, the gradients and the state.
    pub(super) fn run(
        &self,
        backend: &dyn Backend,
        fields: [&mut [Field]; 3],
        weights: Weights,
        stage: Stage,
    ) {
        let left = usize::from(self.link.is_some() && !stage.first);
        let end = self.link.as_ref().filter(|_| !stage.last).unwrap_or(&self.end);
        let read = self.metric.behind(&[]);
        on_stack(fields, |fields| {
            if stage.begun {
                return backend.run(end, &read, fields, Weights { beta: 1.0, ..weights });
            }
            let sweeps = &mut self.inner.iter().chain([end]);
            let passes = (&self.passes[left..], self.stored);
            run(backend, passes, sweeps, (&read, fields), weights);
        });
    }
}

/// Run passes and then sweeps. With `stored`, the sweeps only read the fields stored by the passes, and sweeps that need messages start
/// them before any sweep runs, so sweeps are run as a separate list.
fn run<'a>(
    backend: &dyn Backend,
    (passes, stored): (&'a [Program], bool),
    sweeps: &mut dyn Iterator<Item = &'a Program>,
    (read, write): (&[&Field], &mut [&mut Field]),
    weights: Weights,
) {
    if stored {
        backend.run_all(&mut passes.iter(), read, write, weights);
        return backend.run_all(sweeps, read, write, weights);
    }
    backend.run_all(&mut passes.iter().chain(sweeps), read, write, weights);
}

/// Call `run` with all `fields` in one list on the stack: a step allocates nothing.
fn on_stack<F, const N: usize>(fields: [&mut [F]; N], run: impl FnOnce(&mut [&mut F])) {
    const LEFT: usize = Gradients::InTurn.state();
    const STORED: usize = Gradients::OfVelocity.state();
    const CURVED: usize = Gradients::AlongCurves.state();
    const STATE: usize = conserved::COUNT;
    let count: usize = fields.iter().map(|fields| fields.len()).sum();
    let all = fields.into_iter().flatten();
    match count {
        LEFT => run(&mut exactly::<_, LEFT>(all)),
        STORED => run(&mut exactly::<_, STORED>(all)),
        CURVED => run(&mut exactly::<_, CURVED>(all)),
        _ if count == CURVED + STATE => run(&mut exactly::<_, { CURVED + STATE }>(all)),
        _ if count == LEFT + STATE => run(&mut exactly::<_, { LEFT + STATE }>(all)),
        _ => run(&mut exactly::<_, { STORED + STATE }>(all)),
    }
}
