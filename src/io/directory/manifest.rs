//! `manifest.txt`: the files that a run created, and so may replace and remove.
//!
//! A name is on disk in the manifest before its file is created. A run that is killed at any moment leaves no file of its own
//! that the manifest does not name.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::names::is_of_a_run;
use crate::error::{Error, Result};
use crate::io::{RunId, append_to, malformed, read_text, write_atomically};

/// The name of the file.
pub(super) const FILE: &str = "manifest.txt";

/// First line of the file.
const HEADER: &str = "# The files that the run in this directory made. Kolmo replaces and removes these and no others.";
/// Prefix of the line that names the run.
const RUN_PREFIX: &str = "# run ";

/// The content of a manifest.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// The run; `None` where a removed manifest was replaced without a checkpoint that names it.
    pub(super) run: Option<RunId>,
    pub(super) names: BTreeSet<String>,
}

/// The content of the manifest of `directory`; `None` without a manifest. Fails where a line is not a file name that a run
/// writes.
pub(super) fn read(directory: &Path) -> Result<Option<Content>> {
    let path = directory.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let text = read_text(&path)?;
    if text.lines().next() != Some(HEADER) {
        let what = "its first line is not that of a manifest: remove it, and all files that have names of a run count \
                    as the run's";
        return Err(malformed(&path, what));
    }
    let run = text.lines().find_map(|line| line.strip_prefix(RUN_PREFIX)?.parse().ok());
    let mut names = BTreeSet::new();
    // An unfinished last line was never completed, so its file was never created.
    let complete_lines = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    for (number, line) in
        complete_lines.lines().enumerate().filter(|(_, line)| !line.starts_with('#'))
    {
        if !is_of_a_run(line) {
            let what = format!("line {}: a run writes no file `{line}`", number + 1);
            return Err(malformed(&path, what));
        }
        names.insert(line.to_string());
    }
    Ok(Some(Content { run, names }))
}

/// Write the manifest of `directory`, replacing an existing one; returns the file, to append to it.
pub(super) fn write(directory: &Path, content: &Content) -> Result<File> {
    let path = directory.join(FILE);
    write_atomically(&path, |to| {
        writeln!(to, "{HEADER}")?;
        content.run.iter().try_for_each(|run| writeln!(to, "{RUN_PREFIX}{run}"))?;
        content.names.iter().try_for_each(|name| writeln!(to, "{name}"))?;
        to.flush()?;
        to.get_ref().sync_data()
    })?;
    append_to(&path)
}

/// Add names to the manifest of `directory` in `file`. They are on disk when this returns; after an error none of them is.
pub(super) fn add(directory: &Path, file: &mut File, names: &BTreeSet<String>) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let path = directory.join(FILE);
    let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
    let length = file.metadata().map_err(Error::io(&path))?.len();
    let added = file.write_all(lines.as_bytes()).and_then(|()| file.sync_data());
    added.map_err(|why| {
        // A partial line would join the next one.
        let _ = file.set_len(length);
        Error::io(&path)(why)
    })
}
