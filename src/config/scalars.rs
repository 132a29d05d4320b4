//! `[scalars.NAME]`

use super::case::refuse_for_scalar;
use super::resolve::AXES;
use super::section::Section;
use crate::boundary::{Boundaries, Face};
use crate::cases::custom::Quantity;
use crate::cases::{AtWall, Case, PassiveScalar};
use crate::expression::is_name;
use crate::physics::{
    BODY_COLUMNS, CHANNEL_COLUMNS, ERROR_COLUMNS, FLOW_COLUMNS, FORCING_COLUMNS, GRADIENT_COLUMNS,
    Variable, columns_of,
};
use crate::typed::Positive;

/// Maximum number of characters of a name, which becomes a prefix of columns of the series.
const MAX_NAME_LENGTH: usize = 40;

/// Names of axes and coordinates in field arrays, in addition to x, y, z and the time.
const DIMENSION_NAMES: [&str; 3] = ["i", "j", "component"];

/// The passive scalars of a flow of `case`, in the order of their names.
pub(super) fn scalars(
    section: &Section<'_>,
    case: Option<&Case>,
    boundaries: &Boundaries,
) -> Vec<PassiveScalar> {
    let advice = "its only scalar is that of the case; passive scalars need a flow";
    if refuse_for_scalar(section, case, advice) {
        return Vec::new();
    }
    let example = "[scalars.dye] with schmidt = 0.7 and start = \"sin(x)\"";
    let tables = section.tables(example).into_iter();
    tables.filter_map(|(name, table)| scalar(section, name, &table, case, boundaries)).collect()
}

/// One passive scalar.
fn scalar(
    section: &Section<'_>,
    name: &str,
    table: &Section<'_>,
    case: Option<&Case>,
    boundaries: &Boundaries,
) -> Option<PassiveScalar> {
    if let Some(why) = name_problem(name) {
        section.reject_key(name, &why);
    }
    let schmidt = table.needed("schmidt", "for example schmidt = 0.7");
    let schmidt = schmidt.map(|Positive(schmidt)| schmidt);
    let start = table.value("start");
    // The file of a custom state may contain the scalar.
    let may_omit_start =
        case.is_none_or(|case| matches!(case, Case::Custom(it) if it.file.is_some()));
    if !table.has("start") && !may_omit_start {
        table.missing(&["start"], "for example start = \"sin(x)\"");
    }
    let (walls, beyond) = (wall_conditions(table, boundaries), beyond(table, boundaries));
    table.finish();
    let scalar = PassiveScalar { name: name.to_owned(), schmidt: schmidt?, start, walls, beyond };
    if let Some(sentence) = case.and_then(|case| scalar.problem(case)) {
        table.reject_key("start", &sentence);
    }
    Some(scalar)
}

/// Boundary conditions of the scalar at walls; other faces have none.
fn wall_conditions(table: &Section<'_>, boundaries: &Boundaries) -> [[AtWall; 2]; 3] {
    let mut known = [[AtWall::CLOSED; 2]; 3];
    let example = "{ low = { value = 1.0 }, high = { flux = 0.0 } }";
    for_each_end(table, "walls", example, |ends, [a, end], name| {
        let Some(at) = ends.table(name, "{ value = 1.0 }") else { return };
        let face = boundaries.0[a].map(|faces| faces[end]);
        if face.is_some_and(|face| face.open().is_some()) {
            let why = format!("the {name} end of {} is open", AXES[a]);
            ends.reject_value(name, &why, "allowed there: `beyond`, the value beyond open faces");
        } else if face.is_none_or(|face| face.wall().is_none()) {
            let why = format!("there is no wall at the {name} end of {}", AXES[a]);
            ends.reject_value(name, &why, "walls are set in [boundary] or by the case");
        }
        at.refuse_both("value", "flux", "is prescribed at a wall");
        let value = at.value("value").map(AtWall::Value);
        let flux = at.value("flux").map(AtWall::Flux);
        match value.or(flux) {
            Some(it) => known[a][end] = it,
            None if at.has("value") || at.has("flux") => {}
            None => at.missing(&["value", "flux"], "such as value = 1.0"),
        }
        at.finish();
    });
    known
}

/// Values of the scalar beyond open faces, where the user sets them.
fn beyond(table: &Section<'_>, boundaries: &Boundaries) -> [[Option<f64>; 2]; 3] {
    let mut known = [[None; 2]; 3];
    for_each_end(table, "beyond", "{ low = 1.0, high = 0.0 }", |ends, [a, end], name| {
        if !ends.has(name) {
            return;
        }
        let face = boundaries.0[a].map(|faces| faces[end]);
        if face.is_none_or(|face| face.open().is_none()) {
            let why = format!("there is no open face at the {name} end of {}", AXES[a]);
            let advice = match face.and_then(Face::wall) {
                Some(_) => "allowed at a wall: `walls`, with `value` or `flux`",
                None => "open faces are set in [boundary] or by the case",
            };
            ends.reject_value(name, &why, advice);
        }
        known[a][end] = ends.value(name);
    });
    known
}

/// Call `read` for each end of each axis in the table at `key`; `example` is an example of an axis.
fn for_each_end<'a>(
    table: &Section<'a>,
    key: &'static str,
    example: &str,
    mut read: impl FnMut(&Section<'a>, [usize; 2], &'static str),
) {
    let Some(axes) = table.table(key, &format!("{{ y = {example} }}")) else { return };
    for (a, name) in AXES.into_iter().enumerate() {
        let Some(ends) = axes.table(name, example) else { continue };
        for (end, name) in ["low", "high"].into_iter().enumerate() {
            read(&ends, [a, end], name);
        }
        ends.finish();
    }
    axes.finish();
}

/// Why a scalar cannot have this name.
fn name_problem(name: &str) -> Option<String> {
    let components = ["", "_x", "_y", "_z"];
    let is_field = |variable: &Variable| {
        components.iter().any(|axis| format!("{}{axis}", variable.name()) == name)
    };
    let is_taken = Variable::FLOW_VARIABLES.iter().any(is_field)
        || name == Variable::Scalar.name()
        || Quantity::ALL.iter().any(|quantity| quantity.name() == name);
    let all = [
        &FLOW_COLUMNS[..],
        &ERROR_COLUMNS,
        &FORCING_COLUMNS,
        &GRADIENT_COLUMNS,
        &CHANNEL_COLUMNS,
        &BODY_COLUMNS,
    ];
    let is_column = |name: &str| all.iter().any(|columns| columns.contains(&name));
    let column = columns_of(name).find(|column| is_column(column));
    let is_coordinate = AXES.contains(&name) || DIMENSION_NAMES.contains(&name);
    if !is_name(name) || name.len() > MAX_NAME_LENGTH {
        Some(format!(
            "[scalars.{name}]: not a valid name of a scalar\nallowed: a letter, then letters, digits and _, {MAX_NAME_LENGTH} at most"
        ))
    } else if is_taken {
        Some(format!("[scalars.{name}]: `{name}` is a field of the flow\nchoose another name"))
    } else if is_column(name) || is_coordinate {
        let what = if is_coordinate { "coordinate of fields" } else { "column of the series" };
        Some(format!("[scalars.{name}]: `{name}` is a {what}\nchoose another name"))
    } else {
        let column = column?;
        Some(format!(
            "[scalars.{name}]: its column `{column}` is a column of the flow\nchoose another name"
        ))
    }
}
