//! Check that all ranks were started with the same input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::{Communicator, all_or_error, first_rank, host};
use crate::error::{Error, Result, refused};

/// Largest number of differences that are listed.
const MOST_TOLD: usize = 4;
/// Largest number of characters shown of a value.
const LONGEST: usize = 80;

/// A name and its value: a key of the input, an option of the command.
pub type Fact = (String, String);

/// Description of a rank, exchanged if the facts differ.
#[derive(Serialize, Deserialize)]
struct Told {
    host: String,
    facts: BTreeMap<String, String>,
}

/// Returns an error if a rank has other facts than rank 0. Ranks exchange 64 bytes, independent of the facts, so that the check
/// works between programs that have nothing else in common. Collective.
///
/// # Errors
/// On all ranks, if facts differ: a sentence that names the first such rank and the differences.
pub fn same_on_all(comm: &dyn Communicator, facts: &[Fact]) -> Result<()> {
    if comm.size() == 1 {
        return Ok(());
    }
    let hash = xxh3_128(&serde_json::to_vec(facts).unwrap_or_default()).to_le_bytes();
    let words = hash.as_chunks().0.iter().map(|&word| f64::from(u32::from_le_bytes(word)));
    let words: Vec<f64> = words.collect();
    // Maximum of each word and, through its negative, minimum: the two are equal if all ranks agree.
    let mut both: Vec<f64> = words.iter().copied().chain(words.iter().map(|word| -word)).collect();
    comm.max(&mut both);
    let (largest, smallest) = both.split_at(words.len());
    if largest.iter().zip(smallest).all(|(largest, smallest)| *largest == -smallest) {
        return Ok(());
    }
    let differs = comm.broadcast(0, hash.to_vec()) != hash;
    // The first rank that differs sends its facts.
    let who = first_rank(comm, differs).unwrap_or(0);
    let mut count = [f64::from(u8::from(differs))];
    comm.sum(&mut count);
    let told = || {
        let told = Told { host: host(), facts: facts.iter().cloned().collect() };
        serde_json::to_vec(&told).unwrap_or_default()
    };
    let told = comm.broadcast(who, if comm.rank() == who { told() } else { Vec::new() });
    let others = count[0] - 1.0;
    let found = match comm.rank() {
        0 => Err(difference((who, &told), facts, others)),
        _ => Ok(()),
    };
    all_or_error(comm, found)
}

/// Describes the difference of rank `who`, which sent `told`, from rank 0 with `facts`; `others` more ranks differ from
/// rank 0.
fn difference((who, told): (usize, &[u8]), facts: &[Fact], others: f64) -> Error {
    let nothing = |_| Told { host: "an unknown host".into(), facts: BTreeMap::new() };
    let told = serde_json::from_slice(told).unwrap_or_else(nothing);
    let first: BTreeMap<&String, &String> =
        facts.iter().map(|(name, value)| (name, value)).collect();
    let missing = first.keys().copied().filter(|name| !told.facts.contains_key(*name));
    let differs = |name: &&String| told.facts.get(*name) != first.get(*name).copied();
    let mut differences: Vec<String> = told
        .facts
        .keys()
        .chain(missing)
        .filter(differs)
        .map(|name| {
            let (own, its) = (shown(told.facts.get(name)), shown(first.get(name).copied()));
            format!("{name} = {own}, not {its}")
        })
        .collect();
    let more = differences.len().saturating_sub(MOST_TOLD);
    differences.truncate(MOST_TOLD);
    if more > 0 {
        differences.push(format!("and {more} more"));
    }
    let (host, differences) = (&told.host, differences.join("; "));
    let more =
        if others > 0.0 { format!(" (so were {others} other ranks)") } else { String::new() };
    refused(
        format!("rank {who} on {host} was started differently from rank 0: {differences}{more}"),
        "start all ranks with the same program, input and options; nothing was run",
    )
}

fn shown(value: Option<&String>) -> String {
    let Some(value) = value else { return "nothing".into() };
    let mut shown: String =
        value.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.len() < value.len() {
        shown.push_str(" ...");
    }
    shown
}
