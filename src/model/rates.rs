//! What a machine does in a second.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, refused};
use crate::io::open;

/// How fast the parts of a step are on one rank while all ranks of its host work. Every time of the model is counted work
/// over one of these. `kolmo bench comm --json` measures them and writes them as its object `rates`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Where the numbers come from, in words: a machine, and whether they were measured or assumed.
    pub source: String,
    /// Seconds from one rank to the next for a message of a few bytes, one way, less twice `overhead`: half the time there
    /// and back of a ping-pong, on an idle machine. L of LogGP (Alexandrov et al. 1995).
    pub latency: f64,
    /// Seconds for which a rank is busy with one message however short, sent or received: what a round with many short
    /// messages takes longer for each one more. o of LogGP.
    pub overhead: f64,
    /// Bytes a second that leave a rank, and at the same time enter it, in long messages to two neighbours, all ranks
    /// exchanging at once. 1/G of LogGP.
    pub bandwidth: f64,
    /// The same in rounds right behind another one: more where cores copy messages, which finds them in the caches then.
    pub again: f64,
    /// Bytes a second of long messages, in such rounds, that leave a rank to which none comes meanwhile: more where cores
    /// copy what is sent and what comes, the same where links carry both ways at once.
    pub one_way: f64,
    /// Bytes a second that leave a rank in an all-to-all of its block.
    pub all_to_all: f64,
    /// Bytes a second between the memory of a device and that of its host, where messages go through the latter; nothing
    /// where they do not.
    #[serde(default)]
    pub staging: Option<f64>,
    /// Bytes a second, read plus written, of fields copied to others: formulas point by point run at this rate.
    pub copy: f64,
    /// Seconds a point and operand of a sweep over whole lines: the time of all sweeps of a right-hand side, gradients
    /// included, on one rank (fields read and written, operands formed, lines solved, terms added), over its points and its
    /// operators.
    pub sweep: f64,
    /// Seconds a point and plane of interface values added to a result at the ends of a block: the time of a sweep with ends, less
    /// that of the same sweep on lines as long that have none, over the lengths of all columns of all operands and lines.
    pub correct: f64,
    /// Bytes a second of the points at the ends of operands, each counted once: 2 x reach x lines x operands values.
    pub pack: f64,
    /// Bytes a second of the planes that the matrices between messages read and make, each once between two rounds.
    pub combine: f64,
    /// Bytes a second, read plus written, of lines dealt out and collected (`transpose` only).
    pub deal: f64,
    /// Seconds that a sum of planes takes on next to nothing, and a sweep, or a pack, over its operands.
    pub launch: f64,
    /// Seconds of a reduction over all ranks for every doubling of their number: its time over log₂ P.
    pub reduction: f64,
    /// The part of a message's bytes that moves while the rank computes: 1 where hardware carries them, 0 where they move
    /// only while the rank waits, as between the ranks of one host.
    #[serde(default = "one")]
    pub progress: f64,
}

fn one() -> f64 {
    1.0
}

impl Rates {
    /// One H200 a rank, eight a node, a link of 400 Gb/s each. Only the copy was measured; all else is assumed from what such
    /// parts are sold as, sweeps operation by operation at the rate of a copy.
    pub fn h200() -> Self {
        Self {
            source: "H200, 400 Gb/s a GPU; assumed, but for the rate of a copy".into(),
            latency: 4e-6,
            overhead: 1e-6,
            bandwidth: 50e9,
            again: 50e9,
            one_way: 50e9,
            all_to_all: 50e9,
            staging: None,
            copy: 4.3e12,
            // 312 words a point for the 63 operands of a right-hand side (`docs/performance.md`).
            sweep: 312.0 / 63.0 * 8.0 / 4.3e12,
            // A result is read and written once more where columns reach, both of an end (`compact6`) at once.
            correct: 8.0 / 4.3e12,
            pack: 2e12,
            combine: 2e12,
            deal: 2e12,
            launch: 3e-6,
            reduction: 8e-6,
            progress: 1.0,
        }
    }

    /// One core a rank on a host of its own: assumed, from what a server of 2024 does.
    pub fn core() -> Self {
        Self {
            source: "a core of a server; assumed".into(),
            latency: 1e-6,
            overhead: 0.5e-6,
            bandwidth: 5e9,
            again: 8e9,
            one_way: 12e9,
            all_to_all: 3e9,
            staging: None,
            copy: 10e9,
            sweep: 0.8e-9,
            correct: 0.5e-9,
            pack: 5e9,
            combine: 5e9,
            deal: 2e9,
            launch: 2e-6,
            reduction: 2e-6,
            progress: 0.0,
        }
    }

    /// From a file that holds the rates, or what `kolmo bench comm --json` printed.
    ///
    /// # Errors
    /// Where the file cannot be read, lacks a rate, or has one that is not positive.
    pub fn load(path: &Path) -> Result<Self> {
        let text = open::text(path, open::MOST_JSON).map_err(|why| {
            Error::Config(vec![format!("error: cannot read rates from {}: {why}", path.display())])
        })?;
        let wrong = |what: String| {
            let advice = "`mpirun -n 2 kolmo bench comm --json` writes such a file";
            refused(format!("{} has no rates: {what}", path.display()), advice)
        };
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|why| wrong(why.to_string()))?;
        if value.get("machine").is_some() && value.get("rates").is_none() {
            return Err(wrong("one rank alone can say nothing of messages".into()));
        }
        if !value.is_object() {
            return Err(wrong("it is no object".into()));
        }
        let value = value.get("rates").cloned().unwrap_or(value);
        let rates: Self = serde_json::from_value(value).map_err(|why| wrong(why.to_string()))?;
        rates.check().map_err(wrong)?;
        Ok(rates)
    }

    /// Every rate with its name, in the order of the documentation.
    pub fn named(&mut self) -> [(&'static str, &mut f64); 15] {
        [
            ("latency", &mut self.latency),
            ("overhead", &mut self.overhead),
            ("bandwidth", &mut self.bandwidth),
            ("again", &mut self.again),
            ("one_way", &mut self.one_way),
            ("all_to_all", &mut self.all_to_all),
            ("copy", &mut self.copy),
            ("sweep", &mut self.sweep),
            ("correct", &mut self.correct),
            ("pack", &mut self.pack),
            ("combine", &mut self.combine),
            ("deal", &mut self.deal),
            ("launch", &mut self.launch),
            ("reduction", &mut self.reduction),
            ("progress", &mut self.progress),
        ]
    }

    /// The error is a sentence: what something is divided by must be positive, a time may be 0.
    pub fn check(&self) -> std::result::Result<(), String> {
        let mut rates = self.clone();
        let mut staging = self.staging.unwrap_or(1.0);
        let all = rates.named().into_iter().chain([("staging", &mut staging)]);
        for (name, value) in all {
            let divides =
                !["latency", "overhead", "sweep", "correct", "launch", "reduction", "progress"]
                    .contains(&name);
            if !value.is_finite() || *value < 0.0 || (divides && *value == 0.0) {
                let allowed = if divides { "more than 0" } else { "0 or more" };
                return Err(format!("`{name}` is {value}; it must be {allowed}"));
            }
        }
        if self.progress > 1.0 {
            return Err(format!("`progress` is {}; it must be 0 to 1", self.progress));
        }
        Ok(())
    }
}
