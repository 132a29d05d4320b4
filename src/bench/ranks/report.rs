//! Report of measurements with several ranks.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::backend::ranks::{ALONG, Phase};
use crate::bench::measure::Times;
use crate::bench::output::{Row, Spread, shape};
use crate::bench::table::{Table, figure, or_dash};
use crate::comm::Sent;
use crate::model::{Prediction, Rates};

/// Messages of one size.
#[derive(Clone, Debug, Serialize)]
pub(in crate::bench) struct MessageRow {
    /// `ping-pong`: one way between the first two ranks. `exchange`: with the previous and the next rank, all at once.
    pub(super) name: &'static str,
    /// Size of one message.
    pub(super) bytes: usize,
    pub(super) seconds: Spread,
    /// Bandwidth out of a rank.
    pub(super) gb_per_s: f64,
}

/// Additional data of a result of several ranks.
#[derive(Clone, Debug, Default, Serialize)]
pub(in crate::bench) struct RanksRow {
    pub(super) ranks: usize,
    /// Ranks along x, y, z.
    pub(super) decomposition: [usize; 3],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operands: Option<usize>,
    /// For steps: `weak` or `strong`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scaling: Option<&'static str>,
    /// For steps: points of all ranks together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) grid: Option<[usize; 3]>,
    /// For steps: the keys of the input that were set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) set: Vec<String>,
    /// Total seconds, on the slowest rank.
    pub(super) seconds: Spread,
    /// Seconds of each phase, on the rank that is slowest in it; for steps also those of messages along each axis.
    pub(super) phase_seconds: BTreeMap<&'static str, Spread>,
    /// Predictions of the model for these, and for `all`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) predicted_seconds: BTreeMap<&'static str, f64>,
    /// Messages per repeat, of the rank that sends most.
    pub(super) messages: u64,
    pub(super) bytes: u64,
    /// Time of one rank divided by the time of this many ranks, for the same work per rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) efficiency: Option<f64>,
    /// The same, relative to the smallest number of ranks that exchange along all axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) efficiency_exchanging: Option<f64>,
}

/// A phase shorter than this is noise.
const NOISE_SECONDS: f64 = 5e-6;

impl RanksRow {
    pub(super) fn new(
        decomposition: [usize; 3],
        all: &Times,
        phases: &[Times; 4],
        sent: Sent,
    ) -> Self {
        let of = |(phase, times): (Phase, &Times)| (phase.name(), Spread::seconds(times));
        Self {
            ranks: decomposition.iter().product(),
            decomposition,
            seconds: Spread::seconds(all),
            phase_seconds: Phase::ALL.into_iter().zip(phases).map(of).collect(),
            messages: sent.messages,
            bytes: sent.bytes,
            ..Self::default()
        }
    }

    pub(super) fn predict(&mut self, prediction: &Prediction) {
        let of = |phase: Phase| (phase.name(), prediction.slowest.of(phase));
        self.predicted_seconds = Phase::ALL.map(of).into();
        // Times that are not measured separately belong to a single axis.
        let along = ALONG.into_iter().zip(prediction.communicate_along());
        let is_measured = |(name, _): &(&str, f64)| self.phase_seconds.contains_key(name);
        self.predicted_seconds.extend(along.filter(is_measured));
        self.predicted_seconds.insert(ALL, prediction.step_seconds);
    }
}

/// The key of the total over all phases.
const ALL: &str = "all";

/// Rows with data of several ranks.
fn spread(rows: &[Row]) -> impl Iterator<Item = (&Row, &RanksRow)> {
    rows.iter().filter_map(|row| Some((row, row.spread.as_ref()?)))
}

/// Times by phase: minimum and median, prediction, and the deviation of the prediction from the median.
pub(super) fn phases(heading: &str, rows: &[Row]) -> Table {
    let columns = "|ranks|phase|us|median|predicted|off";
    let mut table = Table::new(heading, columns);
    for (row, spread) in spread(rows) {
        let names = Phase::ALL.map(Phase::name).into_iter().chain(ALONG);
        let phases = names.filter_map(|name| Some((name, *spread.phase_seconds.get(name)?)));
        for (name, seconds) in phases.chain([(ALL, spread.seconds)]) {
            if seconds.min == 0.0 {
                continue;
            }
            let predicted = spread.predicted_seconds.get(name).copied();
            let off = |predicted: f64| match seconds.median {
                median if median < NOISE_SECONDS => "noise".to_string(),
                median => format!("{:+.0} %", 100.0 * (predicted / median - 1.0)),
            };
            table.row([
                &row.part_and_method(),
                &spread.ranks,
                &name,
                &figure(1e6 * seconds.min),
                &figure(1e6 * seconds.median),
                &or_dash(predicted, |predicted| figure(1e6 * predicted)),
                &or_dash(predicted, off),
            ]);
        }
    }
    table
}

/// The traffic of messages.
pub(super) fn sent(rows: &[Row], each: &str) -> Table {
    let heading = format!("Sent by the rank that sends most, {each}");
    let mut table = Table::new(heading, "|ranks|cut|messages|bytes");
    for (row, RanksRow { ranks, decomposition, messages, bytes, .. }) in spread(rows) {
        table.row([&row.part_and_method(), ranks, &shape(*decomposition), messages, bytes]);
    }
    table
}

/// Whole steps on increasing numbers of ranks.
pub(super) fn scaling(heading: &str, rows: &[Row]) -> Table {
    let columns =
        "ranks|cut|points|ms/step|median|ns/point/stage|copy GB/s|efficiency|from all axes";
    let mut table = Table::new(heading, columns);
    for (row, spread) in spread(rows) {
        let Some(stage) = row.ns_per_point_stage else { continue };
        let percent = |part| or_dash(part, |part| format!("{:.1} %", 100.0 * part));
        table.row([
            &spread.ranks,
            &shape(spread.decomposition),
            &shape(row.points),
            &figure(1e3 * spread.seconds.min),
            &figure(1e3 * spread.seconds.median),
            &figure(stage.min),
            &figure(row.copy_gb_per_s),
            &percent(spread.efficiency),
            &percent(spread.efficiency_exchanging),
        ]);
    }
    table
}

/// Messages of all sizes.
pub(super) fn messages(rows: &[MessageRow]) -> Table {
    let mut table = Table::new("Messages", "|bytes|us|median|GB/s");
    for MessageRow { name, bytes, seconds, gb_per_s } in rows {
        let [min, median] = [seconds.min, seconds.median].map(|seconds| figure(1e6 * seconds));
        table.row([name, bytes, &min, &median, &figure(*gb_per_s)]);
    }
    table
}

/// Rates, with their names in the file.
pub(super) fn rates(rates: &Rates) -> Table {
    let mut table = Table::new(format!("Rates: {}", rates.source), "|s, or 1/s");
    let mut staging = rates.staging;
    let mut rates = rates.clone();
    let staging = staging.as_mut().map(|staging| ("staging", staging));
    for (name, value) in rates.named().into_iter().chain(staging) {
        table.row([&name, &format!("{value:.4e}")]);
    }
    table
}
