//! `grid.mapping`

use super::resolve::AXES;
use super::section::Section;
use crate::boundary::{Beyond, Boundaries, Face, Open};
use crate::cases::Case;
use crate::engine::curved;
use crate::expression::Expression;
use crate::grid::{Domain, Grid, Mapping};
use crate::physics::{Convection, SchemeConfig, ViscousForm};
use crate::scheme::SchemeFamily;
use crate::typed::Positive;

/// What a mapping looks like.
const EXAMPLE: &str = "{ kind = \"ring\", inner = 0.5, outer = 20.0 }";
/// Its kinds.
const KINDS: [&str; 4] = ["wavy", "ring", "naca", "expressions"];

/// The map of `section`, which is `[grid]`, or that of the case.
pub(super) fn mapping(section: &Section<'_>, case: Option<&Case>) -> Option<Mapping> {
    if !section.has("mapping") {
        return case?.mapping();
    }
    let table = section.table_or_none("mapping", EXAMPLE)?;
    if !table.has("kind") {
        table.missing(&["kind"], "allowed: `wavy`, `ring`, `naca`, `expressions`");
        return None;
    }
    let positive = |key, example: &str| {
        if !table.has(key) {
            table.missing(&[key], example);
        }
        table.value(key).map(|Positive(value)| value)
    };
    let mapping = match table.choice("kind", &KINDS.map(|name| (name, name)))? {
        "wavy" => {
            if !table.has("amplitude") {
                table.missing(&["amplitude"], "for example 0.05");
            }
            table.value("amplitude").map(|amplitude| Mapping::Wavy { amplitude })
        }
        "ring" => {
            let inner = positive("inner", "the radius of the body: for example 0.5");
            let outer = positive("outer", "the radius of the far field: for example 20.0");
            let first = table.value("first").map(|Positive(first)| first);
            inner.zip(outer).map(|(inner, outer)| Mapping::Ring { inner, outer, first })
        }
        "naca" => {
            if !table.has("digits") {
                table.missing(&["digits"], "the section: for example \"0012\"");
            }
            let digits = table.value("digits");
            let radius = positive("radius", "that of the trailing edge: for example 0.003");
            let outer = positive("outer", "the radius of the far field: for example 30.0");
            let first = table.value("first").map(|Positive(first)| first);
            let both = radius.zip(outer);
            digits.zip(both).map(|(digits, (radius, outer))| Mapping::Naca {
                digits,
                radius,
                outer,
                first,
            })
        }
        _ => {
            let expression = |key| {
                if !table.has(key) {
                    table.missing(
                        &[key],
                        "an expression of s and t, from 0 to 1 along the two axes",
                    );
                }
                table.value::<Expression>(key)
            };
            let [x, y] = ["x", "y"].map(expression);
            x.zip(y).map(|(x, y)| Mapping::Expressions { x, y })
        }
    };
    table.finish();
    mapping
}

/// What the map cannot do in this box, with these ends and this scheme.
pub(super) fn check(
    section: &Section<'_>,
    mapping: &Mapping,
    points: [usize; 3],
    (domain, boundaries): (&Domain, &Boundaries),
    family: Option<&SchemeFamily>,
) {
    let plain = boundaries.grid(points, domain);
    for a in [0, 1] {
        if points[a] == 1 {
            let why = format!("a mapping bends lines along x and y, and {} has one point", AXES[a]);
            return section.reject_value(
                "points",
                &why,
                "use more points, or take grid.mapping out",
            );
        }
    }
    let problems = mapping.problems(intervals(&plain, 1));
    for (key, problem) in &problems {
        let (why, advice) = problem.split_once('\n').unwrap_or((problem, ""));
        match section.table("mapping", EXAMPLE) {
            Some(table) => table.reject_value(key, why, advice),
            None => section.reject_key("mapping", &format!("{key}: {problem}")),
        }
    }
    let Some(family) = family.filter(|_| problems.is_empty()) else { return };
    if let Mapping::Ring { .. } | Mapping::Naca { .. } = mapping
        && !(plain.closes(0) && !plain.closes(1))
    {
        let why = "lines along x go round and close, those along y go from the body outward";
        return section.reject_value(
            "mapping",
            why,
            "give boundary.y its two ends, and boundary.x none",
        );
    }
    if let Some(sentence) = fold(&curved(plain, domain, mapping, family)) {
        section.reject_value("mapping", &sentence, "use a milder map or more points");
    }
}

#[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 points")]
fn intervals(grid: &Grid, a: usize) -> f64 {
    (grid.points[a] - usize::from(!grid.closes(a))) as f64
}

/// The worst point of a grid that folds: a sentence.
fn fold(grid: &Grid) -> Option<String> {
    let plane = grid.plane.as_ref()?;
    let (at, worst) = plane.jacobian.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let [i, j] = [at % grid.points[0], at / grid.points[0]];
    let [x, y] = plane.coordinates.each_ref().map(|it| it[at]);
    (!(*worst > 0.0)).then(|| {
        format!(
            "the grid folds, or turns clockwise from its first axis to its second: its Jacobian is {worst:.3e} at ({x:.6}, {y:.6}), \
             point ({i}, {j})"
        )
    })
}

/// What is of straight lines alone.
pub(super) fn check_others(
    case: &Case,
    boundaries: &Boundaries,
    scheme: Option<&SchemeConfig>,
    sections: [&Section<'_>; 6],
) {
    let [grid, boundary, scalars, scheme_keys, forcing, output] = sections;
    if !case.is_flow() {
        grid.reject_value("mapping", "has no meaning for scalar-advection", "take this out");
    }
    if grid.has("stretching") {
        let advice = "take one of them out; a mapping places its points itself";
        grid.reject_value("stretching", "stands beside grid.mapping", advice);
    }
    for (axis, _, face) in boundaries.faces().filter(|(axis, ..)| axis.index() < 2) {
        let why = match face {
            Face::Symmetry => "a plane of symmetry is straight, and lines here are not",
            Face::Open(Open { beyond: Beyond::Inflow(_), .. }) => {
                "comes in through a straight face"
            }
            _ => continue,
        };
        boundary.reject_value(axis.name(), why, "allowed: walls, far field, outflow, or no ends");
    }
    if scheme.is_some_and(|it| it.convection == Convection::Staggered) {
        let allowed = "allowed: `divergence`, `feiereisen`, `kennedy-gruber`";
        scheme_keys.reject_value("convection", "is of straight lines", allowed);
    }
    if scheme.is_some_and(|it| it.viscous != ViscousForm::Conservative) {
        scheme_keys.reject_value("viscous", "is of straight lines", "allowed: `conservative`");
    }
    scalars.reject("cannot be carried on curvilinear grids yet", "take the section out");
    forcing.reject("is of a flow on straight lines", "take the section out, or grid.mapping");
    output.reject_value("statistics", "are of straight lines", "take this out");
}
