//! `grid.mapping`

use std::path::PathBuf;
use std::sync::Arc;

use super::boundary::check_curved_sponges;
use super::forcing::refuse_force;
use super::resolve::AXES;
use super::section::Section;
use super::{ComputeConfig, RightHandSide};
use crate::boundary::{Beyond, Boundaries, Face, Heat, Open};
use crate::cases::Case;
use crate::engine::curved;
use crate::expression::Expression;
use crate::grid::{Curvilinear, Domain, Grid, Mapping, NodeFile, Nodes, spacings};
use crate::io::read_points;
use crate::physics::{Convection, SchemeConfig, ViscousForm};
use crate::scheme::SchemeFamily;
use crate::typed::{Positive, absolute};

/// Example of a mapping.
const EXAMPLE: &str = "{ kind = \"ring\", inner = 0.5, outer = 20.0 }";
/// Kinds of mappings.
const KINDS: [&str; 4] = ["wavy", "ring", "naca", "expressions"];

/// Relative tolerance of the distance between planes of a file along z, which may be rounded.
const DEPTH_TOLERANCE: f64 = 1e-3;

/// The points of `section`, which is `[grid]`, or those of the case.
pub(super) fn mapping(
    section: &Section<'_>,
    case: Option<&Case>,
    boundaries: &Boundaries,
) -> Option<Curvilinear> {
    if !section.has("mapping") {
        return case?.mapping().map(Curvilinear::Map);
    }
    let table = section.table_or_none("mapping", EXAMPLE)?;
    let curvilinear = match table.has("file") {
        true => file(&table, boundaries).map(Curvilinear::File),
        false => map(&table).map(Curvilinear::Map),
    };
    table.finish();
    curvilinear
}

/// Whether the mapping of `section` is a file that was rejected, so that `mapping` is `None`.
pub(super) fn is_refused_file(section: &Section<'_>, mapping: Option<&Curvilinear>) -> bool {
    let table = section.get("mapping").and_then(|item| item.as_section("grid"));
    mapping.is_none() && table.is_some_and(|table| table.has("file"))
}

/// The points of the file named in `table`.
fn file(table: &Section<'_>, boundaries: &Boundaries) -> Option<NodeFile> {
    let path = absolute(PathBuf::from(table.value::<String>("file")?));
    let before = table.value::<String>("checksum");
    let closes = [0, 1].map(|a| boundaries.0[a].is_none());
    let read = read_points(&path).and_then(|stored| {
        let [nx, ny, planes] = stored.points;
        let periods = [[0.0; 2]; 2];
        let nodes = Nodes { points: [nx, ny], coordinates: stored.plane, periods };
        Ok((nodes.closed(closes)?, (planes, stored.depth)))
    });
    let (nodes, planes) = read.map_err(|sentence| table.reject_sentence("file", &sentence)).ok()?;
    let checksum = nodes.checksum();
    if before.is_some_and(|before| before != checksum) {
        let why = format!("the points of the file have another one, {checksum}");
        let advice = "use the file of the original run, or remove `checksum` to use this file";
        table.reject_value("checksum", &why, advice);
        return None;
    }
    Some(NodeFile { file: path, checksum, nodes: Arc::new(nodes), planes })
}

/// Number of points of a file along x, y and z, if it has one plane.
pub(super) fn points(curvilinear: Option<&Curvilinear>) -> Option<[usize; 3]> {
    match curvilinear? {
        Curvilinear::File(NodeFile { nodes, planes: (1, _), .. }) => {
            Some([nodes.points[0], nodes.points[1], 1])
        }
        _ => None,
    }
}

/// The map that `table` describes.
fn map(table: &Section<'_>) -> Option<Mapping> {
    if !table.has("kind") {
        table.missing(
            &["kind", "file"],
            "allowed: `wavy`, `ring`, `naca`, `expressions`; or a file of points",
        );
        return None;
    }
    let positive = |key, example: &str| table.needed(key, example).map(|Positive(value)| value);
    match table.choice("kind", &KINDS.map(|name| (name, name)))? {
        "wavy" => {
            let amplitude = table.needed("amplitude", "for example 0.05")?;
            Some(Mapping::Wavy { amplitude })
        }
        "ring" => {
            let inner = positive("inner", "the radius of the body: for example 0.5");
            let outer = positive("outer", "the radius of the far field: for example 20.0");
            let first = table.value("first").map(|Positive(first)| first);
            Some(Mapping::Ring { inner: inner?, outer: outer?, first })
        }
        "naca" => {
            let digits = table.needed("digits", "the section: for example \"0012\"");
            let radius = positive("radius", "the radius of the trailing edge: for example 0.003");
            let outer = positive("outer", "the radius of the far field: for example 30.0");
            let first = table.value("first").map(|Positive(first)| first);
            Some(Mapping::Naca { digits: digits?, radius: radius?, outer: outer?, first })
        }
        _ => {
            let advice = "an expression of s and t, from 0 to 1 along the two axes";
            let [x, y] = ["x", "y"].map(|key| table.needed::<Expression>(key, advice));
            Some(Mapping::Expressions { x: x?, y: y? })
        }
    }
}

/// Check the points against the box, its boundaries and the scheme.
pub(super) fn check(
    [section, boundary]: [&Section<'_>; 2],
    curvilinear: &Curvilinear,
    points: [usize; 3],
    (domain, boundaries): (&Domain, &Boundaries),
    family: Option<&SchemeFamily>,
) {
    let plain = boundaries.grid(points, domain, spacings(&[const { None }; 3], Some(curvilinear)));
    for a in [0, 1] {
        if points[a] == 1 {
            let why = format!(
                "a mapping needs more than one point along x and y, but {} has one point",
                AXES[a]
            );
            return section.reject_value("points", &why, "use more points, or remove grid.mapping");
        }
    }
    let is_valid = match curvilinear {
        Curvilinear::Map(mapping) => check_map(section, mapping, &plain),
        Curvilinear::File(file) => check_points(section, file, &plain),
    };
    let Some(family) = family.filter(|_| is_valid) else { return };
    let grid = curved(plain, domain, curvilinear, family);
    if let Some(sentence) = folding_problem(&grid) {
        return section.reject_sentence("mapping", &sentence);
    }
    check_curved_sponges(boundary, boundaries, &grid);
    let walls = boundaries.faces().filter(|(axis, ..)| axis.index() < 2);
    for (axis, end, heat) in walls.filter_map(|(a, end, face)| Some((a, end, face.wall()?.heat))) {
        let advice = "give the wall a temperature";
        match heat {
            Heat::HeatFlux(0.0) => {
                // The lines of these maps meet walls at right angles, up to the discretisation error.
                let is_orthogonal = matches!(
                    curvilinear,
                    Curvilinear::Map(Mapping::Ring { .. } | Mapping::Naca { .. })
                );
                if !is_orthogonal && let Some(sentence) = skewness_problem(&grid, axis.index(), end)
                {
                    section.reject_value("mapping", &sentence, advice);
                }
            }
            Heat::HeatFlux(_) => {
                let why = "a curved wall is adiabatic or has a given temperature; other heat fluxes are not available";
                section.reject_value("mapping", why, advice);
            }
            Heat::Temperature(_) => {}
        }
    }
}

/// Whether the map is valid for the grid `plain`, which has equal spacings.
fn check_map(section: &Section<'_>, mapping: &Mapping, plain: &Grid) -> bool {
    let problems = mapping.problems(intervals(plain, 1));
    for (key, problem) in &problems {
        match section.table("mapping", EXAMPLE) {
            Some(table) => table.reject_sentence(key, problem),
            None => section.reject_key("mapping", &format!("{key}: {problem}")),
        }
    }
    if let Mapping::Ring { .. } | Mapping::Naca { .. } = mapping
        && (!plain.is_closed_along(0) || plain.is_closed_along(1))
    {
        let why = "lines along x are closed and surround the body, lines along y go from the body outward";
        let advice = "set both ends of boundary.y, and none of boundary.x";
        section.reject_value("mapping", why, advice);
        return false;
    }
    let closes = [0, 1].map(|a| plain.is_closed_along(a));
    let seam = problems.is_empty().then(|| mapping.seam(closes)).flatten();
    if let Some(sentence) = &seam {
        section.reject_sentence("mapping", sentence);
    }
    problems.is_empty() && seam.is_none()
}

/// Whether a file has as many points as the grid `plain`, which has equal spacings, and the same distance between planes.
fn check_points(section: &Section<'_>, file: &NodeFile, plain: &Grid) -> bool {
    let NodeFile { nodes, planes: (planes, depth), .. } = file;
    for a in [0, 1] {
        let (in_file, requested) = (nodes.points[a], plain.points[a]);
        if in_file != requested {
            let closed = match plain.is_closed_along(a) {
                true => {
                    let [x, y] = nodes.periods[a];
                    format!(
                        ", with the period ({x:.6}, {y:.6}): a last line that repeats the first does not count"
                    )
                }
                false => String::new(),
            };
            let why = format!(
                "{requested} points along {}, and grid.mapping.file has {in_file}{closed}",
                AXES[a]
            );
            section.reject_value(
                "points",
                &why,
                &format!("use {in_file} points along {}", AXES[a]),
            );
            return false;
        }
    }
    let nz = plain.points[2];
    if ![1, nz, nz + usize::from(plain.is_closed_along(2))].contains(planes) {
        let why = format!("{nz} points along z, and grid.mapping.file has {planes} planes");
        section.reject_value("points", &why, "a file with one plane defines the grid at every z");
        return false;
    }
    if let Some(depth) =
        depth.filter(|depth| (depth / plain.spacing[2] - 1.0).abs() > DEPTH_TOLERANCE)
    {
        let why = format!(
            "its planes are {depth:.6e} apart along z, and those of the grid {:.6e}",
            plain.spacing[2]
        );
        let advice =
            "set grid.length to the length of the file along z, or use a file with one plane";
        section.reject_value("mapping", &why, advice);
        return false;
    }
    true
}

/// A message if grid lines meet an adiabatic wall too far from a right angle: ∂T/∂n at the wall is taken along them.
fn skewness_problem(grid: &Grid, a: usize, end: usize) -> Option<String> {
    /// Largest cosine of the angle.
    const MAX_COSINE: f64 = 0.02;
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
    (cosine(worst) > MAX_COSINE).then(|| {
        format!("lines meet the adiabatic wall {degrees:.1} degrees off a right angle at ({x:.6}, {y:.6}); 1.1 are allowed")
    })
}

fn intervals(grid: &Grid, a: usize) -> f64 {
    grid.intervals(a) as f64
}

/// A message with advice in a second line, if the grid folds or is left-handed: the worst point.
fn folding_problem(grid: &Grid) -> Option<String> {
    let plane = grid.plane.as_ref()?;
    let (at, worst) = plane.jacobian.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    if *worst > 0.0 {
        return None;
    }
    let [i, j] = [at % grid.points[0], at / grid.points[0]];
    let [x, y] = plane.coordinates.each_ref().map(|it| it[at]);
    let place = format!("its Jacobian is {worst:.3e} at ({x:.6}, {y:.6}), point ({i}, {j})");
    let inverted = plane.jacobian.iter().filter(|it| **it < 0.0).count();
    if 2 * inverted <= plane.jacobian.len() {
        return Some(format!(
            "the grid folds: {place}\nuse a milder map, a smoother grid, or more points"
        ));
    }
    // Reversing the points of a bounded axis would swap its boundaries; a periodic axis is preferred.
    let axis = AXES[usize::from(grid.is_closed_along(1) && !grid.is_closed_along(0))];
    Some(format!(
        "the grid is left-handed, it turns clockwise from its first axis to its second: {place}\nreverse the points along {axis}"
    ))
}

/// Reject features that need straight grid lines.
pub(super) fn check_features(
    case: &Case,
    boundaries: &Boundaries,
    (scheme, compute): (Option<&SchemeConfig>, Option<&ComputeConfig>),
    is_forced: bool,
    sections: [&Section<'_>; 7],
) {
    let [grid, boundary, scalars, scheme_keys, forcing, compute_keys, output] = sections;
    if !case.is_flow() {
        grid.reject_value("mapping", "has no meaning for scalar-advection", "remove this key");
    }
    if grid.has("stretching") {
        let advice = "remove one of them; a mapping defines all points itself";
        grid.reject_value("stretching", "cannot be combined with grid.mapping", advice);
    }
    for (axis, _, face) in boundaries.faces().filter(|(axis, ..)| axis.index() < 2) {
        let why = match face {
            Face::Symmetry => "a symmetry plane is not available on curvilinear grids",
            Face::Open(Open { beyond: Beyond::Inflow(_), .. }) => {
                "an inflow is not available on curvilinear grids yet"
            }
            _ => continue,
        };
        boundary.reject_value(
            axis.name(),
            why,
            "allowed: walls, far field, outflow, or a periodic axis",
        );
    }
    if scheme.is_some_and(|it| it.convection == Convection::Staggered) {
        let allowed = "allowed: `divergence`, `feiereisen`, `kennedy-gruber`";
        scheme_keys.reject_value("convection", "is not available on curvilinear grids", allowed);
    }
    if scheme.is_some_and(|it| it.viscous != ViscousForm::Conservative) {
        scheme_keys.reject_value(
            "viscous",
            "is not available on curvilinear grids",
            "allowed: `conservative`",
        );
    }
    scalars.reject("is not available on curvilinear grids yet", "remove the section");
    if is_forced {
        refuse_force(forcing, "on straight grid lines", "grid.mapping");
    }
    if compute.is_some_and(|it| it.right_hand_side == RightHandSide::Composed) {
        compute_keys.reject_value(
            "right_hand_side",
            "is not available on curvilinear grids",
            "allowed: `fused`",
        );
    }
    for key in ["statistics", "planes"] {
        if output.has_other_than(key, "none") {
            output.reject_value(key, "are not available on curvilinear grids", "remove this key");
        }
    }
    if let Some(fields) = output.table_or_none("fields", "") {
        let advice = "remove this key; `stride` reduces the number of points";
        fields.forbid("region", "is not available on curvilinear grids", advice);
    }
}
