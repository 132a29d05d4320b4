//! Values of command-line options shared by several commands.

use crate::grid::MAX_POINTS_PER_AXIS;

/// Points of a grid: N for N x N x N, or NXxNYxNZ.
pub(crate) fn points(text: &str) -> Result<[usize; 3], String> {
    let number = |part: &str| part.parse().ok().filter(|n| (1..=MAX_POINTS_PER_AXIS).contains(n));
    let numbers: Option<Vec<usize>> = text.split('x').map(number).collect();
    match numbers.as_deref() {
        Some([1] | [1, 1, 1]) => Err("at least one axis needs more than 1 point".into()),
        Some(&[n]) => Ok([n; 3]),
        Some(&[x, y, z]) => Ok([x, y, z]),
        _ => Err(format!(
            "points are N or NXxNYxNZ, such as 256 or 256x256x128, each from 1 to {MAX_POINTS_PER_AXIS}"
        )),
    }
}

/// The values that one name on the command line selects, such as `all`.
#[derive(Clone, Debug)]
pub(crate) struct Several<T>(pub(crate) Vec<T>);

/// The value that `choices` has under `name`; `what` names the choices in the error message.
pub(crate) fn by_name<T>(
    what: &str,
    choices: impl IntoIterator<Item = (&'static str, T)>,
    name: &str,
) -> Result<T, String> {
    let mut names = Vec::new();
    for (known, value) in choices {
        if known == name {
            return Ok(value);
        }
        names.push(known);
    }
    Err(format!("the {what} are {}", names.join(", ")))
}

/// The values that `name` selects: those of one of the `groups`, or one of the `singles`.
pub(crate) fn several<T>(
    what: &str,
    groups: impl IntoIterator<Item = (&'static str, Vec<T>)>,
    singles: impl IntoIterator<Item = (&'static str, T)>,
    name: &str,
) -> Result<Several<T>, String> {
    let singles = singles.into_iter().map(|(name, value)| (name, vec![value]));
    by_name(what, groups.into_iter().chain(singles), name).map(Several)
}
