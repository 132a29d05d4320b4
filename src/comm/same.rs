//! Check that all ranks were started with the same input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::{Communicator, all_or_error, first_rank, host};
use crate::error::{Error, Result, refused};

/// Largest number of differences that are listed.
const MAX_DIFFERENCES: usize = 4;
/// Largest number of characters shown of a value.
const MAX_VALUE_CHARS: usize = 80;

/// A name and its value: a key of the input, an option of the command.
pub type Fact = (String, String);

/// Description of a rank, exchanged if the facts differ.
#[derive(Serialize, Deserialize)]
struct RankFacts {
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
    let rank = first_rank(comm, differs).unwrap_or(0);
    let mut count = [f64::from(u8::from(differs))];
    comm.sum(&mut count);
    let encoded = || {
        let own = RankFacts { host: host(), facts: facts.iter().cloned().collect() };
        serde_json::to_vec(&own).unwrap_or_default()
    };
    let message = comm.broadcast(rank, if comm.rank() == rank { encoded() } else { Vec::new() });
    let others = count[0] - 1.0;
    let result = match comm.rank() {
        0 => Err(difference((rank, &message), facts, others)),
        _ => Ok(()),
    };
    all_or_error(comm, result)
}

/// Describes the difference of rank `rank`, which sent `message`, from rank 0 with `facts`; `others` more ranks differ from
/// rank 0.
fn difference((rank, message): (usize, &[u8]), facts: &[Fact], others: f64) -> Error {
    let unreadable = |_| RankFacts { host: "an unknown host".into(), facts: BTreeMap::new() };
    let other = serde_json::from_slice(message).unwrap_or_else(unreadable);
    let reference: BTreeMap<&String, &String> =
        facts.iter().map(|(name, value)| (name, value)).collect();
    let missing = reference.keys().copied().filter(|name| !other.facts.contains_key(*name));
    let differs = |name: &&String| other.facts.get(*name) != reference.get(*name).copied();
    let mut differences: Vec<String> = other
        .facts
        .keys()
        .chain(missing)
        .filter(differs)
        .map(|name| {
            let (value, expected) =
                (printable(other.facts.get(name)), printable(reference.get(name).copied()));
            format!("{name} = {value}, not {expected}")
        })
        .collect();
    let more = differences.len().saturating_sub(MAX_DIFFERENCES);
    differences.truncate(MAX_DIFFERENCES);
    if more > 0 {
        differences.push(format!("and {more} more"));
    }
    let (host, differences) = (&other.host, differences.join("; "));
    let more =
        if others > 0.0 { format!(" (so were {others} other ranks)") } else { String::new() };
    refused(
        format!("rank {rank} on {host} was started differently from rank 0: {differences}{more}"),
        "start all ranks with the same program, input and options; nothing was run",
    )
}

fn printable(value: Option<&String>) -> String {
    let Some(value) = value else { return "nothing".into() };
    let mut result: String =
        value.chars().take(MAX_VALUE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if result.len() < value.len() {
        result.push_str(" ...");
    }
    result
}
