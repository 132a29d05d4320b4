//! Restart from a checkpoint: which checkpoint, with which configuration, and whether the flow is the same.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::on_first;
use super::plan::reached;
use super::rejections::keys_without_path;
use super::run_loop::is_over;
use super::summary::part;
use super::task::Origin;
use crate::comm::{Communicator, Solo, all_or_error, same_on_all};
use crate::config::{self, Base, Config};
use crate::error::{Error, Result};
use crate::grid::Curvilinear;
use crate::io::checkpoint::{self, Checkpoint, Head, OutputProgress, is_damaged};
use crate::io::progress::tell;
use crate::io::summary::Part;
use crate::io::{RunDirectory, RunId, Summary, refused};
use crate::scheme::ImplicitConfig;

/// User options of a restart.
#[derive(Clone, Debug, Default)]
pub struct RestartOptions {
    /// The `key.path=value` of each `--set`.
    pub set: Vec<String>,
    /// The step to restart from; `None` is that of the newest sound checkpoint.
    pub from: Option<u64>,
    /// Whether case, gas and box may differ from those of the checkpoint.
    pub allow_physics_change: bool,
}

/// The action for a restart.
#[derive(Debug)]
pub enum Restart {
    /// Nothing to do: a message that says so.
    Finished(String),
    /// Run this from there.
    Run(Box<(Config, Origin)>),
}

/// Determine how to continue the run in `directory`, which rank 0 has [entered](RunDirectory::enter). Collective.
///
/// # Errors
/// On all ranks: where there is no run, no sound checkpoint of the requested step, or where another flow is requested. Then
/// nothing is changed, except that remains of unfinished checkpoints are removed.
pub fn restart(
    comm: &dyn Communicator,
    directory: &Path,
    options: &RestartOptions,
) -> Result<Restart> {
    let first = comm.rank() == 0;
    let checkpoints = RunDirectory::checkpoints(directory);
    let inspect = || {
        checkpoint::check_name(directory)?;
        // An unreadable folder is not a folder without checkpoints.
        match std::fs::read_dir(&checkpoints) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(&checkpoints)(why));
            }
            _ => {}
        }
        checkpoint::tidy(&checkpoints, RunDirectory::owner_of(directory)?)?;
        RunDirectory::run_of(directory)
    };
    let run = on_first(comm, inspect)?.flatten();
    let run_text = comm.broadcast(0, run.map_or(String::new(), |run| run.to_string()).into_bytes());
    let run = String::from_utf8_lossy(&run_text).parse().ok();
    let found = choose_checkpoint(comm, directory, run, options.from)?;
    let load_config = |base: Base<'_>| configuration(directory, &options.set, found.as_ref(), base);
    let mut config = with_base_of_rank_0(comm, load_config)?;
    config.output.directory = directory.to_path_buf();
    same_on_all(comm, &config.shared_keys())?;
    let checked = found.as_ref().map_or(Ok(()), |found| check_end(&found.head, &config));
    all_or_error(comm, checked)?;
    let sentence = if first { finished_message(directory, &config, found.as_ref()) } else { None };
    let mut sentence = sentence.unwrap_or_default();
    if !sentence.is_empty() && !options.set.is_empty() {
        sentence += &format!("\nignored, since nothing is left to do: {}", options.set.join(", "));
    }
    let sentence = comm.broadcast(0, sentence.into_bytes());
    if options.from.is_none() && !sentence.is_empty() {
        return Ok(Restart::Finished(String::from_utf8_lossy(&sentence).into_owned()));
    }
    let Some(found) = found else {
        let again = || {
            if let Some(name) = RunDirectory::conflict_at(directory)? {
                let what =
                    "not a file of this run, which starts over and would replace it; move it away";
                return Err(Error::Format { path: directory.join(name), what: what.into() });
            }
            let done = Summary::read(&directory.join("summary.json"));
            if !done.is_ok_and(|summary| summary.finished) {
                return Ok(());
            }
            let again = overwrite_command(directory);
            Err(refused(
                format!(
                    "{} is finished, and has no checkpoint to continue from",
                    directory.display()
                ),
                format!(
                    "{again}\n       a run keeps its last state unless output.checkpoint = \"none\""
                ),
            ))
        };
        on_first(comm, again)?;
        if first {
            tell("there is no checkpoint: the run starts over");
        }
        let origin = origin(comm, &config, true)?;
        return Ok(Restart::Run(Box::new((config, origin))));
    };
    let messages = change_messages(changes(&found.head, &config), options.allow_physics_change);
    let messages = all_or_error(comm, messages)?;
    let Head { step, time, .. } = found.head;
    report_start(comm, format!("continues from step {step}, t = {time}"), messages);
    Ok(Restart::Run(Box::new((config, Origin::Own(found)))))
}

/// Rename checkpoints that are newer than that of `step` so that no run continues from them: a later restart must not find
/// results that the run from `step` has not computed.
pub(super) fn set_newer_checkpoints_aside(directory: &Path, step: u64) -> Result<()> {
    let checkpoints = RunDirectory::checkpoints(directory);
    let newer = checkpoint::steps(&checkpoints).into_iter().take_while(|newer| *newer > step);
    for step in newer {
        let opened = Checkpoint::open(&Solo, &checkpoint::path(&checkpoints, step));
        let why = if opened.is_err_and(|why| is_damaged(&why)) { "damaged" } else { "left" };
        let path = checkpoint::set_aside(&checkpoints, step, why)?;
        tell(&format!("the checkpoint of step {step} is now {}", path.display()));
    }
    Ok(())
}

/// The origin of the run of `config`: the initial state of its case, or a checkpoint. Collective.
///
/// # Errors
/// On all ranks, where the checkpoint is not sound, or is one of another flow although that is not allowed.
pub fn origin(
    comm: &dyn Communicator,
    config: &Config,
    allow_physics_change: bool,
) -> Result<Origin> {
    let Some(path) = &config.origin else { return Ok(Origin::Case) };
    let is_checkpoint = comm.broadcast(0, vec![u8::from(path.join("zarr.json").exists())]) == [1];
    let found = if is_checkpoint {
        Checkpoint::open(comm, path)?
    } else {
        let (found, damaged) = Checkpoint::newest(comm, &RunDirectory::checkpoints(path), None)?;
        report_damaged(comm, &damaged);
        all_or_error(comm, found.ok_or_else(|| no_checkpoint(path)))?
    };
    let messages =
        all_or_error(comm, change_messages(changes(&found.head, config), allow_physics_change))?;
    let Head { step, time, .. } = found.head;
    let checked = || {
        let (checkpoint_path, output) =
            (found.path().canonicalize(), config.output.directory.canonicalize());
        if let (Ok(checkpoint_path), Ok(output)) = (checkpoint_path, output)
            && checkpoint_path.starts_with(&output)
        {
            let found =
                format!("{} would be replaced by the run that starts from it", path.display());
            return Err(refused(found, "choose another directory with `--out`"));
        }
        if is_over(config, step, time) {
            return Err(refused(
                format!("the checkpoint is at step {step}, t = {time}, where this run is to end"),
                "choose a later time.end or time.max_steps; steps count from the start of the first run",
            ));
        }
        Ok(())
    };
    all_or_error(comm, checked())?;
    let start = format!("starts from step {step}, t = {time} of {}", path.display());
    report_start(comm, start, messages);
    Ok(Origin::Other(found))
}

/// Rank 0 reports where a run continues from, and what changes there.
fn report_start(comm: &dyn Communicator, start: String, changes: Vec<String>) {
    if comm.rank() == 0 {
        std::iter::once(start).chain(changes).for_each(|sentence| tell(&sentence));
    }
}

/// The resolved input in the checkpoint at `path`, or in the newest one of the run there.
///
/// # Errors
/// Where no checkpoint can be read.
pub fn base(path: &Path) -> Result<String> {
    head(path).map(|head| head.config)
}

/// The head of the checkpoint at `path`, or of the newest one of the run there.
pub(super) fn head(path: &Path) -> Result<Head> {
    if path.join("zarr.json").exists() {
        return Head::read(path);
    }
    let checkpoints = RunDirectory::checkpoints(path);
    let steps = checkpoint::steps(&checkpoints);
    let heads = steps.iter().map(|step| Head::read(&checkpoint::path(&checkpoints, *step)));
    // A damaged one is reported when it is opened.
    heads.flatten().next().ok_or_else(|| no_checkpoint(path))
}

/// The result of `prepare` for an input that may start from a checkpoint. Rank 0 determines the checkpoint and its content: a
/// file system may show other ranks an older state. Collective.
///
/// # Errors
/// On all ranks, where `prepare` fails on one.
pub fn with_base_of_rank_0<T>(
    comm: &dyn Communicator,
    prepare: impl Fn(Base<'_>) -> Result<T>,
) -> Result<T> {
    let seen = RefCell::new(BTreeMap::<PathBuf, String>::new());
    let own = (comm.rank() == 0).then(|| {
        prepare(&|path| {
            let text = base(path)?;
            seen.borrow_mut().insert(path.to_path_buf(), text.clone());
            Ok(text)
        })
    });
    let seen = comm.broadcast(0, serde_json::to_vec(&seen.into_inner()).unwrap_or_default());
    let seen: BTreeMap<PathBuf, String> = serde_json::from_slice(&seen).unwrap_or_default();
    let known = |path: &Path| seen.get(path).map_or_else(|| base(path), |text| Ok(text.clone()));
    all_or_error(comm, own.unwrap_or_else(|| prepare(&known)))
}

fn no_checkpoint(path: &Path) -> Error {
    let what = "neither a checkpoint nor a run with a sound one".to_string();
    Error::Format { path: path.to_path_buf(), what }
}

fn report_damaged(comm: &dyn Communicator, damaged: &[Error]) {
    if comm.rank() == 0 {
        damaged.iter().for_each(|why| tell(&format!("warning: not used: {why}")));
    }
}

/// The command that repeats a run in its directory, which may differ from the directory in its input.
fn overwrite_command(directory: &Path) -> String {
    let (input, directory) = (directory.join("config.toml"), directory.display());
    format!("from the beginning: kolmo run {} --out {directory} --overwrite", input.display())
}

/// The checkpoint of `run` of the step `from`, or its newest sound one. Collective.
fn choose_checkpoint(
    comm: &dyn Communicator,
    directory: &Path,
    run: Option<RunId>,
    from: Option<u64>,
) -> Result<Option<Checkpoint>> {
    let checkpoints = RunDirectory::checkpoints(directory);
    let Some(from) = from else {
        let (found, damaged) = Checkpoint::newest(comm, &checkpoints, run)?;
        report_damaged(comm, &damaged);
        if found.is_none() && !damaged.is_empty() {
            let what = format!("{} has no checkpoint that is sound", directory.display());
            return all_or_error(comm, Err(refused(what, overwrite_command(directory))));
        }
        return Ok(found);
    };
    let steps = checkpoint::steps_on_all(comm, &checkpoints);
    if !steps.contains(&from) {
        let steps: Vec<String> = steps.iter().rev().map(u64::to_string).collect();
        let available = if steps.is_empty() { "none".into() } else { steps.join(", ") };
        let what = format!("{} has no checkpoint of step {from}", directory.display());
        let available = format!("it has checkpoints of steps: {available}");
        return all_or_error(comm, Err(refused(what, available)));
    }
    let found = Checkpoint::open(comm, &checkpoint::path(&checkpoints, from))?;
    all_or_error(comm, found.of_run(run)).map(Some)
}

/// The configuration to run: `config.toml` of the run, the latest request, else the input in the checkpoint.
fn configuration(
    directory: &Path,
    set: &[String],
    found: Option<&Checkpoint>,
    base: Base<'_>,
) -> Result<Config> {
    let input: PathBuf = directory.join("config.toml");
    let load = |set: &[String]| match (input.exists(), found) {
        (true, None) => config::load_on(&input, set, base),
        (true, Some(found)) => {
            config::load_on(&input, set, &|_: &Path| Ok(found.head.config.clone()))
        }
        (false, Some(found)) => {
            config::parse(&found.head.config, "the input in the checkpoint", set)
        }
        (false, None) => Err(refused(
            format!("{} has neither a config.toml nor a checkpoint", directory.display()),
            "the run was ended before it began: run it again with `--overwrite`",
        )),
    };
    let config = load(set)?;
    if set.iter().any(|set| set.contains("case") || set.contains("output")) {
        let before = load(&[])?;
        let elsewhere = config.output.directory != before.output.directory;
        if elsewhere || config.origin != before.origin {
            let key = if elsewhere { "output.directory" } else { "case.path" };
            let place = "a restart continues in the directory of its run, from its own checkpoint";
            let advice = "otherwise: a run with case.name = \"from-checkpoint\"";
            return Err(refused(format!("{place}: {key} cannot be set"), advice));
        }
    }
    Ok(config)
}

/// A message where the run is complete.
fn finished_message(
    directory: &Path,
    config: &Config,
    found: Option<&Checkpoint>,
) -> Option<String> {
    let summary = Summary::read(&directory.join("summary.json")).ok()?;
    // The last file that a run writes.
    let closed = directory.join("report.html").exists();
    if found.is_some_and(|found| found.head.step < summary.steps) {
        return None;
    }
    let is_steady = found.is_some_and(|found| is_steady(&found.head, config));
    let is_over = is_steady || is_over(config, summary.steps, summary.end_time);
    if !(summary.finished && closed && is_over) {
        return None;
    }
    let (steps, time, directory) = (summary.steps, summary.end_time, directory.display());
    let mut message = format!("{directory} is finished: step {steps}, t = {time}");
    if found.is_some() {
        let extension_options = extension_options(config, steps);
        message += &format!("\nto go further: kolmo restart {directory} {extension_options}");
    }
    Some(message)
}

/// Whether the flow of `head` is that of `config`, on the same grid with the same scheme, and as steady as requested.
fn is_steady(head: &Head, config: &Config) -> bool {
    let requested = config.time.implicit.filter(|implicit| implicit.is_steady());
    let fall = head.implicit.and_then(|implicit| implicit.fall);
    let is_same = |change: &Change| ["time", "compute"].contains(&change.section);
    requested.zip(fall).is_some_and(|(implicit, fall)| fall <= implicit.tolerance())
        && changes(head, config).iter().all(is_same)
}

/// # Errors
/// Where the end in `config` lies before the state of `head`.
fn check_end(head: &Head, config: &Config) -> Result<()> {
    let Head { step, time, .. } = *head;
    let advice = "choose a later end; `--from STEP` continues from an older checkpoint, and sets newer ones aside";
    if let Some(end) = config.time.end.filter(|end| !reached(*end, time)) {
        let found = format!("time.end = {end}, but the run is already at t = {time}");
        return Err(refused(found, advice));
    }
    if let Some(max_steps) = config.time.max_steps.filter(|max_steps| *max_steps < step) {
        let found = format!("time.max_steps = {max_steps}, but the run is already at step {step}");
        return Err(refused(found, advice));
    }
    Ok(())
}

/// A key of the input in which two runs differ.
pub(super) struct Change {
    section: &'static str,
    key: String,
    /// Its new and old value.
    pub(super) message: String,
    /// Whether it changes the flow.
    physics: bool,
}

/// Differences of a run of `config` from the run that wrote `head`.
pub(super) fn changes(head: &Head, config: &Config) -> Vec<Change> {
    let own = Config { origin: None, ..config.clone() }.to_toml();
    let [mut old_keys, mut new_keys] = [&head.config, &own].map(|text| keys_without_path(text));
    if ["boundary", "forcing"]
        .iter()
        .any(|section| old_keys.get(*section) != new_keys.get(*section))
        && let Ok(before) = input_before(head, config)
        && [&before, config].iter().all(|it| it.case.is_flow())
    {
        // Values given by the case are equivalent to values in the input.
        for ((section, old), (_, new)) in
            before.boundary_and_forcing().into_iter().zip(config.boundary_and_forcing())
        {
            if old_keys.get(&section) != new_keys.get(&section) {
                old_keys.insert(section.clone(), old.into());
                new_keys.insert(section, new.into());
            }
        }
    }
    let mut changes = Vec::new();
    let sections =
        ["case", "gas", "grid", "boundary", "forcing", "scalars", "scheme", "time", "compute"];
    for section in sections {
        let keys = |tables: &toml::Table| -> toml::Table {
            tables.get(section).and_then(|table| table.as_table()).cloned().unwrap_or_default()
        };
        let (old_keys, new_keys) = (keys(&old_keys), keys(&new_keys));
        let all: std::collections::BTreeSet<&String> =
            old_keys.keys().chain(new_keys.keys()).collect();
        for key in all.into_iter().filter(|key| old_keys.get(*key) != new_keys.get(*key)) {
            let is_optional = ["forcing", "scalars"].contains(&section);
            let missing = if is_optional { "none" } else { "that of the case" };
            let shown = |value: Option<&toml::Value>| {
                value.map_or(missing.to_string(), toml::Value::to_string)
            };
            let (before, now) = (shown(old_keys.get(key)), shown(new_keys.get(key)));
            let message = format!("{section}.{key} = {now}; the checkpoint has {before}");
            // An axis of one point carries no variation, now or before.
            let flattened =
                || (0..3).any(|a| (head.points[a] == 1) != (config.grid.points[a] == 1));
            let physics = match section {
                "case" | "gas" | "boundary" | "forcing" => true,
                "grid" => {
                    ["length", "stretching", "mapping"].contains(&key.as_str()) || flattened()
                }
                _ => false,
            };
            changes.push(Change { section, key: key.clone(), message, physics });
        }
    }
    changes
}

/// Messages about these changes for the user.
///
/// # Errors
/// Where the flow differs although that is not allowed.
fn change_messages(changes: Vec<Change>, allow_physics_change: bool) -> Result<Vec<String>> {
    let (physics, others): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(|change| change.physics);
    let named = |word: &'static str| move |change: &Change| format!("{word}: {}", change.message);
    if !physics.is_empty() && !allow_physics_change {
        let mut lines: Vec<String> = physics.iter().map(named("error")).collect();
        lines.push("       to continue with another flow: --allow-physics-change".into());
        return Err(Error::Config(lines));
    }
    let notes = others.iter().filter_map(|change| {
        let note = named("note")(change);
        match (change.section, &*change.key) {
            ("grid", _) => Some(format!("{note}: the fields are interpolated")),
            ("compute", "precision") => Some(format!("{note}: the fields are converted")),
            ("time" | "compute", _) => None,
            _ => Some(note),
        }
    });
    Ok(notes.chain(physics.iter().map(named("warning"))).collect())
}

/// The input in `head`. The file of points may have moved to where that of `config` is.
fn input_before(head: &Head, config: &Config) -> Result<Config> {
    let points = match &config.grid.mapping {
        Some(Curvilinear::File(file)) => toml::Value::try_from(file).ok(),
        _ => None,
    };
    let set: Vec<String> = points.map(|it| format!("grid.mapping={it}")).into_iter().collect();
    config::parse(&head.config, "the input in the checkpoint", &set)
}

/// Progress of the run of `head` that continues with `config`: one more restart, and one more part where the grid or the flow has
/// changed.
///
/// # Errors
/// Where the input in `head` cannot be read.
pub(super) fn course_before(head: &Head, config: &Config) -> Result<OutputProgress> {
    let mut course = head.course.clone();
    course.restarts.push(head.step);
    let old = input_before(head, config)?;
    let other_flow = changes(head, config).iter().any(|change| change.physics);
    if other_flow {
        // Averages over two flows are meaningless.
        (course.statistics, course.profiles) = (None, None);
    }
    let old = Part { other_flow, ..part(&old, head.step) };
    if old != part(config, head.step) {
        // Drop parts without steps.
        course.earlier.retain(|part| part.until < head.step);
        course.earlier.push(old);
    }
    Ok(course)
}

/// How to extend a run of `config` that ended at `step`.
fn extension_options(config: &Config, step: u64) -> String {
    let steps = config.time.max_steps.filter(|most| step >= *most);
    if let Some(implicit) = config.time.implicit.filter(ImplicitConfig::is_steady) {
        if step >= implicit.steps {
            return format!("--set time.implicit.steps={}", 2 * step.max(1));
        }
        if steps.is_none() {
            return format!("--set time.implicit.tolerance={:e}", 1e-2 * implicit.tolerance());
        }
    }
    match (steps, config.time.end) {
        (None, Some(end)) => format!("--set time.end={}", 2.0 * end),
        _ => format!("--set time.max_steps={}", 2 * step.max(1)),
    }
}
