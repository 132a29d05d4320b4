//! A run from its first step to its last.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::close::reference_csv;
use super::plan::reached;
use super::{Plan, Simulation};
use crate::backend::Backend;
use crate::comm::agree;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::Decomposition;
use crate::io::progress::tell;
use crate::io::{FieldValues, FieldWriter, Progress, RunDirectory, SeriesWriter, SliceWriter};

/// Pictures of a run that writes no fields: at the start and after every such part of it.
const PICTURES: u64 = 4;

/// How a run ended, where nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It reached its end.
    Finished,
    /// It was asked to stop.
    Stopped,
}

/// [`run`](super::run) on a backend that is open, whose ranks hold the blocks of `decomposition`. Collective.
///
/// # Errors
/// As there.
pub fn run_on<B: Backend>(
    backend: B,
    decomposition: Decomposition,
    config: &Config,
    directory: &Path,
    log: impl Fn(&Path) -> Result<()>,
    stop: &AtomicBool,
) -> Result<Ending>
where
    FieldValues: From<Vec<B::Real>>,
{
    Run::start(backend, decomposition, config, directory, log)?.go(stop)
}

/// An initial state that the equations have no meaning for is a mistake of the input, which all of `ranks` ranks know of.
fn impossible_start(error: Error, ranks: usize) -> Error {
    let Error::Diverged { field, value, index: [i, j, k], .. } = error else { return error };
    let mistake = Error::Config(vec![
        format!("error: the initial state has {field} = {value} at point ({i}, {j}, {k})"),
        "       change the parameters in [case], [gas] or the box".to_string(),
        "1 error; nothing was run".to_string(),
    ]);
    if ranks == 1 {
        return mistake;
    }
    Error::Elsewhere { message: mistake.report(), exit_code: mistake.exit_code() }
}

pub(super) struct Run<'a, B: Backend> {
    pub(super) config: &'a Config,
    pub(super) simulation: Simulation<B>,
    pub(super) decomposition: Decomposition,
    /// What rank 0 alone writes.
    pub(super) files: Option<Files>,
    series_plan: Plan,
    pub(super) fields: Option<FieldWriter>,
    fields_plan: Option<Plan>,
    /// The last step whose fields were written.
    fields_of: Option<u64>,
    pub(super) pictures_taken: u64,
    pub(super) kinetic_energy: f64,
    pub(super) start: Instant,
}

pub(super) struct Files {
    pub(super) directory: RunDirectory,
    pub(super) series: SeriesWriter,
    pub(super) slices: SliceWriter,
    pub(super) progress: Progress,
}

impl Files {
    fn create<B: Backend>(
        config: &Config,
        simulation: &Simulation<B>,
        directory: &Path,
        log: impl Fn(&Path) -> Result<()>,
    ) -> Result<Self> {
        let directory = RunDirectory::create(directory)?;
        log(&directory.join("log.jsonl"))?;
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::write(&path, text).map_err(Error::io(&path))
        };
        write("config.toml", &config.to_toml())?;
        if let Some(text) = reference_csv(config, simulation) {
            write("reference.csv", &text)?;
        }
        Ok(Self {
            series: SeriesWriter::create(&directory.join("series.csv"), simulation.columns())?,
            slices: SliceWriter::create(&directory.join("slices"))?,
            directory,
            progress: Progress::new(config.time.end, config.time.max_steps),
        })
    }
}

/// What ranks have to agree on, since a clock or a signal says it to one of them.
struct Now {
    stop: bool,
    series_late: bool,
    fields_late: bool,
}

impl<'a, B: Backend> Run<'a, B>
where
    FieldValues: From<Vec<B::Real>>,
{
    fn start(
        backend: B,
        decomposition: Decomposition,
        config: &'a Config,
        directory: &Path,
        log: impl Fn(&Path) -> Result<()>,
    ) -> Result<Self> {
        let start = Instant::now();
        let ranks = backend.comm().size();
        let mut simulation =
            Simulation::on(backend, config).map_err(|error| impossible_start(error, ranks))?;
        let preparation = start.elapsed().as_secs_f64();
        simulation.phases.0.insert("kernels and initial state", preparation);
        let comm = simulation.backend().comm();
        let files = match comm.rank() {
            0 => Files::create(config, &simulation, directory, log).map(Some),
            _ => Ok(None),
        };
        let files = agree(comm, files)?;
        // The files of an older run are gone now; whoever has a piece to write needs the directory.
        let fields = config.output.fields.as_ref();
        let writer = fields.map(|_| FieldWriter::create(&directory.join("fields"))).transpose();
        let writer = agree(comm, writer)?;
        if comm.rank() == 0 {
            simulation.backend().notes().iter().for_each(|note| tell(note));
        }
        tracing::info!(
            case = config.case.name(),
            points = ?config.grid.points,
            ranks = ?decomposition.ranks,
            threads = simulation.backend().threads(),
            "start"
        );
        Ok(Self {
            config,
            simulation,
            decomposition,
            files,
            series_plan: Plan::new(config.output.series),
            fields: writer,
            fields_plan: fields.map(|fields| Plan::new(fields.schedule)),
            fields_of: None,
            pictures_taken: 0,
            kinetic_energy: f64::NAN,
            start,
        })
    }

    fn go(mut self, stop: &AtomicBool) -> Result<Ending> {
        let result = self.steps(stop);
        let reason = match &result {
            Ok(Ending::Finished) => "reached its end".to_string(),
            Ok(Ending::Stopped) => "asked to stop".to_string(),
            Err(error) => error.to_string().lines().next().unwrap_or_default().to_string(),
        };
        tracing::info!(steps = self.simulation.steps(), time = self.simulation.time(), "{reason}");
        // Where one rank alone has failed the others are not where it could ask them anything.
        let together = matches!(result, Ok(_) | Err(Error::Diverged { .. }));
        let phases = match together {
            true => self.simulation.phases.over_ranks(self.simulation.backend().comm()),
            false => [self.simulation.phases.clone(), self.simulation.phases.clone()],
        };
        let finished = matches!(result, Ok(Ending::Finished));
        let closing = self.close(result.is_ok(), finished, &reason, phases);
        // The first thing that went wrong is the one to tell.
        let ending = result?;
        closing?;
        Ok(ending)
    }

    fn steps(&mut self, stop: &AtomicBool) -> Result<Ending> {
        self.write_row()?;
        self.write_fields_and_pictures(true, true)?;
        let mut last_row = 0;
        let mut now = self.agreed(stop);
        let ending = loop {
            if self.is_over() {
                break Ending::Finished;
            }
            if now.stop {
                break Ending::Stopped;
            }
            self.simulation.step(self.next_landing())?;
            now = self.agreed(stop);
            let (step, time) = (self.simulation.steps(), self.simulation.time());
            if self.series_plan.due(step, time, now.series_late) {
                self.write_row()?;
                last_row = step;
            }
            let plan = self.fields_plan.as_mut();
            let fields_due = plan.is_some_and(|plan| plan.due(step, time, now.fields_late));
            let picture_due = self.pictures_due();
            self.write_fields_and_pictures(fields_due, picture_due)?;
            let (dt, ns) = (self.simulation.last_dt(), self.ns_per_point_stage());
            if let Some(files) = &mut self.files {
                files.progress.update(step, time, dt, self.kinetic_energy, ns);
            }
        };
        let step = self.simulation.steps();
        if last_row != step {
            self.write_row()?;
        }
        let unwritten = self.fields.is_some() && self.fields_of != Some(step);
        self.write_fields_and_pictures(unwritten, unwritten)?;
        Ok(ending)
    }

    /// What holds on all ranks where it holds on one.
    fn agreed(&self, stop: &AtomicBool) -> Now {
        let late = |plan: &Plan| plan.late();
        let fields_late = self.fields_plan.as_ref().is_some_and(late);
        let mut flags = [stop.load(Ordering::Relaxed), late(&self.series_plan), fields_late];
        let comm = self.simulation.backend().comm();
        if comm.size() > 1 {
            let mut numbers = flags.map(f64::from);
            comm.max(&mut numbers);
            flags = numbers.map(|number| number > 0.0);
        }
        let [stop, series_late, fields_late] = flags;
        Now { stop, series_late, fields_late }
    }

    fn is_over(&self) -> bool {
        let time = &self.config.time;
        time.end.is_some_and(|end| reached(self.simulation.time(), end))
            || time.max_steps.is_some_and(|steps| self.simulation.steps() >= steps)
    }

    /// The next time that a step must not pass.
    fn next_landing(&self) -> Option<f64> {
        let fields = self.fields_plan.as_ref().and_then(Plan::next_time);
        let times = [self.config.time.end, self.series_plan.next_time(), fields];
        times.into_iter().flatten().reduce(f64::min)
    }

    /// Where no fields are written there are still pictures, whenever another quarter of the run is done.
    #[allow(clippy::cast_precision_loss, reason = "a few pictures")]
    fn pictures_due(&self) -> bool {
        if self.fields.is_some() {
            return false;
        }
        let time = &self.config.time;
        let part = |done: f64, all: f64| done / all * PICTURES as f64;
        let by_time = time.end.map_or(0.0, |end| part(self.simulation.time(), end));
        let by_steps =
            time.max_steps.map_or(0.0, |steps| part(self.simulation.steps() as f64, steps as f64));
        by_time.max(by_steps) >= self.pictures_taken as f64
    }

    fn ns_per_point_stage(&self) -> f64 {
        super::close::ns_per_point_stage(&self.simulation, self.config, &self.simulation.phases)
    }

    fn write_fields_and_pictures(&mut self, fields: bool, pictures: bool) -> Result<()> {
        let start = Instant::now();
        if fields && self.fields.is_some() {
            self.write_fields()?;
            self.fields_of = Some(self.simulation.steps());
        }
        if pictures || fields {
            self.write_pictures()?;
        }
        *self.simulation.phases.0.entry("fields and pictures").or_default() +=
            start.elapsed().as_secs_f64();
        Ok(())
    }
}
