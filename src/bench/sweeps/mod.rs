//! The passes and sweeps of a Runge-Kutta stage of the Taylor-Green vortex, each timed separately.

mod report;

use std::cell::RefCell;

use super::arguments::SweepsOptions;
use super::measure::{Repeat, interleaved, rotating, with_preparation};
use super::output::{CopyReport, Report, Row, shape};
use super::place::{Place, Setup, Work};
use super::pool::Pool;
use super::step::{config, error_of_steps, fits_in_memory, step_tolerance};
use super::table;
use crate::backend::Backend;
use crate::backend::device::SweepKernel;
use crate::config::Config;
use crate::error::{Result, refused};
use crate::physics::{StagePart, StageSweep};
use crate::time::Simulation;

pub(super) use report::SweepRow;

/// Maximum number of calls of a sweep before gradients are recomputed: the first sweep of the terms replaces gradients by new
/// ones, so that they grow by (1 + √5)/2 per call, here to 1e10.
const MAX_CALLS: u32 = 48;

pub(super) fn run(options: &SweepsOptions, setup: &Setup, report: &mut Report) -> Result<()> {
    let sizes = options.common.sizes(64);
    let is_single = sizes.len() == 1;
    for points in sizes {
        let config = config(points, &options.common, &options.set)?;
        let setup = &setup.with_sweeps_of(&config, None)?;
        if fits_in_memory(setup, std::slice::from_ref(&config), is_single, report)? {
            let result = measure_size(options, setup, report, &config);
            report.attempt(&format!("sweeps on {}", shape(points)), result)?;
        }
    }
    Ok(())
}

/// Measure one size.
fn measure_size(
    options: &SweepsOptions,
    setup: &Setup,
    report: &mut Report,
    config: &Config,
) -> Result<()> {
    let (common, points) = (&options.common, config.grid.points);
    let (len, precision) = (points.iter().product(), setup.compute.precision);
    let place = &*setup.place(len, None)?;
    let pool = RefCell::new(Pool::new(place, len, 1)?);
    let negation = place.prepare_work(Work::Negation, points)?;
    let backend: Box<dyn Backend> = setup.place(len, None)?;
    let mut simulation = Simulation::on(backend.into(), config)?;
    let kernel = |(sweep, program)| Ok((sweep, place.kernel(program)?));
    let sweeps = simulation.sweeps().into_iter().map(kernel).collect::<Result<Vec<_>>>()?;
    if sweeps.is_empty() {
        return Err(refused(
            "a stage has no separate sweeps",
            "use the fused right-hand side and an integrator in 2N storage, such as hale64",
        ));
    }
    let times = {
        let simulation = &RefCell::new(&mut simulation);
        let one = |at| single_sweep(place, simulation, &sweeps, at);
        let copy = rotating(place, &pool, &negation);
        interleaved(common.repeats, copy, (0..sweeps.len()).map(one).collect())?
    };
    let (copy, times) = (CopyReport::new(&times.0, len, precision.bytes()), times.1);

    simulation.step(None)?;
    let error = error_of_steps(&mut simulation, setup, config, report)?;
    let row = |((sweep, kernel), times): (&(StageSweep, Option<SweepKernel>), _)| {
        let row = Row {
            name: "sweep",
            axis: Some(sweep.axis.name()),
            scheme: Some(config.scheme.derivative.name),
            method: "auto",
            sweep: Some(SweepRow::new(sweep, *kernel)),
            error,
            ..common.row(place, points)
        };
        row.timed(Some(sweep.words * precision.bytes()), times, copy)
    };
    let rows: Vec<Row> = sweeps.iter().zip(&times).map(row).collect();
    let kind = if config.gas.is_inviscid() { "without viscosity" } else { "with viscosity" };
    report.tables.push(SweepRow::table(&format!("{} points, {kind}", shape(points)), &rows));
    report.note(stage_summary(&rows, config));
    report.add(copy, step_tolerance(precision), rows);
    Ok(())
}

/// Sweep number `at`, after the passes that compute gradients, which are not timed.
fn single_sweep<'a>(
    place: &'a dyn Place,
    simulation: &'a RefCell<&'a mut Simulation>,
    sweeps: &'a [(StageSweep, Option<SweepKernel>)],
    at: usize,
) -> Repeat<'a> {
    let passes = move || {
        let passes = sweeps.iter().enumerate().filter(|(_, (sweep, _))| sweep.part.is_pass());
        passes.for_each(|(pass, _)| simulation.borrow_mut().run_sweep(pass));
    };
    with_preparation(place, MAX_CALLS, passes, move || simulation.borrow_mut().run_sweep(at))
}

/// The time of a stage in the middle of a step if its sweeps do not overlap.
fn stage_summary(rows: &[Row], config: &Config) -> String {
    let has_link = rows.iter().any(|row| row.is_part(StagePart::LinkedTerms));
    let only_once_per_step = [StagePart::FirstGradients, StagePart::LastTerms];
    let of_all =
        rows.iter().filter(|row| !only_once_per_step.iter().any(|part| row.is_part(*part)));
    let (words, ns) = of_all.fold((0, 0.0), |(words, ns), row| {
        let own = row.sweep.as_ref().map_or(0, |sweep| sweep.words);
        (words + own, ns + row.ns_per_point.min)
    });
    let link = match has_link || config.gas.is_inviscid() {
        true => "",
        false => "; no sweep leaves gradients for the next stage",
    };
    format!("a stage: {words} words, {} ns per point in these sweeps{link}", table::figure(ns))
}
