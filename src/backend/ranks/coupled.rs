//! A sweep along a split axis: lines split across ranks, coupled through interface values.

use std::sync::MutexGuard;

use super::choices::Choice;
use super::joined::Joined;
use super::messages::{Peers, Round, Underway};
use super::work_arrays::{Planes, WorkArrayLengths};
use super::{Phase, Ranks, SplitLines, locked};
use crate::backend::{Combination, Program, Sources, Targets, Weights};
use crate::engine::distributed::{self, Layout, Method, Plan};
use crate::engine::{LineOperators, Op, Sweep};
use crate::error::{Error, Result};
use crate::grid::Axis;

/// A sweep ready to run on blocks of lines.
pub(super) struct Coupled {
    pub(super) axis: usize,
    program: Program,
    /// Steps of every stage.
    stages: Vec<Vec<PreparedStep>>,
}

/// A step from the packed planes of a stage to its interface values.
enum PreparedStep {
    Combine(Combination),
    Exchange(Round),
}

/// A sweep with its first messages under way.
pub(super) struct StartedSweep<'a> {
    arrays: MutexGuard<'a, Planes>,
    waiting: Option<(usize, Underway)>,
}

impl Coupled {
    pub(super) fn new(
        ranks: &Ranks,
        sweep: &Sweep,
        &SplitLines { axis, block, ref lengths, position }: &SplitLines,
        (ops, method): (&[Op], Method),
        operators: &LineOperators,
    ) -> Result<Self> {
        let mut plans = Vec::new();
        let mut blocks = Vec::new();
        for &op in ops {
            let operator = operators.get(axis, op);
            let (local, plan) = distributed::distribute(operator, lengths, position, method)
                .map_err(|sentence| method_error(&sentence, op, axis))?;
            blocks.push((op, local));
            plans.push((op, plan));
        }
        let blocks = LineOperators::along(axis, blocks);
        let lines = block.iter().product::<usize>() / block[axis.index()];
        let (mut stages, mut lens) = (Vec::new(), Vec::new());
        for (plans, layout) in layouts(sweep, &plans) {
            lens.push(layout.planes() * lines);
            let steps = Joined::steps(&plans, &layout).into_iter();
            stages.push(steps.map(|step| prepare_step(ranks, step, lines)).collect::<Result<_>>()?);
        }
        let needed = WorkArrayLengths::planes(axis.index(), lens);
        ranks.work_arrays.grow(ranks, &needed, block.iter().product())?;
        let program = ranks.inner.program(sweep, (axis, block, &blocks))?;
        Ok(Self { axis: axis.index(), program, stages })
    }

    /// Returns the ranks that it exchanges messages with.
    fn peers(&self) -> Peers {
        Peers::Axis(self.axis)
    }

    /// Packs the first stage and sends its first messages. No other sweep along this axis may be under way.
    pub(super) fn begin<'a>(
        &self,
        ranks: &'a Ranks,
        read: Sources,
        write: Targets,
    ) -> StartedSweep<'a> {
        let mut arrays = locked(&ranks.work_arrays.planes[self.axis]);
        ranks.timed(Phase::Pack, || {
            ranks.inner.pack(&self.program, 0, read, write, &mut arrays.planes);
        });
        ranks.phase_barrier(self.axis);
        let waiting = self.advance(ranks, &mut arrays, 0, 0);
        StartedSweep { arrays, waiting }
    }

    /// Runs the rest of the sweep.
    pub(super) fn finish(
        &self,
        ranks: &Ranks,
        started: StartedSweep<'_>,
        read: Sources,
        write: Targets,
        weights: Weights,
    ) {
        let StartedSweep { mut arrays, mut waiting } = started;
        // Sweeps along other axes may have run in between.
        ranks.phase_barrier(self.axis);
        for (at, steps) in self.stages.iter().enumerate() {
            if at > 0 {
                ranks.timed(Phase::Pack, || {
                    ranks.inner.pack(&self.program, at, read, write, &mut arrays.planes);
                });
                ranks.phase_barrier(self.axis);
                waiting = self.advance(ranks, &mut arrays, at, 0);
            }
            while let Some((step, underway)) = waiting {
                if let PreparedStep::Exchange(round) = &steps[step] {
                    let Planes { planes, staging, .. } = &mut *arrays;
                    let (planes, staging) = (&mut planes[at], &staging[at]);
                    ranks.await_round(self.peers(), underway, round, planes, staging);
                }
                waiting = self.advance(ranks, &mut arrays, at, step + 1);
            }
        }
        ranks.timed(Phase::Local, || {
            ranks.inner.complete(&self.program, read, write, &arrays.planes, weights);
        });
    }

    /// Runs the steps of stage `at` from step `from` on, until messages are under way or all steps are done.
    fn advance(
        &self,
        ranks: &Ranks,
        arrays: &mut Planes,
        at: usize,
        from: usize,
    ) -> Option<(usize, Underway)> {
        let Planes { planes, staging, .. } = arrays;
        let (planes, staging) = (&mut planes[at], &mut staging[at]);
        for (step, prepared) in self.stages[at].iter().enumerate().skip(from) {
            match prepared {
                PreparedStep::Combine(sums) => {
                    ranks.timed(Phase::Reduced, || ranks.inner.combine(sums, planes));
                }
                PreparedStep::Exchange(round) => {
                    return Some((step, ranks.post(self.peers(), round, planes, staging)));
                }
            }
        }
        None
    }
}

/// Returns, for every stage of a sweep, the plans of its operands and the layout of their planes; `plans` are those of
/// the operators.
pub(super) fn layouts<'a>(sweep: &Sweep, plans: &'a [(Op, Plan)]) -> Vec<(Vec<&'a Plan>, Layout)> {
    let plan_of = |op: &Op| {
        let entry = plans.iter().find(|(known, _)| known == op);
        entry.map_or_else(|| unreachable!("collected from this sweep"), |(_, plan)| plan)
    };
    let stage = |applied: &Vec<(Op, _, _)>| {
        let plans: Vec<&Plan> = applied.iter().map(|(op, ..)| plan_of(op)).collect();
        let widths: Vec<_> = plans.iter().map(|plan| plan.widths.clone()).collect();
        let layout = Layout::new(&widths);
        (plans, layout)
    };
    sweep.stages().iter().map(stage).collect()
}

fn prepare_step(ranks: &Ranks, joined: Joined, lines: usize) -> Result<PreparedStep> {
    Ok(match joined {
        Joined::Combine(sums) => PreparedStep::Combine(ranks.inner.combination(lines, sums)?),
        Joined::Exchange(mut round) => {
            for part in round.send.iter_mut().chain(&mut round.receive) {
                part.values = part.values.start * lines..part.values.end * lines;
            }
            PreparedStep::Exchange(round)
        }
    })
}

/// A method that cannot do what is requested is an error of the input.
fn method_error(sentence: &str, op: Op, axis: Axis) -> Error {
    let along = format!("{axis:?}").to_lowercase();
    Error::refused(sentence, &format!("that is {} along {along}", op.name()))
}

impl Ranks {
    /// Chooses the method for lines of `lengths` points per rank, one for all of `ops`, and notes the choice.
    pub(super) fn method_for(
        &self,
        axis: Axis,
        ops: &[Op],
        operators: &LineOperators,
        lengths: &[usize],
    ) -> Method {
        let (method, reason) =
            distributed::choose_method(self.method, axis, ops, operators, lengths);
        for &op in ops {
            locked(&self.choices).add(Choice { op, axis, method, reason });
        }
        method
    }
}
