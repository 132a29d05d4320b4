//! `grid.stretching`

use super::forcing::refuse_force;
use super::resolve::AXES;
use super::section::Section;
use super::value::Value;
use crate::boundary::Boundaries;
use crate::cases::Case;
use crate::engine::stretched;
use crate::expression::Expression;
use crate::grid::{Domain, Ends, Maps, Stretching, spacings};
use crate::scheme::SchemeFamily;
use crate::typed::Positive;

/// Example of the map of an axis.
const EXAMPLE: &str = "{ map = \"tanh\", factor = 2.0 }";
/// Example of all maps.
const TABLE_EXAMPLE: &str = "{ y = { map = \"tanh\", factor = 2.0 } }";

/// The maps of `section`, which is `[grid]`.
pub(super) fn stretching(section: &Section<'_>) -> Maps {
    let Some(table) = section.table("stretching", TABLE_EXAMPLE) else { return Default::default() };
    let maps = AXES.map(|axis| map(&table, axis));
    table.finish();
    maps
}

/// The map of one axis: an expression of s, or a table.
fn map(section: &Section<'_>, axis: &'static str) -> Option<Stretching> {
    if matches!(section.get(axis)?.value, Value::String(_)) {
        return section.value::<Expression>(axis).map(Stretching::Expression);
    }
    let table = section.table(axis, &format!("{EXAMPLE}, or an expression such as \"s^2 + s\""))?;
    let maps = ["tanh", "sinh", "polynomial"].map(|name| (name, name));
    let map = match table.needed_choice("map", &maps)? {
        "polynomial" => {
            let example = "coefficients of s, s^2, ...: for example [1.0, 0.5]";
            let coefficients = table.needed("coefficients", example);
            coefficients.map(|coefficients| Stretching::Polynomial { coefficients })
        }
        name => {
            let factor =
                table.needed("factor", "larger values cluster the points more: for example 2.0");
            let factor = factor.map(|Positive(factor)| factor);
            match name {
                "tanh" => {
                    let ends = [("low", Ends::Low), ("high", Ends::High), ("both", Ends::Both)];
                    let ends = match table.has("ends") {
                        true => table.choice("ends", &ends),
                        false => Some(Ends::default()),
                    };
                    factor.zip(ends).map(|(factor, ends)| Stretching::Tanh { factor, ends })
                }
                _ => {
                    let at = table.needed("at", "the coordinate about which points are clustered");
                    factor.zip(at).map(|(factor, at)| Stretching::Sinh { factor, at })
                }
            }
        }
    };
    table.finish();
    map
}

/// Relative magnitude below which a slope counts as zero: round-off.
const SLOPE_TOLERANCE: f64 = 1e-12;

/// Check the maps against the box, its boundaries and the scheme.
pub(super) fn check(
    section: &Section<'_>,
    maps: &Maps,
    points: [usize; 3],
    (domain, boundaries): (&Domain, &Boundaries),
    family: Option<&SchemeFamily>,
) {
    if maps.iter().all(Option::is_none) {
        return;
    }
    let plain = boundaries.grid(points, domain, spacings(maps, None));
    let Some(table) = section.table("stretching", TABLE_EXAMPLE) else { return };
    for (a, map) in maps.iter().enumerate() {
        let Some(map) = map else { continue };
        if points[a] == 1 {
            table.reject_value(AXES[a], "an axis of one point has no spacings", "remove this key");
            continue;
        }
        let intervals = u32::try_from(points[a] - 1).unwrap_or(u32::MAX);
        let ends = [domain.origin[a], domain.length[a]];
        if let Some(problem) = map.problem(AXES[a], ends, intervals, plain.ends[a]) {
            table.reject_sentence(AXES[a], &problem);
            continue;
        }
        let mut single_map = [const { None }; 3];
        single_map[a] = Some(map.clone());
        let Some(family) = family else { continue };
        let grid = stretched(plain.clone(), domain, &single_map, family);
        let slopes = (0..points[a]).map(|i| (i, grid.jacobian(a, i)));
        let steepest = slopes.clone().map(|(_, slope)| slope).fold(0.0, f64::max);
        if let Some((i, slope)) = slopes.min_by(|(_, x), (_, y)| x.total_cmp(y))
            && slope <= SLOPE_TOLERANCE * steepest
        {
            let (n, x) = (points[a], grid.coordinate(a, i));
            let why = format!(
                "varies too fast for {n} points: the first derivative of {} has dx/dξ = {slope:.3} at {} = {x}",
                family.name, AXES[a]
            );
            table.reject_value(AXES[a], &why, "use a milder map or more points");
        }
    }
}

/// Reject features that need equal spacings. In a box that is not `periodic` they are checked elsewhere, as on any grid.
pub(super) fn check_features(
    case: &Case,
    (periodic, is_forced): (bool, bool),
    maps: &Maps,
    sections: [&Section<'_>; 3],
) {
    let [grid, forcing, output] = sections;
    if maps.iter().all(Option::is_none) {
        return;
    }
    if !case.is_flow() {
        grid.reject_value("stretching", "has no meaning for scalar-advection", "remove this key");
    }
    if periodic {
        if is_forced {
            refuse_force(forcing, "on a grid with equal spacings", "grid.stretching");
        }
        if output.has_other_than("statistics", "none") {
            let why = "need equal spacings: averages over points and Fourier modes";
            output.reject_value("statistics", why, "remove this key");
        }
    }
}
