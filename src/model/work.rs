//! What the ranks of a run do in a step, counted.

use std::sync::Arc;

use super::Sweeping;
use super::planner::{Planned, Planner};
use crate::comm::Sent;
use crate::config::{Config, RightHandSide};
use crate::engine::distributed::Method;
use crate::grid::Decomposition;
use crate::scheme::Form;

/// A step on a grid that is spread over ranks.
#[derive(Clone, Debug)]
pub struct Work {
    /// How the grid is cut.
    pub decomposition: Decomposition,
    /// Points of the whole grid.
    pub points: [usize; 3],
    /// Bytes of a value.
    pub value: usize,
    /// Right-hand sides a step.
    pub stages: usize,
    /// Their sweeps in the order in which they run, those of one list together: while the messages of one are under way,
    /// others compute.
    pub right_hand_side: Vec<Vec<Arc<Sweeping>>>,
    /// The sweeps that filter the state once.
    pub filter: Vec<Vec<Arc<Sweeping>>>,
    /// Filterings a step: less than 1 where not every step is filtered.
    pub filterings: f64,
    /// Fields that a step reads and writes point by point, outside of sweeps.
    pub words: usize,
    /// Reductions over all ranks in a step: its size, and whether to stop.
    pub reductions: usize,
}

impl Work {
    /// That of `config` on `points` points, whatever its own are, by `method` where it is given.
    ///
    /// # Errors
    /// A sentence where the method cannot, or blocks would have no points.
    pub fn new(
        config: &Config,
        points: [usize; 3],
        decomposition: Decomposition,
        method: Option<Method>,
    ) -> Result<Self, String> {
        Self::of(&mut Planner::new(config, points, method), decomposition)
    }

    /// That of the sweeps that `planner` plans.
    ///
    /// # Errors
    /// As [`Work::new`].
    #[allow(clippy::cast_precision_loss, reason = "a number of steps")]
    pub(super) fn of(planner: &mut Planner, decomposition: Decomposition) -> Result<Self, String> {
        let Planned { parts, right_hand_side, filter } = planner.plan(decomposition)?;
        let config = planner.config;
        let integrator = config.time.integrator;
        let fused = config.compute.right_hand_side == RightHandSide::Fused;
        Ok(Self {
            decomposition,
            points: planner.points,
            value: config.compute.precision.bytes(),
            stages: integrator.stages(),
            right_hand_side,
            filter,
            filterings: config.scheme.filter.map_or(0.0, |filter| 1.0 / filter.every as f64),
            words: integrator.stages() * parts.words + words(integrator.form, parts.fields, fused),
            reductions: 2,
        })
    }

    /// Messages and bytes that `rank` sends in one right-hand side, and planes, each a value a line.
    pub fn sent(&self, rank: usize) -> (Sent, usize) {
        self.sent_in(&self.right_hand_side, rank)
    }

    /// Those of filtering once.
    pub fn sent_by_filter(&self, rank: usize) -> (Sent, usize) {
        self.sent_in(&self.filter, rank)
    }

    fn sent_in(&self, lists: &[Vec<Arc<Sweeping>>], rank: usize) -> (Sent, usize) {
        let position = self.decomposition.position(rank);
        let block = self.decomposition.block(rank, self.points);
        let mut all = (Sent::default(), 0);
        for sweeping in lists.iter().flatten() {
            let at = position[sweeping.axis.index()];
            let (sent, planes) = sweeping.sent(at, block, self.value);
            all.0.messages += sent.messages;
            all.0.bytes += sent.bytes;
            all.1 += planes;
        }
        all
    }
}

/// Fields read and written in a step by the stages' updates, where these are not part of a sweep, and by the check of the
/// state.
fn words(form: Form, fields: usize, fused: bool) -> usize {
    let (copy, add) = (2 * fields, 3 * fields);
    let updates = match form {
        Form::LowStorage { .. } if fused => 0,
        Form::LowStorage { b, .. } => b.len() * add,
        Form::Butcher { a, b } => {
            let combine = |weights: &[f64]| {
                copy + weights.iter().filter(|weight| **weight != 0.0).count() * add
            };
            copy + a.iter().skip(1).map(|row| combine(row)).sum::<usize>() + combine(b)
        }
    };
    updates + fields
}
