//! The sweeps of one configuration on many decompositions.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::Sweeping;
use super::sweeping::Lines;
use crate::config::Config;
use crate::engine::distributed::Method;
use crate::engine::{Sweep, commute};
use crate::grid::{Axis, Decomposition, Grid};
use crate::physics::StepParts;

/// Plans sweeps. Decompositions that have as many ranks along an axis share what is planned along it.
pub(super) struct Planner<'a> {
    pub(super) config: &'a Config,
    pub(super) points: [usize; 3],
    method: Option<Method>,
    grid: Grid,
    /// By the axes along which lines are whole.
    parts: HashMap<[bool; 3], Rc<StepParts>>,
    known: HashMap<Key, Result<Arc<Sweeping>, String>>,
    /// Plans made so far.
    planned: usize,
}

/// Which sweep: that of the right-hand side or the filter, of which list, at which place in it.
type Place = (bool, usize, usize);

/// The axes along which lines are whole, the sweep, and ranks along its axis.
type Key = ([bool; 3], Place, usize);

/// The sweeps of a step, those of one list together.
pub(super) struct Planned {
    pub(super) parts: Rc<StepParts>,
    pub(super) right_hand_side: Vec<Vec<Arc<Sweeping>>>,
    pub(super) filter: Vec<Vec<Arc<Sweeping>>>,
}

impl<'a> Planner<'a> {
    /// For `config` on `points` points, whatever its own are, by `method` where it is given.
    pub(super) fn new(config: &'a Config, points: [usize; 3], method: Option<Method>) -> Self {
        let grid = Grid::periodic(points, &config.grid.domain);
        let (parts, known) = (HashMap::new(), HashMap::new());
        Self { config, points, method, grid, parts, known, planned: 0 }
    }

    /// Plans made so far: one for all ranks on a line that do alike.
    pub(super) fn planned(&self) -> usize {
        self.planned
    }

    /// # Errors
    /// A sentence where the method cannot, or blocks would have no points.
    pub(super) fn plan(&mut self, decomposition: Decomposition) -> Result<Planned, String> {
        for axis in Axis::ALL {
            let (n, ranks) = (self.points[axis.index()], decomposition.ranks[axis.index()]);
            if n < ranks {
                let along = axis.name();
                return Err(format!("{n} points along {along} are fewer than {ranks} ranks"));
            }
        }
        let whole = decomposition.ranks.map(|ranks| ranks == 1);
        let Self { config, grid, parts, .. } = self;
        let make = || Rc::new(StepParts::new(config, grid, |axis| whole[axis.index()]));
        let parts = parts.entry(whole).or_insert_with(make).clone();
        let right_hand_side = self.lists(&parts, decomposition, false)?;
        let filter = self.lists(&parts, decomposition, true)?;
        Ok(Planned { parts, right_hand_side, filter })
    }

    /// In the order in which they run: sweeps that need no messages come first where that does not matter.
    fn lists(
        &mut self,
        parts: &StepParts,
        decomposition: Decomposition,
        filter: bool,
    ) -> Result<Vec<Vec<Arc<Sweeping>>>, String> {
        let lists = if filter { &parts.filter } else { &parts.right_hand_side };
        let mut planned = Vec::with_capacity(lists.len());
        for (number, list) in lists.iter().enumerate() {
            let mut together = Vec::with_capacity(list.len());
            for (at, sweep) in list.iter().enumerate() {
                together.push(self.sweep(parts, decomposition, (filter, number, at), sweep)?);
            }
            if commute(list.iter().map(|(_, sweep)| sweep.accesses())) {
                together.sort_by_key(|sweeping| !matches!(sweeping.lines, Lines::Whole));
            }
            planned.push(together);
        }
        Ok(planned)
    }

    fn sweep(
        &mut self,
        parts: &StepParts,
        decomposition: Decomposition,
        place: Place,
        sweep: &(Axis, Sweep),
    ) -> Result<Arc<Sweeping>, String> {
        let whole = decomposition.ranks.map(|ranks| ranks == 1);
        let key = (whole, place, decomposition.ranks[sweep.0.index()]);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let new = Sweeping::new(sweep, decomposition, self.points, &parts.operators, self.method);
        let new = new.map(Arc::new);
        self.planned += new.as_ref().map_or(0, |sweeping| sweeping.planned());
        self.known.insert(key, new.clone());
        new
    }
}
