//! First derivatives and interpolation half a spacing away, for staggered fluxes.
//!
//! With the left-hand side at the midpoints j and f at the points j ± ½, j ± 3/2, ...,
//!
//! ```text
//! β f'ⱼ₋₂ + α f'ⱼ₋₁ + f'ⱼ + α f'ⱼ₊₁ + β f'ⱼ₊₂
//!     = a (fⱼ₊½ − fⱼ₋½)/h + b (fⱼ₊₃⸝₂ − fⱼ₋₃⸝₂)/3h + c (fⱼ₊₅⸝₂ − fⱼ₋₅⸝₂)/5h
//! β Fⱼ₋₂ + α Fⱼ₋₁ + Fⱼ + α Fⱼ₊₁ + β Fⱼ₊₂
//!     = a (fⱼ₊½ + fⱼ₋½)/2 + b (fⱼ₊₃⸝₂ + fⱼ₋₃⸝₂)/2 + c (fⱼ₊₅⸝₂ + fⱼ₋₅⸝₂)/2
//! ```
//!
//! (Lele 1992, J. Comput. Phys. 103, 16, appendices B and C; Nagarajan, Lele and Ferziger 2003, J. Comput. Phys. 191,
//! 392, use the sixth-order pair.)

use super::{Kind, NOTHING, Scheme, lead};

const MIDPOINT: Scheme = Scheme { kind: Kind::MidpointDerivative, ..NOTHING };
const INTERPOLATION: Scheme = Scheme { kind: Kind::MidpointInterpolation, ..NOTHING };

/// Midpoint derivatives, one of each.
pub static ALL_MIDPOINT: [Scheme; 8] = [
    MIDPOINT_EXPLICIT2,
    MIDPOINT_EXPLICIT4,
    MIDPOINT_EXPLICIT6,
    MIDPOINT_COMPACT4,
    MIDPOINT_COMPACT6,
    MIDPOINT_COMPACT8,
    MIDPOINT_COMPACT8_PENTA,
    MIDPOINT_COMPACT10_PENTA,
];

/// Second order, explicit (Lele 1992, appendix B, α = β = 0).
#[rustfmt::skip]
pub const MIDPOINT_EXPLICIT2: Scheme = Scheme {
    name: "midpoint-explicit2", order: 2,
    rhs: [1.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 24.0, 3),
    source: "Lele 1992, appendix B, α = β = 0",
    ..MIDPOINT
};

/// Fourth order, explicit (Lele 1992, appendix B, α = β = 0).
#[rustfmt::skip]
pub const MIDPOINT_EXPLICIT4: Scheme = Scheme {
    name: "midpoint-explicit4", order: 4,
    rhs: [9.0 / 8.0, -1.0 / 8.0, 0.0, 0.0, 0.0],
    lead: lead(-3.0 / 640.0, 5),
    source: "Lele 1992, appendix B, α = β = 0",
    ..MIDPOINT
};

/// Sixth order, explicit (Lele 1992, appendix B, α = β = 0).
#[rustfmt::skip]
pub const MIDPOINT_EXPLICIT6: Scheme = Scheme {
    name: "midpoint-explicit6", order: 6,
    rhs: [75.0 / 64.0, -25.0 / 128.0, 3.0 / 128.0, 0.0, 0.0],
    lead: lead(-5.0 / 7168.0, 7),
    source: "Lele 1992, appendix B, α = β = 0",
    ..MIDPOINT
};

/// Fourth order, tridiagonal (Lele 1992, appendix B, b = 0).
#[rustfmt::skip]
pub const MIDPOINT_COMPACT4: Scheme = Scheme {
    name: "midpoint-compact4", order: 4,
    alpha: 1.0 / 22.0,
    rhs: [12.0 / 11.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-17.0 / 5760.0, 5),
    source: "Lele 1992, appendix B, b = 0",
    ..MIDPOINT
};

/// Sixth order, tridiagonal (Lele 1992, appendix B; Nagarajan, Lele and Ferziger 2003).
#[rustfmt::skip]
pub const MIDPOINT_COMPACT6: Scheme = Scheme {
    name: "midpoint-compact6", order: 6,
    alpha: 9.0 / 62.0,
    rhs: [63.0 / 62.0, 17.0 / 62.0, 0.0, 0.0, 0.0],
    lead: lead(-61.0 / 358400.0, 7),
    source: "Lele 1992, appendix B; Nagarajan, Lele and Ferziger 2003",
    ..MIDPOINT
};

/// Eighth order, tridiagonal (Lele 1992, appendix B, β = 0).
#[rustfmt::skip]
pub const MIDPOINT_COMPACT8: Scheme = Scheme {
    name: "midpoint-compact8", order: 8,
    alpha: 25.0 / 118.0,
    rhs: [2675.0 / 2832.0, 925.0 / 1888.0, -61.0 / 5664.0, 0.0, 0.0],
    lead: lead(-215.0 / 14450688.0, 9),
    source: "Lele 1992, appendix B, β = 0",
    ..MIDPOINT
};

/// Eighth order, pentadiagonal (Lele 1992, appendix B, c = 0).
#[rustfmt::skip]
pub const MIDPOINT_COMPACT8_PENTA: Scheme = Scheme {
    name: "midpoint-compact8-penta", order: 8,
    alpha: 6114.0 / 25669.0, beta: 183.0 / 51338.0,
    rhs: [23400.0 / 25669.0, 14680.0 / 25669.0, 0.0, 0.0, 0.0],
    lead: lead(-69049.0 / 6141542400.0, 9),
    source: "Lele 1992, appendix B, c = 0",
    ..MIDPOINT
};

/// Tenth order, pentadiagonal (Lele 1992, appendix B, all five coefficients).
#[rustfmt::skip]
pub const MIDPOINT_COMPACT10_PENTA: Scheme = Scheme {
    name: "midpoint-compact10-penta", order: 10,
    alpha: 96850.0 / 288529.0, beta: 9675.0 / 577058.0,
    rhs: [683425.0 / 865587.0, 505175.0 / 577058.0, 69049.0 / 1731174.0, 0.0, 0.0],
    lead: lead(-939109.0 / 1396283277312.0, 11),
    source: "Lele 1992, appendix B, all five coefficients",
    ..MIDPOINT
};

/// Midpoint interpolations, one of each.
pub static ALL_INTERPOLATION: [Scheme; 8] = [
    INTERPOLATION_EXPLICIT2,
    INTERPOLATION_EXPLICIT4,
    INTERPOLATION_EXPLICIT6,
    INTERPOLATION_COMPACT4,
    INTERPOLATION_COMPACT6,
    INTERPOLATION_COMPACT8,
    INTERPOLATION_COMPACT8_PENTA,
    INTERPOLATION_COMPACT10_PENTA,
];

/// Second order, explicit (Lele 1992, appendix C, α = β = 0).
#[rustfmt::skip]
pub const INTERPOLATION_EXPLICIT2: Scheme = Scheme {
    name: "interpolation-explicit2", order: 2,
    rhs: [1.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 8.0, 2),
    source: "Lele 1992, appendix C, α = β = 0",
    ..INTERPOLATION
};

/// Fourth order, explicit (Lele 1992, appendix C, α = β = 0).
#[rustfmt::skip]
pub const INTERPOLATION_EXPLICIT4: Scheme = Scheme {
    name: "interpolation-explicit4", order: 4,
    rhs: [9.0 / 8.0, -1.0 / 8.0, 0.0, 0.0, 0.0],
    lead: lead(-3.0 / 128.0, 4),
    source: "Lele 1992, appendix C, α = β = 0",
    ..INTERPOLATION
};

/// Sixth order, explicit (Lele 1992, appendix C, α = β = 0).
#[rustfmt::skip]
pub const INTERPOLATION_EXPLICIT6: Scheme = Scheme {
    name: "interpolation-explicit6", order: 6,
    rhs: [75.0 / 64.0, -25.0 / 128.0, 3.0 / 128.0, 0.0, 0.0],
    lead: lead(-5.0 / 1024.0, 6),
    source: "Lele 1992, appendix C, α = β = 0",
    ..INTERPOLATION
};

/// Fourth order, tridiagonal (Lele 1992, appendix C, b = 0).
#[rustfmt::skip]
pub const INTERPOLATION_COMPACT4: Scheme = Scheme {
    name: "interpolation-compact4", order: 4,
    alpha: 1.0 / 6.0,
    rhs: [4.0 / 3.0, 0.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 128.0, 4),
    source: "Lele 1992, appendix C, b = 0",
    ..INTERPOLATION
};

/// Sixth order, tridiagonal (Lele 1992, appendix C; Nagarajan, Lele and Ferziger 2003).
#[rustfmt::skip]
pub const INTERPOLATION_COMPACT6: Scheme = Scheme {
    name: "interpolation-compact6", order: 6,
    alpha: 3.0 / 10.0,
    rhs: [3.0 / 2.0, 1.0 / 10.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 2048.0, 6),
    source: "Lele 1992, appendix C; Nagarajan, Lele and Ferziger 2003",
    ..INTERPOLATION
};

/// Eighth order, tridiagonal (Lele 1992, appendix C, β = 0).
#[rustfmt::skip]
pub const INTERPOLATION_COMPACT8: Scheme = Scheme {
    name: "interpolation-compact8", order: 8,
    alpha: 5.0 / 14.0,
    rhs: [25.0 / 16.0, 5.0 / 32.0, -1.0 / 224.0, 0.0, 0.0],
    lead: lead(-5.0 / 98304.0, 8),
    source: "Lele 1992, appendix C, β = 0",
    ..INTERPOLATION
};

/// Eighth order, pentadiagonal (Lele 1992, appendix C, c = 0).
#[rustfmt::skip]
pub const INTERPOLATION_COMPACT8_PENTA: Scheme = Scheme {
    name: "interpolation-compact8-penta", order: 8,
    alpha: 2.0 / 5.0, beta: 1.0 / 70.0,
    rhs: [8.0 / 5.0, 8.0 / 35.0, 0.0, 0.0, 0.0],
    lead: lead(-1.0 / 32768.0, 8),
    source: "Lele 1992, appendix C, c = 0",
    ..INTERPOLATION
};

/// Tenth order, pentadiagonal (Lele 1992, appendix C, all five coefficients).
#[rustfmt::skip]
pub const INTERPOLATION_COMPACT10_PENTA: Scheme = Scheme {
    name: "interpolation-compact10-penta", order: 10,
    alpha: 10.0 / 21.0, beta: 5.0 / 126.0,
    rhs: [5.0 / 3.0, 5.0 / 14.0, 1.0 / 126.0, 0.0, 0.0],
    lead: lead(-1.0 / 524288.0, 10),
    source: "Lele 1992, appendix C, all five coefficients",
    ..INTERPOLATION
};
