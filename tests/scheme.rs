//! Analysis of schemes: coefficients, symbols, closures, filters and Runge-Kutta tableaux.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::cast_possible_truncation, reason = "exponents and stencil offsets are small")]

use kolmo::scheme::*;

use crate::common::{all_schemes as schemes, scheme_family, schemes_of_kind};

mod closures;
mod filters;
mod runge_kutta;
mod symbols;

/// Rows of a table in `tests/data`, without comments and header.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split(',').collect())
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// The scheme with that name.
fn scheme(name: &str) -> &'static Scheme {
    schemes().find(|scheme| scheme.name == name).unwrap()
}

#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{what}: {value:e}, expected {expected:e} ± {tolerance:e}"
    );
}

fn factorial(n: u32) -> f64 {
    (1..=n).map(f64::from).product()
}
