//! Whether a run can be trusted: a status and one sentence. Both are decided only here; the last line of a run, `summary.json`,
//! `report.html` and `kolmo compare` repeat them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::io::reference::Comparison;
use crate::io::summary::{Resolution, WallUnits};

/// Smallest kmax η of a resolved run: the convention for spectral methods (Pope 2000, Turbulent Flows, section 9.1.2;
/// Moin and Mahesh 1998 review which scales have to be resolved). A compact scheme needs at least as much.
pub const RESOLVED_KMAX_ETA: f64 = 1.5;

/// Largest deviation of the dissipation that passes, as a fraction of the reference's peak. A choice: about the smallest
/// difference that is visible in a plot. The compared rows must resolve the reference as well: see [`Comparison::unseen`].
pub const DISSIPATION_TOLERANCE: f64 = 0.02;

/// Largest deviation of the kinetic energy that passes, as a fraction of its first value. A choice, as above.
pub const KINETIC_ENERGY_TOLERANCE: f64 = 0.01;

/// Whether the result can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The run is finished and resolved, and matches the reference from its start past its peak.
    #[serde(rename = "passed")]
    Passed,
    /// The run is resolved, but deviates from the reference.
    #[serde(rename = "deviates")]
    Deviates,
    /// The exact solution is known, and the error is measured; the acceptable error is up to the user.
    #[serde(rename = "measured")]
    Measured,
    /// There is no reference; the resolution is not known to be too low.
    #[serde(rename = "no reference")]
    NoReference,
    /// kmax η fell below [`RESOLVED_KMAX_ETA`].
    #[serde(rename = "under-resolved")]
    UnderResolved,
    /// No evidence against the run, but not enough evidence to pass.
    #[serde(rename = "no verdict")]
    NoVerdict,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // Its name in the JSON.
        self.serialize(f)
    }
}

/// The evidence on a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// Why the run stopped early, as a sentence; `None` for one that reached its end.
    pub unfinished: Option<&'a str>,
    /// Why the part of the run before a restart cannot be judged.
    pub unjudged: Option<&'a str>,
    /// The smallest kmax η; `None` as in [`Summary`](crate::io::Summary).
    pub resolution: Option<Resolution>,
    /// Spacings of a channel, which are reported and not judged.
    pub wall_units: Option<WallUnits>,
    /// Distance from the reference, where the case has one.
    pub reference: Option<&'a Comparison>,
    /// The last `error_max` of the series, where the exact solution is known, and its quantity.
    pub error: Option<(f64, &'static str)>,
    /// Whether curves of the user are drawn over those of the run.
    pub has_user_curves: bool,
}

/// The status and the reason for it, without a capital and a full stop.
///
/// Evidence against a run counts first, finished or not: kmax η below [`RESOLVED_KMAX_ETA`], then a distance from the reference
/// above its tolerance. A run without such evidence passes where it reached its end, was compared past the reference's peak in
/// rows that are dense enough, and its kmax η is known. Where the error is known, it replaces kmax η.
pub fn decide(evidence: &Evidence) -> (Verdict, String) {
    let Evidence {
        unfinished,
        unjudged,
        resolution,
        wall_units,
        reference,
        error,
        has_user_curves,
    } = *evidence;
    let resolution = resolution.filter(|_| error.is_none() || unjudged.is_some());
    let stopped = unfinished.map(|reason| format!("not finished: {reason}"));
    let stop_note = stopped.as_ref().map_or(String::new(), |stopped| format!("; {stopped}"));
    if let Some(worst) = resolution.filter(|worst| worst.kmax_eta_min < RESOLVED_KMAX_ETA) {
        let shown =
            reference.filter(|it| stopped.is_none() && missing_evidence(resolution, it).is_none());
        let compared = shown.map_or(stop_note, |it| format!("; {}", describe_deviations(it)));
        let (kmax_eta, time) = (floored(worst.kmax_eta_min), trimmed(worst.time));
        let resolved = format!("below the {RESOLVED_KMAX_ETA} of a resolved run");
        let reason = format!("kmax η falls to {kmax_eta} at t = {time}, {resolved}{compared}");
        return (Verdict::UnderResolved, reason);
    }
    let resolution_note = match (resolution, wall_units) {
        (Some(worst), _) => format!("; kmax η is {} or more", floored(worst.kmax_eta_min)),
        (None, Some(units)) => format!("; {units}"),
        (None, None) => String::new(),
    };
    if let Some(reference) = reference {
        let reason = format!("{}{resolution_note}", describe_deviations(reference));
        if reference.rows > 0 && !reference.is_within_tolerances() {
            return (Verdict::Deviates, format!("{reason}{stop_note}"));
        }
        return match stopped.or_else(|| missing_evidence(resolution, reference)) {
            Some(missing) => (Verdict::NoVerdict, missing),
            None => (Verdict::Passed, reason),
        };
    }
    match (stopped, unjudged, error) {
        (Some(stopped), ..) => (Verdict::NoVerdict, stopped),
        (None, Some(why), _) => (Verdict::NoVerdict, format!("{why}{resolution_note}")),
        (None, None, Some((error, quantity))) => (
            Verdict::Measured,
            format!(
                "the largest error against the exact solution is {error:.1e} at the end, of {quantity}"
            ),
        ),
        (None, None, None) => {
            let own =
                if has_user_curves { " except your own curves, which are not judged" } else { "" };
            (Verdict::NoReference, format!("nothing to compare with{own}{resolution_note}"))
        }
    }
}

/// What a finished run lacks for a verdict; `None` where it is complete.
fn missing_evidence(resolution: Option<Resolution>, reference: &Comparison) -> Option<String> {
    let Comparison { rows, until, peak_time, unseen, unseen_between, .. } = *reference;
    if until < peak_time {
        let [until, peak] = [until, peak_time].map(trimmed);
        return Some(match rows {
            0 => "no row of series.csv lies within the times of the reference".into(),
            _ => format!(
                "the rows that can be compared end at t = {until}, before the peak of the reference at t = {peak}"
            ),
        });
    }
    if unseen.is_nan() || unseen > DISSIPATION_TOLERANCE {
        let [from, to] = unseen_between.map(trimmed);
        let [unseen, allowed] = [unseen, DISSIPATION_TOLERANCE].map(percent);
        return Some(format!(
            "too few rows in series.csv: from t = {from} to {to}, where it has none, the reference's dissipation leaves a \
             straight line by {unseen} of its peak, more than {allowed}"
        ));
    }
    resolution.is_none().then(|| "kmax η is not known".into())
}

impl Comparison {
    /// Whether all distances are within their tolerances.
    fn is_within_tolerances(&self) -> bool {
        self.dissipation_max_deviation <= DISSIPATION_TOLERANCE
            && self.energy_loss_max_deviation <= DISSIPATION_TOLERANCE
            && self.kinetic_energy_max_deviation <= KINETIC_ENERGY_TOLERANCE
    }
}

/// The distances from the reference, and the tolerances of those that are too large.
fn describe_deviations(reference: &Comparison) -> String {
    let (side, word) =
        if reference.is_within_tolerances() { ("on", "within") } else { ("off", "by") };
    let distance = |distance: f64, tolerance: f64| {
        let allowed = match distance <= tolerance {
            true => String::new(),
            false => format!(" (more than {})", percent(tolerance)),
        };
        format!("{word} {}{allowed}", percent(distance))
    };
    format!(
        "{side} the reference up to t = {}{}: dissipation {} and energy loss {} of its peak, kinetic energy {} of its start",
        trimmed(reference.until),
        if reference.whole { ", where it ends" } else { "" },
        distance(reference.dissipation_max_deviation, DISSIPATION_TOLERANCE),
        distance(reference.energy_loss_max_deviation, DISSIPATION_TOLERANCE),
        distance(reference.kinetic_energy_max_deviation, KINETIC_ENERGY_TOLERANCE),
    )
}

/// Rounded up to two decimals.
fn percent(fraction: f64) -> String {
    if !fraction.is_finite() {
        return "NaN".into();
    }
    format!("{} %", trimmed((1e4 * fraction).ceil() / 100.0))
}

/// Rounded down to two decimals, so that a value below a bound is shown below it.
pub(crate) fn floored(value: f64) -> f64 {
    (100.0 * value).floor() / 100.0
}

/// At most two decimals.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
