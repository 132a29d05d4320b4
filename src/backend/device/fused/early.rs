//! Early loads: while operators run, fields are loaded to on-chip locations that are free at that time. The fields that
//! the first operator of a tile needs are loaded while the last operators of the previous tile run.

use std::collections::BTreeMap;
use std::ops::Range;

/// Largest number of operators that run while a field is loaded: this takes longer than a load from device memory, and is
/// few enough not to delay fields that are needed sooner.
const MAX_OPERATORS: usize = 3;
/// The same for the operands of the first operator of a tile: several fields at once.
const MAX_OPERATORS_BEFORE_TILE: usize = 6;

/// A load, in the order in which the statements of a sweep are generated.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// The field, and whether it is loaded only if β is not 0.
    pub(super) field: String,
    pub(super) if_beta: bool,
    /// Number of operators before it, and number of statements.
    pub(super) operators_before: usize,
    statement: usize,
}

/// Order of events in a sweep, counted in statements.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    operators: Vec<usize>,
    loads: Vec<Load>,
    /// Periods in which on-chip locations are occupied, and the start of the periods that have not ended.
    taken: Vec<(usize, Range<usize>)>,
    since: BTreeMap<usize, usize>,
}

impl Timeline {
    /// Notes an operator after `statement` statements.
    pub(super) fn operator(&mut self, statement: usize) {
        self.operators.push(statement);
    }

    pub(super) fn operators(&self) -> usize {
        self.operators.len()
    }

    /// Notes a load of a field, and returns its number.
    pub(super) fn load(&mut self, field: &str, if_beta: bool, statement: usize) -> usize {
        let (field, operators_before) = (field.to_string(), self.operators());
        self.loads.push(Load { field, if_beta, operators_before, statement });
        self.loads.len() - 1
    }

    pub(super) fn park(&mut self, place: usize, statement: usize) {
        self.since.insert(place, statement);
    }

    pub(super) fn free(&mut self, place: usize, statement: usize) {
        let since = self.since.remove(&place).unwrap_or(0);
        self.taken.push((place, since..statement));
    }

    /// Returns the loads that can start early and use one of `places` on-chip locations, each as early as useful. If
    /// threads load for each other (`gathers`), an operator, with its barriers, must separate the previous use of a
    /// location from the load.
    pub(super) fn early(
        &self,
        places: usize,
        gathers: bool,
        in_turn: bool,
    ) -> BTreeMap<usize, Early> {
        let still = self.since.iter().map(|(place, since)| (*place, *since..usize::MAX));
        let mut taken: Vec<_> = self.taken.iter().cloned().chain(still).collect();
        let mut early: BTreeMap<usize, Early> = BTreeMap::new();
        // Copies complete in the order in which they start. Loads for the next tile therefore start after all loads of
        // the current tile.
        let (later, own): (Vec<_>, Vec<_>) =
            self.loads.iter().enumerate().partition(|(_, load)| load.operators_before == 0);
        let later = later.into_iter().filter(|_| in_turn);
        let mut last = 0;
        for (number, load) in own.into_iter().chain(later) {
            let is_for_next_tile = load.operators_before == 0;
            let starts_before = match is_for_next_tile {
                true => {
                    let first = self.operators().saturating_sub(MAX_OPERATORS_BEFORE_TILE);
                    first.max(last)..self.operators()
                }
                false => load.operators_before.saturating_sub(MAX_OPERATORS)..load.operators_before,
            };
            let mut ways = starts_before
                .flat_map(|starts_before| (0..places).map(move |place| (starts_before, place)));
            let times = |starts_before: usize| {
                let before = starts_before.checked_sub(usize::from(gathers));
                let start = before.map_or(0, |before| self.operators[before]);
                let end = load.statement + 1;
                if is_for_next_tile { [start..usize::MAX, 0..end] } else { [start..end, 0..0] }
            };
            let is_free = |starts_before: usize, place: usize| {
                let meets = |time: &Range<usize>| {
                    let mut others = taken.iter().filter(|(other, _)| *other == place);
                    others.any(|(_, taken)| taken.start < time.end && time.start < taken.end)
                };
                !times(starts_before).iter().any(meets)
            };
            if let Some((starts_before, place)) =
                ways.find(|(starts_before, place)| is_free(*starts_before, *place))
            {
                taken.extend(times(starts_before).map(|time| (place, time)));
                last = last.max(starts_before);
                early.insert(number, Early { load: load.clone(), starts_before, place });
            }
        }
        early
    }
}

/// A load that starts early.
#[derive(Clone, Debug)]
pub(super) struct Early {
    pub(super) load: Load,
    /// Operator before which it starts; an operator of the previous tile if the first operator needs the field.
    pub(super) starts_before: usize,
    /// On-chip location of the field.
    pub(super) place: usize,
}

impl Early {
    fn is_for_next_tile(&self) -> bool {
        self.load.operators_before == 0
    }

    /// Returns the statement that starts it.
    fn begin(&self, prefetch: &str) -> String {
        let Self { load: Load { field, if_beta, .. }, place, .. } = self;
        let condition = if *if_beta { "if (beta != 0) " } else { "" };
        format!("{condition}{prefetch}({place}, {field}, chip, tile);")
    }
}

/// Early loads that are under way while a sweep is generated.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingLoads {
    pub(super) early: BTreeMap<usize, Early>,
    /// Group of asynchronous copies of each load.
    group: BTreeMap<usize, usize>,
    /// Number of groups started, and number of groups known to be complete.
    groups: usize,
    completed_groups: usize,
}

impl PendingLoads {
    /// The loads from [`Timeline::early`].
    pub(super) fn new(early: BTreeMap<usize, Early>) -> Self {
        Self { early, ..Self::default() }
    }

    /// Returns the statements that start loads before an operator.
    pub(super) fn begin(&mut self, operator: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (is_for_next_tile, prefetch) in [(false, "prefetch"), (true, "PREFETCH_NEXT_TILE")] {
            let loads = self.early.iter().filter(|(_, early)| early.starts_before == operator);
            let mut loads =
                loads.filter(|(_, early)| early.is_for_next_tile() == is_for_next_tile).peekable();
            if loads.peek().is_none() {
                continue;
            }
            for (number, early) in loads {
                lines.push(early.begin(prefetch));
                self.group.insert(*number, self.groups);
            }
            lines.push("COPY_COMMIT();".into());
            self.groups += 1;
        }
        lines
    }

    /// Whether the operands of a tile's first operator are loaded during the previous tile.
    pub(super) fn has_next_tile_loads(&self) -> bool {
        self.early.values().any(Early::is_for_next_tile)
    }

    /// Returns the statements that load these operands for the first tile of a block.
    pub(super) fn first_tile_loads(&self) -> Vec<String> {
        let later = self.early.values().filter(|early| early.is_for_next_tile());
        later.map(|early| early.begin("prefetch")).collect()
    }

    /// Returns the statement that waits for a load, unless the load is known to be complete.
    pub(super) fn wait(&mut self, number: usize) -> Option<String> {
        let group = *self.group.get(&number)?;
        if group < self.completed_groups {
            return None;
        }
        self.completed_groups = group + 1;
        Some(format!("COPY_WAIT({});", self.groups - self.completed_groups))
    }

    /// Returns the loads needed after `operators` operators.
    pub(super) fn needed_after(&self, operators: usize) -> Vec<usize> {
        let needed =
            self.early.iter().filter(|(_, early)| early.load.operators_before == operators);
        needed.map(|(number, _)| *number).collect()
    }

    /// Returns the number of on-chip locations used.
    pub(super) fn places(&self) -> usize {
        self.early.values().map(|early| early.place + 1).max().unwrap_or(0)
    }
}
