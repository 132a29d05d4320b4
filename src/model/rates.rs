//! The rates of a machine.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, refused};
use crate::io::open;

/// Speeds of the parts of a step on one rank while all ranks of its host work. Every time of the model is counted work divided by
/// one of these. `kolmo bench comm --json` measures them and writes them as its object `rates`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Source of the numbers: a machine, and whether they were measured or assumed.
    pub source: String,
    /// Latency of a message of a few bytes from one rank to the next, in seconds, less twice `overhead`: half of the ping-pong
    /// time, on an idle machine. L of LogGP (Alexandrov et al. 1995).
    pub latency: f64,
    /// Seconds for which a rank is busy with one message of any length, sent or received: the additional time per message of a
    /// round with many short messages. o of LogGP.
    pub overhead: f64,
    /// Bytes per second out of a rank, and at the same time into it, in long messages with two neighbours, while all ranks
    /// exchange. 1/G of LogGP.
    pub bandwidth: f64,
    /// The same in rounds directly after another one: higher if cores copy messages, which are then cached.
    pub again: f64,
    /// Bytes per second of long messages in such rounds out of a rank that receives none at the same time: higher if cores copy
    /// both sent and received messages, equal to `again` if links carry both directions at once.
    pub one_way: f64,
    /// Bytes per second out of a rank in an all-to-all of its block.
    pub all_to_all: f64,
    /// Bytes per second between the memory of a device and that of its host, if messages go through host memory; otherwise
    /// absent.
    #[serde(default)]
    pub staging: Option<f64>,
    /// Bytes per second, read plus written, of fields copied to others: pointwise formulas run at this rate.
    pub copy: f64,
    /// Seconds per point and operand of a sweep over whole lines: the time of all sweeps of a right-hand side, including
    /// gradients, on one rank (fields read and written, operands formed, lines solved, terms added), divided by its points and
    /// its operators.
    pub sweep: f64,
    /// Seconds per point and plane of interface values added to a result at the ends of a block: the time of a sweep with ends,
    /// minus that of the same sweep on lines of equal length without ends, divided by the total length of all columns of all
    /// operands and lines.
    pub correct: f64,
    /// Bytes per second of the points at the ends of operands, each counted once: 2 x reach x lines x operands values.
    pub pack: f64,
    /// Bytes per second of the planes that the matrices between messages read and write, each once between two rounds.
    pub combine: f64,
    /// Bytes per second, read plus written, of lines dealt out and collected (`transpose` only).
    pub deal: f64,
    /// Seconds of a sum of planes on minimal data, and of a sweep, or a pack, per operand.
    pub launch: f64,
    /// Seconds of a reduction over all ranks per doubling of their number: its time divided by log₂ P.
    pub reduction: f64,
    /// The fraction of a message's bytes that moves while the rank computes: 1 if hardware moves them, 0 if they move only while
    /// the rank waits, as between the ranks of one host.
    #[serde(default = "one")]
    pub progress: f64,
}

fn one() -> f64 {
    1.0
}

impl Rates {
    /// One H200 per rank, eight per node, a link of 400 Gb/s each. Only the copy was measured; all other rates are assumed from
    /// product specifications, with sweeps operation by operation at the rate of a copy.
    pub fn h200() -> Self {
        Self {
            source: "H200, 400 Gb/s per GPU; assumed, except for the rate of a copy".into(),
            latency: 4e-6,
            overhead: 1e-6,
            bandwidth: 50e9,
            again: 50e9,
            one_way: 50e9,
            all_to_all: 50e9,
            staging: None,
            copy: 4.3e12,
            // 312 words per point for the 63 operands of a right-hand side (`docs/performance.md`).
            sweep: 312.0 / 63.0 * 8.0 / 4.3e12,
            // A result is read and written once more where columns reach, for both columns of an end (`compact6`) at once.
            correct: 8.0 / 4.3e12,
            pack: 2e12,
            combine: 2e12,
            deal: 2e12,
            launch: 3e-6,
            reduction: 8e-6,
            progress: 1.0,
        }
    }

    /// One core per rank on a single host: assumed values for a server of 2024.
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

    /// Read from a file that holds the rates, or the output of `kolmo bench comm --json`.
    ///
    /// # Errors
    /// If the file cannot be read, lacks a rate, or has a rate that is not positive.
    pub fn load(path: &Path) -> Result<Self> {
        let text = open::text(path, open::MAX_JSON_BYTES).map_err(|why| {
            Error::Config(vec![format!("error: cannot read rates from {}: {why}", path.display())])
        })?;
        let wrong = |what: String| {
            let advice = "`mpirun -n 2 kolmo bench comm --json` writes such a file";
            refused(format!("{} has no rates: {what}", path.display()), advice)
        };
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|why| wrong(why.to_string()))?;
        if value.get("machine").is_some() && value.get("rates").is_none() {
            return Err(wrong("a single rank cannot measure messages".into()));
        }
        if !value.is_object() {
            return Err(wrong("it is not an object".into()));
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

    /// The error is a sentence: divisors must be positive, times may be 0.
    pub fn check(&self) -> Result<(), String> {
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
