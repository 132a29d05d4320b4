//! A run from its first step to its last, with everything it writes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::memory::{check_device_memory, check_memory};
use super::plan::reached;
use super::{Plan, Simulation};
use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::backend::device::{Api, Device, Gpu, choose, why_not_cuda};
use crate::config::{self, Config, Precision, Variable};
use crate::error::{Error, Result};
use crate::io::progress::tell;
use crate::io::summary::{self, Machine, SchemeSummary, Verdict};
use crate::io::{
    FieldData, FieldValues, FieldWriter, ImageGrid, Plane, Progress, Reference, RunDirectory,
    Series, SeriesWriter, Slice, SliceWriter, Summary, write_report,
};
use crate::real::Real;

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

/// Run `config` and write everything into `directory`, which is made, or freed of an older run, once the initial state
/// has been found sound; `log` is then told where the log goes. `stop` set to true ends the run after the present step.
///
/// # Errors
/// Where the initial state makes no sense; nothing is written then. Where the run diverges or a file cannot be written:
/// what was written before stays, and the report says what happened.
pub fn run(
    config: &Config,
    directory: &Path,
    log: impl Fn(&Path) -> Result<()>,
    stop: &Arc<AtomicBool>,
    _comm: Arc<dyn crate::comm::Communicator>,
) -> Result<Ending> {
    let compute = &config.compute;
    let chosen = choose(compute, 0)?;
    if compute.backend == config::Backend::Auto
        && !matches!(chosen, Some((Api::Cuda, _)))
        && let Some(reason) = why_not_cuda()
    {
        tell(&format!("note: {reason}"));
    }
    let Some((api, index)) = chosen else {
        check_memory(config)?;
        return match compute.precision {
            Precision::F64 => on(Cpu::<f64>::new(compute.threads)?, config, directory, log, stop),
            Precision::F32 => on(Cpu::<f32>::new(compute.threads)?, config, directory, log, stop),
        };
    };
    let device = Device::open(api, index)?;
    check_device_memory(config, &device)?;
    tell(&format!("on {}; its kernels are compiled first", device.info().name));
    let len = config.grid.points.iter().product();
    match compute.precision {
        Precision::F64 => {
            on(Gpu::<f64>::configured(device, len, compute)?, config, directory, log, stop)
        }
        Precision::F32 => {
            on(Gpu::<f32>::configured(device, len, compute)?, config, directory, log, stop)
        }
    }
}

/// The same on a backend that is open.
fn on<B: Backend<Real: Values>>(
    backend: B,
    config: &Config,
    directory: &Path,
    log: impl Fn(&Path) -> Result<()>,
    stop: &Arc<AtomicBool>,
) -> Result<Ending> {
    Run::start(backend, config, directory, log)?.go(stop)
}

/// An initial state that the equations have no meaning for is a mistake of the input.
fn impossible_start(error: Error) -> Error {
    match error {
        Error::Diverged { field, value, index: [i, j, k], .. } => Error::Config(vec![
            format!("error: the initial state has {field} = {value} at point ({i}, {j}, {k})"),
            "       change the parameters in [case], [gas] or the box".to_string(),
            "1 error; nothing was run".to_string(),
        ]),
        other => other,
    }
}

/// Fields that know how to be written.
trait Values: Real {
    fn values(data: Vec<Self>) -> FieldValues;
}

impl Values for f64 {
    fn values(data: Vec<Self>) -> FieldValues {
        FieldValues::F64(data)
    }
}

impl Values for f32 {
    fn values(data: Vec<Self>) -> FieldValues {
        FieldValues::F32(data)
    }
}

struct Run<'a, B: Backend> {
    config: &'a Config,
    directory: RunDirectory,
    simulation: Simulation<B>,
    series: SeriesWriter,
    series_plan: Plan,
    fields: Option<(FieldWriter, Plan)>,
    slices: SliceWriter,
    pictures_taken: u64,
    progress: Progress,
    kinetic_energy: f64,
    start: Instant,
}

impl<'a, B: Backend<Real: Values>> Run<'a, B> {
    fn start(
        backend: B,
        config: &'a Config,
        directory: &Path,
        log: impl Fn(&Path) -> Result<()>,
    ) -> Result<Self> {
        let start = Instant::now();
        let mut simulation = Simulation::on(backend, config).map_err(impossible_start)?;
        let preparation = start.elapsed().as_secs_f64();
        simulation.phases.0.insert("kernels and initial state", preparation);
        let directory = RunDirectory::create(directory)?;
        log(&directory.join("log.jsonl"))?;
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::write(&path, text).map_err(Error::io(&path))
        };
        write("config.toml", &config.to_toml())?;
        if let Some(text) = reference_csv(config, &simulation) {
            write("reference.csv", &text)?;
        }
        let series = SeriesWriter::create(&directory.join("series.csv"), simulation.columns())?;
        let fields = match &config.output.fields {
            Some(fields) => {
                let writer = FieldWriter::create(&directory.join("fields"))?;
                Some((writer, Plan::new(fields.schedule)))
            }
            None => None,
        };
        tracing::info!(
            case = config.case.name(),
            points = ?config.grid.points,
            threads = simulation.backend().threads(),
            "start"
        );
        Ok(Self {
            config,
            slices: SliceWriter::create(&directory.join("slices"))?,
            directory,
            simulation,
            series,
            series_plan: Plan::new(config.output.series),
            fields,
            pictures_taken: 0,
            progress: Progress::new(config.time.end, config.time.max_steps),
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
        let closing = self.close(result.is_ok(), matches!(result, Ok(Ending::Finished)), &reason);
        // The first thing that went wrong is the one to tell.
        let ending = result?;
        closing?;
        Ok(ending)
    }

    fn steps(&mut self, stop: &AtomicBool) -> Result<Ending> {
        self.write_row()?;
        self.write_fields_and_pictures(true, true)?;
        let mut last_row = 0;
        let ending = loop {
            if self.is_over() {
                break Ending::Finished;
            }
            if stop.load(Ordering::Relaxed) {
                break Ending::Stopped;
            }
            self.simulation.step(self.next_landing())?;
            let (step, time) = (self.simulation.steps(), self.simulation.time());
            if self.series_plan.due(step, time) {
                self.write_row()?;
                last_row = step;
            }
            let fields_due = self.fields.as_mut().is_some_and(|(_, plan)| plan.due(step, time));
            let picture_due = self.pictures_due();
            self.write_fields_and_pictures(fields_due, picture_due)?;
            let dt = self.simulation.last_dt();
            self.progress.update(step, time, dt, self.kinetic_energy, self.ns_per_point_stage());
        };
        let step = self.simulation.steps();
        if last_row != step {
            self.write_row()?;
        }
        let unwritten = self.fields.is_some()
            && !self.directory.join("fields").join(format!("step_{step:08}.vti")).exists();
        self.write_fields_and_pictures(unwritten, unwritten)?;
        Ok(ending)
    }

    fn is_over(&self) -> bool {
        let time = &self.config.time;
        time.end.is_some_and(|end| reached(self.simulation.time(), end))
            || time.max_steps.is_some_and(|steps| self.simulation.steps() >= steps)
    }

    /// The next time that a step must not pass.
    fn next_landing(&self) -> Option<f64> {
        let fields = self.fields.as_ref().and_then(|(_, plan)| plan.next_time());
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

    fn write_row(&mut self) -> Result<()> {
        let start = Instant::now();
        let row = self.simulation.row()?;
        let energy = self.simulation.columns().iter().position(|&name| name == "kinetic_energy");
        self.kinetic_energy = energy.map_or(f64::NAN, |at| row[at]);
        self.series.append(self.simulation.steps(), &row[1..])?;
        *self.simulation.phases.0.entry("series").or_default() += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn write_fields_and_pictures(&mut self, fields: bool, pictures: bool) -> Result<()> {
        let start = Instant::now();
        if fields && let Some((writer, _)) = &mut self.fields {
            let (step, time) = (self.simulation.steps(), self.simulation.time());
            let grid = self.simulation.grid();
            let image =
                ImageGrid { points: grid.points, origin: grid.origin, spacing: grid.spacing };
            let variables = self.config.output.fields.iter().flat_map(|fields| &fields.variables);
            let (system, state) = self.simulation.system_and_state();
            let data = variables.map(|&variable| {
                Ok(FieldData {
                    name: variable.name().to_string(),
                    components: components(variable),
                    values: B::Real::values(system.output(state, variable)?),
                })
            });
            let bytes = writer.write(step, time, &image, data.collect::<Result<_>>()?)?;
            tracing::info!(step, time, bytes, "fields written");
        }
        if pictures || fields {
            self.write_pictures()?;
        }
        *self.simulation.phases.0.entry("fields and pictures").or_default() +=
            start.elapsed().as_secs_f64();
        Ok(())
    }

    /// The planes through the middle of the box.
    fn write_pictures(&mut self) -> Result<()> {
        self.pictures_taken += 1;
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        let [nx, ny, nz] = self.simulation.grid().points;
        let (system, state) = self.simulation.system_and_state();
        let (quantity, values) = system.picture(state)?;
        let at = |i: usize, j: usize, k: usize| values[i + nx * (j + ny * k)];
        let planes: [(Plane, [usize; 2], Vec<f64>); 3] = [
            (Plane::Xy, [nx, ny], plane(nx, ny, |i, j| at(i, j, nz / 2))),
            (Plane::Xz, [nx, nz], plane(nx, nz, |i, k| at(i, ny / 2, k))),
            (Plane::Yz, [ny, nz], plane(ny, nz, |j, k| at(nx / 2, j, k))),
        ];
        for (plane, points, values) in &planes {
            if points.contains(&1) {
                continue;
            }
            // Each on its own scale: a plane of symmetry may hold far less than the others.
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let range = [least, most];
            let slice = Slice { plane: *plane, quantity, points: *points, values, range };
            self.slices.write(step, time, &slice)?;
        }
        Ok(())
    }

    #[allow(clippy::cast_precision_loss, reason = "for a rate")]
    fn ns_per_point_stage(&self) -> f64 {
        let seconds = self.simulation.phases.0.get("right-hand sides and updates");
        let stages = self.config.time.integrator.stages() as u64 * self.simulation.steps();
        seconds.map_or(f64::NAN, |seconds| {
            1e9 * seconds / (stages as f64 * self.simulation.grid().len() as f64)
        })
    }

    /// Summary and report, also of a run that broke off.
    fn close(&mut self, sound: bool, finished: bool, reason: &str) -> Result<()> {
        let config = self.config;
        let flow = config.case.flow().is_some();
        let series = Series::read(&self.directory.join("series.csv"))?;
        let length = config.grid.domain.length;
        let spacing = summary::largest_spacing(config.grid.points, length);
        let reynolds = (flow && !config.gas.is_inviscid()).then_some(config.gas.reynolds);
        let resolution = reynolds.and_then(|re| summary::resolution(&series, spacing, re));
        let reference = self.directory.join("reference.csv");
        let reference = match reference.exists() {
            true => Some(Reference::read(&reference)?),
            false => None,
        };
        let comparison = reference.as_ref().and_then(|reference| reference.compare(&series));
        let reaches_peak = reference.is_some_and(|r| self.simulation.time() >= r.peak_time());
        let scheme = &config.scheme;
        let [convection, energy, viscous] = scheme.form_names().map(str::to_string);
        let steps = self.simulation.steps();
        let result = Summary {
            version: env!("CARGO_PKG_VERSION").to_string(),
            case: config.case.name().to_string(),
            title: config.case.title().to_string(),
            mach: flow.then_some(config.gas.mach),
            reynolds,
            points: config.grid.points,
            length,
            scheme: SchemeSummary {
                derivative: scheme.derivative.name.to_string(),
                convection,
                energy,
                viscous,
                filter: scheme.filter.map_or("none".to_string(), |filter| filter.to_string()),
                integrator: config.time.integrator.name.to_string(),
            },
            backend: self.simulation.backend().name().to_string(),
            precision: config.compute.precision.name().to_string(),
            machine: {
                let backend = self.simulation.backend();
                Machine::here(backend.threads(), backend.simd(), backend.device_name())
            },
            steps,
            end_time: self.simulation.time(),
            finished,
            stop_reason: reason.to_string(),
            wall_seconds: self.start.elapsed().as_secs_f64(),
            ns_per_point_stage: (steps > 0).then(|| self.ns_per_point_stage()),
            phases: self.simulation.phases.0.iter().map(|(k, v)| ((*k).to_string(), *v)).collect(),
            resolution,
            verdict: match summary::verdict(resolution, comparison.as_ref()) {
                // Close to the reference until it broke off is not good enough.
                Verdict::Passed if !sound => Verdict::Deviates,
                // Nor is a start on the curve: the peak of the dissipation has to be passed.
                Verdict::Passed if !(finished && reaches_peak) => Verdict::NoReference,
                verdict => verdict,
            },
            reference: comparison,
        };
        result.write(&self.directory.join("summary.json"))?;
        write_report(self.directory.path())?;
        let report = self.directory.join("report.html");
        let closing = match sound {
            true => format!("{}: {}\n{}", result.verdict, result.stop_reason, report.display()),
            false => String::new(),
        };
        self.progress.finish(&closing);
        Ok(())
    }
}

fn plane(nx: usize, ny: usize, at: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let at = &at;
    (0..ny).flat_map(|j| (0..nx).map(move |i| at(i, j))).collect()
}

fn components(variable: Variable) -> u32 {
    match variable {
        Variable::Velocity | Variable::Vorticity => 3,
        _ => 1,
    }
}

/// The reference history of a case as a table: what `reference.csv` holds.
fn reference_csv<B: Backend>(config: &Config, simulation: &Simulation<B>) -> Option<String> {
    let active = simulation.grid().active();
    let reference = config.case.reference(&config.gas, &config.grid.domain, active)?;
    let mut text = format!("# {}: {}\n", reference.flow, reference.source);
    text.push_str("time,kinetic_energy,dissipation\n");
    for (row, time) in reference.time.iter().enumerate() {
        let (energy, dissipation) = (reference.kinetic_energy[row], reference.dissipation[row]);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{time},{energy},{dissipation}");
    }
    Some(text)
}
