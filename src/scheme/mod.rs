//! The numerical schemes as data: coefficients, closures, filters, Runge-Kutta tableaux, and their theoretical
//! properties.
//!
//! This module is independent of fields, grids and devices. A [`Scheme`] is one formula on a uniform line of spacing h,
//!
//! ```text
//! β f'ᵢ₋₂ + α f'ᵢ₋₁ + f'ᵢ + α f'ᵢ₊₁ + β f'ᵢ₊₂ = right-hand side
//! ```
//!
//! whose right-hand side depends on its [`Kind`] (Lele 1992, J. Comput. Phys. 103, 16).
//!
//! - Formulas: [`families`], grouped by their names in input files. Filters: [`compact_filter`], [`CF90`],
//!   [`LELE_CUTOFF`].
//! - Action of a formula on a wave exp(ikx): [`Scheme::symbol`] as a function of w = kh in [0, π], and from it
//!   [`Scheme::modified_wavenumber`], [`Scheme::transfer`], [`Scheme::resolving_efficiency`], [`Scheme::max_symbol`].
//! - Ends of a non-periodic line: [`default_closure`], [`closure`], [`filter_closure`].
//! - Time integration: [`Tableau`], with its linear stability limits computed from its coefficients.
//!
//! ```
//! use kolmo::scheme::{family, tableau};
//!
//! let (kmax, _) = family("compact6").unwrap().first.max_symbol(); // 1.989 at kh = 2.267
//! let cfl = tableau("rk4").map(|rk4| rk4.imaginary_limit() / kmax); // largest stable c dt / h
//! assert!((cfl.unwrap_or(0.0) - 1.4217).abs() < 1e-4);
//! ```

#[rustfmt::skip]
mod closure_rows;
mod closures;
mod families;
mod filters;
mod implicit;
mod options;
mod runge_kutta;
#[rustfmt::skip]
mod sbp_rows;
mod spectral;
mod tableaux;

pub use closures::*;
pub use families::*;
pub use filters::*;
pub use implicit::*;
pub use options::*;
pub use runge_kutta::*;
pub use tableaux::*;

/// Operation that a [`Scheme`] approximates, which determines the form of its right-hand side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// f' at the points: Σₛ aₛ (fᵢ₊ₛ − fᵢ₋ₛ) / (2 s h), s = 1, 2, ...
    FirstDerivative,
    /// f'' at the points: Σₛ aₛ (fᵢ₊ₛ − 2 fᵢ + fᵢ₋ₛ) / (s h)²
    SecondDerivative,
    /// f' half a spacing away: Σₛ aₛ (fᵢ₊ₛ₋½ − fᵢ₋ₛ₊½) / ((2 s − 1) h)
    MidpointDerivative,
    /// f half a spacing away: Σₛ aₛ (fᵢ₊ₛ₋½ + fᵢ₋ₛ₊½) / 2
    MidpointInterpolation,
    /// f smoothed at the points: a₀ fᵢ + Σₛ aₛ (fᵢ₊ₛ + fᵢ₋ₛ) / 2
    Filter,
}

/// Leading error of a symbol: modified − exact = `coefficient` (k h)^`power` + ..., for h = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeadingError {
    /// Factor of the leading term.
    pub coefficient: f64,
    /// Its power of k h.
    pub power: i32,
}

/// The widest right-hand side: half-width of the tenth-order filter.
pub const MAX_WIDTH: usize = 5;

/// One compact (or explicit) formula on a uniform line: data with its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// Short unique name, e.g. `compact6`.
    pub name: &'static str,
    /// Operation that it approximates.
    pub kind: Kind,
    /// Left-hand weight of the nearest neighbours; 0 for explicit schemes.
    pub alpha: f64,
    /// Left-hand weight of the second neighbours; 0 unless pentadiagonal.
    pub beta: f64,
    /// a₀: right-hand weight of the point itself. Filters only, 0 otherwise.
    pub center: f64,
    /// a₁, a₂, ... = Lele's a, b, c, d; trailing entries are zero.
    pub rhs: [f64; MAX_WIDTH],
    /// Formal order of accuracy.
    pub order: u32,
    /// Leading error of the symbol; `None` where published decimals do not satisfy the order conditions exactly.
    pub lead: Option<LeadingError>,
    /// Author, year and equation.
    pub source: &'static str,
}

impl Scheme {
    /// Half-width of the left-hand side: 0 explicit, 1 tridiagonal, 2 pentadiagonal.
    pub fn half_band(&self) -> usize {
        if self.beta != 0.0 { 2 } else { usize::from(self.alpha != 0.0) }
    }

    /// Half-width of the right-hand side: the number of coefficients a₁, a₂, ...
    pub fn half_width(&self) -> usize {
        self.rhs.iter().rposition(|&a| a != 0.0).map_or(0, |last| last + 1)
    }

    /// Minimum number of points of a periodic line, so that no stencil contains a point twice.
    pub fn min_points(&self) -> usize {
        let reach = match self.kind {
            Kind::MidpointDerivative | Kind::MidpointInterpolation => 2 * self.half_width(),
            _ => 2 * self.half_width() + 1,
        };
        reach.max(2 * self.half_band() + 1)
    }
}
