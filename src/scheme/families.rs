//! The formulas for derivatives and interpolation, by family.
//!
//! First and second derivatives at the points (Lele 1992, J. Comput. Phys. 103, 16, eq. 2.1 and 2.2; the terms in d are added for
//! the explicit eighth-order formulas):
//!
//! ```text
//! β f'ᵢ₋₂ + α f'ᵢ₋₁ + f'ᵢ + α f'ᵢ₊₁ + β f'ᵢ₊₂
//!     = a (fᵢ₊₁ − fᵢ₋₁)/2h + b (fᵢ₊₂ − fᵢ₋₂)/4h + c (fᵢ₊₃ − fᵢ₋₃)/6h + d (fᵢ₊₄ − fᵢ₋₄)/8h
//! β f''ᵢ₋₂ + α f''ᵢ₋₁ + f''ᵢ + α f''ᵢ₊₁ + β f''ᵢ₊₂
//!     = a (fᵢ₊₁ − 2fᵢ + fᵢ₋₁)/h² + b (fᵢ₊₂ − 2fᵢ + fᵢ₋₂)/4h² + c (fᵢ₊₃ − 2fᵢ + fᵢ₋₃)/9h² + d (fᵢ₊₄ − 2fᵢ + fᵢ₋₄)/16h²
//! ```
//!
//! First derivatives and interpolation half a spacing away, for staggered fluxes: the left-hand side at the midpoints j, f at the
//! points j ± ½, j ± 3/2, ... (Lele 1992, appendices B and C; Nagarajan, Lele and Ferziger 2003, J. Comput. Phys. 191, 392, use the
//! sixth-order pair):
//!
//! ```text
//! β f'ⱼ₋₂ + α f'ⱼ₋₁ + f'ⱼ + α f'ⱼ₊₁ + β f'ⱼ₊₂
//!     = a (fⱼ₊½ − fⱼ₋½)/h + b (fⱼ₊₃⸝₂ − fⱼ₋₃⸝₂)/3h + c (fⱼ₊₅⸝₂ − fⱼ₋₅⸝₂)/5h
//! β Fⱼ₋₂ + α Fⱼ₋₁ + Fⱼ + α Fⱼ₊₁ + β Fⱼ₊₂
//!     = a (fⱼ₊½ + fⱼ₋½)/2 + b (fⱼ₊₃⸝₂ + fⱼ₋₃⸝₂)/2 + c (fⱼ₊₅⸝₂ + fⱼ₋₅⸝₂)/2
//! ```
//!
//! The coefficients follow from matching Taylor series: a formula of order p for a first derivative is exact for
//! polynomials of degree p. The leading errors of second derivatives are those of k''(kh), which is positive: a
//! negative error means too little damping.

use super::{Kind, LeadingError, MAX_WIDTH, Scheme};

/// Formulas that belong together, under their name in input files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchemeFamily {
    /// Name in an input file, e.g. `compact6`.
    pub name: &'static str,
    /// f' at the points.
    pub first: Scheme,
    /// f'' at the points.
    pub second: Scheme,
    /// f' at the midpoints.
    pub midpoint_derivative: Scheme,
    /// f at the midpoints.
    pub midpoint_interpolation: Scheme,
}

/// All families, from the narrowest formula to the widest.
///
/// All four formulas of a family have the same order, with two exceptions: `explicit8` has the sixth-order explicit
/// midpoint formulas, `spectral-like` the tenth-order compact ones.
pub fn families() -> &'static [SchemeFamily] {
    FAMILIES
}

/// Returns the family with the given name.
pub fn family(name: &str) -> Option<&'static SchemeFamily> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// Each family: first derivative, second derivative, midpoint derivative, interpolation. Each formula: name, order,
/// [α, β], [a, b, c, d], factor of the leading error, source.
#[rustfmt::skip]
static FAMILIES: &[SchemeFamily] = &[
    family_of(
        formula("explicit2", 2, [0.0, 0.0], &[1.0], Some(-1.0 / 6.0), "Lele 1992, §2.1, α = β = 0"),
        formula("second-explicit2", 2, [0.0, 0.0], &[1.0], Some(-1.0 / 12.0), "Lele 1992, §2.2, α = β = 0"),
        formula("midpoint-explicit2", 2, [0.0, 0.0], &[1.0],
            Some(-1.0 / 24.0), "Lele 1992, appendix B, α = β = 0"),
        formula("interpolation-explicit2", 2, [0.0, 0.0], &[1.0],
            Some(-1.0 / 8.0), "Lele 1992, appendix C, α = β = 0"),
    ),
    family_of(
        formula("explicit4", 4, [0.0, 0.0], &[4.0 / 3.0, -1.0 / 3.0],
            Some(-1.0 / 30.0), "Lele 1992, §2.1, α = β = 0"),
        formula("second-explicit4", 4, [0.0, 0.0], &[4.0 / 3.0, -1.0 / 3.0],
            Some(-1.0 / 90.0), "Lele 1992, §2.2, α = β = 0"),
        formula("midpoint-explicit4", 4, [0.0, 0.0], &[9.0 / 8.0, -1.0 / 8.0],
            Some(-3.0 / 640.0), "Lele 1992, appendix B, α = β = 0"),
        formula("interpolation-explicit4", 4, [0.0, 0.0], &[9.0 / 8.0, -1.0 / 8.0],
            Some(-3.0 / 128.0), "Lele 1992, appendix C, α = β = 0"),
    ),
    family_of(
        formula("explicit6", 6, [0.0, 0.0], &[3.0 / 2.0, -3.0 / 5.0, 1.0 / 10.0],
            Some(-1.0 / 140.0), "Lele 1992, §2.1, α = β = 0"),
        formula("second-explicit6", 6, [0.0, 0.0], &[3.0 / 2.0, -3.0 / 5.0, 1.0 / 10.0],
            Some(-1.0 / 560.0), "Lele 1992, §2.2, α = β = 0"),
        EXPLICIT6_MIDPOINTS[0],
        EXPLICIT6_MIDPOINTS[1],
    ),
    family_of(
        formula("explicit8", 8, [0.0, 0.0], &[8.0 / 5.0, -4.0 / 5.0, 8.0 / 35.0, -1.0 / 35.0],
            Some(-1.0 / 630.0), "Taylor matching"),
        formula("second-explicit8", 8, [0.0, 0.0], &[8.0 / 5.0, -4.0 / 5.0, 8.0 / 35.0, -1.0 / 35.0],
            Some(-1.0 / 3150.0), "Taylor matching"),
        EXPLICIT6_MIDPOINTS[0],
        EXPLICIT6_MIDPOINTS[1],
    ),
    family_of(
        formula("compact4", 4, [1.0 / 4.0, 0.0], &[3.0 / 2.0],
            Some(-1.0 / 180.0), "Lele 1992, §2.1, α = 1/4 (classical Padé)"),
        formula("second-compact4", 4, [1.0 / 10.0, 0.0], &[6.0 / 5.0],
            Some(-1.0 / 240.0), "Lele 1992, §2.2, α = 1/10 (classical Padé)"),
        formula("midpoint-compact4", 4, [1.0 / 22.0, 0.0], &[12.0 / 11.0],
            Some(-17.0 / 5760.0), "Lele 1992, appendix B, b = 0"),
        formula("interpolation-compact4", 4, [1.0 / 6.0, 0.0], &[4.0 / 3.0],
            Some(-1.0 / 128.0), "Lele 1992, appendix C, b = 0"),
    ),
    family_of(
        formula("compact6", 6, [1.0 / 3.0, 0.0], &[14.0 / 9.0, 1.0 / 9.0],
            Some(-1.0 / 2100.0), "Lele 1992, eq. 2.1.7"),
        formula("second-compact6", 6, [2.0 / 11.0, 0.0], &[12.0 / 11.0, 3.0 / 11.0],
            Some(-23.0 / 75600.0), "Lele 1992, §2.2, α = 2/11"),
        formula("midpoint-compact6", 6, [9.0 / 62.0, 0.0], &[63.0 / 62.0, 17.0 / 62.0],
            Some(-61.0 / 358400.0), "Lele 1992, appendix B; Nagarajan, Lele and Ferziger 2003"),
        formula("interpolation-compact6", 6, [3.0 / 10.0, 0.0], &[3.0 / 2.0, 1.0 / 10.0],
            Some(-1.0 / 2048.0), "Lele 1992, appendix C; Nagarajan, Lele and Ferziger 2003"),
    ),
    family_of(
        formula("compact8", 8, [3.0 / 8.0, 0.0], &[25.0 / 16.0, 1.0 / 5.0, -1.0 / 80.0],
            Some(-1.0 / 17640.0), "Lele 1992, §2.1, α = 3/8"),
        formula("second-compact8", 8, [9.0 / 38.0, 0.0], &[147.0 / 152.0, 51.0 / 95.0, -23.0 / 760.0],
            Some(-43.0 / 1411200.0), "Lele 1992, §2.2, β = 0"),
        formula("midpoint-compact8", 8, [25.0 / 118.0, 0.0], &[2675.0 / 2832.0, 925.0 / 1888.0, -61.0 / 5664.0],
            Some(-215.0 / 14450688.0), "Lele 1992, appendix B, β = 0"),
        formula("interpolation-compact8", 8, [5.0 / 14.0, 0.0], &[25.0 / 16.0, 5.0 / 32.0, -1.0 / 224.0],
            Some(-5.0 / 98304.0), "Lele 1992, appendix C, β = 0"),
    ),
    family_of(
        formula("compact8-penta", 8, [4.0 / 9.0, 1.0 / 36.0], &[40.0 / 27.0, 25.0 / 54.0],
            Some(-1.0 / 44100.0), "Lele 1992, eq. 2.1.12"),
        formula("second-compact8-penta", 8, [344.0 / 1179.0, 23.0 / 2358.0], &[320.0 / 393.0, 310.0 / 393.0],
            Some(-79.0 / 4762800.0), "Lele 1992, §2.2, c = 0"),
        formula("midpoint-compact8-penta", 8, [6114.0 / 25669.0, 183.0 / 51338.0], &[23400.0 / 25669.0, 14680.0 / 25669.0],
            Some(-69049.0 / 6141542400.0), "Lele 1992, appendix B, c = 0"),
        formula("interpolation-compact8-penta", 8, [2.0 / 5.0, 1.0 / 70.0], &[8.0 / 5.0, 8.0 / 35.0],
            Some(-1.0 / 32768.0), "Lele 1992, appendix C, c = 0"),
    ),
    family_of(
        formula("compact10-penta", 10, [1.0 / 2.0, 1.0 / 20.0], &[17.0 / 12.0, 101.0 / 150.0, 1.0 / 100.0],
            Some(-1.0 / 582120.0), "Lele 1992, §2.1, all five coefficients"),
        formula("second-compact10-penta", 10, [334.0 / 899.0, 43.0 / 1798.0], &[1065.0 / 1798.0, 1038.0 / 899.0, 79.0 / 1798.0],
            Some(-619.0 / 535550400.0), "Lele 1992, §2.2, all five coefficients"),
        COMPACT10_PENTA_MIDPOINTS[0],
        COMPACT10_PENTA_MIDPOINTS[1],
    ),
    // Optimised to resolve short waves, nominally fourth order. Published decimals: they satisfy the order conditions
    // to 2e-7 only.
    family_of(
        formula("spectral-like", 4, [0.5771439, 0.0896406], &[1.3025166, 0.99355, 0.03750245],
            None, "Lele 1992, eq. 3.1.6"),
        formula("second-spectral-like", 4, [0.50209266, 0.05569169], &[0.21564935, 1.723322, 0.1765973],
            None, "Lele 1992, eq. 3.1.12"),
        COMPACT10_PENTA_MIDPOINTS[0],
        COMPACT10_PENTA_MIDPOINTS[1],
    ),
];

/// Both midpoint formulas of `explicit6` and `explicit8`.
#[rustfmt::skip]
const EXPLICIT6_MIDPOINTS: [Scheme; 2] = [
    formula("midpoint-explicit6", 6, [0.0, 0.0], &[75.0 / 64.0, -25.0 / 128.0, 3.0 / 128.0],
        Some(-5.0 / 7168.0), "Lele 1992, appendix B, α = β = 0"),
    formula("interpolation-explicit6", 6, [0.0, 0.0], &[75.0 / 64.0, -25.0 / 128.0, 3.0 / 128.0],
        Some(-5.0 / 1024.0), "Lele 1992, appendix C, α = β = 0"),
];

/// Both midpoint formulas of `compact10-penta` and `spectral-like`.
#[rustfmt::skip]
const COMPACT10_PENTA_MIDPOINTS: [Scheme; 2] = [
    formula("midpoint-compact10-penta", 10, [96850.0 / 288529.0, 9675.0 / 577058.0], &[683425.0 / 865587.0, 505175.0 / 577058.0, 69049.0 / 1731174.0],
        Some(-939109.0 / 1396283277312.0), "Lele 1992, appendix B, all five coefficients"),
    formula("interpolation-compact10-penta", 10, [10.0 / 21.0, 5.0 / 126.0], &[5.0 / 3.0, 5.0 / 14.0, 1.0 / 126.0],
        Some(-1.0 / 524288.0), "Lele 1992, appendix C, all five coefficients"),
];

/// A first derivative outside the families: sixth order, pentadiagonal, with a three-point right-hand side (Lele 1992,
/// §2.1, b = c = 0).
#[rustfmt::skip]
pub const COMPACT6_PENTA: Scheme = of_kind(
    Kind::FirstDerivative, 1,
    formula("compact6-penta", 6, [17.0 / 57.0, -1.0 / 114.0], &[30.0 / 19.0], Some(-1.0 / 1512.0), "Lele 1992, §2.1, b = c = 0"),
);

const fn family_of(
    first: Scheme,
    second: Scheme,
    midpoint_derivative: Scheme,
    midpoint_interpolation: Scheme,
) -> SchemeFamily {
    SchemeFamily {
        name: first.name,
        first: of_kind(Kind::FirstDerivative, 1, first),
        second: of_kind(Kind::SecondDerivative, 2, second),
        midpoint_derivative: of_kind(Kind::MidpointDerivative, 1, midpoint_derivative),
        midpoint_interpolation: of_kind(Kind::MidpointInterpolation, 0, midpoint_interpolation),
    }
}

/// The formula with the given kind, for a derivative of order `derivative`.
const fn of_kind(kind: Kind, derivative: i32, mut scheme: Scheme) -> Scheme {
    scheme.kind = kind;
    if let Some(lead) = &mut scheme.lead {
        lead.power = scheme.order.cast_signed() + derivative;
    }
    scheme
}

/// A formula whose kind is set later.
const fn formula(
    name: &'static str,
    order: u32,
    [alpha, beta]: [f64; 2],
    coefficients: &[f64],
    lead: Option<f64>,
    source: &'static str,
) -> Scheme {
    let mut rhs = [0.0; MAX_WIDTH];
    rhs.split_at_mut(coefficients.len()).0.copy_from_slice(coefficients);
    let lead = match lead {
        Some(coefficient) => Some(LeadingError { coefficient, power: 0 }),
        None => None,
    };
    Scheme { name, kind: Kind::FirstDerivative, alpha, beta, center: 0.0, rhs, order, lead, source }
}
