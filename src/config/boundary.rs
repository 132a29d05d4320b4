//! `[boundary]`

use super::case::refuse_for_scalar;
use super::resolve::AXES;
use super::section::Section;
use super::{OutputConfig, Statistic};
use crate::boundary::{Beyond, Boundaries, Face, Heat, Known, Open, Sponge, Stream, Wall, ends};
use crate::cases::Case;
use crate::engine::{closed_min_points as scheme_min_points, closure_at};
use crate::gas::Gas;
use crate::grid::{Axis, Domain, Grid, Spacing};
use crate::physics::{Convection, ForcingConfig, PressureGradient, SchemeConfig, ViscousForm};
use crate::scheme::{Scheme, compact_filter};
use crate::typed::{NotNegative, Positive};

/// Example of an axis with two ends.
const EXAMPLE: &str = "{ low = \"wall\", high = { kind = \"wall\", temperature = 1.0 } }";

/// Boundary conditions at the ends of the axes: those of the input, otherwise those of the case.
pub(super) fn boundaries(section: &Section<'_>, case: Option<&Case>, gas: &Gas) -> Boundaries {
    let advice = "its exact solution is periodic; remove the section";
    if refuse_for_scalar(section, case, advice) {
        return Boundaries::PERIODIC;
    }
    let mut boundaries = case.map_or(Boundaries::PERIODIC, |case| case.boundaries(gas));
    for (axis, name) in AXES.into_iter().enumerate() {
        match section.table_or(name, &[("periodic", ())], EXAMPLE) {
            None => {}
            Some(Err(())) => boundaries.0[axis] = None,
            Some(Ok(table)) => {
                let ends = ["low", "high"].map(|end| face(&table, end, axis, gas));
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
        let why = "a no-slip wall needs viscosity, and reynolds = inf has none";
        let advice = "set a finite case.reynolds, or use \"symmetry\" for a slip wall";
        section.reject_value(axis.name(), why, advice);
    }
    let mirrored =
        |axis: usize| boundaries.0[axis].is_some_and(|ends| ends.contains(&Face::Symmetry));
    for (axis, _, face) in boundaries.faces() {
        let velocity = face.velocity().unwrap_or_default();
        // Gas that enters through the face opposite a symmetry plane leaves along that plane.
        let along = |b: usize| b != axis.index() && velocity[b] != 0.0;
        if let Some(through) = (0..3).find(|&b| along(b) && mirrored(b)) {
            let moves = if face.wall().is_some() { "a wall that moves" } else { "a flow" };
            let why = format!(
                "{moves} along {0} goes through the symmetry plane across {0}",
                AXES[through]
            );
            section.reject_value(axis.name(), &why, "");
        }
    }
    boundaries
}

/// The kinds of faces.
const KINDS: [&str; 5] = ["wall", "symmetry", "outflow", "inflow", "far-field"];

/// The boundary condition at one end of an axis.
fn face(section: &Section<'_>, end: &'static str, axis: usize, gas: &Gas) -> Option<Face> {
    let Some(item) = section.get(end) else {
        let other = if end == "low" { "high" } else { "low" };
        let advice = format!(
            "an axis is either periodic or has two ends: with `{other}` also give, for example, `{end} = \"wall\"`"
        );
        section.missing(&[end], &advice);
        return None;
    };
    if item.value.is_word("periodic") {
        let advice = format!("for the whole axis use {} = \"periodic\"", AXES[axis]);
        item.reject("one end alone cannot be periodic", &advice);
        return None;
    }
    let example = "{ kind = \"wall\", temperature = 1.0 }";
    let kinds = KINDS.map(|kind| (kind, kind));
    let table = match section.table_or(end, &kinds, example)? {
        Err("wall") => return Some(Face::Wall(Wall::ADIABATIC)),
        Err("symmetry") => return Some(Face::Symmetry),
        Err("outflow") => return Some(Open::outflow(gas.reference_pressure()).into()),
        Err(kind) => {
            let advice = format!(
                "for example: {{ kind = \"{kind}\", velocity = [1.0, 0.0, 0.0], temperature = 1.0 }}\n\
                 or the initial flow: {{ kind = \"{kind}\", state = \"initial\" }}"
            );
            item.reject("needs the state of the incoming flow", &advice);
            return None;
        }
        Ok(table) => table,
    };
    let inward = if end == "low" { 1.0 } else { -1.0 };
    let face = match table.needed_choice("kind", &kinds)? {
        "wall" => Some(Face::Wall(with_keys(&table, Wall::ADIABATIC, axis))),
        "symmetry" => Some(Face::Symmetry),
        "outflow" => {
            let p = table.value("pressure").map_or(gas.reference_pressure(), |Positive(p)| p);
            Some(relaxed(&table, Open::outflow(p)))
        }
        "inflow" => inflow(&table, axis, inward, gas),
        _ => far_field(&table, gas),
    };
    table.finish();
    face
}

/// `open` with the relaxation from the input.
fn relaxed(table: &Section<'_>, open: Open) -> Face {
    let relaxation = table.value("relaxation");
    let relaxation = relaxation.map_or(open.relaxation, |NotNegative(sigma)| sigma);
    Face::Open(Open { relaxation, ..open })
}

/// The flow beyond a face: the initial flow, or a stream with a velocity; T = 1 and the pressure of the gas at rest unless given.
fn outer_flow(table: &Section<'_>, gas: &Gas) -> Option<Known> {
    if table.has("state") {
        for key in ["velocity", "temperature", "pressure"] {
            table.forbid(key, "cannot be combined with `state`, which defines the whole state", "");
        }
        return table.choice("state", &[("initial", Known::Start)]);
    }
    let temperature = table.value("temperature").map_or(1.0, |Positive(t)| t);
    let pressure = table.value("pressure").map_or(gas.reference_pressure(), |Positive(p)| p);
    let advice = "such as velocity = [1.0, 0.0, 0.0]; or state = \"initial\", the initial flow";
    let velocity = table.needed("velocity", advice)?;
    Some(Known::Stream(Stream { velocity, temperature, pressure }))
}

fn inflow(table: &Section<'_>, axis: usize, inward: f64, gas: &Gas) -> Option<Face> {
    let known = outer_flow(table, gas)?;
    let inflow = Open::to(Beyond::Inflow(known));
    let Some(stream) = known.stream() else { return Some(relaxed(table, inflow)) };
    if stream.velocity[axis] * inward <= 0.0 {
        let why = format!("does not lead into the box along {}", AXES[axis]);
        let advice = "for flow in either direction use kind = \"far-field\"";
        table.reject_value("velocity", &why, advice);
    }
    match (stream.is_supersonic(gas, axis), table.has("pressure")) {
        (true, false) => table.missing(
            &["pressure"],
            "no wave leaves through a supersonic inflow, so the whole state is prescribed",
        ),
        (false, true) => {
            let why = "at a subsonic inflow the pressure is that of the flow inside";
            table.reject_value("pressure", why, "remove it, or use kind = \"far-field\"");
        }
        _ => {}
    }
    Some(relaxed(table, inflow))
}

fn far_field(table: &Section<'_>, gas: &Gas) -> Option<Face> {
    let known = outer_flow(table, gas);
    let example = "{ width = 1.0, strength = 5.0 }";
    let sponge = table.table_or_none("sponge", example).and_then(|zone| {
        let strength = zone.value("strength").map(|Positive(strength)| strength);
        let Positive(width) = zone.needed("width", "such as width = 1.0")?;
        zone.finish();
        // Sound that crosses the sponge twice keeps a hundredth of its amplitude: exp(−2 ∫σ dx/c), ∫σ dx = strength × width / 4.
        let stream = known.and_then(Known::stream);
        let sound = stream.map_or(1.0, |it| it.temperature.sqrt()) / gas.mach;
        let strength = strength.unwrap_or(2.0 * 100.0_f64.ln() * sound / width);
        Some(Sponge { width, strength })
    });
    Some(relaxed(table, Open { sponge, ..Open::to(Beyond::FarField(known?)) }))
}

/// `wall` with the keys from the input.
fn with_keys(table: &Section<'_>, mut wall: Wall, axis: usize) -> Wall {
    table.refuse_both("temperature", "heat_flux", "is prescribed at a wall");
    if let Some(Positive(temperature)) = table.value("temperature") {
        wall.heat = Heat::Temperature(temperature);
    } else if let Some(flux) = table.value("heat_flux") {
        wall.heat = Heat::HeatFlux(flux);
    }
    wall.velocity = table.value("velocity").unwrap_or(wall.velocity);
    wall.frequency = table.value("frequency").map_or(wall.frequency, |NotNegative(omega)| omega);
    if wall.velocity[axis] != 0.0 {
        let why = format!("a wall across {0} cannot move along {0}", AXES[axis]);
        table.reject_value("velocity", &why, "its component normal to the wall must be 0");
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

/// Reject forms that are not available along axes with ends.
pub(super) fn check_scheme(section: &Section<'_>, scheme: &SchemeConfig, periodic: bool) {
    if periodic {
        return;
    }
    let why = "uses midpoints, which have no closures at walls";
    if scheme.convection == Convection::Staggered {
        let allowed = "allowed: `divergence`, `feiereisen`, `kennedy-gruber`";
        section.reject_value("convection", why, allowed);
    }
    if scheme.viscous == ViscousForm::Midpoint {
        section.reject_value("viscous", why, "allowed: `laplacian`, `conservative`");
    }
}

/// The minimum number of points along an axis between these `faces`, and the formula that needs them.
pub(super) fn closed_min_points(
    scheme: &SchemeConfig,
    faces: [Face; 2],
    spacing: Spacing,
) -> (usize, String) {
    let family = &scheme.derivative;
    let needs = |scheme: &Scheme| {
        let rows =
            ends(faces, spacing).into_iter().filter_map(|end| closure_at(end, scheme, false));
        rows.map(|it| scheme_min_points(scheme, &it)).max().unwrap_or(0)
    };
    let operators = needs(&family.first).max(needs(&family.second));
    let operators = faces.into_iter().map(Face::points).fold(operators, usize::max);
    let between = match faces {
        [Face::Symmetry, Face::Symmetry] => "symmetry planes",
        _ if faces.iter().any(|face| face.wall().is_some()) => "walls",
        _ => "open faces",
    };
    let filter = scheme
        .filter
        .map(|filter| (filter.order, needs(&compact_filter(filter.order, filter.alpha))));
    match filter {
        Some((order, points)) if points > operators => {
            (points, format!("the filter of order {order} between {between}"))
        }
        _ => (operators, format!("{} between {between}", family.name)),
    }
}

/// Reject sponges that are wider than the box.
pub(super) fn check_sponges(section: &Section<'_>, boundaries: &Boundaries, domain: &Domain) {
    check_widths(section, boundaries, |axis| {
        let length = domain.length[axis.index()];
        (length, format!("the box {length}"))
    });
}

/// Reject sponges that on some line of a curvilinear grid are wider than the distance between the ends of the line.
pub(super) fn check_curved_sponges(section: &Section<'_>, boundaries: &Boundaries, grid: &Grid) {
    // An invalid grid has no plane and is reported elsewhere.
    if grid.plane.is_none() {
        return;
    }
    check_widths(section, boundaries, |axis| {
        let (a, [nx, ny, _]) = (axis.index(), grid.points);
        let lines = (0..nx).flat_map(|i| (0..ny).map(move |j| [i, j, 0])).filter(|at| at[a] == 0);
        let across = |first: [usize; 3]| {
            let mut last = first;
            last[a] = grid.points[a] - 1;
            grid.distance(first, last)
        };
        let shortest = lines.map(across).fold(f64::INFINITY, f64::min);
        (shortest, format!("and the ends of a line along {} are {shortest:.6} apart", axis.name()))
    });
}

/// Reject sponges that are wider than the available length along their axis; `available` returns it with the end of the message.
fn check_widths(
    section: &Section<'_>,
    boundaries: &Boundaries,
    available: impl Fn(Axis) -> (f64, String),
) {
    for (axis, _, face) in boundaries.faces() {
        let Some(sponge) = face.open().and_then(|open| open.sponge) else { continue };
        let (shortest, explanation) = available(axis);
        if sponge.width > shortest {
            let why = format!("the sponge is {} wide, {explanation}", sponge.width);
            let advice = "set the ends of this axis with a narrower sponge, or without one";
            section.reject_value(axis.name(), &why, advice);
        }
    }
}

/// Reject forces that these boundaries do not allow: turbulence forcing needs a periodic box, a pressure gradient a periodic axis.
pub(super) fn check_force(
    section: &Section<'_>,
    boundaries: &Boundaries,
    points: [usize; 3],
    forcing: &ForcingConfig,
) {
    let Some(PressureGradient { axis, .. }) = forcing.pressure_gradient() else {
        if !is_periodic(boundaries, points) {
            let advice = "between walls use `kind = \"pressure-gradient\"`, or remove the section";
            section.reject("is only available in a periodic box", advice);
        }
        return;
    };
    if boundaries.0[axis.index()].is_some() {
        let axis = axis.name();
        let why =
            format!("forcing.axis = \"{axis}\": no flow passes through the boundaries of {axis}");
        section.reject_key("axis", &format!("{why}\na pressure gradient needs a periodic axis"));
    }
}

/// Whether lines along every axis are periodic.
pub(super) fn is_periodic(boundaries: &Boundaries, points: [usize; 3]) -> bool {
    (0..3).all(|axis| boundaries.0[axis].is_none() || points[axis] == 1)
}

/// Reject statistics that need a fully periodic box, or two walls.
pub(super) fn check_statistics(
    boundaries: &Boundaries,
    points: [usize; 3],
    output: &OutputConfig,
    output_keys: &Section<'_>,
) {
    let requested = output.statistics.as_ref().map_or(&[][..], |it| &it.quantities);
    if requested.contains(&Statistic::Profiles) && boundaries.between_walls(points).is_none() {
        let why = "profiles need walls at both ends of exactly one axis";
        output_keys.reject_value("statistics", why, "remove `profiles`");
    }
    if is_periodic(boundaries, points) {
        return;
    }
    if requested.iter().any(|quantity| *quantity != Statistic::Profiles) {
        let why = "quantities other than `profiles` need a fully periodic box";
        let advice = "between walls across one axis: `quantities = [\"profiles\"]`";
        output_keys.reject_value("statistics", why, advice);
    }
}

/// The section as it is written in an input file.
pub(super) fn to_table(boundaries: &Boundaries, gas: &Gas) -> toml::Table {
    let face = |axis: usize, face: &Face| match face {
        Face::Symmetry => toml::Value::from("symmetry"),
        Face::Open(open) => open_to_table(open, axis, gas).into(),
        Face::Wall(wall) => {
            let mut table = toml::Table::try_from(wall).unwrap_or_default();
            table.insert("kind".into(), "wall".into());
            table.into()
        }
    };
    let axis = |(axis, ends): (usize, &Option<[Face; 2]>)| match ends {
        None => toml::Value::from("periodic"),
        Some([low, high]) => {
            let ends = [("low", face(axis, low)), ("high", face(axis, high))];
            toml::Table::from_iter(ends.map(|(key, value)| (key.into(), value))).into()
        }
    };
    let axes = boundaries.0.iter().enumerate().map(axis);
    AXES.into_iter().zip(axes).map(|(name, ends)| (name.into(), ends)).collect()
}

fn open_to_table(open: &Open, axis: usize, gas: &Gas) -> toml::Table {
    let of = |known: &Known| match known {
        Known::Stream(stream) => toml::Table::try_from(stream).unwrap_or_default(),
        Known::Start => toml::Table::from_iter([("state".into(), "initial".into())]),
    };
    let (kind, mut table) = match &open.beyond {
        Beyond::Outflow(p) => {
            ("outflow", toml::Table::from_iter([("pressure".into(), (*p).into())]))
        }
        Beyond::Inflow(known) => ("inflow", of(known)),
        Beyond::FarField(known) => ("far-field", of(known)),
    };
    if let Beyond::Inflow(Known::Stream(stream)) = open.beyond
        && !stream.is_supersonic(gas, axis)
    {
        table.remove("pressure");
    }
    table.insert("kind".into(), kind.into());
    table.insert("relaxation".into(), open.relaxation.into());
    if let Some(sponge) = open.sponge {
        let sponge = toml::Table::try_from(sponge).unwrap_or_default();
        table.insert("sponge".into(), sponge.into());
    }
    table
}
