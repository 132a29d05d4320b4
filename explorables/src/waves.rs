//! Modified wavenumbers of schemes for waves exp(ikx), as functions of w = kh.

use std::f64::consts::PI;

use kolmo::scheme::{Scheme, SchemeFamily, families};
use serde_json::{Value, json};

/// Number of intervals of [0, π].
pub(crate) const INTERVALS: u32 = 200;

/// Returns w from 0 to π.
pub(crate) fn wavenumbers() -> impl Iterator<Item = f64> {
    (0..=INTERVALS).map(|i| PI * f64::from(i) / f64::from(INTERVALS))
}

/// Returns k'h and k''h² of every family, their maxima, and the fraction of [0, π] that is resolved to given relative errors of k'
/// (Lele 1992, §3.1).
pub(crate) fn symbols() -> Value {
    let of = |SchemeFamily { name, first, second, .. }: &SchemeFamily| {
        let over_waves =
            |scheme: &Scheme| wavenumbers().map(|w| scheme.symbol(w)).collect::<Vec<_>>();
        let resolved = [0.1, 0.01, 0.001].map(|error| first.resolving_efficiency(error));
        json!({
            "name": name,
            "first": over_waves(first),
            "second": over_waves(second),
            "largest": [first.max_symbol().0, second.max_symbol().0],
            "resolved": resolved,
        })
    };
    json!({
        "w": wavenumbers().collect::<Vec<_>>(),
        "families": families().iter().map(of).collect::<Vec<_>>(),
    })
}
