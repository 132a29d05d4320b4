//! Early loads: while operators run, fields are loaded to on-chip locations that are free at that time. The fields that
//! the first operator of a tile needs are loaded while the last operators of the previous tile run.

use std::collections::BTreeMap;
use std::ops::Range;

/// Largest number of operators that run while a field is loaded: this takes longer than a load from device memory, and is
/// few enough not to delay fields that are needed sooner.
const OPERATORS: usize = 3;
/// The same for the operands of the first operator of a tile: several fields at once.
const OPERATORS_BEFORE_A_TILE: usize = 6;

/// A load, in the order in which the statements of a sweep are generated.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// The field, and whether it is loaded only if β is not 0.
    pub(super) field: String,
    pub(super) if_beta: bool,
    /// Number of operators before it, and number of statements.
    pub(super) behind: usize,
    statement: usize,
}

/// Order of events in a sweep, counted in statements.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    operators: Vec<usize>,
    loads: Vec<Load>,
    /// Periods in which on-chip locations are occupied, and the start of the periods that have not ended.
    taken: Vec<(usize, Range<usize>)>,
    since: BTreeMap<usize, usize>,
}

impl Times {
    /// Notes an operator after `statement` statements.
    pub(super) fn operator(&mut self, statement: usize) {
        self.operators.push(statement);
    }

    pub(super) fn operators(&self) -> usize {
        self.operators.len()
    }

    /// Notes a load of a field, and returns its number.
    pub(super) fn load(&mut self, field: &str, if_beta: bool, statement: usize) -> usize {
        let (field, behind) = (field.to_string(), self.operators());
        self.loads.push(Load { field, if_beta, behind, statement });
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
            self.loads.iter().enumerate().partition(|(_, load)| load.behind == 0);
        let later = later.into_iter().filter(|_| in_turn);
        let mut last = 0;
        for (number, load) in own.into_iter().chain(later) {
            let is_later = load.behind == 0;
            let begun = match is_later {
                true => {
                    let first = self.operators().saturating_sub(OPERATORS_BEFORE_A_TILE);
                    first.max(last)..self.operators()
                }
                false => load.behind.saturating_sub(OPERATORS)..load.behind,
            };
            let mut ways = begun.flat_map(|begun| (0..places).map(move |place| (begun, place)));
            let times = |begun: usize| {
                let before = begun.checked_sub(usize::from(gathers));
                let start = before.map_or(0, |before| self.operators[before]);
                let end = load.statement + 1;
                if is_later { [start..usize::MAX, 0..end] } else { [start..end, 0..0] }
            };
            let is_free = |begun: usize, place: usize| {
                let meets = |time: &Range<usize>| {
                    let mut others = taken.iter().filter(|(other, _)| *other == place);
                    others.any(|(_, taken)| taken.start < time.end && time.start < taken.end)
                };
                !times(begun).iter().any(meets)
            };
            if let Some((begun, place)) = ways.find(|(begun, place)| is_free(*begun, *place)) {
                taken.extend(times(begun).map(|time| (place, time)));
                last = last.max(begun);
                early.insert(number, Early { load: load.clone(), begun, place });
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
    pub(super) begun: usize,
    /// On-chip location of the field.
    pub(super) place: usize,
}

impl Early {
    fn is_later(&self) -> bool {
        self.load.behind == 0
    }

    /// Returns the statement that starts it.
    fn begin(&self, bring: &str) -> String {
        let Self { load: Load { field, if_beta, .. }, place, .. } = self;
        let condition = if *if_beta { "if (beta != 0) " } else { "" };
        format!("{condition}{bring}({place}, {field}, chip, tile);")
    }
}

/// Early loads that are under way while a sweep is generated.
#[derive(Clone, Debug, Default)]
pub(super) struct Coming {
    pub(super) early: BTreeMap<usize, Early>,
    /// Group of asynchronous copies of each load.
    group: BTreeMap<usize, usize>,
    /// Number of groups started, and number of groups known to be complete.
    groups: usize,
    there: usize,
}

impl Coming {
    /// The loads from [`Times::early`].
    pub(super) fn new(early: BTreeMap<usize, Early>) -> Self {
        Self { early, ..Self::default() }
    }

    /// Returns the statements that start loads before an operator.
    pub(super) fn begin(&mut self, operator: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (is_later, bring) in [(false, "bring"), (true, "BRING_LATER")] {
            let begun = self.early.iter().filter(|(_, early)| early.begun == operator);
            let mut begun = begun.filter(|(_, early)| early.is_later() == is_later).peekable();
            if begun.peek().is_none() {
                continue;
            }
            for (number, early) in begun {
                lines.push(early.begin(bring));
                self.group.insert(*number, self.groups);
            }
            lines.push("COPIES_END();".into());
            self.groups += 1;
        }
        lines
    }

    /// Whether the operands of a tile's first operator are loaded during the previous tile.
    pub(super) fn are_in_turn(&self) -> bool {
        self.early.values().any(Early::is_later)
    }

    /// Returns the statements that load these operands for the first tile of a block.
    pub(super) fn first(&self) -> Vec<String> {
        let later = self.early.values().filter(|early| early.is_later());
        later.map(|early| early.begin("bring")).collect()
    }

    /// Returns the statement that waits for a load, unless the load is known to be complete.
    pub(super) fn wait(&mut self, number: usize) -> Option<String> {
        let group = *self.group.get(&number)?;
        if group < self.there {
            return None;
        }
        self.there = group + 1;
        Some(format!("COPIES_WAIT({});", self.groups - self.there))
    }

    /// Returns the loads needed after `operators` operators.
    pub(super) fn behind(&self, operators: usize) -> Vec<usize> {
        let behind = self.early.iter().filter(|(_, early)| early.load.behind == operators);
        behind.map(|(number, _)| *number).collect()
    }

    /// Returns the number of on-chip locations used.
    pub(super) fn places(&self) -> usize {
        self.early.values().map(|early| early.place + 1).max().unwrap_or(0)
    }
}
