//! A run from its first to its last step.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::deadline::Deadline;
use super::output::Volumes;
use super::output_schedule::{Kind, OutputSchedule};
use super::plan::reached;
use super::rejections::{
    check_step, initial_state_error, no_time_after_restart, no_time_error, refused_reference,
};
use super::restart::{changes, course_before, set_newer_checkpoints_aside};
use super::run_files::{Files, STANDARD_FILES};
use super::summary::ns_per_point_stage;
use super::task::{Ending, Origin, Requests, Task};
use super::{Simulation, Statistics, on_first};
use crate::backend::Backend;
use crate::comm::{Communicator, all_or_error};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::Decomposition;
use crate::io::checkpoint::{OutputProgress, Writing};
use crate::io::directory::entries;
use crate::io::progress::tell;
use crate::io::{
    PROFILE, RunDirectory, RunId, SURFACE, USER_REFERENCE, remove_file, user_reference,
};
use crate::physics::instabilities;
use crate::scheme::ImplicitConfig;
use crate::statistics::Kind as SampleKind;

/// Pictures of a run that writes no fields: at the start and after each of this many parts.
const PICTURE_INTERVALS: u64 = 4;

/// [`run`](super::run) on an open backend, whose ranks hold the blocks of the decomposition. Collective.
///
/// # Errors
/// As there.
pub fn run_on(
    backend: Arc<dyn Backend>,
    task: Task<'_>,
    log: &dyn Fn(&Path) -> Result<()>,
) -> Result<Ending> {
    Run::start(backend, task, log)?.execute()
}

pub(super) struct Run<'a> {
    pub(super) config: &'a Config,
    pub(super) directory: &'a Path,
    /// Unique ID of the run.
    pub(super) id: RunId,
    pub(super) simulation: Simulation,
    pub(super) decomposition: Decomposition,
    requests: &'a Requests,
    /// Files that only rank 0 writes.
    pub(super) files: Option<Files>,
    pub(super) volumes: Volumes,
    pub(super) statistics: Option<Statistics>,
    pub(super) schedule: OutputSchedule,
    pub(super) deadline: Deadline,
    /// A checkpoint that is being written.
    pub(super) writing: Option<Writing>,
    /// The step of the newest checkpoint.
    pub(super) saved: Option<u64>,
    pub(super) pictures_taken: u64,
    pub(super) kinetic_energy: f64,
    pub(super) start: Instant,
    /// Progress at this start: steps of all restarts, the last of which is this one, and parts with another grid or flow.
    pub(super) before: OutputProgress,
    /// Steps done before this start.
    pub(super) first_step: u64,
    /// Whether the initial output is written already.
    begun: bool,
}

/// Decisions that a clock or a signal triggers on one rank and that all ranks must share.
struct Decisions {
    stop: bool,
    out_of_time: bool,
    checkpoint: bool,
    /// Some rank is still writing the present checkpoint.
    writing: bool,
    late: [bool; Kind::ALL.len()],
}

impl<'a> Run<'a> {
    fn start(
        backend: Arc<dyn Backend>,
        task: Task<'a>,
        log: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<Self> {
        let Task { config, directory, origin, decomposition, requests } = task;
        let start = Instant::now();
        let ranks = backend.comm().size();
        let before = match &origin {
            Origin::Case => OutputProgress::default(),
            Origin::Own(checkpoint) => course_before(&checkpoint.head, config)?,
            Origin::Other(checkpoint) => {
                let OutputProgress { earlier, .. } = course_before(&checkpoint.head, config)?;
                OutputProgress { earlier, ..OutputProgress::default() }
            }
        };
        let simulation = match origin.checkpoint() {
            None => Simulation::on(backend, config),
            Some(checkpoint) => Simulation::resume(backend, config, checkpoint),
        };
        let mut simulation = simulation.map_err(|error| initial_state_error(error, ranks))?;
        if let Origin::Other(_) = &origin {
            simulation.forget_other_run()?;
        }
        let preparation = start.elapsed().as_secs_f64();
        simulation.phases.0.insert("kernels and initial state", preparation);
        let comm = simulation.backend().comm();
        all_or_error(comm, requests.watch.map_or(Ok(()), |watch| watch(requests)))?;
        let bytes = simulation.state().len()
            * simulation.block().len()
            * simulation.backend().precision().bytes();
        let deadline = Deadline::new(config.time.wall_limit, start, [bytes, ranks]);
        let deadline = all_or_error(comm, deadline)?;
        all_or_error(comm, check_step(&simulation))?;
        all_or_error(comm, if deadline.is_near() { Err(no_time_error()) } else { Ok(()) })?;
        let course = origin.course();
        // Checks that may refuse come before anything is cut or removed.
        on_first(comm, || {
            course.map_or(Ok(()), |course| Files::check(&simulation, directory, course))
        })?;
        let read = |path: &PathBuf| {
            let copy = directory.join(USER_REFERENCE);
            // A continued run has its own copy.
            let has_copy = course.is_some() && !path.exists() && copy.exists();
            let read = user_reference(if has_copy { &copy } else { path });
            read.map_err(|why| refused_reference(&why))
        };
        let curves = on_first(comm, || config.output.reference.as_ref().map(read).transpose())?;
        let id = origin.own_head().map_or_else(|| RunId::shared(comm), |head| head.run);
        let own = on_first(comm, || {
            let mut own = match course {
                None => RunDirectory::create(directory, id)?,
                Some(_) => RunDirectory::open(directory, Some(id))?,
            };
            own.claim(tables(config))?;
            own.claim(STANDARD_FILES.map(String::from))?;
            if course.is_some() {
                // They describe an end that no longer holds.
                remove_file(&own.join("summary.json"))?;
                remove_file(&own.join("report.html"))?;
                let tables = [PROFILE, SURFACE].map(|name| own.join(name));
                for path in tables.into_iter().chain(entries(&own.join("plots"))) {
                    if own.owns(&path) {
                        remove_file(&path)?;
                    }
                }
                // Before any file is truncated: a restart from these checkpoints needs every file they refer to.
                set_newer_checkpoints_aside(directory, simulation.steps())?;
            }
            Ok(own)
        })?;
        // Averages continue from those in `before`, which has none where the flow has changed.
        let statistics = statistics(comm, config, directory, course.map(|_| &before))?;
        let place = (directory, own.as_ref());
        let volumes = Volumes::open(comm, config, simulation.grid(), place, course)?;
        let files = own.map(|own| Files::open(&simulation, own, course, curves.flatten(), log));
        let files = all_or_error(comm, files.transpose())?;
        if comm.rank() == 0 {
            simulation.backend().notes().iter().for_each(|note| tell(note));
            instabilities(&config.problem(), simulation.grid()).iter().for_each(|note| tell(note));
        }
        let first_step = simulation.steps();
        tracing::info!(
            case = config.case.name(),
            points = ?config.grid.points,
            ranks = ?decomposition.ranks,
            threads = simulation.backend().threads(),
            step = first_step,
            "start"
        );
        for change in origin.own_head().into_iter().flat_map(|head| changes(head, config)) {
            tracing::info!(step = first_step, "{}", change.message);
        }
        let pictures = pictures_until(config, first_step, simulation.time());
        let run = Self {
            config,
            directory,
            id,
            schedule: OutputSchedule::new(config, simulation.time(), &before.written),
            pictures_taken: match origin {
                Origin::Own(_) => before.pictures.min(pictures),
                // The picture of its start is still to be taken.
                Origin::Case | Origin::Other(_) => pictures - 1,
            },
            simulation,
            decomposition,
            requests,
            files,
            volumes,
            statistics,
            deadline,
            writing: None,
            saved: matches!(origin, Origin::Own(_)).then_some(first_step),
            kinetic_energy: f64::NAN,
            start,
            before,
            first_step,
            begun: matches!(origin, Origin::Own(_)),
        };
        if let (Some(live), Some(_)) = (&requests.live, &run.files) {
            live.begin(directory, run.so_far(Default::default()));
        }
        Ok(run)
    }

    fn execute(mut self) -> Result<Ending> {
        let mut result = self.run_steps();
        // Where only one rank has failed, the others are elsewhere and cannot answer collective calls.
        let comm = self.simulation.backend().comm();
        let is_collective =
            comm.size() == 1 || result.as_ref().err().is_none_or(Error::is_everywhere);
        if is_collective {
            // The checkpoint in progress is sound, even if the run fails after it.
            let written = self.finish_checkpoint();
            result = result.and_then(|ending| written.map(|()| ending));
        }
        let reason = match &result {
            Ok(Ending::Finished) if self.config.time.is_steady() => {
                let unsteady = self.simulation.unsteady();
                if let (Some(why), true) = (&unsteady, self.files.is_some()) {
                    tell(&format!("warning: {why}"));
                }
                unsteady.unwrap_or_else(|| "became steady".into())
            }
            Ok(ending) => ending.reason().to_string(),
            Err(error) => error.to_string().lines().next().unwrap_or_default().to_string(),
        };
        tracing::info!(steps = self.simulation.steps(), time = self.simulation.time(), "{reason}");
        let phases = match is_collective {
            true => self.simulation.phases.over_ranks(self.simulation.backend().comm()),
            false => [self.simulation.phases.clone(), self.simulation.phases.clone()],
        };
        let closing = self.close(result.as_ref().ok().copied(), &reason, phases);
        // Report the first error.
        let ending = result?;
        closing?;
        Ok(ending)
    }

    fn run_steps(&mut self) -> Result<Ending> {
        if !self.begun {
            self.write_initial_output()?;
        }
        let mut decisions = self.agree();
        if decisions.checkpoint {
            // Requested before the run began, whose first checkpoint may be in progress.
            self.finish_checkpoint()?;
            if self.saved != Some(self.simulation.steps()) {
                self.write_checkpoint()?;
            }
        }
        let ending = loop {
            if self.is_over() {
                break Ending::Finished;
            }
            if decisions.stop {
                break Ending::Stopped;
            }
            if decisions.out_of_time {
                if self.begun && self.simulation.steps() == self.first_step {
                    let why = no_time_after_restart(self.directory);
                    return all_or_error(self.simulation.backend().comm(), Err(why));
                }
                break Ending::OutOfTime;
            }
            let start = Instant::now();
            let next = self.simulation.steps() + 1;
            let last = self.config.time.max_steps == Some(next);
            self.simulation.expect_read(last || self.schedule.due_by_step(next));
            self.simulation.step(self.next_landing())?;
            decisions = self.agree();
            self.write_due_output(&decisions)?;
            self.show_progress();
            self.deadline.record_step(start.elapsed().as_secs_f64());
        };
        self.write_final_output(ending)?;
        Ok(ending)
    }

    /// Show the present step and the kinetic energy of the last row on the terminal.
    fn show_progress(&mut self) {
        let simulation = &self.simulation;
        let (step, time, dt) = (simulation.steps(), simulation.time(), simulation.last_dt());
        let right_hand_sides = simulation.right_hand_sides();
        let ns = ns_per_point_stage(simulation.grid(), &simulation.phases, right_hand_sides);
        let Some(Files { progress, .. }) = &mut self.files else { return };
        match simulation.decades() {
            Some(decades) => progress.update_steady(step, decades, dt, self.kinetic_energy, ns),
            None => progress.update(step, time, dt, self.kinetic_energy, ns),
        }
    }

    /// Write the output before the first step.
    fn write_initial_output(&mut self) -> Result<()> {
        let step = self.simulation.steps();
        for kind in Kind::ALL {
            if self.schedule.has(kind) {
                self.schedule.write(kind, step);
            }
        }
        self.write_row()?;
        self.write_fields_and_pictures(self.schedule.has(Kind::Fields), true)?;
        self.write_planes()?;
        self.write_statistics()?;
        if self.schedule.has(Kind::Checkpoint) {
            self.write_checkpoint()?;
        }
        Ok(())
    }

    fn write_due_output(&mut self, decisions: &Decisions) -> Result<()> {
        if !decisions.writing {
            self.finish_checkpoint()?;
        }
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        let due = Kind::ALL
            .map(|kind| self.schedule.due(kind, step, time, decisions.late[kind as usize]));
        let due = |kind| due[kind as usize];
        if due(Kind::Series) {
            self.write_row()?;
        }
        self.write_fields_and_pictures(due(Kind::Fields), self.pictures_due())?;
        if due(Kind::Planes) {
            self.write_planes()?;
        }
        if due(Kind::Statistics) {
            self.write_statistics()?;
        }
        // After all output that a restart does not repeat.
        if due(Kind::Checkpoint) || decisions.checkpoint {
            self.write_checkpoint()?;
        }
        Ok(())
    }

    /// Write the output after the last step: the checkpoint first, since the other output would not exist if the run had
    /// continued.
    fn write_final_output(&mut self, ending: Ending) -> Result<()> {
        let step = self.simulation.steps();
        if ending != Ending::Finished || self.config.output.checkpoint.is_some() {
            let saved = if self.saved == Some(step) { Ok(()) } else { self.write_checkpoint() };
            if let Err(why) = saved.and_then(|()| self.finish_checkpoint()) {
                // Where the checkpoint was not requested, the results are valid without it.
                if ending != Ending::Finished || self.schedule.has(Kind::Checkpoint) {
                    return Err(why);
                }
                if self.files.is_some() {
                    let why = why.what();
                    tell(&format!(
                        "warning: the last state is not kept, so the run cannot be extended: {why}"
                    ));
                }
            }
            if ending != Ending::Finished && self.saved != Some(step) {
                let path = RunDirectory::checkpoints(self.directory);
                let what = format!(
                    "the run was to stop at step {step}, but no checkpoint could be written"
                );
                let comm = self.simulation.backend().comm();
                return all_or_error(comm, Err(Error::Format { path, what }));
            }
        }
        let is_pending =
            |run: &Self, kind| run.schedule.has(kind) && run.schedule.written(kind) != Some(step);
        if is_pending(self, Kind::Series) {
            self.write_row()?;
            self.show_progress();
        }
        let fields = is_pending(self, Kind::Fields);
        // In a steady run the last quarter is not known in advance.
        let unseen = self.config.time.is_steady()
            && !self.schedule.has(Kind::Fields)
            && step > self.first_step;
        self.write_fields_and_pictures(fields, fields || unseen)?;
        if is_pending(self, Kind::Planes) {
            self.write_planes()?;
        }
        if is_pending(self, Kind::Statistics) {
            self.write_statistics()?;
        }
        self.write_profile()?;
        self.write_surface()
    }

    /// Conditions that hold on all ranks if they hold on one.
    fn agree(&self) -> Decisions {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let mut flags = [false; 4 + Kind::ALL.len()];
        flags[0] = is_set(&self.requests.stop);
        flags[1] = self.deadline.is_near();
        flags[2] = self.requests.checkpoint.swap(false, Ordering::Relaxed);
        flags[3] = self.writing.as_ref().is_some_and(|writing| !writing.is_done());
        flags[4..].copy_from_slice(&self.schedule.late());
        let comm = self.simulation.backend().comm();
        if comm.size() > 1 {
            let mut numbers = flags.map(f64::from);
            comm.max(&mut numbers);
            flags = numbers.map(|number| number > 0.0);
        }
        let [stop, out_of_time, checkpoint, writing, late @ ..] = flags;
        Decisions { stop, out_of_time, checkpoint, writing, late }
    }

    fn is_over(&self) -> bool {
        self.simulation.is_steady()
            || is_over(self.config, self.simulation.steps(), self.simulation.time())
    }

    /// The next time that a step must not pass; `None` for a steady run.
    fn next_landing(&self) -> Option<f64> {
        if self.config.time.is_steady() {
            return None;
        }
        let times = [self.config.time.end, self.schedule.next_time(self.simulation.time())];
        times.into_iter().flatten().reduce(f64::min)
    }

    /// Without field output, pictures are taken whenever another quarter of the run is done.
    fn pictures_due(&self) -> bool {
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        !self.schedule.has(Kind::Fields)
            && pictures_until(self.config, step, time) > self.pictures_taken
    }
}

/// Number of pictures that a run of `config` without fields has taken up to `step` and `time`; a changed end changes it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few pictures")]
fn pictures_until(config: &Config, step: u64, time: f64) -> u64 {
    let part = |done: f64, all: f64| done / all * PICTURE_INTERVALS as f64;
    let by_time = config.time.end.map_or(0.0, |end| part(time, end));
    let by_steps = config.time.max_steps.map_or(0.0, |steps| part(step as f64, steps as f64));
    by_time.max(by_steps) as u64 + 1
}

fn sample_kind(config: &Config) -> SampleKind {
    if config.case.is_flow() { SampleKind::Flow } else { SampleKind::Scalar }
}

/// The names of the statistics tables of a run, in its directory.
pub(super) fn tables(config: &Config) -> Vec<String> {
    let options = config.output.statistics.as_ref();
    let names =
        options.map_or(Vec::new(), |options| Statistics::tables(options, sample_kind(config)));
    names.into_iter().map(|name| format!("statistics/{name}")).collect()
}

/// The statistics of a run, which may continue from earlier ones. Collective.
fn statistics(
    comm: &dyn Communicator,
    config: &Config,
    directory: &Path,
    course: Option<&OutputProgress>,
) -> Result<Option<Statistics>> {
    let Some(options) = &config.output.statistics else { return Ok(None) };
    let kind = sample_kind(config);
    let directory = directory.join("statistics");
    let Some(course) = course else {
        return Statistics::create(comm, &directory, options, kind).map(Some);
    };
    let last = course.written.get(Kind::Statistics.name()).copied();
    let running = course.statistics.clone().unwrap_or_default();
    let statistics = Statistics::resume(comm, &directory, options, kind, last, running)?;
    Ok(Some(statistics.with_profiles(course.profiles.clone())))
}

/// Whether a run of `config` has reached its end.
pub(super) fn is_over(config: &Config, step: u64, time: f64) -> bool {
    let steady = config.time.implicit.filter(ImplicitConfig::is_steady);
    steady.is_some_and(|implicit| step >= implicit.steps)
        || config.time.end.is_some_and(|end| reached(time, end))
        || config.time.max_steps.is_some_and(|steps| step >= steps)
}
