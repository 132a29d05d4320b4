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
    descriptions: Vec<StageSweep>,
    metric: Arc<Metric>,
}

/// How a program is requested.
#[derive(Clone, Copy)]
enum Request {
    /// Needed by every step.
    Now,
    /// Needed only for rows of the series, or not at all.
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
    let (passes, stored) = (fused.passes(), fused.stored.are_precomputed());
    let chained = !stored && fused.problem.boundaries.is_periodic();
    let sweeps = fused.sweeps(chained);
    if stored {
        return vec![passes, sweeps.collect()];
    }
    vec![passes.into_iter().skip(usize::from(chained)).chain(sweeps).collect()]
}

/// The passes, then the sweeps of stages in 2N storage; if stages are `linked`, also the last sweep with gradients for the next stage.
fn stage_sweeps(fused: &Fused, linked: bool) -> Vec<(StagePart, Axis, Sweep)> {
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
    !fused.stored.are_precomputed()
        && !fused.passes().is_empty()
        && fused.problem.boundaries.is_periodic()
        // A filter rate changes the state after the last sweep, so linked gradients would be out of date.
        && fused.problem.scheme.filter.is_none_or(|filter| filter.time.is_none())
}

/// As [`stage_sweeps`], for cost counts only, with the link wherever it is possible.
pub(super) fn all_stage_sweeps(fused: &Fused) -> Vec<(StagePart, Axis, Sweep)> {
    stage_sweeps(fused, can_link(fused))
}

impl Schedule {
    pub(super) fn new(on: &Discretisation<'_>) -> Result<Self> {
        let Discretisation { problem, grid, block, base, .. } = on;
        let axes: Vec<Axis> = grid.active_axes().collect();
        let is_unsplit = |axis: Axis| block.points[axis.index()] == grid.points[axis.index()];
        let fused = Fused { base: *base, ..Fused::new(problem, &axes, is_unsplit) };
        // All programs are requested together: a device compiles those of a step at once, and the others when a row of the series is due.
        let low_storage = problem.is_low_storage();
        let for_series = if low_storage { Request::Later } else { Request::Now };
        let mut requests = Vec::new();
        let mut request = |sweeps: Vec<(Axis, Sweep)>, kind: Request| {
            let count = sweeps.len();
            requests.extend(sweeps.into_iter().map(|(axis, sweep)| (axis, sweep, kind)));
            count
        };
        for group in TermGroup::ALL {
            let kind = if group == TermGroup::All { for_series } else { Request::Later };
            request(fused.rates(group).sweeps(false).collect(), kind);
        }
        let passes = request(fused.rates(TermGroup::All).passes(), for_series);
        let stored = fused.stored.are_precomputed();
        let last = axes.len().saturating_sub(1);
        let stages = low_storage.then(|| {
            let passes = request(fused.passes(), Request::Now);
            let link = can_link(&fused).then(|| (axes[last], fused.sweep(last, true)));
            let links = request(link.into_iter().collect(), Request::Link);
            request(fused.sweeps(false).collect(), Request::Now);
            [passes, links]
        });
        let programs = on.backend.all_of(&requests, |(axis, sweep, kind)| match kind {
            Request::Now => on.program(*axis, sweep).map(Some),
            Request::Later => on.lazy_program(*axis, sweep).map(Some),
            Request::Link => on.program_on_advanced_field(*axis, sweep),
        })?;
        let mut programs = programs.into_iter();
        let mut take = |count: usize| programs.by_ref().take(count).flatten().collect::<Vec<_>>();
        Ok(Self {
            stored,
            sweeps: TermGroup::ALL.map(|_| take(axes.len())),
            passes: take(passes),
            stages: stages.and_then(|[passes, links]| {
                let (passes, link, inner) = (take(passes), take(links).pop(), take(last));
                let (end, metric) = (take(1).pop()?, on.metric.clone());
                let each = stage_sweeps(&fused, link.is_some()).into_iter();
                let each = each.map(|(part, axis, sweep)| {
                    let words = on_grid(&sweep, axis, grid).words(block.points[2]);
                    StageSweep { axis, part, words }
                });
                let descriptions = each.collect();
                Some(Stages { stored, passes, inner, end, link, descriptions, metric })
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
        let read = self.metric.append_to(&flow(u));
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
            let read = self.metric.append_to(&[]);
            run(backend, passes, &mut self.inner.iter(), (&read, fields), Weights::SET);
        });
        true
    }

    /// Each pass and sweep, with its program.
    pub(super) fn sweeps(&self) -> impl Iterator<Item = (StageSweep, &Program)> {
        self.descriptions.iter().copied().zip(self.programs())
    }

    fn programs(&self) -> impl Iterator<Item = &Program> {
        self.passes.iter().chain(&self.inner).chain(&self.link).chain([&self.end])
    }

    /// Run program number `at` alone, without change of the state.
    pub(super) fn run_alone(&self, backend: &dyn Backend, at: usize, fields: [&mut [Field]; 3]) {
        let Some(program) = self.programs().nth(at) else { return };
        // However often it runs, the rates remain below twice its contribution.
        let weights = Weights { beta: 0.5, advance: 0.0 };
        let read = self.metric.append_to(&[]);
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
        let skipped = usize::from(self.link.is_some() && !stage.first);
        let end = self.link.as_ref().filter(|_| !stage.last).unwrap_or(&self.end);
        let read = self.metric.append_to(&[]);
        on_stack(fields, |fields| {
            if stage.begun {
                return backend.run(end, &read, fields, Weights { beta: 1.0, ..weights });
            }
            let sweeps = &mut self.inner.iter().chain([end]);
            let passes = (&self.passes[skipped..], self.stored);
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
    const SHARED: usize = Gradients::Shared.state();
    const VELOCITY: usize = Gradients::Velocity.state();
    const CURVILINEAR: usize = Gradients::Curvilinear.state();
    const STATE: usize = conserved::COUNT;
    let count: usize = fields.iter().map(|fields| fields.len()).sum();
    let all = fields.into_iter().flatten();
    match count {
        SHARED => run(&mut exactly::<_, SHARED>(all)),
        VELOCITY => run(&mut exactly::<_, VELOCITY>(all)),
        CURVILINEAR => run(&mut exactly::<_, CURVILINEAR>(all)),
        _ if count == CURVILINEAR + STATE => run(&mut exactly::<_, { CURVILINEAR + STATE }>(all)),
        _ if count == SHARED + STATE => run(&mut exactly::<_, { SHARED + STATE }>(all)),
        _ => run(&mut exactly::<_, { VELOCITY + STATE }>(all)),
    }
}
