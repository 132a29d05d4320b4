//! Schemes on paper: coefficients, symbols, closures, filters and Runge-Kutta tableaux.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![allow(clippy::cast_possible_truncation, reason = "exponents and stencil offsets are small")]

use kolmo::scheme::*;

mod closures;
mod filters;
mod runge_kutta;
mod symbols;

/// Lines of a table under `tests/data`, without comments and heading.
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

/// Every formula that is not a filter.
fn schemes() -> impl Iterator<Item = &'static Scheme> {
    ALL_FIRST.iter().chain(&ALL_SECOND).chain(&ALL_MIDPOINT).chain(&ALL_INTERPOLATION)
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
