//! Times of the same kind, and their efficiencies.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::file::{Basis, Part, Step};
use crate::error::{Error, Result};
use crate::io::refused;

/// Maximum number of modelled curves that can be distinguished.
pub(super) const MAX_MODELLED: usize = 5;

/// One kind of scaling.
#[derive(Debug)]
pub(super) struct Study {
    /// `weak` or `strong`.
    pub(super) scaling: &'static str,
    /// Ranks that efficiencies are relative to.
    pub(super) base: usize,
    /// Properties common to all measurements.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Series, the measured one first.
    pub(super) series: Vec<Series>,
    /// Notes for the interpretation.
    pub(super) notes: Vec<String>,
}

/// Steps on increasing numbers of ranks, from one source.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) basis: Basis,
    /// Ordered by the number of ranks.
    pub(super) steps: Vec<Step>,
    /// Time at the base per unit of work on a rank.
    base: f64,
}

impl Series {
    /// Time at the base divided by that of `step`, for the same work per rank.
    pub(super) fn efficiency(&self, scaling: &str, step: &Step) -> f64 {
        self.base / cost(scaling, step)
    }
}

/// "8 ranks".
pub(super) fn in_words(ranks: usize) -> String {
    if ranks == 1 { "1 rank".into() } else { format!("{ranks} ranks") }
}

/// Seconds per unit of work on a rank.
fn cost(scaling: &str, step: &Step) -> f64 {
    if scaling == "weak" { step.seconds } else { step.seconds * step.ranks as f64 }
}

/// One study for each kind of scaling in `parts`; efficiencies are relative to `base` ranks.
///
/// # Errors
/// If files differ in properties that must be equal, if nothing was measured, or if there is no time at the base.
pub(super) fn studies(parts: Vec<Part>, base: Option<u32>) -> Result<Vec<Study>> {
    let mut studies = Vec::new();
    for scaling in ["weak", "strong"] {
        let own: Vec<&Part> = parts.iter().filter(|part| part.scaling == scaling).collect();
        if !own.is_empty() {
            studies.push(study(scaling, &own, base)?);
        }
    }
    Ok(studies)
}

fn study(scaling: &'static str, parts: &[&Part], base: Option<u32>) -> Result<Study> {
    let measured = |part: &&&Part| part.steps[0].basis == Basis::Measured;
    let Some(first) = parts.iter().find(measured) else {
        return Err(refused(
            format!("no measurement of {scaling} scaling"),
            format!(
                "add the output of `kolmo bench step --{scaling} --json`; `kolmo model --plot` draws only the model"
            ),
        ));
    };
    parts.iter().try_for_each(|part| check_comparable(first, part))?;
    let mut notes: Vec<String> = parts.iter().flat_map(|part| part.notes.clone()).collect();
    notes.sort();
    notes.dedup();

    // Ordered by source, so that measured times come first.
    let mut groups: BTreeMap<(Basis, Option<PathBuf>), BTreeMap<usize, Step>> = BTreeMap::new();
    for step in parts.iter().flat_map(|part| &part.steps) {
        let file = matches!(step.basis, Basis::Modelled(_)).then(|| step.file.clone());
        let group = groups.entry((step.basis.clone(), file)).or_default();
        let Some(other) = group.get_mut(&step.ranks) else {
            group.insert(step.ranks, step.clone());
            continue;
        };
        if step.basis == Basis::Measured {
            notes.push(duplicate_note(other, step));
        }
        if step.seconds < other.seconds {
            *other = step.clone();
        }
    }
    let files: Vec<&PathBuf> = groups.keys().filter_map(|(_, file)| file.as_ref()).collect();
    let several = files.iter().any(|file| *file != files[0]);
    if groups.len() > 1 + MAX_MODELLED {
        return Err(refused(
            format!("{} modelled curves are too many for one figure", groups.len() - 1),
            "model one method on one network, as with `kolmo model --method neighbour --network fat-tree --json`",
        ));
    }
    // The first group is the measured one, and has at least one step.
    let smallest = groups.values().find_map(|steps| steps.keys().next().copied()).unwrap_or(1);
    let base = base.map_or(smallest, |base| base as usize);
    let mut series = Vec::new();
    for ((basis, file), steps) in groups {
        let name = match (&basis, file.filter(|_| several)) {
            (Basis::Measured, _) => "measured".into(),
            (Basis::Predicted, _) => "modelled, rates of the jobs".into(),
            (Basis::Modelled(name), None) => format!("modelled, {name}"),
            (Basis::Modelled(name), Some(file)) => format!("modelled, {name}, {}", file.display()),
        };
        match steps.get(&base).map(|step| cost(scaling, step)) {
            Some(base) => {
                series.push(Series { name, basis, steps: steps.into_values().collect(), base });
            }
            // The job could not predict, and its notes contain the reason.
            None if basis == Basis::Predicted => {
                notes.push(format!("note: not drawn: {name}, without one on {}", in_words(base)));
            }
            None => return Err(no_base_time(base, &name, steps.keys())),
        }
    }
    Ok(Study { scaling, base, facts: first.facts.clone(), series, notes })
}

fn no_base_time<'a>(base: usize, name: &str, ranks: impl Iterator<Item = &'a usize>) -> Error {
    let numbers: Vec<_> = ranks.map(usize::to_string).collect();
    refused(
        format!(
            "efficiencies are relative to {}, but {name} has no time on that many",
            in_words(base)
        ),
        format!("there is one for {}; choose with `--base`, or add {base}", numbers.join(", ")),
    )
}

/// A note on two jobs of the same size: which one is drawn.
fn duplicate_note(a: &Step, b: &Step) -> String {
    let (faster, slower) = if b.seconds < a.seconds { (b, a) } else { (a, b) };
    format!(
        "note: {}, more than once: the figure shows the step of {:.4} ms in {}, not that of {:.4} ms in {}",
        in_words(a.ranks),
        1e3 * faster.seconds,
        faster.file.display(),
        1e3 * slower.seconds,
        slower.file.display()
    )
}

/// Refuse parts that differ in a property which both have.
fn check_comparable(first: &Part, other: &Part) -> Result<()> {
    for (name, value) in &other.facts {
        // A measurement of a job has no such property.
        let known = first.facts.iter().find(|(known, _)| known == name);
        let known = known.map_or("a step of taylor-green", |(_, value)| value);
        if value != known {
            let [a, b] = [first, other].map(|part| part.steps[0].file.display());
            return Err(refused(
                format!("{b}: {name} is {value}, but {known} in {a}"),
                "one figure has one machine, scheme, precision and size; draw the others with another `--out`",
            ));
        }
    }
    Ok(())
}
