//! From a file or a text to a configuration.

use std::path::Path;

use super::problems::{Problems, closest, hint};
use super::value::Place;
use super::{Config, document, origin, resolve};
use crate::cases::{self, NAMES};
use crate::error::{Error, Result, refused};
use crate::io::open;

/// Maximum size of an input in bytes.
const MAX_INPUT_BYTES: u64 = 4 << 20;
/// Maximum number of file names that are compared with a misspelt one.
const MAX_NAMES: usize = 1000;

/// Returns the resolved input of the checkpoint at a path, or of the newest checkpoint of the run at a path.
pub type Base<'a> = &'a dyn Fn(&Path) -> Result<String>;

/// For an input that starts from the initial state of its case.
fn no_base(path: &Path) -> Result<String> {
    let what = "starting from a checkpoint is not supported here".to_string();
    Err(Error::Format { path: path.to_path_buf(), what })
}

/// Read the input file at `path`, changed by `overrides`, the `key.path=value` of each `--set`.
///
/// # Errors
/// [`Error::Config`](crate::Error::Config) with all problems, as [`parse`]; also if the file cannot be read.
pub fn load(path: &Path, overrides: &[String]) -> Result<Config> {
    load_on(path, overrides, &no_base)
}

/// The same, but `case.name` may be "from-checkpoint": keys that the input lacks are then taken from the checkpoint.
///
/// # Errors
/// As [`load`].
pub fn load_on(path: &Path, overrides: &[String], base: Base<'_>) -> Result<Config> {
    let name = path.display().to_string();
    let refuse = |place, found: &str, advice: &str| {
        let problems = Problems::new(&name, overrides);
        problems.add(place, found, advice);
        problems.finish(None)
    };
    if path.is_dir() {
        return refuse(Place::Input, "a directory; the input is a TOML file", "");
    }
    let bytes = match open::read(path, MAX_INPUT_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let advice =
                "`kolmo init CASE > my.toml` writes an input; `kolmo cases` lists the cases";
            return refuse(Place::Input, &format!("no such file{}", suggestion(path)), advice);
        }
        Err(error) => return refuse(Place::Input, &format!("cannot be read: {error}"), ""),
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse_on(text, &name, overrides, base),
        Err(error) => {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
            refuse(Place::Line(line), "not UTF-8 text", "save the file in the encoding UTF-8")
        }
    }
}

/// The built-in input of a case.
///
/// # Errors
/// [`Error::Config`](crate::Error::Config) if the case does not exist, with the closest name.
pub fn built_in(case: &str) -> Result<&'static str> {
    cases::input(case).ok_or_else(|| {
        let what = format!("`{case}` is not a case{}", hint(case, &NAMES));
        refused(what, format!("the cases are: {}", NAMES.join(", ")))
    })
}

/// "; did you mean ...?" if a case or an input in the folder of `path` has a similar name.
fn suggestion(path: &Path) -> String {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return String::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries =
        std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let files: Vec<String> = files.filter(|name| name.ends_with(".toml")).take(MAX_NAMES).collect();
    let mut names: Vec<&str> = files.iter().map(String::as_str).collect();
    match folder {
        None => names.extend(NAMES),
        Some(folder) => {
            let Some(name) = closest(name, &names) else { return String::new() };
            return format!("; did you mean `{}`?", folder.join(name).display());
        }
    }
    // The edit distance from `my` to `my.toml` is too large for `hint`.
    let with_extension = format!("{name}.toml");
    match names.contains(&with_extension.as_str()) {
        true => format!("; did you mean `{with_extension}`?"),
        false => hint(name, &names),
    }
}

/// Read an input from its `text`, called `name` in messages. `overrides` are the `key.path=value` of each `--set`.
///
/// # Errors
/// [`Error::Config`](crate::Error::Config): one complete message per problem, in the order of the lines, and a last line with
/// their number.
pub fn parse(text: &str, name: &str, overrides: &[String]) -> Result<Config> {
    parse_on(text, name, overrides, &no_base)
}

/// The same with the options of [`load_on`].
///
/// # Errors
/// As [`parse`].
pub fn parse_on(text: &str, name: &str, overrides: &[String], base: Base<'_>) -> Result<Config> {
    let problems = Problems::new(name, overrides);
    let Some(mut table) = document::parse(text, &problems) else {
        return problems.finish(None);
    };
    document::set(&mut table, overrides, &problems);
    let Ok(origin) = origin::resolve(&mut table, base, &problems) else {
        return problems.finish(None);
    };
    let config = resolve::config(&table, &problems);
    problems.finish(config.map(|config| Config { origin, ..config }))
}

/// The input of a case with defaults on `points` points, up to a time that is never reached, with these overrides.
pub(crate) fn of_case(case: &str, points: [usize; 3], overrides: &[String]) -> Result<Config> {
    let text = format!("[case]\nname = '{case}'\n[grid]\npoints = {points:?}\n[time]\nend = 1e9\n");
    parse(&text, case, overrides)
}
