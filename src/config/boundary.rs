//! `[boundary]`

use super::resolve::AXES;
use super::section::Section;
use crate::boundary::{Boundaries, Face, Heat, Wall};
use crate::cases::Case;
use crate::gas::Gas;
use crate::physics::{Convection, SchemeConfig, ViscousForm};
use crate::scheme::{Scheme, SchemeFamily, compact_filter, default_closure};
use crate::typed::{NotNegative, Positive};

/// What an axis with two ends looks like.
const EXAMPLE: &str = "{ low = \"wall\", high = { kind = \"wall\", temperature = 1.0 } }";

/// What holds at the ends of the axes: what the user says, else what the case does.
pub(super) fn boundaries(section: &Section<'_>, case: Option<&Case>, gas: &Gas) -> Boundaries {
    if case.is_some_and(|case| !case.is_flow()) {
        let advice = "its exact solution is periodic; take the section out";
        section.reject("has no meaning for scalar-advection", advice);
        return Boundaries::PERIODIC;
    }
    let mut boundaries = case.map_or(Boundaries::PERIODIC, |case| case.boundaries(gas));
    for (axis, name) in AXES.into_iter().enumerate() {
        match section.table_or(name, &[("periodic", ())], EXAMPLE) {
            None => {}
            Some(Err(())) => boundaries.0[axis] = None,
            Some(Ok(table)) => {
                let ends = ["low", "high"].map(|end| face(&table, end, axis));
                table.finish();
                if let [Some(low), Some(high)] = ends {
                    boundaries.0[axis] = Some([low, high]);
                }
            }
        }
    }
    section.finish();
    let walls = || boundaries.faces().filter_map(|(axis, _, face)| Some((axis, face.wall()?)));
    if let Some((axis, _)) = walls().next().filter(|_| gas.is_inviscid()) {
        let why = "the gas sticks to a wall by viscosity, and reynolds = inf has none";
        let advice = "give case.reynolds a number, or say \"symmetry\" for a wall with slip";
        section.reject_value(axis.name(), why, advice);
    }
    let mirrored =
        |axis: usize| boundaries.0[axis].is_some_and(|ends| ends.contains(&Face::Symmetry));
    for (axis, wall) in walls() {
        if let Some(through) = (0..3).find(|&b| wall.velocity[b] != 0.0 && mirrored(b)) {
            let why = format!(
                "a wall that moves along {0} goes through the plane of symmetry across {0}",
                AXES[through]
            );
            section.reject_value(axis.name(), &why, "");
        }
    }
    boundaries
}

/// The words for faces that need no table.
const FACES: [(&str, Face); 2] =
    [("wall", Face::Wall(Wall::ADIABATIC)), ("symmetry", Face::Symmetry)];

/// What holds at one end of an axis.
fn face(section: &Section<'_>, end: &'static str, axis: usize) -> Option<Face> {
    let Some(item) = section.get(end) else {
        let other = if end == "low" { "high" } else { "low" };
        let advice = format!(
            "an axis is periodic as a whole, or has two ends: beside `{other}` say `{end} = \"wall\"`"
        );
        section.missing(&[end], &advice);
        return None;
    };
    if item.value.is_word("periodic") {
        let advice = format!("an axis is periodic as a whole: {} = \"periodic\"", AXES[axis]);
        item.reject("one end alone cannot be periodic", &advice);
        return None;
    }
    let example = "{ kind = \"wall\", temperature = 1.0 }";
    let table = match section.table_or(end, &FACES, example)? {
        Err(face) => return Some(face),
        Ok(table) => table,
    };
    if !table.has("kind") {
        table.missing(&["kind"], "allowed: `wall`, `symmetry`");
        return None;
    }
    let face = match table.choice("kind", &FACES)? {
        Face::Wall(wall) => Face::Wall(with_keys(&table, wall, axis)),
        Face::Symmetry => Face::Symmetry,
    };
    table.finish();
    Some(face)
}

/// `wall` with what the user says of it.
fn with_keys(table: &Section<'_>, mut wall: Wall, axis: usize) -> Wall {
    if table.has("temperature") && table.has("heat_flux") {
        let why = "stands beside `temperature`; only one of them is known at a wall";
        table.reject_value("heat_flux", why, "");
    }
    if let Some(Positive(temperature)) = table.value("temperature") {
        wall.heat = Heat::Temperature(temperature);
    } else if let Some(flux) = table.value("heat_flux") {
        wall.heat = Heat::HeatFlux(flux);
    }
    wall.velocity = table.value("velocity").unwrap_or(wall.velocity);
    wall.frequency = table.value("frequency").map_or(wall.frequency, |NotNegative(omega)| omega);
    if wall.velocity[axis] != 0.0 {
        let why = format!("a wall across {0} cannot move along {0}", AXES[axis]);
        table.reject_value("velocity", &why, "its component through the wall must be 0");
    }
    if wall.velocity == [0.0; 3] && wall.frequency != 0.0 {
        table.reject_value(
            "frequency",
            "a wall at rest has none",
            "give `velocity`, the amplitude",
        );
    }
    wall
}

/// What a scheme cannot do along axes with ends.
pub(super) fn check_scheme(section: &Section<'_>, scheme: &SchemeConfig, boundaries: &Boundaries) {
    if boundaries.is_periodic() {
        return;
    }
    let why = "goes by way of midpoints, which have no closures at walls";
    if scheme.convection == Convection::Staggered {
        let allowed = "allowed: `divergence`, `feiereisen`, `kennedy-gruber`";
        section.reject_value("convection", why, allowed);
    }
    if scheme.viscous == ViscousForm::Midpoint {
        section.reject_value("viscous", why, "allowed: `laplacian`, `conservative`");
    }
}

/// The fewest points along an axis with ends, and the formula that needs them.
pub(super) fn closed_min_points(family: &SchemeFamily, scheme: &SchemeConfig) -> (usize, String) {
    let needs = |scheme: &Scheme| {
        default_closure(scheme).map_or(0, |it| crate::engine::closed_min_points(scheme, &it))
    };
    let operators = needs(&family.first).max(needs(&family.second)).max(Wall::POINTS);
    let filter = scheme
        .filter
        .map(|filter| (filter.order, needs(&compact_filter(filter.order, filter.alpha))));
    match filter {
        Some((order, points)) if points > operators => {
            (points, format!("the filter of order {order} between walls"))
        }
        _ => (operators, format!("{} between walls", family.name)),
    }
}

/// What needs a box that is periodic along every axis.
pub(super) fn check_others(
    boundaries: &Boundaries,
    points: [usize; 3],
    sections: [&Section<'_>; 3],
) {
    let [forcing, scalars, output] = sections;
    if (0..3).all(|axis| boundaries.0[axis].is_none() || points[axis] == 1) {
        return;
    }
    forcing.reject("is of a flow in a periodic box", "take the section out, or the walls");
    scalars.reject("cannot be carried between walls yet", "take the section out, or the walls");
    output.reject_value("statistics", "are averages over a periodic box", "take this out");
}

/// What the user types for the ends.
pub(super) fn typed(boundaries: &Boundaries) -> toml::Table {
    let face = |face: &Face| match face {
        Face::Symmetry => toml::Value::from("symmetry"),
        Face::Wall(wall) => {
            let mut table = toml::Table::try_from(wall).unwrap_or_default();
            table.insert("kind".into(), "wall".into());
            table.into()
        }
    };
    let axis = |ends: &Option<[Face; 2]>| match ends {
        None => toml::Value::from("periodic"),
        Some([low, high]) => {
            let ends = [("low", face(low)), ("high", face(high))];
            toml::Table::from_iter(ends.map(|(key, value)| (key.into(), value))).into()
        }
    };
    AXES.into_iter().zip(&boundaries.0).map(|(name, ends)| (name.into(), axis(ends))).collect()
}
