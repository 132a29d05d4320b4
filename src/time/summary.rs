//! Summary of a run at its end.

use std::collections::BTreeMap;

use super::run_loop::Run;
use super::simulation::{CHECKS_PHASE, STEPS_PHASE};
use super::task::Ending;
use super::{Phases, Simulation};
use crate::config::{Config, OnFailure};
use crate::error::Result;
use crate::grid::{End, Grid};
use crate::io::progress::tell;
use crate::io::summary::{self, Machine, Part, RanksSummary, SchemeSummary, WallUnits};
use crate::io::verdict::{self, Evidence, Verdict};
use crate::io::{Reference, Series, Summary, write_report};

impl Run<'_> {
    /// Write summary and report, also of an aborted run, which has no ending. `slowest` and `mean` are the phases of all ranks.
    pub(super) fn close(
        &mut self,
        ending: Option<Ending>,
        reason: &str,
        [slowest, mean]: [Phases; 2],
    ) -> Result<()> {
        let so_far = self.so_far([slowest, mean]);
        let finished = ending == Some(Ending::Finished);
        let Some(files) = &mut self.files else { return Ok(()) };
        // Not into another directory that has replaced this one.
        files.directory.claim([])?;
        let config = self.config;
        let series = Series::read(&files.directory.join("series.csv"))?;
        let resolution = summary::resolution(&series, &so_far.parts());
        let reached = self.simulation.time();
        let unjudged = unjudged(&series, &self.before.earlier);
        let known_reference = reference(&self.simulation).filter(|_| unjudged.is_none());
        let comparison = known_reference.as_ref().and_then(|known| known.compare(&series, reached));
        let wall_units = wall_units(config, self.simulation.grid(), &series);
        let error = series.column("error_max").and_then(|errors| errors.last().copied());
        let (verdict, verdict_reason) = verdict::decide(&Evidence {
            unfinished: (!finished || self.simulation.unsteady().is_some()).then_some(reason),
            unjudged: unjudged.as_deref(),
            resolution,
            wall_units,
            reference: comparison.as_ref(),
            error: error.map(|error| (error, config.case.error_quantity())),
            has_user_curves: config.output.reference.is_some(),
        });
        let result = Summary {
            finished,
            stop_reason: reason.to_string(),
            resolution,
            wall_units,
            verdict,
            verdict_reason,
            reference: comparison,
            ..so_far
        };
        let path = files.directory.path().to_path_buf();
        // The result of a write, where a run may continue after a failure.
        let tolerated = |written: Result<()>, what: &str| match written {
            Err(why) if config.output.on_failure == OnFailure::Continue => {
                tell(&format!("warning: {}; the {what} is incomplete", why.what()));
                Ok(false)
            }
            written => written.map(|()| true),
        };
        let summary = result.write(&files.directory.join("summary.json"));
        let has_summary = tolerated(summary, "summary")?;
        let mut report = || {
            files.slices.finish()?;
            write_report(&path, &mut |names| files.directory.claim(names))?;
            files.directory.prune_manifest()
        };
        // The report repeats the summary.
        let has_report = has_summary && tolerated(report(), "report")?;
        let mut closing = ending.map_or(String::new(), |_| result.verdict_sentence());
        if ending.is_some() && has_report {
            closing += &format!("\n{}", path.join("report.html").display());
        }
        files.progress.finish(&closing);
        Ok(())
    }

    /// The summary of a run in progress.
    pub(super) fn so_far(&self, [slowest, mean]: [Phases; 2]) -> Summary {
        let config = self.config;
        let now = part(config, u64::MAX);
        let scheme = &config.scheme;
        let [convection, energy, viscous] = match config.case.is_flow() {
            true => scheme.form_names(),
            // The equation of a scalar has no forms.
            false => Default::default(),
        };
        let steps = self.simulation.steps();
        let backend = self.simulation.backend();
        let named = |phases: Phases| -> BTreeMap<String, f64> {
            phases.0.into_iter().map(|(name, seconds)| (name.to_string(), seconds)).collect()
        };
        let done = steps - self.first_step;
        let right_hand_sides = self.simulation.right_hand_sides();
        let ns = ns_per_point_stage(self.simulation.grid(), &slowest, right_hand_sides);
        Summary {
            version: env!("CARGO_PKG_VERSION").to_string(),
            case: config.case.name().to_string(),
            title: config.case.about().title.to_string(),
            mach: config.case.is_flow().then_some(config.gas.mach),
            reynolds: now.reynolds,
            walls: now.walls,
            symmetry: self.simulation.grid().has_end(|end| end == End::Symmetry),
            points: config.grid.points,
            length: now.length,
            largest_spacing: now.largest_spacing,
            gas: now.gas,
            scheme: SchemeSummary {
                derivative: scheme.derivative.name.to_string(),
                convection,
                energy,
                viscous,
                filter: scheme.filter.map_or("none".to_string(), |filter| filter.to_string()),
                integrator: config.time.method().0.to_string(),
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
            finished: false,
            stop_reason: "still running".into(),
            restarts: self.before.restarts.clone(),
            earlier: self.before.earlier.clone(),
            wall_seconds: self.wall_seconds(),
            ns_per_point_stage: (done > 0).then_some(ns),
            phases: named(slowest),
            resolution: None,
            wall_units: None,
            verdict: Verdict::NoVerdict,
            verdict_reason: self.goal(),
            reference: None,
        }
    }

    /// The target of the run: `to t = 10, or to step 200`.
    fn goal(&self) -> String {
        let time = &self.config.time;
        let ends = [
            time.end.map(|t| format!("to t = {t}")),
            time.max_steps.map(|n| format!("to step {n}")),
        ];
        let ends: Vec<String> = ends.into_iter().flatten().collect();
        if ends.is_empty() { "until it is steady".into() } else { ends.join(", or ") }
    }
}

/// The spacings of a channel in wall units, from the last row of the series.
fn wall_units(config: &Config, grid: &Grid, series: &Series) -> Option<WallUnits> {
    let friction_reynolds = *series.column("friction_reynolds")?.last()?;
    let across = config.problem().axis_between_walls()?.index();
    let half = 0.5 * config.grid.domain.length[across];
    let spacing = [0, 1, 2].map(|a| {
        let pairs = grid.spacings(a).map(|h| [h, h]);
        let ends = pairs.reduce(|[least, most], [h, _]| [h.min(least), h.max(most)]);
        ends.map(|ends| ends.map(|h| h * friction_reynolds / half))
    });
    Some(WallUnits { friction_reynolds, spacing }).filter(|it| it.friction_reynolds.is_finite())
}

/// The part of a run of `config` that ends with the step `until`.
pub(super) fn part(config: &Config, until: u64) -> Part {
    let (viscous, grid) = (config.case.is_flow() && !config.gas.is_inviscid(), config.grid());
    Part {
        until,
        points: config.grid.points,
        length: config.grid.domain.length,
        walls: grid.has_end(|end| end != End::Symmetry),
        largest_spacing: grid.largest_spacing(),
        gas: viscous.then_some(config.gas),
        reynolds: viscous.then_some(config.gas.reynolds),
        other_flow: false,
    }
}

/// Why a run whose `earlier` parts differed cannot be judged, where this is the case.
fn unjudged(series: &Series, earlier: &[Part]) -> Option<String> {
    if let Some(part) = earlier.iter().rev().find(|part| part.other_flow) {
        return Some(format!("it was a different flow up to step {}", part.until));
    }
    let steps = series.column("step")?;
    let mut from = 0.0;
    for part in earlier {
        let until = part.until as f64;
        if !steps.iter().any(|step| (from..=until).contains(step)) {
            return Some(format!(
                "no row of series.csv shows the part on another grid up to step {until}"
            ));
        }
        from = until + 1.0;
    }
    None
}

/// Nanoseconds per point of the whole grid and right-hand side; NaN before the first.
pub(super) fn ns_per_point_stage(grid: &Grid, phases: &Phases, right_hand_sides: u64) -> f64 {
    let seconds: f64 =
        [STEPS_PHASE, CHECKS_PHASE].iter().filter_map(|phase| phases.0.get(phase)).sum();
    1e9 * seconds / (right_hand_sides as f64 * grid.len() as f64)
}

/// The reference history of a case, where the flow is that of the case: not read from the directory, where it may have been
/// changed.
fn reference(simulation: &Simulation) -> Option<Reference> {
    let (config, active) = (&simulation.config, simulation.grid().active());
    if !config.follows_case() {
        return None;
    }
    let known = config.case.reference(&config.gas, &config.grid.domain, active)?;
    Some(Reference {
        source: format!("{}: {}", known.flow, known.source),
        time: known.time,
        kinetic_energy: known.kinetic_energy,
        dissipation: known.dissipation,
    })
}

/// The reference as a table: the content of `reference.csv`.
pub(super) fn reference_csv(simulation: &Simulation) -> Option<String> {
    let Reference { source, time, kinetic_energy, dissipation } = reference(simulation)?;
    let mut text = format!("# {source}\ntime,kinetic_energy,dissipation\n");
    for ((time, energy), dissipation) in time.iter().zip(kinetic_energy).zip(dissipation) {
        text += &format!("{time},{energy},{dissipation}\n");
    }
    Some(text)
}
