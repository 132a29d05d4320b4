//! First derivatives at the points.
//!
//! ```text
//! β f'ᵢ₋₂ + α f'ᵢ₋₁ + f'ᵢ + α f'ᵢ₊₁ + β f'ᵢ₊₂
//!     = a (fᵢ₊₁ − fᵢ₋₁)/2h + b (fᵢ₊₂ − fᵢ₋₂)/4h + c (fᵢ₊₃ − fᵢ₋₃)/6h + d (fᵢ₊₄ − fᵢ₋₄)/8h
//! ```
//!
//! (Lele 1992, J. Comput. Phys. 103, 16, eq. 2.1; the term in d is added for the explicit eighth-order formula.) The
//! coefficients follow from matching Taylor series: the order-p formula is exact for polynomials of degree p.

use super::{Kind, NOTHING, Scheme, lead};

const FIRST: Scheme = Scheme { kind: Kind::FirstDerivative, ..NOTHING };

/// First derivatives, one of each.
pub static ALL_FIRST: [Scheme; 11] = [
    EXPLICIT2,
    EXPLICIT4,
    EXPLICIT6,
    EXPLICIT8,
    COMPACT4,
    COMPACT6,
    COMPACT8,
    COMPACT6_PENTA,
    COMPACT8_PENTA,
    COMPACT10_PENTA,
    SPECTRAL_LIKE,
];

/// Second order, explicit (Lele 1992, §2.1, α = β = 0).
#[rustfmt::skip]
pub const EXPLICIT2: Scheme = Scheme {
    name: "explicit2", order: 2,
    rhs: [1.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 6.0, 3),
    source: "Lele 1992, §2.1, α = β = 0",
    ..FIRST
};

/// Fourth order, explicit (Lele 1992, §2.1, α = β = 0).
#[rustfmt::skip]
pub const EXPLICIT4: Scheme = Scheme {
    name: "explicit4", order: 4,
    rhs: [4.0 / 3.0, -1.0 / 3.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 30.0, 5),
    source: "Lele 1992, §2.1, α = β = 0",
    ..FIRST
};

/// Sixth order, explicit (Lele 1992, §2.1, α = β = 0).
#[rustfmt::skip]
pub const EXPLICIT6: Scheme = Scheme {
    name: "explicit6", order: 6,
    rhs: [3.0 / 2.0, -3.0 / 5.0, 1.0 / 10.0, 0.0, 0.0],
    lead: lead(-1.0 / 140.0, 7),
    source: "Lele 1992, §2.1, α = β = 0",
    ..FIRST
};

/// Eighth order, explicit (Taylor matching, eight neighbours).
#[rustfmt::skip]
pub const EXPLICIT8: Scheme = Scheme {
    name: "explicit8", order: 8,
    rhs: [8.0 / 5.0, -4.0 / 5.0, 8.0 / 35.0, -1.0 / 35.0, 0.0],
    lead: lead(-1.0 / 630.0, 9),
    source: "Taylor matching",
    ..FIRST
};

/// Fourth order, tridiagonal (Lele 1992, §2.1, α = 1/4 (classical Padé)).
#[rustfmt::skip]
pub const COMPACT4: Scheme = Scheme {
    name: "compact4", order: 4,
    alpha: 1.0 / 4.0,
    rhs: [3.0 / 2.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 180.0, 5),
    source: "Lele 1992, §2.1, α = 1/4 (classical Padé)",
    ..FIRST
};

/// Sixth order, tridiagonal (Lele 1992, eq. 2.1.7).
#[rustfmt::skip]
pub const COMPACT6: Scheme = Scheme {
    name: "compact6", order: 6,
    alpha: 1.0 / 3.0,
    rhs: [14.0 / 9.0, 1.0 / 9.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 2100.0, 7),
    source: "Lele 1992, eq. 2.1.7",
    ..FIRST
};

/// Eighth order, tridiagonal (Lele 1992, §2.1, α = 3/8).
#[rustfmt::skip]
pub const COMPACT8: Scheme = Scheme {
    name: "compact8", order: 8,
    alpha: 3.0 / 8.0,
    rhs: [25.0 / 16.0, 1.0 / 5.0, -1.0 / 80.0, 0.0, 0.0],
    lead: lead(-1.0 / 17640.0, 9),
    source: "Lele 1992, §2.1, α = 3/8",
    ..FIRST
};

/// Sixth order, pentadiagonal, with a three-point right-hand side (Lele 1992, §2.1, b = c = 0).
#[rustfmt::skip]
pub const COMPACT6_PENTA: Scheme = Scheme {
    name: "compact6-penta", order: 6,
    alpha: 17.0 / 57.0, beta: -1.0 / 114.0,
    rhs: [30.0 / 19.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 1512.0, 7),
    source: "Lele 1992, §2.1, b = c = 0",
    ..FIRST
};

/// Eighth order, pentadiagonal (Lele 1992, eq. 2.1.12).
#[rustfmt::skip]
pub const COMPACT8_PENTA: Scheme = Scheme {
    name: "compact8-penta", order: 8,
    alpha: 4.0 / 9.0, beta: 1.0 / 36.0,
    rhs: [40.0 / 27.0, 25.0 / 54.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 44100.0, 9),
    source: "Lele 1992, eq. 2.1.12",
    ..FIRST
};

/// Tenth order, pentadiagonal (Lele 1992, §2.1, all five coefficients).
#[rustfmt::skip]
pub const COMPACT10_PENTA: Scheme = Scheme {
    name: "compact10-penta", order: 10,
    alpha: 1.0 / 2.0, beta: 1.0 / 20.0,
    rhs: [17.0 / 12.0, 101.0 / 150.0, 1.0 / 100.0, 0.0, 0.0],
    lead: lead(-1.0 / 582120.0, 11),
    source: "Lele 1992, §2.1, all five coefficients",
    ..FIRST
};

/// Spectral-like: pentadiagonal, nominally fourth order, tuned to resolve short waves (Lele 1992, eq. 3.1.6).
/// Published decimals: they meet the order conditions to 2e-7 only.
#[rustfmt::skip]
pub const SPECTRAL_LIKE: Scheme = Scheme {
    name: "spectral-like", order: 4,
    alpha: 0.5771439, beta: 0.0896406,
    rhs: [1.3025166, 0.99355, 0.03750245, 0.0, 0.0],
    lead: None,
    source: "Lele 1992, eq. 3.1.6",
    ..FIRST
};
