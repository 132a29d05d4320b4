//! From text to the tree of typed values: the input and its `--set` overrides.

use toml::de::{DeTable, DeValue};

use super::mistakes;
use super::problems::{Problems, shorten};
use super::value::{Entry, Place, Table, Value, table_from_toml};

/// Maximum number of keys in the path of an override; no key of an input is nested as deeply.
const MAX_DEPTH: usize = 8;

/// The tables of `text`; `None` if it is not valid TOML.
pub(super) fn parse(text: &str, problems: &Problems) -> Option<Table> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(offset, _)| offset).collect();
    let line = |offset: usize| 1 + ends.partition_point(|&end| end < offset);
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Some(table_from_toml(table.get_ref(), &|span| Place::Line(line(span.start))));
    }
    let line_text = |line: usize| {
        let start = if line > 1 { ends[line - 2] + 1 } else { 0 };
        text[start..ends.get(line - 1).copied().unwrap_or(text.len())].trim()
    };
    let (mut last_line, mut last_message) = (0, String::new());
    for error in errors {
        let span = error.span().unwrap_or(text.len()..text.len());
        // The span may end beyond the last line.
        let at = line(span.start);
        let line_text = line_text(at);
        let open = mistakes::is_unclosed_above(line_text, error.message());
        let message = match open {
            true => "an array above is not closed: a `]` is missing".into(),
            false => {
                let found = text.get(span).unwrap_or_default();
                let words = mistakes::explain(line_text, found, error.message());
                words.unwrap_or_else(|| error.message().to_owned())
            }
        };
        // The parser continues after an error: a further error on the same line, or the same error again, follows from the first.
        if at == last_line || message == last_message {
            continue;
        }
        let advice = if line_text.is_empty() {
            String::new()
        } else {
            format!("in `{}`", shorten(line_text))
        };
        problems.add(Place::Line(at), &format!("not TOML: {message}"), &advice);
        if open {
            break;
        }
        (last_line, last_message) = (at, message);
    }
    None
}

/// Insert the value of each `key.path=value`; a later override replaces an earlier one.
pub(super) fn set(table: &mut Table, overrides: &[String], problems: &Problems) {
    for (index, text) in overrides.iter().enumerate() {
        let place = Place::Override(index);
        let form = "write --set key.path=value, as in --set time.cfl=0.5";
        let Some((path, value_text)) = text.split_once('=') else {
            problems.add(place, "no `=` in it", form);
            continue;
        };
        let path: Vec<&str> = path.split('.').map(str::trim).collect();
        if path.iter().any(|key| key.is_empty()) {
            problems.add(place, "an empty key", form);
            continue;
        }
        if path.len() > MAX_DEPTH {
            problems.add(place, &format!("a path of more than {MAX_DEPTH} keys"), form);
            continue;
        }
        match value(value_text.trim(), place) {
            Ok(value) => {
                if let Err(key) = insert(table, &path, Entry { place, value }) {
                    problems.add(place, &format!("`{key}` has no keys of its own"), "");
                }
            }
            Err(message) => {
                let words = mistakes::explain(text, "", &message).unwrap_or(message);
                problems.add(place, &format!("not a TOML value: {words}"), "");
            }
        }
        remove_alternatives(table, &path);
    }
}

/// The value of an override: a TOML value, or a bare word, which is a string.
fn value(text: &str, place: Place) -> Result<Value, String> {
    match DeValue::parse(text) {
        Ok(value) if value.get_ref().is_datetime() => Ok(Value::String(text.to_owned())),
        Ok(value) => Ok(Value::from_toml(value.get_ref(), &|_| place)),
        Err(error) if text.starts_with(['[', '{', '"', '\'']) => Err(error.message().to_owned()),
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

/// Insert `entry` at `path` and create the tables of the path, which may replace a word such as `filter = "none"`. The error is the
/// key of the path that cannot be a table.
fn insert(table: &mut Table, path: &[&str], entry: Entry) -> Result<(), String> {
    let [first, rest @ ..] = path else { return Ok(()) };
    if rest.is_empty() {
        table.insert((*first).to_owned(), entry);
        return Ok(());
    }
    let place = entry.place;
    let empty = || Entry { place, value: Value::Table(Table::new()) };
    let inner = table.entry((*first).to_owned()).or_insert_with(empty);
    if matches!(inner.value, Value::String(_)) {
        *inner = empty();
    }
    match &mut inner.value {
        Value::Table(inner) => insert(inner, rest, entry),
        _ => Err((*first).to_owned()),
    }
}

/// An override replaces the alternative keys of the input: `--set time.dt=...` replaces `cfl`, and vice versa; the same holds for
/// the keys of forcing. Another kind of force replaces all keys of the previous one.
fn remove_alternatives(table: &mut Table, path: &[&str]) {
    let [section, key] = path else { return };
    let is_replaced = |other: &str| match [*section, *key, other] {
        ["time", "dt", "cfl"] | ["time", "cfl", "dt"] => true,
        ["forcing", "value", "mass_flux"] | ["forcing", "mass_flux", "value"] => true,
        ["forcing", "energy", "coefficient"] | ["forcing", "coefficient", "energy"] => true,
        ["forcing", "kind", other] => !["kind", "heat_removal"].contains(&other),
        _ => false,
    };
    if let Some(Entry { value: Value::Table(keys), .. }) = table.get_mut(*section) {
        keys.retain(|other, entry| !(is_replaced(other) && matches!(entry.place, Place::Line(_))));
    }
}
