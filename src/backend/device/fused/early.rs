//! Loads that begin early: while operators work, fields come to places on chip that nothing else takes meanwhile. Those that the first
//! operator of a tile needs come while the last operators of the tile before work.

use std::collections::BTreeMap;
use std::ops::Range;

/// Operators that work while a field comes, at most: more than a load from device memory takes, and not so many that fields which
/// are needed sooner wait for it.
const OPERATORS: usize = 3;
/// The same of what the first operator of a tile needs: several fields at once.
const OPERATORS_BEFORE_A_TILE: usize = 6;

/// A load, as it is met when a sweep is written down.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// What is loaded, and whether only where old rates count.
    pub(super) field: String,
    pub(super) if_beta: bool,
    /// The operators before it, and the statements.
    pub(super) behind: usize,
    statement: usize,
}

/// When things are done in a sweep, in statements.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    operators: Vec<usize>,
    loads: Vec<Load>,
    /// When places on chip are taken; of those that still are, since when.
    taken: Vec<(usize, Range<usize>)>,
    since: BTreeMap<usize, usize>,
}

impl Times {
    /// An operator is applied behind so many statements.
    pub(super) fn operator(&mut self, statement: usize) {
        self.operators.push(statement);
    }

    pub(super) fn operators(&self) -> usize {
        self.operators.len()
    }

    /// A field is loaded; its number.
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

    /// The loads that find one of so many places as early as that does any good. Where threads load for others, `gathers`, an operator
    /// lies between what was at a place before and what comes there, for its barriers.
    pub(super) fn early(
        &self,
        places: usize,
        gathers: bool,
        in_turn: bool,
    ) -> BTreeMap<usize, Early> {
        let still = self.since.iter().map(|(place, since)| (*place, *since..usize::MAX));
        let mut taken: Vec<_> = self.taken.iter().cloned().chain(still).collect();
        let mut early: BTreeMap<usize, Early> = BTreeMap::new();
        // What is begun comes in that order, so that nothing of a tile is begun behind what the next one needs.
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

/// A load that begins early.
#[derive(Clone, Debug)]
pub(super) struct Early {
    pub(super) load: Load,
    /// The operator before which it begins; that of the tile before, where it is needed before the first.
    pub(super) begun: usize,
    /// Where it goes.
    pub(super) place: usize,
}

impl Early {
    fn is_later(&self) -> bool {
        self.load.behind == 0
    }

    /// The statement by which it begins.
    fn begin(&self, bring: &str) -> String {
        let Self { load: Load { field, if_beta, .. }, place, .. } = self;
        let condition = if *if_beta { "if (beta != 0) " } else { "" };
        format!("{condition}{bring}({place}, {field}, chip, tile);")
    }
}

/// What is asked for and under way while a sweep is written down.
#[derive(Clone, Debug, Default)]
pub(super) struct Coming {
    pub(super) early: BTreeMap<usize, Early>,
    /// The group of copies that each load is in.
    group: BTreeMap<usize, usize>,
    /// Groups that were begun, and those that are known to be there.
    groups: usize,
    there: usize,
}

impl Coming {
    /// The loads, as given by [`Times::early`].
    pub(super) fn new(early: BTreeMap<usize, Early>) -> Self {
        Self { early, ..Self::default() }
    }

    /// What begins before an operator, as statements.
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

    /// Whether what the first operator of a tile needs comes while the tile before is done.
    pub(super) fn are_in_turn(&self) -> bool {
        self.early.values().any(Early::is_later)
    }

    /// How that begins for the first tile of a block, as statements.
    pub(super) fn first(&self) -> Vec<String> {
        let later = self.early.values().filter(|early| early.is_later());
        later.map(|early| early.begin("bring")).collect()
    }

    /// The statement that waits for a load, where that is not known to be there.
    pub(super) fn wait(&mut self, number: usize) -> Option<String> {
        let group = *self.group.get(&number)?;
        if group < self.there {
            return None;
        }
        self.there = group + 1;
        Some(format!("COPIES_WAIT({});", self.groups - self.there))
    }

    /// The loads behind so many operators.
    pub(super) fn behind(&self, operators: usize) -> Vec<usize> {
        let behind = self.early.iter().filter(|(_, early)| early.load.behind == operators);
        behind.map(|(number, _)| *number).collect()
    }

    /// The places on chip that are taken.
    pub(super) fn places(&self) -> usize {
        self.early.values().map(|early| early.place + 1).max().unwrap_or(0)
    }
}
