//! Compact low-pass filters at the points.
//!
//! ```text
//! β f̂ᵢ₋₂ + α f̂ᵢ₋₁ + f̂ᵢ + α f̂ᵢ₊₁ + β f̂ᵢ₊₂ = a₀ fᵢ + Σₛ aₛ (fᵢ₊ₛ + fᵢ₋ₛ)/2
//! ```
//!
//! The tridiagonal family of Gaitonde and Visbal (2000, AIAA J. 38, 2103) of order 2N is exact for polynomials of
//! degree 2N − 1 and removes the shortest wave. Both hold when f − f̂ is a multiple of a difference of order 2N, so
//! that on any 2N + 1 neighbouring points n = 0 ... 2N, of which point i is filtered,
//!
//! ```text
//! α f̂ᵢ₋₁ + f̂ᵢ + α f̂ᵢ₊₁ = α fᵢ₋₁ + fᵢ + α fᵢ₊₁ − (1 − 2α)/4ᴺ Σₙ (−1)ⁿ⁺ⁱ C(2N, n) fₙ
//! ```
//!
//! which is the interior formula for i = N and the near-boundary formulas for i = 1 ... N − 1. In the interior
//! T(w) = 1 − (1 − 2α) sin²ᴺ(w/2) / (1 + 2α cos w).

use super::{Closure, ClosureRow, Kind, LeadingError, MAX_WIDTH, Scheme};

/// Common fields of all filters.
const FILTER: Scheme = Scheme {
    name: "",
    kind: Kind::Filter,
    alpha: 0.0,
    beta: 0.0,
    center: 0.0,
    rhs: [0.0; MAX_WIDTH],
    order: 0,
    lead: None,
    source: "",
};

/// Eighth-order pentadiagonal filter that keeps 90 % of the wavenumbers (Cook and Cabot 2004, J. Comput. Phys. 195, 594,
/// after Lele 1992, appendix C.2).
#[rustfmt::skip]
pub const CF90: Scheme = Scheme {
    name: "cf90", order: 8,
    alpha: 0.66624, beta: 0.16688,
    center: 0.99965, rhs: [2.0 * 0.66652, 2.0 * 0.16674, 2.0 * 4e-5, 2.0 * -5e-6, 0.0],
    lead: Some(LeadingError { coefficient: -1.0 / 533_248.0, power: 8 }),
    source: "Cook and Cabot 2004; Lele 1992, appendix C.2",
    ..FILTER
};

/// Pentadiagonal cut-off filter, nominally fourth order (Lele 1992, appendix C.2).
///
/// Published decimals: the mean is preserved to 2e-7, and T exceeds 1 by up to 1.5e-5.
#[rustfmt::skip]
pub const LELE_CUTOFF: Scheme = Scheme {
    name: "lele-cutoff", order: 4,
    alpha: 0.6522474, beta: 0.1702929,
    center: 0.9891856, rhs: [2.0 * 0.66059, 2.0 * 0.1666774, 2.0 * 0.000679925, 0.0, 0.0],
    lead: None,
    source: "Lele 1992, appendix C.2",
    ..FILTER
};

/// Tridiagonal filter of the given order, 2, 4, 6, 8 or 10; −½ < `alpha` < ½, with weaker filtering closer to ½
/// (Gaitonde and Visbal 2000).
///
/// # Panics
/// If `order` or `alpha` is invalid.
pub fn compact_filter(order: u32, alpha: f64) -> Scheme {
    assert_filter(order, alpha);
    let half = order / 2;
    let weight = |s: u32| {
        let kept = [1.0, alpha].get(s as usize).copied().unwrap_or(0.0);
        kept - sign(s) * (1.0 - 2.0 * alpha) * fraction(order, half + s)
    };
    let mut rhs = FILTER.rhs;
    for (a, s) in rhs.iter_mut().zip(1..=half) {
        *a = 2.0 * weight(s);
    }
    let strength = (1.0 - 2.0 * alpha) / (1.0 + 2.0 * alpha);
    Scheme {
        name: ["filter2", "filter4", "filter6", "filter8", "filter10"][half as usize - 1],
        alpha,
        center: weight(0),
        rhs,
        order,
        lead: Some(LeadingError {
            coefficient: -strength * 0.25f64.powi(half.cast_signed()),
            power: order.cast_signed(),
        }),
        source: "Gaitonde and Visbal 2000",
        ..FILTER
    }
}

/// Rows of the points 0 ... N − 1 near an end for [`compact_filter`] of order 2N: the end point is not filtered, the
/// others are filtered at full order (Gaitonde and Visbal 2000).
///
/// # Panics
/// As [`compact_filter`].
pub fn filter_closure(order: u32, alpha: f64) -> Closure {
    let end = ClosureRow { lhs: vec![], rhs: vec![1.0], order };
    assert_filter(order, alpha);
    let half = order / 2;
    Closure {
        name: ["filter2-ends", "filter4-ends", "filter6-ends", "filter8-ends", "filter10-ends"]
            [half as usize - 1],
        kind: Kind::Filter,
        rows: std::iter::once(end)
            .chain((1..half).map(|point| filter_row(order, alpha, point)))
            .collect(),
        norm: &[],
        source: "Gaitonde and Visbal 2000",
    }
}

/// The formula of point 0 ≤ `point` < N near an end, of order 2N. Point 0 has only one neighbour, and (1 − α) in place
/// of (1 − 2α).
///
/// # Panics
/// As [`compact_filter`], and if `point` is not a near-boundary point.
pub fn filter_row(order: u32, alpha: f64, point: u32) -> ClosureRow {
    assert_filter(order, alpha);
    assert!(
        point < order / 2,
        "point {point} has the interior formula of the order-{order} filter"
    );
    let (neighbours, strength) = match point {
        0 => (&[1][..], 1.0 - alpha),
        _ => (&[-1, 1][..], 1.0 - 2.0 * alpha),
    };
    let neighbours = neighbours.iter().filter(|_| alpha != 0.0);
    let lhs = neighbours.map(|offset| (*offset, alpha)).collect();
    let rhs = (0..=order)
        .map(|n| {
            let kept = [1.0, alpha].get(n.abs_diff(point) as usize).copied().unwrap_or(0.0);
            kept - sign(n + point) * strength * fraction(order, n)
        })
        .collect();
    ClosureRow { lhs, rhs, order }
}

fn assert_filter(order: u32, alpha: f64) {
    assert!(
        matches!(order, 2 | 4 | 6 | 8 | 10),
        "a compact filter has order 2, 4, 6, 8 or 10, not {order}"
    );
    assert!(alpha.abs() < 0.5, "a compact filter needs -0.5 < alpha < 0.5, not {alpha}");
}

fn sign(n: u32) -> f64 {
    if n.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// C(m, n) / 2ᵐ.
fn fraction(m: u32, n: u32) -> f64 {
    (1..=n).fold(0.5f64.powi(m.cast_signed()), |c, k| c * f64::from(m - n + k) / f64::from(k))
}
