//! Operators shown in pages: a scheme on a line, selected by the names used in an input.

use kolmo::engine::{LineOperator, Shift, closed_min_points};
use kolmo::scheme::{
    Closure, Kind, MAX_WIDTH, Scheme, SchemeFamily, TABLEAUX, Tableau, closures, families, family,
    tableau,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Largest number of points of a line: matrices are inverted as a whole.
const MAX_POINTS: usize = 256;

/// Closures whose matrices have a zero pivot; `Factors::new` reports them.
const WITHOUT_PIVOT: [&str; 1] = ["c5-pade4"];

/// A f' = B f on a line with the spacing 1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    /// Name of a family, or `tridiagonal` for the scheme given by `alpha`.
    scheme: String,
    /// α of Lele's tridiagonal schemes.
    alpha: Option<f64>,
    /// Name of a closure; a periodic line has none.
    closure: Option<String>,
    points: usize,
}

impl Line {
    pub(crate) fn named(scheme: String, closure: Option<String>, points: usize) -> Self {
        Self { scheme, alpha: None, closure, points }
    }

    pub(crate) fn scheme(&self) -> Result<Scheme, String> {
        match self.alpha {
            Some(alpha) => tridiagonal(alpha),
            None => Ok(family_of(&self.scheme)?.first),
        }
    }

    pub(crate) fn is_periodic(&self) -> bool {
        self.closure.is_none()
    }

    pub(crate) fn operator(&self) -> Result<LineOperator, String> {
        let (scheme, n) = (self.scheme()?, self.points);
        let closure = self.closure.as_deref().map(closure_of).transpose()?;
        let min_points =
            closure.as_ref().map_or(scheme.min_points(), |it| closed_min_points(&scheme, it));
        if !(min_points..=MAX_POINTS).contains(&n) {
            return Err(format!("{n} points; this line takes {min_points} to {MAX_POINTS}"));
        }
        let Some(closure) = closure else {
            return Ok(LineOperator::periodic(&scheme, Shift::None, n, 1.0));
        };
        if !fits(&closure, &scheme) {
            let (rows, name) = (closure.rows.len(), closure.name);
            return Err(format!(
                "{name} has {rows} rows, too few for the stencil of {}",
                scheme.name
            ));
        }
        Ok(LineOperator::closed(&scheme, &closure, n, 1.0))
    }
}

/// Lele 1992, eq. 2.1.6: a = ⅔ (α + 2), b = ⅓ (4 α − 1), of sixth order for α = ⅓, otherwise of fourth order.
fn tridiagonal(alpha: f64) -> Result<Scheme, String> {
    if !(0.0..0.5).contains(&alpha) {
        return Err(format!(
            "alpha = {alpha}; from 0 to less than 1/2, where the matrix is singular"
        ));
    }
    let mut rhs = [0.0; MAX_WIDTH];
    rhs[..2].copy_from_slice(&[2.0 / 3.0 * (alpha + 2.0), 1.0 / 3.0 * (4.0 * alpha - 1.0)]);
    Ok(Scheme {
        name: "tridiagonal",
        kind: Kind::FirstDerivative,
        alpha,
        beta: 0.0,
        center: 0.0,
        rhs,
        order: 4,
        lead: None,
        source: "Lele 1992, eq. 2.1.6",
    })
}

pub(crate) fn family_of(name: &str) -> Result<&'static SchemeFamily, String> {
    let names = || families().iter().map(|family| family.name).collect::<Vec<_>>().join(", ");
    family(name).ok_or_else(|| format!("`{name}` is no scheme; there are {}", names()))
}

pub(crate) fn tableau_of(name: &str) -> Result<&'static Tableau, String> {
    let names = || TABLEAUX.iter().map(|tableau| tableau.name).collect::<Vec<_>>().join(", ");
    tableau(name).ok_or_else(|| format!("`{name}` is no integrator; there are {}", names()))
}

fn closure_of(name: &str) -> Result<Closure, String> {
    let found = usable_closures().find(|closure| closure.name == name);
    found.ok_or_else(|| format!("`{name}` is no closure of a first derivative"))
}

fn usable_closures() -> impl Iterator<Item = Closure> {
    let of_first = |closure: &Closure| closure.kind == Kind::FirstDerivative;
    closures().into_iter().filter(move |it| of_first(it) && !WITHOUT_PIVOT.contains(&it.name))
}

/// Returns whether a closure has a row for every point whose stencil extends beyond the line.
fn fits(closure: &Closure, scheme: &Scheme) -> bool {
    closure.rows.len() >= scheme.half_width().max(scheme.half_band())
}

/// Returns the available schemes, closures and integrators.
pub(crate) fn choices() -> Value {
    let schemes = families().iter().map(|SchemeFamily { name, first, .. }| {
        let fitting = usable_closures().filter(|it| fits(it, first)).map(|it| it.name);
        json!({
            "name": name,
            "order": first.order,
            "alpha": first.alpha,
            "beta": first.beta,
            "rhs": first.rhs,
            "source": first.source,
            "closures": fitting.collect::<Vec<_>>(),
        })
    });
    let integrators = TABLEAUX.iter().map(|tableau| {
        let Tableau { name, order, source, .. } = tableau;
        json!({ "name": name, "order": order, "stages": tableau.stages(), "source": source })
    });
    json!({
        "schemes": schemes.collect::<Vec<_>>(),
        "integrators": integrators.collect::<Vec<_>>(),
    })
}
