//! `grid.mapping`

use super::resolve::AXES;
use super::section::Section;
use super::{ComputeConfig, RightHandSide};
use crate::boundary::{Beyond, Boundaries, Face, Heat, Open};
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
        && (!plain.closes(0) || plain.closes(1))
    {
        let why = "lines along x go round and close, those along y go from the body outward";
        return section.reject_value(
            "mapping",
            why,
            "give boundary.y its two ends, and boundary.x none",
        );
    }
    let grid = curved(plain, domain, mapping, family);
    if let Some(sentence) = fold(&grid) {
        return section.reject_value("mapping", &sentence, "use a milder map or more points");
    }
    let walls = boundaries.faces().filter(|(axis, ..)| axis.index() < 2);
    for (axis, end, heat) in walls.filter_map(|(a, end, face)| Some((a, end, face.wall()?.heat))) {
        let advice = "give the wall a temperature";
        match heat {
            Heat::HeatFlux(0.0) => {
                if let Some(sentence) = skewed(&grid, axis.index(), end) {
                    section.reject_value("mapping", &sentence, advice);
                }
            }
            Heat::HeatFlux(_) => {
                let why =
                    "heat through a curved wall is known as none or by the wall's temperature";
                section.reject_value("mapping", why, advice);
            }
            Heat::Temperature(_) => {}
        }
    }
}

/// Where lines meet an adiabatic wall, whose temperature goes on along them, too far off a right angle: a sentence.
fn skewed(grid: &Grid, a: usize, end: usize) -> Option<String> {
    /// The largest cosine.
    const MOST: f64 = 0.02;
    let plane = grid.plane.as_ref()?;
    let place = |i: usize| match (a, end * (grid.points[a] - 1)) {
        (0, at) => grid.in_plane([at, i, 0]),
        (_, at) => grid.in_plane([i, at, 0]),
    };
    let cosine = |at: usize| {
        let [along, across] = [plane.direction(at, 1 - a), plane.direction(at, a)];
        (along[0] * across[0] + along[1] * across[1]).abs()
    };
    let points = (0..grid.points[1 - a]).map(place);
    let worst = points.max_by(|a, b| cosine(*a).total_cmp(&cosine(*b)))?;
    let [x, y] = plane.coordinates.each_ref().map(|it| it[worst]);
    let degrees = 90.0 - cosine(worst).acos().to_degrees();
    (cosine(worst) > MOST).then(|| {
        format!("lines meet the adiabatic wall {degrees:.1} degrees off a right angle at ({x:.6}, {y:.6}); 1.1 are allowed")
    })
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
    (worst.is_nan() || *worst <= 0.0).then(|| {
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
    (scheme, compute): (Option<&SchemeConfig>, Option<&ComputeConfig>),
    sections: [&Section<'_>; 7],
) {
    let [grid, boundary, scalars, scheme_keys, forcing, compute_keys, output] = sections;
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
    if compute.is_some_and(|it| it.right_hand_side == RightHandSide::Composed) {
        compute_keys.reject_value("right_hand_side", "is of straight lines", "allowed: `fused`");
    }
    for key in ["statistics", "planes"] {
        if output.get(key).is_some_and(|item| !item.value.is_word("none")) {
            output.reject_value(key, "are of straight lines", "take this out");
        }
    }
    if let Some(fields) = output.table_or_none("fields", "") {
        let advice = "take this out; `stride` leaves points out";
        fields.reject_value("region", "is of straight lines", advice);
    }
}
