//! One-sided rows that close a scheme at the ends of a non-periodic line.
//!
//! A closure is a few rows, one per point counted from the end, found by matching Taylor series; beyond them the
//! interior formula applies. Matching does not ensure that the closed operator is stable. On u_t + u_x = 0, u(0) = 0,
//! with 41 points, the largest real part of its eigenvalues, times h, is:
//!
//! | closure | interior | max Re λh | closure | interior | max Re λh |
//! |---|---|---|---|---|---|
//! | `c3` | compact4 | −5.3e-5 | `c4` | compact4 | 7.4e-3 |
//! | `c3-pade4` | compact6 | −1.2e-4 | `c4-pade4` | compact6 | 7.0e-3 |
//! | `c3-asym5` | compact6 | −4.5e-5 | `c5-pade4` | compact6 | 3.3e-5 |
//! | `e3-pade4` | compact6 | −1.1e-4 | `e4-pade4` | compact6 | 1.8e-3 |
//! | `cga5` | compact6 | −9.7e-4 | `e5-pade4` | compact6 | 4.7e-2 |
//! | `c3-pade4-compact6` | compact8 | −1.3e-4 | `e6-pade4` | compact6 | 0.27 |
//! | `e2` | explicit2 | −2.4e-4 | `c5-c5` | compact6 | 5.5e-2 |
//! | `e3-skew3` | explicit4 | −5.8e-5 | `c6-c6`, `c6-asym6` | compact6 | 0.20 |
//! | `e3-skew3-central4` | explicit6 | −8.9e-5 | | | |
//! | `e3-skew3-central4-central6` | explicit8 | −4.5e-5 | | | |
//!
//! The closures on the left stay stable as the grid is refined (max Re λh falls as h³); those on the right need a
//! filter. For sound between two walls, and for stretched lines, all of these closures except `e2` are unstable
//! (max Re λh is 0.05 for `c3-pade4` on 33 points, 0.02 on 65).
//!
//! The closures `sbp-...` sum by parts: with the weights H of their norm, fᵀ H D g + gᵀ H D f = f_N g_N − f₀ g₀ for any
//! f and g, the discrete form of ∫ (f g)' dx. So every energy estimate that the equations have by integration by parts
//! holds for the discrete equations too: sound between walls neither grows nor decays, for any map of a line (with
//! weights H dx/dξ), and no mass passes through a wall. Their rows have half the order of the interior; the solution
//! has one order more (Gustafsson 1975).
//!
//! [`default_closure`] returns a closure that sums by parts where one exists, [`open_closure`] is for equally spaced
//! lines between open faces; midpoint formulas are periodic only.

use super::{Kind, Scheme, closure_rows::*, filter_closure, sbp_rows::*};

/// The equation of one point near the left end of a line; the right end is its mirror image (with the sign of the
/// right-hand side changed for odd derivatives).
#[derive(Clone, Debug, PartialEq)]
pub struct ClosureRow {
    /// Left-hand weights of the neighbours: (offset from this point, weight). The point itself has weight 1.
    pub lhs: Vec<(isize, f64)>,
    /// Right-hand weights of points 0, 1, 2, ... counted from the end, for h = 1 (divide by h or h²).
    pub rhs: Vec<f64>,
    /// Order of accuracy of this row.
    pub order: u32,
}

/// The rows of points 0, 1, ... from an end; beyond them the interior formula applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Closure {
    /// Short unique name, e.g. `c3-pade4`.
    pub name: &'static str,
    /// Operation that it approximates.
    pub kind: Kind,
    /// Rows of point 0, 1, ...
    pub rows: Vec<ClosureRow>,
    /// The weights of points 0, 1, ... in the norm by which the closed operator sums by parts, for h = 1; 1 beyond
    /// them. Empty if it does not sum by parts.
    pub norm: &'static [f64],
    /// Author, year and equation.
    pub source: &'static str,
}

impl Closure {
    /// The weight of point `i` of `n` in the norm, for h = 1.
    pub fn weight(&self, i: usize, n: usize) -> f64 {
        self.norm.get(i.min(n - 1 - i)).copied().unwrap_or(1.0)
    }
}

/// Every closure of a derivative.
pub fn closures() -> Vec<Closure> {
    TABLE.iter().map(Entry::closure).collect()
}

/// Returns the closure with the given name.
pub fn closure(name: &str) -> Option<Closure> {
    TABLE.iter().find(|entry| entry.name == name).map(Entry::closure)
}

/// Returns the closure of a scheme at the points: one that sums by parts where it exists, else [`open_closure`].
pub fn default_closure(scheme: &Scheme) -> Option<Closure> {
    // Its rows are valid for one set of coefficients only: those of the highest order for the stencil.
    let highest = 2 * (scheme.half_band() + scheme.half_width());
    let name = match (scheme.kind, scheme.half_band(), scheme.order) {
        (Kind::FirstDerivative, 0, order) => format!("sbp-explicit{order}"),
        (Kind::FirstDerivative, 1, order) => format!("sbp-compact{order}"),
        _ => return open_closure(scheme),
    };
    closure(&name).filter(|_| scheme.order as usize == highest).or_else(|| open_closure(scheme))
}

/// Returns the closure of a scheme at the points by Taylor matching, for equally spaced lines between faces through
/// which waves leave the domain (the boundary condition for the rates on the face lets them pass): stable for
/// advection, with the fewest rows that its stencil needs (three for pentadiagonal schemes). `None` for midpoint formulas and pentadiagonal filters, which are periodic only.
pub fn open_closure(scheme: &Scheme) -> Option<Closure> {
    let prefix = match scheme.kind {
        Kind::FirstDerivative => "",
        Kind::SecondDerivative => "second-",
        Kind::Filter if scheme.half_band() < 2 => {
            return Some(filter_closure(scheme.order, scheme.alpha));
        }
        _ => return None,
    };
    let rows = match (scheme.half_band(), scheme.half_width()) {
        (0, 1) => "e2",
        (0, 2) => "e3-skew3",
        (0, 3) => "e3-skew3-central4",
        (0, 4) => "e3-skew3-central4-central6",
        (1, 1) => "c3",
        (1, 2) => "c3-pade4",
        (1, 3) | (2, _) => "c3-pade4-compact6",
        _ => return None,
    };
    closure(&format!("{prefix}{rows}"))
}

struct Entry {
    name: &'static str,
    kind: Kind,
    rows: &'static [&'static Row],
    norm: &'static [f64],
    source: &'static str,
}

impl Entry {
    fn closure(&self) -> Closure {
        let row = |row: &&Row| ClosureRow {
            lhs: row.lhs.to_vec(),
            rhs: row.rhs.to_vec(),
            order: row.order,
        };
        let rows = self.rows.iter().map(row).collect();
        let Self { name, kind, norm, source, .. } = *self;
        Closure { name, kind, rows, norm, source }
    }
}

const LELE: &str = "Lele 1992, §4.1";
const VISBAL: &str = "Gaitonde and Visbal 1998, AFRL-VA-WP-TR-1998-3060";
const TAYLOR: &str = "Taylor matching";
const STRAND: &str = "Strand 1994, J. Comput. Phys. 110, 47, diagonal norm";
const OURS: &str = "summation by parts, diagonal norm; see src/scheme/sbp_rows.rs";

const fn first(name: &'static str, rows: &'static [&'static Row], source: &'static str) -> Entry {
    Entry { name, kind: Kind::FirstDerivative, rows, norm: &[], source }
}

/// A closure that sums by parts.
const fn by_parts(
    name: &'static str,
    rows: &'static [&'static Row],
    norm: &'static [f64],
    source: &'static str,
) -> Entry {
    Entry { name, kind: Kind::FirstDerivative, rows, norm, source }
}

const fn second(name: &'static str, rows: &'static [&'static Row], source: &'static str) -> Entry {
    Entry { name, kind: Kind::SecondDerivative, rows, norm: &[], source }
}

#[rustfmt::skip]
static TABLE: [Entry; 38] = [
    first("c3", &[&C3], LELE),
    first("c4", &[&C4], LELE),
    first("c3-pade4", &[&C3, &PADE4], LELE),
    first("c4-pade4", &[&C4, &PADE4], LELE),
    first("c5-pade4", &[&C5, &PADE4], VISBAL),
    first("c5-c5", &[&C5, &C5_AT_1], VISBAL),
    first("c6-c6", &[&C6, &C6_AT_1], VISBAL),
    first("c3-asym5", &[&C3, &ASYM5], TAYLOR),
    first("c6-asym6", &[&C6, &ASYM6], TAYLOR),
    first("e3-pade4", &[&E3, &PADE4], TAYLOR),
    first("e4-pade4", &[&E4, &PADE4], TAYLOR),
    first("e5-pade4", &[&E5, &PADE4], TAYLOR),
    first("e6-pade4", &[&E6, &PADE4], TAYLOR),
    first("cga5", &[&CGA5_AT_0, &CGA5_AT_1], "Carpenter, Gottlieb and Abarbanel 1993, J. Comput. Phys. 108, 272"),
    first("c3-pade4-compact6", &[&C3, &PADE4, &COMPACT6_AT_2], LELE),
    first("e2", &[&E2], TAYLOR),
    first("e3-skew3", &[&E3, &SKEW3], TAYLOR),
    first("e3-skew3-central4", &[&E3, &SKEW3, &CENTRAL4], TAYLOR),
    first("e3-skew3-central4-central6", &[&E3, &SKEW3, &CENTRAL4, &CENTRAL6], TAYLOR),
    by_parts("sbp-explicit2", &SBP_EXPLICIT2, &SBP_EXPLICIT2_NORM, STRAND),
    by_parts("sbp-explicit4", &SBP_EXPLICIT4, &SBP_EXPLICIT4_NORM, STRAND),
    by_parts("sbp-explicit6", &SBP_EXPLICIT6, &SBP_EXPLICIT6_NORM, STRAND),
    by_parts("sbp-explicit8", &SBP_EXPLICIT8, &SBP_EXPLICIT8_NORM, STRAND),
    by_parts("sbp-compact4", &SBP_COMPACT4, &SBP_COMPACT4_NORM, OURS),
    by_parts("sbp-compact6", &SBP_COMPACT6, &SBP_COMPACT6_NORM, OURS),
    by_parts("sbp-compact8", &SBP_COMPACT8, &SBP_COMPACT8_NORM, OURS),
    second("second-c3", &[&SECOND_C3], LELE),
    second("second-c4", &[&SECOND_C4], TAYLOR),
    second("second-c5", &[&SECOND_C5], TAYLOR),
    second("second-c3-pade4", &[&SECOND_C3, &SECOND_PADE4], LELE),
    second("second-c4-pade4", &[&SECOND_C4, &SECOND_PADE4], TAYLOR),
    second("second-c5-pade4", &[&SECOND_C5, &SECOND_PADE4], TAYLOR),
    second("second-c3-pade4-compact6", &[&SECOND_C3, &SECOND_PADE4, &SECOND_COMPACT6_AT_2], LELE),
    second("second-c4-pade4-compact6", &[&SECOND_C4, &SECOND_PADE4, &SECOND_COMPACT6_AT_2], TAYLOR),
    second("second-e2", &[&SECOND_E2], TAYLOR),
    second("second-e3-skew3", &[&SECOND_E3, &SECOND_SKEW3], TAYLOR),
    second("second-e3-skew3-central4", &[&SECOND_E3, &SECOND_SKEW3, &SECOND_CENTRAL4], TAYLOR),
    second("second-e3-skew3-central4-central6", &[&SECOND_E3, &SECOND_SKEW3, &SECOND_CENTRAL4, &SECOND_CENTRAL6], TAYLOR),
];
