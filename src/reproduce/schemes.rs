//! Results that follow from the coefficients alone: modified wavenumbers, decay of inverses, operation counts.

use std::f64::consts::PI;

use super::Basis;
use super::chart::Chart;
use super::finding::Finding;
use super::lab::Lab;
use super::published::{ELIMINATION_OPERATIONS, REDUCTION_OPERATIONS};
use crate::error::Result;
use crate::io::plot::Point;
use crate::lines::{BandedMatrix, BandedPcr, CyclicReduction, Factors, solve};
use crate::scheme::{Scheme, family};

/// Number of wavenumbers of a curve.
const WAVES: u32 = 64;

/// The first derivative of a family.
fn first(name: &str) -> Scheme {
    family(name).unwrap_or_else(|| unreachable!("a family of the table")).first
}

/// Srinath 2015, figure 1.1.
pub(super) fn wavenumbers(_: &Lab<'_>) -> Result<Finding> {
    let mut chart = Chart::new("Modified wavenumbers", "kh", "k'h");
    let at = |n: u32| f64::from(n) * PI / f64::from(WAVES);
    chart.add(Basis::Exact, "exact derivative", (0..=WAVES).map(|n| (at(n), at(n))).collect());
    for name in ["explicit2", "explicit4", "explicit6", "compact4", "compact6", "spectral-like"] {
        let scheme = first(name);
        let point = |n: u32| Some((at(n), scheme.modified_wavenumber(at(n))?));
        chart.add(Basis::Exact, name, (0..=WAVES).filter_map(point).collect());
    }
    let (largest, place) = first("compact4").max_symbol();
    Ok(Finding::charts(&[("", chart)]).with_text(
        "Figure 1.1 compares the modified wavenumber k' with k for the formulas named in its legend: at the same stencil width, compact \
         formulas follow the exact derivative to shorter waves. The text has no numbers; the scheme of the thesis is α = 1/4, \
         a = 3/4 in its eq. 1.1 (§1.2.4).",
        format!(
            "k'h of three explicit and three compact first derivatives from their coefficients. `compact4` is the scheme of the thesis, \
             k'h = (3/2) sin kh / (1 + (1/2) cos kh): it is largest, {largest:.4}, at kh = {place:.4}."
        ),
        "None for the scheme of the thesis: it is the same formula. The other formulas of the figure cannot be identified from the text; \
         those here are a choice.",
    ))
}

/// Range of a disturbance in the inverse of A, the basis of the methods for split lines.
pub(super) fn decay(_: &Lab<'_>) -> Result<Finding> {
    /// Rows of a matrix, and the number of them that are drawn from its middle on.
    const ROWS: usize = 257;
    const DRAWN: usize = 60;
    let mut chart =
        Chart::new("Decay of the inverse", "rows from the diagonal", "entry over the diagonal's");
    let mut reaches = Vec::new();
    for name in ["compact4", "compact6", "compact8", "compact10-penta", "spectral-like"] {
        let Scheme { alpha, beta, .. } = first(name);
        let matrix = BandedMatrix::toeplitz(ROWS, alpha, beta, true);
        let mut x = vec![0.0; ROWS];
        x[ROWS / 2] = 1.0;
        solve(&Factors::new(&matrix), &mut x);
        let relative = |d: usize| (x[ROWS / 2 + d] / x[ROWS / 2]).abs();
        let reach = (0..ROWS / 2).find(|d| relative(*d) < f64::EPSILON).unwrap_or(ROWS / 2);
        reaches.push(format!("{name} {reach}"));
        let point = |d: usize| (d as f64, relative(d));
        let is_visible = |point: &Point| point.1 > 1e-20;
        chart.add(Basis::Exact, name, (0..DRAWN).map(point).filter(is_visible).collect());
    }
    let chart = chart.logarithmic([false, true]);
    Ok(Finding::charts(&[("", chart)]).with_text(
        "Not a figure of the papers. Both distributed solvers are based on it: Srinath 2015, §3.3 (the secondary systems), and Song et \
         al. 2022, eq. 9 to 14 (D⁻¹L and D⁻¹R).",
        format!(
            "Entries of A⁻¹ along a row, by solving for a unit vector. They fall below ε = 2.2e-16 of the diagonal entry after this many \
             rows: {}. For a tridiagonal A it is the power of (1 − √(1 − 4α²)) / 2α.",
            reaches.join(", ")
        ),
        "The papers solve a reduced system over all ranks. Where a block is longer than this reach, `neighbour` needs one message to each \
         neighbour instead.",
    ))
}

/// Esfahanian et al. 2014, section 2: operations of cyclic reduction and of elimination.
pub(super) fn operations(_: &Lab<'_>) -> Result<Finding> {
    let sizes: Vec<usize> = (4..=12).map(|k| 1 << k).collect();
    let alpha = first("compact4").alpha;
    let matrix = |n: usize| BandedMatrix::toeplitz(n, alpha, 0.0, false);
    let levels = |n: usize| CyclicReduction::new(&matrix(n)).levels;
    // Remaining rows: two quotients, a', c', and two products and differences each for b' and d'; if prepared, two of each for
    // d'. Eliminated rows: two products, two differences and a quotient. Neighbours beyond the first or the last row do not
    // contribute.
    let reduction = |n: usize, [row, neighbour]: [usize; 2]| -> f64 {
        let of_level = |rows: usize| {
            let (remaining, eliminated, is_odd) = (rows / 2, rows.div_ceil(2), rows % 2);
            row * remaining - neighbour * (1 - is_odd) + 5 * eliminated - 2 - 2 * is_odd
        };
        levels(n).iter().map(|level| of_level(level.rows)).sum::<usize>() as f64 + 1.0
    };
    let (general, prepared) = (|n| reduction(n, [12, 6]), |n| reduction(n, [4, 2]));
    let banded = |n: usize| -> f64 {
        let pcr = BandedPcr::new(&matrix(n), 1e-3 * f64::EPSILON);
        let used = |stride: usize| 2 * (n - stride);
        (0..pcr.levels.len()).map(|level| 2 * used(1 << level)).sum::<usize>() as f64 + n as f64
    };
    // Forward elimination: quotients l, pivots and right-hand sides; back substitution: two operations and a quotient. If
    // prepared: two forward, and the pivot; two backward.
    let thomas = |n: usize| (8 * n - 7) as f64;
    let thomas_prepared = |n: usize| (5 * n - 4) as f64;
    let mut chart = Chart::new("Operations of a tridiagonal solve", "rows N", "operations per row");
    let mut add = |basis: Basis, name: &str, count: &dyn Fn(usize) -> f64| {
        let points = sizes.iter().map(|&n| (n as f64, count(n) / n as f64)).collect();
        chart.add(basis, name, points);
    };
    add(Basis::Exact, "cr", &general);
    add(Basis::Exact, "thomas; factored as it goes", &thomas);
    add(Basis::Exact, "cr-sorted and neato", &prepared);
    add(Basis::Exact, "thomas", &thomas_prepared);
    add(Basis::Exact, "pcr-banded", &banded);
    add(Basis::Published, "cr", &|n| REDUCTION_OPERATIONS * n as f64);
    add(Basis::Published, "thomas; factored as it goes", &|n| {
        ELIMINATION_OPERATIONS * n as f64 - 1.0
    });
    let (n, per_row) = (4096, general(4096) / 4096.0);
    let chart = chart.logarithmic([true, false]);
    Ok(Finding::charts(&[("", chart)]).with_text(
        "Cyclic reduction needs 17 N operations, the Thomas algorithm 8 N − 1 (Esfahanian et al. 2014, section 2). It takes 2 log₂ N − 1 \
         steps where N processors share a system, elimination 2 N (Srinath 2015, §1.4).",
        format!(
            "Additions, multiplications and quotients counted over the levels of this code's reductions for α = 1/4: `cr` {per_row:.3} per \
             row at N = {n}. With coefficients computed beforehand, which all lines share, `cr-sorted` and `neato` take \
             {:.3}, `thomas` {:.3}; `pcr-banded` {:.2}, as its levels end where couplings fall below round-off.",
            prepared(n) / 4096.0,
            thomas_prepared(n) / 4096.0,
            banded(n) / 4096.0
        ),
        "17 N is approached from below: rows at the ends of a level have one neighbour. The difference between 8 N − 1 and 8 N − 7 \
         depends on the operations counted in the first and the last row.",
    ))
}
