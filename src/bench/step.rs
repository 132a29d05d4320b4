//! Whole steps of the Taylor-Green vortex.

use std::cell::RefCell;
use std::sync::Arc;

use super::arguments::{Common, StepOptions};
use super::check::difference;
use super::measure::{Repeat, Times, WARM_UPS, interleaved, rotating};
use super::output::{CopyReport, Report, Row, Spread, shape};
use super::place::{Place, Setup, Work};
use super::pool::Pool;
use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::backend::device::LineSolver;
use crate::config::{Config, Precision, parse};
use crate::engine::LineOperators;
use crate::error::{Error, Result, refused};
use crate::grid::{Block, Decomposition};
use crate::physics::StageWork;
use crate::time::{Phases, Simulation};

/// Maximum number of points times steps that the host repeats for a check.
const MAX_CHECKED: usize = 1 << 24;

pub(super) fn run(options: &StepOptions, setup: &Setup, report: &mut Report) -> Result<()> {
    let sizes = options.common.sizes(64);
    let is_single = sizes.len() == 1;
    for points in sizes {
        let mut configs = vec![config(points, &options.common, &options.set)?];
        if !options.beside.is_empty() {
            let set = [&options.set[..], &options.beside].concat();
            let changed = config(points, &options.common, &set);
            configs.push(changed.map_err(|why| with_beside_option(why, &options.beside))?);
        }
        if fits_in_memory(setup, &configs, is_single, report)? {
            let result = measure_size(options, setup, report, &configs);
            report.attempt(&format!("step on {}", shape(points)), result)?;
        }
    }
    Ok(())
}

/// The error of the changes `beside`, with the option by which the user made them.
fn with_beside_option(why: Error, beside: &[String]) -> Error {
    let Error::Config(lines) = why else { return why };
    let named = |line: String| {
        let named = |line: String, change: &String| {
            line.replace(&format!("--set {change}"), &format!("--beside {change}"))
        };
        beside.iter().fold(line, named)
    };
    Error::Config(lines.into_iter().map(named).collect())
}

/// Whether steps of all `configs` fit in memory; otherwise an error if `is_single`, and a note if not.
pub(super) fn fits_in_memory(
    setup: &Setup,
    configs: &[Config],
    is_single: bool,
    report: &mut Report,
) -> Result<bool> {
    let check = |config: &Config| {
        let block = Block::whole(config.grid.points);
        setup.check_fits(config, Decomposition::ONE, &block, 1)
    };
    match configs.iter().try_for_each(check) {
        Err(Error::Config(lines)) if !is_single => {
            let sentence = lines.first().map_or("", |line| line.trim_start_matches("error: "));
            report.note(format!("left out: {sentence}"));
            Ok(false)
        }
        result => result.map(|()| true),
    }
}

/// The vortex on these points, with the user's changes `set`.
pub(super) fn config(points: [usize; 3], common: &Common, set: &[String]) -> Result<Config> {
    for (prefix, advice) in [
        ("compute", "use options such as --backend and --precision"),
        ("case.name", "only the Taylor-Green vortex is measured"),
        ("grid.points", "use --points"),
        ("time.end", "use --repeats for the number of steps"),
        ("time.max_steps", "use --repeats for the number of steps"),
        ("output", "nothing is written"),
    ] {
        let is_meaningless = |key: &&String| {
            let key = key.trim_start();
            let of_steps = ["compute.right_hand_side", "compute.sweeps"];
            key.starts_with(prefix) && !of_steps.iter().any(|kept| key.starts_with(kept))
        };
        if let Some(key) = set.iter().find(is_meaningless) {
            return Err(refused(format!("`--set {key}` has no meaning here"), advice));
        }
    }
    vortex(points, &common.precision, set)
}

/// The vortex on these points.
pub(super) fn vortex(points: [usize; 3], precision: &str, set: &[String]) -> Result<Config> {
    let input = format!(
        "[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nmax_steps = 1\n\
         [compute]\nprecision = '{precision}'\n"
    );
    parse(&input, "kolmo bench", set)
}

/// Measure one size, with the steps of all `configs` in turn.
fn measure_size(
    options: &StepOptions,
    setup: &Setup,
    report: &mut Report,
    configs: &[Config],
) -> Result<()> {
    let (common, points) = (&options.common, configs[0].grid.points);
    let (len, precision) = (points.iter().product(), setup.compute.precision);
    let solver = options.method.0[0];
    for config in configs {
        let grid = config.grid();
        let operators = LineOperators::new(&config.scheme.derivative, None, &grid, precision);
        let reason = |axis| setup.why_unsupported(solver?, &operators, axis);
        if let Some(sentence) = grid.active_axes().find_map(reason) {
            return Err(refused(&sentence, "use another method"));
        }
    }
    let place = &*setup.place(len, solver)?;
    // On a large grid, the state leaves little free memory.
    let pool = RefCell::new(Pool::new(place, len, 1)?);
    let negation = place.prepare_work(Work::Negation, points)?;
    let simulation = |config| {
        let backend: Box<dyn Backend> = setup.with_sweeps_of(config, solver)?.place(len, solver)?;
        Simulation::on(backend.into(), config)
    };
    let mut simulations = configs.iter().map(simulation).collect::<Result<Vec<_>>>()?;
    let copy = rotating(place, &pool, &negation);
    let step = |simulation| Box::new(repeat(place, simulation)) as Repeat<'_>;
    let steps = simulations.iter_mut().map(step).collect();
    let (copy, times) = interleaved(common.repeats, copy, steps)?;

    let bytes = precision.bytes();
    let copy = CopyReport::new(&copy, len, bytes);
    let mut rows = Vec::new();
    for (at, (config, simulation)) in configs.iter().zip(&mut simulations).enumerate() {
        let mut row = Row {
            pencils: setup.pencils(),
            beside: (at > 0).then(|| options.beside.join(" ")),
            phases: Some(simulation.phases.0.clone()),
            ..row(
                options,
                (config, right_hand_sides(config, simulation)),
                place,
                points,
                &times[at],
                copy,
            )
        };
        if let Some(work) = work(config) {
            let measured = row.ns_per_point_stage.map_or(0.0, |stage| stage.min);
            report.note(limits(work, bytes, &copy, place.peak(), measured));
        }
        row.error = error_of_steps(simulation, setup, config, report)?;
        rows.push(row);
    }
    if let [row, beside] = &rows[..] {
        report.note(beside.ratio_to(row));
    }
    if setup.device.is_some() {
        report.note(
            "phases are timed by the host's clock, which includes the device only while the host waits for it".into(),
        );
    }
    report.add(copy, step_tolerance(precision), rows);
    Ok(())
}

/// The largest error of correct steps.
pub(super) fn step_tolerance(precision: Precision) -> f64 {
    if precision == Precision::F64 { 1e-9 } else { 1e-3 }
}

/// One step; the phases of warm-up steps are discarded.
fn repeat<'a>(
    place: &'a dyn Place,
    simulation: &'a mut Simulation,
) -> impl FnMut() -> Result<f64> + 'a {
    let mut rounds = 0;
    move || {
        if rounds == WARM_UPS {
            simulation.phases = Phases::default();
        }
        rounds += 1;
        let mut result = Ok(0.0);
        let seconds = place.seconds(&mut || result = simulation.step(None))?;
        result.map(|_| seconds)
    }
}

/// Number of evaluations of dU/dt per step; for implicit steps the mean of the steps so far.
pub(super) fn right_hand_sides(config: &Config, simulation: &Simulation) -> f64 {
    match config.time.implicit {
        None => config.time.integrator.stages() as f64,
        Some(_) => simulation.right_hand_sides() as f64 / simulation.steps() as f64,
    }
}

/// The result of steps on `points` points of this rank, each with this many right-hand sides, without errors.
pub(super) fn row(
    options: &StepOptions,
    (config, right_hand_sides): (&Config, f64),
    place: &dyn Backend,
    points: [usize; 3],
    times: &Times,
    copy: CopyReport,
) -> Row {
    let (stages, size) = (config.time.integrator.stages(), place.precision().bytes());
    let stage = Spread::ns(times, points.iter().product::<usize>() as f64 * right_hand_sides);
    let bytes = work(config).map(|work| work.words * size * stages);
    let row = Row {
        name: "step",
        scheme: Some(config.scheme.derivative.name),
        method: options.method.0[0].map_or("auto", LineSolver::name),
        ns_per_point_stage: Some(stage),
        ..options.common.row(place, points)
    };
    Row { time_over_copy: stage.min / copy.ns_per_point.min, ..row.timed(bytes, times, copy) }
}

/// The work of a right-hand side with its update per point, if it is counted: for explicit steps without a filter.
fn work(config: &Config) -> Option<StageWork> {
    let is_counted = config.scheme.filter.is_none() && config.time.implicit.is_none();
    StageWork::of(&config.problem()).filter(|_| is_counted)
}

/// The time of its memory traffic alone and of its operations alone, at the rates measured here; `measured` is the measured time.
fn limits(
    work: StageWork,
    bytes: usize,
    copy: &CopyReport,
    peak: Option<f64>,
    measured: f64,
) -> String {
    let StageWork { words, words_in_planes, solves, flops } = work;
    let memory = |words: usize| (words * bytes) as f64 / copy.gb_per_s;
    let (alone, in_planes) = (memory(words), memory(words_in_planes));
    let arithmetic = match peak {
        Some(peak) => {
            let alone = 1e9 * flops as f64 / peak;
            format!("{alone:.2} ns at the {:.1} Gflop/s of multiply-adds", 1e-9 * peak)
        }
        None => "not timed separately".into(),
    };
    format!(
        "limits per point and stage: {words} words, {alone:.2} ns at the rate of the copy ({words_in_planes} and {in_planes:.2} ns on \
         a host whose caches hold a plane); {solves} line solves and products, {flops} operations, {arithmetic}; measured \
         {measured:.2} ns"
    )
}

/// Whether a step depends only on U, so that the host can take a step from a state computed elsewhere.
fn depends_only_on_state(config: &Config) -> bool {
    let filters_every_step = config.scheme.filter.is_none_or(|filter| filter.every == 1);
    config.forcing.is_none() && config.time.implicit.is_none() && filters_every_step
}

/// The largest difference of a field from the same steps on the host in f64, relative to the largest value of the field. If there
/// are too many steps to repeat, one further step from the final state is compared.
pub(super) fn error_of_steps(
    simulation: &mut Simulation,
    setup: &Setup,
    config: &Config,
    report: &mut Report,
) -> Result<Option<f64>> {
    let steps = usize::try_from(simulation.steps()).unwrap_or(usize::MAX);
    let points = simulation.grid().len();
    if setup.device.is_none() && setup.compute.precision == Precision::F64 {
        report.note("no error of a step: the CPU in f64 is itself the reference".into());
        return Ok(None);
    }
    let repeats_all = points.saturating_mul(steps) <= MAX_CHECKED;
    if !repeats_all && (points > MAX_CHECKED || !depends_only_on_state(config)) {
        let shape = shape(config.grid.points);
        report
            .note(format!("no error of a step on {shape} points: too many to repeat on the host"));
        return Ok(None);
    }
    let cpu: Arc<dyn Backend> = Arc::new(Cpu::<f64>::new(None)?);
    let mut host = Simulation::on(cpu.clone(), config)?;
    let expected_offset = host.system_and_state().0.base_state();
    let offset = simulation.system_and_state().0.base_state();
    if repeats_all {
        for _ in 0..steps {
            host.step(None)?;
        }
    } else {
        for (k, to) in host.state_mut().iter_mut().enumerate() {
            let from = simulation.backend().values(&simulation.state()[k])?;
            let shift = offset[k] - expected_offset[k];
            let shifted: Vec<f64> = from.iter().map(|value| value + shift).collect();
            cpu.write(to, &shifted.into())?;
        }
        host.step(None)?;
        simulation.step(None)?;
    }
    let mut worst = 0.0_f64;
    for (k, expected) in host.state().iter().enumerate() {
        let expected = host.backend().values(expected)?;
        let result = simulation.backend().values(&simulation.state()[k])?;
        let full_value = |expected: f64| expected + expected_offset[k];
        let size = expected.iter().map(|e| full_value(e).abs()).fold(f64::MIN_POSITIVE, f64::max);
        let pairs = result.iter().zip(expected.iter());
        let deviations = pairs.map(|(result, e)| difference(result + offset[k], full_value(e)));
        worst = worst.max(deviations.fold(0.0, f64::max) / size);
    }
    Ok(Some(worst))
}
