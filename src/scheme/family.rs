//! The formulas that belong together under the name that a user types.

use super::*;

/// The formulas that belong together under one name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchemeFamily {
    /// What the user types: `compact6`.
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

/// Every family, from the narrowest formula to the widest.
///
/// All four formulas of a family have the same order, but for two: `explicit8` has the sixth-order explicit midpoint
/// formulas, `spectral-like` the tenth-order compact ones.
pub fn families() -> &'static [SchemeFamily] {
    &FAMILIES
}

/// The family that a user calls `name`.
pub fn family(name: &str) -> Option<&'static SchemeFamily> {
    FAMILIES.iter().find(|family| family.name == name)
}

static FAMILIES: [SchemeFamily; 10] = [
    together(EXPLICIT2, SECOND_EXPLICIT2, MIDPOINT_EXPLICIT2, INTERPOLATION_EXPLICIT2),
    together(EXPLICIT4, SECOND_EXPLICIT4, MIDPOINT_EXPLICIT4, INTERPOLATION_EXPLICIT4),
    together(EXPLICIT6, SECOND_EXPLICIT6, MIDPOINT_EXPLICIT6, INTERPOLATION_EXPLICIT6),
    together(EXPLICIT8, SECOND_EXPLICIT8, MIDPOINT_EXPLICIT6, INTERPOLATION_EXPLICIT6),
    together(COMPACT4, SECOND_COMPACT4, MIDPOINT_COMPACT4, INTERPOLATION_COMPACT4),
    together(COMPACT6, SECOND_COMPACT6, MIDPOINT_COMPACT6, INTERPOLATION_COMPACT6),
    together(COMPACT8, SECOND_COMPACT8, MIDPOINT_COMPACT8, INTERPOLATION_COMPACT8),
    together(
        COMPACT8_PENTA,
        SECOND_COMPACT8_PENTA,
        MIDPOINT_COMPACT8_PENTA,
        INTERPOLATION_COMPACT8_PENTA,
    ),
    together(
        COMPACT10_PENTA,
        SECOND_COMPACT10_PENTA,
        MIDPOINT_COMPACT10_PENTA,
        INTERPOLATION_COMPACT10_PENTA,
    ),
    together(
        SPECTRAL_LIKE,
        SECOND_SPECTRAL_LIKE,
        MIDPOINT_COMPACT10_PENTA,
        INTERPOLATION_COMPACT10_PENTA,
    ),
];

const fn together(
    first: Scheme,
    second: Scheme,
    midpoint_derivative: Scheme,
    midpoint_interpolation: Scheme,
) -> SchemeFamily {
    SchemeFamily { name: first.name, first, second, midpoint_derivative, midpoint_interpolation }
}
