//! What a run says of itself at its end.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::course::Run;
use super::simulation::{CHECKS, STEPS};
use super::{Phases, Simulation};
use crate::backend::Backend;
use crate::config::Config;
use crate::error::Result;
use crate::grid::Grid;
use crate::io::summary::{self, Machine, Part, RanksSummary, SchemeSummary};
use crate::io::verdict::{self, Evidence};
use crate::io::{FieldValues, Reference, Series, Summary, write_report};

impl<B: Backend> Run<'_, B>
where
    FieldValues: From<Vec<B::Real>>,
{
    /// Summary and report, also of a run that broke off. `slowest` and `mean` are the phases of all ranks.
    pub(super) fn close(
        &mut self,
        sound: bool,
        finished: bool,
        reason: &str,
        [slowest, mean]: [Phases; 2],
    ) -> Result<()> {
        let wall_seconds = self.seconds();
        let Some(files) = &mut self.files else { return Ok(()) };
        let config = self.config;
        let series = Series::read(&files.directory.join("series.csv"))?;
        let length = config.grid.domain.length;
        let now = part(config, u64::MAX);
        let reynolds = now.reynolds;
        let changed = self.before.earlier.iter().rev().find(|part| part.other_flow);
        let parts: Vec<Part> = self.before.earlier.iter().cloned().chain([now]).collect();
        let resolution = summary::resolution(&series, &parts);
        let reference = files.directory.join("reference.csv");
        let reference = match reference.exists() {
            true => Some(Reference::read(&reference)?),
            false => None,
        };
        let reached = self.simulation.time();
        // No reference is of two flows.
        let held = reference.as_ref().filter(|_| changed.is_none());
        let comparison = held.and_then(|reference| reference.compare(&series, reached));
        let (verdict, verdict_reason) = verdict::decide(&Evidence {
            unfinished: (!finished).then_some(reason),
            other_flow_until: changed.map(|part| part.until),
            resolution,
            reference: comparison.as_ref(),
            error: series.column("error_max").and_then(|errors| errors.last().copied()),
        });
        let scheme = &config.scheme;
        let [convection, energy, viscous] = scheme.form_names().map(str::to_string);
        let steps = self.simulation.steps();
        let backend = self.simulation.backend();
        let named = |phases: Phases| -> BTreeMap<String, f64> {
            phases.0.into_iter().map(|(name, seconds)| (name.to_string(), seconds)).collect()
        };
        let done = steps - self.first_step;
        let ns = ns_per_point_stage(self.simulation.grid(), config, &slowest, done);
        let result = Summary {
            version: env!("CARGO_PKG_VERSION").to_string(),
            case: config.case.name().to_string(),
            title: config.case.title().to_string(),
            mach: config.case.flow().map(|_| config.gas.mach),
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
            backend: backend.name().to_string(),
            precision: config.compute.precision.name().to_string(),
            machine: Machine {
                shape: backend.shape().map(str::to_string),
                ..Machine::here(backend.threads(), backend.simd(), backend.device_name())
            },
            ranks: (backend.comm().size() > 1).then(|| RanksSummary {
                count: backend.comm().size(),
                decomposition: self.decomposition.ranks,
                method: self.simulation.backend().notes().join("; "),
                phases_mean: named(mean),
            }),
            steps,
            end_time: self.simulation.time(),
            finished,
            stop_reason: reason.to_string(),
            restarts: self.before.restarts.clone(),
            earlier: self.before.earlier.clone(),
            wall_seconds,
            ns_per_point_stage: (done > 0).then_some(ns),
            phases: named(slowest),
            resolution,
            verdict,
            verdict_reason,
            reference: comparison,
        };
        result.write(&files.directory.join("summary.json"))?;
        files.slices.finish()?;
        let path = files.directory.path().to_path_buf();
        write_report(&path, &mut |names| files.directory.claim(names))?;
        files.directory.forget_removed()?;
        let report = files.directory.join("report.html");
        let closing = match sound {
            true => format!("{}\n{}", result.judgement(), report.display()),
            false => String::new(),
        };
        files.progress.finish(&closing);
        Ok(())
    }
}

/// The part of a run of `config` that ends with the step `until`.
pub(super) fn part(config: &Config, until: u64) -> Part {
    let viscous = config.case.flow().is_some() && !config.gas.is_inviscid();
    Part {
        until,
        points: config.grid.points,
        length: config.grid.domain.length,
        reynolds: viscous.then_some(config.gas.reynolds),
        other_flow: false,
    }
}

/// Nanoseconds per point of the whole grid and stage of `steps` steps; not a number before the first.
#[allow(clippy::cast_precision_loss, reason = "for a rate")]
pub(super) fn ns_per_point_stage(grid: &Grid, config: &Config, phases: &Phases, steps: u64) -> f64 {
    let seconds: f64 = [STEPS, CHECKS].iter().filter_map(|phase| phases.0.get(phase)).sum();
    let stages = config.time.integrator.stages() as u64 * steps;
    1e9 * seconds / (stages as f64 * grid.len() as f64)
}

/// The reference history of a case as a table: what `reference.csv` holds.
pub(super) fn reference_csv<B: Backend>(
    config: &Config,
    simulation: &Simulation<B>,
) -> Option<String> {
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
