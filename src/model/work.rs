//! What the ranks of a run do in a step, counted.

use super::Sweeping;
use super::sweeping::Lines;
use crate::comm::Sent;
use crate::config::{Config, Precision, RightHandSide};
use crate::engine::distributed::Method;
use crate::engine::{Sweep, commute};
use crate::grid::{Axis, Decomposition, Grid};
use crate::physics::StepParts;
use crate::real::Real;
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
    pub right_hand_side: Vec<Vec<Sweeping>>,
    /// The sweeps that filter the state once.
    pub filter: Vec<Vec<Sweeping>>,
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
        match config.compute.precision {
            Precision::F64 => Self::of::<f64>(config, points, decomposition, method),
            Precision::F32 => Self::of::<f32>(config, points, decomposition, method),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a number of steps")]
    fn of<T: Real>(
        config: &Config,
        points: [usize; 3],
        decomposition: Decomposition,
        method: Option<Method>,
    ) -> Result<Self, String> {
        let grid = Grid::periodic(points, &config.grid.domain);
        for axis in Axis::ALL {
            let (n, ranks) = (points[axis.index()], decomposition.ranks[axis.index()]);
            if n < ranks {
                let along = axis.name();
                return Err(format!("{n} points along {along} are fewer than {ranks} ranks"));
            }
        }
        let parts =
            StepParts::<T>::new(config, &grid, |axis| decomposition.ranks[axis.index()] == 1);
        let counted = |lists: &[Vec<_>]| {
            let one =
                |sweep: &_| Sweeping::new(sweep, decomposition, points, &parts.operators, method);
            let together = |list: &Vec<(Axis, Sweep)>| {
                let mut counted: Vec<_> = list.iter().map(one).collect::<Result<_, String>>()?;
                if commute(list.iter().map(|(_, sweep)| sweep.accesses())) {
                    counted.sort_by_key(|sweeping| !matches!(sweeping.lines, Lines::Whole));
                }
                Ok(counted)
            };
            lists.iter().map(together).collect::<Result<_, String>>()
        };
        let integrator = config.time.integrator;
        let fused = config.compute.right_hand_side == RightHandSide::Fused;
        Ok(Self {
            decomposition,
            points,
            value: size_of::<T>(),
            stages: integrator.stages(),
            right_hand_side: counted(&parts.right_hand_side)?,
            filter: counted(&parts.filter)?,
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

    fn sent_in(&self, lists: &[Vec<Sweeping>], rank: usize) -> (Sent, usize) {
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
