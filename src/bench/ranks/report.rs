//! What is reported of several ranks.

use std::collections::BTreeMap;

use serde::Serialize;

use super::PhaseSpread;
use crate::backend::ranks::Phase;
use crate::bench::measure::Times;
use crate::bench::output::{Row, Spread, shape};
use crate::bench::table::{Table, figure};
use crate::comm::Sent;
use crate::model::{Prediction, Rates};

/// Messages of one size.
#[derive(Clone, Debug, Serialize)]
pub(in crate::bench) struct MessageRow {
    /// `ping-pong`: one way between the first two ranks. `exchange`: with the ranks before and after, all at once.
    pub(super) name: &'static str,
    /// Of one message.
    pub(super) bytes: usize,
    pub(super) seconds: Spread,
    /// That leave a rank.
    pub(super) gb_per_s: f64,
}

/// What a result of several ranks has beside.
#[derive(Clone, Debug, Default, Serialize)]
pub(in crate::bench) struct Spreading {
    pub(super) ranks: usize,
    /// Ranks along x, y, z.
    pub(super) decomposition: [usize; 3],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operands: Option<usize>,
    /// Seconds of all of it, on the slowest rank.
    pub(super) seconds: Spread,
    /// Seconds of each phase, on the rank that is slowest in it.
    pub(super) phase_seconds: BTreeMap<&'static str, Spread>,
    /// What the model says of these, and of `all`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) predicted_seconds: BTreeMap<&'static str, f64>,
    /// Of the rank that sends most, each time.
    pub(super) messages: u64,
    pub(super) bytes: u64,
    /// Time of one rank over that of this many, for as much work a rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) efficiency: Option<f64>,
    /// The same, relative to the fewest ranks that exchange along all axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) efficiency_exchanging: Option<f64>,
}

/// Shorter than this and a phase is noise.
const NOISE: f64 = 5e-6;

/// Smallest and middle seconds.
pub(super) fn spread(times: &Times) -> Spread {
    Spread { min: times.min(), median: times.median() }
}

impl Spreading {
    pub(super) fn new(
        decomposition: [usize; 3],
        all: &Times,
        phases: &PhaseSpread,
        sent: Sent,
    ) -> Self {
        let of = |(phase, times): (Phase, &Times)| (phase.name(), spread(times));
        Self {
            ranks: decomposition.iter().product(),
            decomposition,
            seconds: spread(all),
            phase_seconds: Phase::ALL.into_iter().zip(phases).map(of).collect(),
            messages: sent.messages,
            bytes: sent.bytes,
            ..Self::default()
        }
    }

    pub(super) fn predict(&mut self, prediction: &Prediction) {
        let of = |phase: Phase| (phase.name(), prediction.slowest.of(phase));
        self.predicted_seconds = Phase::ALL.map(of).into();
        self.predicted_seconds.insert(ALL, prediction.step_seconds);
    }
}

/// The key of what is not one phase but everything.
const ALL: &str = "all";

/// Times by phase, smallest and median, predicted ones and how far these are from the medians.
pub(super) fn phases(heading: &str, rows: &[Row]) -> Table {
    let columns = ["", "ranks", "phase", "us", "median", "predicted", "off"];
    let mut table = Table::new(heading, &columns);
    for row in rows {
        let Some(spread) = &row.spread else { continue };
        let all = [(ALL, spread.seconds)];
        let phases = Phase::ALL.map(|phase| (phase.name(), spread.phase_seconds[phase.name()]));
        for (name, seconds) in phases.into_iter().chain(all) {
            if seconds.min == 0.0 {
                continue;
            }
            let predicted = spread.predicted_seconds.get(name);
            let off = predicted.map(|predicted| match seconds.median {
                median if median < NOISE => "noise".to_string(),
                median => format!("{:+.0} %", 100.0 * (predicted / median - 1.0)),
            });
            let none = || "-".to_string();
            table.rows.push(vec![
                [Some(row.name), row.axis, Some(row.method)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" "),
                spread.ranks.to_string(),
                name.to_string(),
                figure(1e6 * seconds.min),
                figure(1e6 * seconds.median),
                predicted.map_or_else(none, |predicted| figure(1e6 * predicted)),
                off.unwrap_or_else(none),
            ]);
        }
    }
    table
}

/// What was sent.
pub(super) fn sent(rows: &[Row], each: &str) -> Table {
    let heading = format!("Sent by the rank that sends most, {each}");
    let mut table = Table::new(heading, &["", "ranks", "cut", "messages", "bytes"]);
    for row in rows {
        let Some(spread) = &row.spread else { continue };
        table.rows.push(vec![
            [Some(row.name), row.axis, Some(row.method)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            spread.ranks.to_string(),
            shape(spread.decomposition),
            spread.messages.to_string(),
            spread.bytes.to_string(),
        ]);
    }
    table
}

/// Whole steps on more and more ranks.
pub(super) fn scaling(heading: &str, rows: &[Row]) -> Table {
    let columns = [
        "ranks",
        "cut",
        "points",
        "ms/step",
        "median",
        "ns/point/stage",
        "copy GB/s",
        "efficiency",
        "from all axes",
    ];
    let mut table = Table::new(heading, &columns);
    for row in rows {
        let (Some(spread), Some(stage)) = (&row.spread, row.ns_per_point_stage) else { continue };
        let percent = |part: Option<f64>| {
            part.map_or_else(|| "-".to_string(), |part| format!("{:.1} %", 100.0 * part))
        };
        table.rows.push(vec![
            spread.ranks.to_string(),
            shape(spread.decomposition),
            shape(row.points),
            figure(1e3 * spread.seconds.min),
            figure(1e3 * spread.seconds.median),
            figure(stage.min),
            figure(row.copy_gb_per_s),
            percent(spread.efficiency),
            percent(spread.efficiency_exchanging),
        ]);
    }
    table
}

/// Messages of all sizes.
pub(super) fn messages(rows: &[MessageRow]) -> Table {
    let mut table = Table::new("Messages", &["", "bytes", "us", "median", "GB/s"]);
    for MessageRow { name, bytes, seconds, gb_per_s } in rows {
        table.rows.push(vec![
            (*name).to_string(),
            bytes.to_string(),
            figure(1e6 * seconds.min),
            figure(1e6 * seconds.median),
            figure(*gb_per_s),
        ]);
    }
    table
}

/// Rates, by the names of their file.
pub(super) fn rates(rates: &Rates) -> Table {
    let mut table = Table::new(format!("Rates: {}", rates.source), &["", "s, or 1/s"]);
    let staging = rates.staging;
    let mut rates = rates.clone();
    for (name, value) in rates.named() {
        table.rows.push(vec![name.to_string(), format!("{value:.4e}")]);
    }
    if let Some(staging) = staging {
        table.rows.push(vec!["staging".to_string(), format!("{staging:.4e}")]);
    }
    table
}
