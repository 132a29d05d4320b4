//! Second derivatives at the points.
//!
//! ```text
//! β f''ᵢ₋₂ + α f''ᵢ₋₁ + f''ᵢ + α f''ᵢ₊₁ + β f''ᵢ₊₂
//!     = a (fᵢ₊₁ − 2fᵢ + fᵢ₋₁)/h² + b (fᵢ₊₂ − 2fᵢ + fᵢ₋₂)/4h² + c (fᵢ₊₃ − 2fᵢ + fᵢ₋₃)/9h² + d (fᵢ₊₄ − 2fᵢ + fᵢ₋₄)/16h²
//! ```
//!
//! (Lele 1992, J. Comput. Phys. 103, 16, eq. 2.2; the term in d is added for the explicit eighth-order formula.) The
//! leading errors are those of k''(kh), which is positive: a negative one damps too little.

use super::{Kind, NOTHING, Scheme, lead};

const SECOND: Scheme = Scheme { kind: Kind::SecondDerivative, ..NOTHING };

/// Second derivatives, one of each.
pub static ALL_SECOND: [Scheme; 10] = [
    SECOND_EXPLICIT2,
    SECOND_EXPLICIT4,
    SECOND_EXPLICIT6,
    SECOND_EXPLICIT8,
    SECOND_COMPACT4,
    SECOND_COMPACT6,
    SECOND_COMPACT8,
    SECOND_COMPACT8_PENTA,
    SECOND_COMPACT10_PENTA,
    SECOND_SPECTRAL_LIKE,
];

/// Second order, explicit (Lele 1992, §2.2, α = β = 0).
#[rustfmt::skip]
pub const SECOND_EXPLICIT2: Scheme = Scheme {
    name: "second-explicit2", order: 2,
    rhs: [1.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 12.0, 4),
    source: "Lele 1992, §2.2, α = β = 0",
    ..SECOND
};

/// Fourth order, explicit (Lele 1992, §2.2, α = β = 0).
#[rustfmt::skip]
pub const SECOND_EXPLICIT4: Scheme = Scheme {
    name: "second-explicit4", order: 4,
    rhs: [4.0 / 3.0, -1.0 / 3.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 90.0, 6),
    source: "Lele 1992, §2.2, α = β = 0",
    ..SECOND
};

/// Sixth order, explicit (Lele 1992, §2.2, α = β = 0).
#[rustfmt::skip]
pub const SECOND_EXPLICIT6: Scheme = Scheme {
    name: "second-explicit6", order: 6,
    rhs: [3.0 / 2.0, -3.0 / 5.0, 1.0 / 10.0, 0.0, 0.0],
    lead: lead(-1.0 / 560.0, 8),
    source: "Lele 1992, §2.2, α = β = 0",
    ..SECOND
};

/// Eighth order, explicit (Taylor matching, eight neighbours).
#[rustfmt::skip]
pub const SECOND_EXPLICIT8: Scheme = Scheme {
    name: "second-explicit8", order: 8,
    rhs: [8.0 / 5.0, -4.0 / 5.0, 8.0 / 35.0, -1.0 / 35.0, 0.0],
    lead: lead(-1.0 / 3150.0, 10),
    source: "Taylor matching",
    ..SECOND
};

/// Fourth order, tridiagonal (Lele 1992, §2.2, α = 1/10 (classical Padé)).
#[rustfmt::skip]
pub const SECOND_COMPACT4: Scheme = Scheme {
    name: "second-compact4", order: 4,
    alpha: 1.0 / 10.0,
    rhs: [6.0 / 5.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 240.0, 6),
    source: "Lele 1992, §2.2, α = 1/10 (classical Padé)",
    ..SECOND
};

/// Sixth order, tridiagonal (Lele 1992, §2.2, α = 2/11).
#[rustfmt::skip]
pub const SECOND_COMPACT6: Scheme = Scheme {
    name: "second-compact6", order: 6,
    alpha: 2.0 / 11.0,
    rhs: [12.0 / 11.0, 3.0 / 11.0, 0.0, 0.0, 0.0],
    lead: lead(-23.0 / 75600.0, 8),
    source: "Lele 1992, §2.2, α = 2/11",
    ..SECOND
};

/// Eighth order, tridiagonal (Lele 1992, §2.2, β = 0).
#[rustfmt::skip]
pub const SECOND_COMPACT8: Scheme = Scheme {
    name: "second-compact8", order: 8,
    alpha: 9.0 / 38.0,
    rhs: [147.0 / 152.0, 51.0 / 95.0, -23.0 / 760.0, 0.0, 0.0],
    lead: lead(-43.0 / 1411200.0, 10),
    source: "Lele 1992, §2.2, β = 0",
    ..SECOND
};

/// Eighth order, pentadiagonal (Lele 1992, §2.2, c = 0).
#[rustfmt::skip]
pub const SECOND_COMPACT8_PENTA: Scheme = Scheme {
    name: "second-compact8-penta", order: 8,
    alpha: 344.0 / 1179.0, beta: 23.0 / 2358.0,
    rhs: [320.0 / 393.0, 310.0 / 393.0, 0.0, 0.0, 0.0],
    lead: lead(-79.0 / 4762800.0, 10),
    source: "Lele 1992, §2.2, c = 0",
    ..SECOND
};

/// Tenth order, pentadiagonal (Lele 1992, §2.2, all five coefficients).
#[rustfmt::skip]
pub const SECOND_COMPACT10_PENTA: Scheme = Scheme {
    name: "second-compact10-penta", order: 10,
    alpha: 334.0 / 899.0, beta: 43.0 / 1798.0,
    rhs: [1065.0 / 1798.0, 1038.0 / 899.0, 79.0 / 1798.0, 0.0, 0.0],
    lead: lead(-619.0 / 535550400.0, 12),
    source: "Lele 1992, §2.2, all five coefficients",
    ..SECOND
};

/// Spectral-like: pentadiagonal, nominally fourth order, tuned to resolve short waves (Lele 1992, eq. 3.1.12).
/// Published decimals: they meet the order conditions to 2e-7 only.
#[rustfmt::skip]
pub const SECOND_SPECTRAL_LIKE: Scheme = Scheme {
    name: "second-spectral-like", order: 4,
    alpha: 0.50209266, beta: 0.05569169,
    rhs: [0.21564935, 1.723322, 0.1765973, 0.0, 0.0],
    lead: None,
    source: "Lele 1992, eq. 3.1.12",
    ..SECOND
};
