//! Saving and resuming of a simulation.

use std::path::Path;
use std::sync::Arc;

use super::Simulation;
use super::implicit::ImplicitStepper;
use super::initial::{initial, initial_scalar};
use super::memory::check_values_memory;
use super::rejections::{check_interpolation, check_same_maps};
use super::simulation::explicit_filter;
use crate::backend::Backend;
use crate::cases::PassiveScalar;
use crate::comm::all_or_error;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::fourier::resample;
use crate::io::checkpoint::{Checkpoint, Head, OutputProgress, Writing};
use crate::io::{CheckpointConfig, RunId};
use crate::physics::TimeLevel;

impl Simulation {
    /// Write U, all that a restart needs, and the input to `path`. Returns the bytes of the checkpoint. Collective.
    ///
    /// # Errors
    /// On all ranks, where one cannot write; an earlier checkpoint at the path then remains.
    pub fn save(&self, path: &Path) -> Result<u64> {
        let comm = self.backend.comm();
        let of = (RunId::shared(comm), OutputProgress::default());
        self.begin_to_save(path, of, CheckpointConfig::LAST)?.finish(comm)
    }

    /// Begin to write the same as [`Simulation::save`], for this run and the progress of its outputs. Collective.
    ///
    /// # Errors
    /// As there.
    pub fn begin_to_save(
        &self,
        path: &Path,
        (run, course): (RunId, OutputProgress),
        manner: CheckpointConfig,
    ) -> Result<Writing> {
        let comm = self.backend.comm();
        let before = self.implicit.as_ref().map(ImplicitStepper::state_before).transpose();
        let before = all_or_error(comm, before)?.unwrap_or_default();
        let (names, references) = (self.system.names(), self.system.base_state());
        let names_before: Vec<String> = names.iter().take(before.len()).map(before_name).collect();
        let head = Head {
            version: env!("CARGO_PKG_VERSION").into(),
            run,
            step: self.time_level.step,
            time: self.time_level.time,
            last_dt: self.last_dt,
            unfiltered: self.unfiltered,
            filter_rate: self.filter_rates[0],
            scalar_filter_rates: self.filter_rates[1..].to_vec(),
            points: self.grid().points,
            fields: [names, names_before].concat(),
            references: [references, vec![0.0; before.len()]].concat(),
            // The origin of this run need not exist for runs that start from this checkpoint.
            config: Config { origin: None, ..self.config.clone() }.to_toml(),
            forcing: self.system.saved_force(),
            implicit: self.implicit.as_ref().map(ImplicitStepper::saved),
            course,
        };
        let values = self.state.iter().map(|field| self.backend.values(field));
        let mut values = all_or_error(comm, values.collect::<Result<Vec<_>>>())?;
        values.extend(before);
        let decomposition = self.backend.decomposition();
        Writing::begin(comm, &decomposition, path, self.grid(), head, &values, manner)
    }

    /// Resume a saved simulation on an open backend, with any partition over ranks. All further steps are those of the saved
    /// simulation, bitwise identical where backend, ranks and precision are the same. Where the grid has other points, the fields
    /// are interpolated by their Fourier series, which preserves their means. Collective.
    ///
    /// Faces with the initial state and the exact solution are those of the case of `config`, even if the saved simulation was
    /// started from arrays. Gas, case and box are those of `config`. They are not compared with those of the checkpoint, which
    /// are in its [`head.config`](Head::config): `kolmo restart` does that.
    ///
    /// # Errors
    /// On all ranks, where the checkpoint has other fields than `config`, or cannot be read.
    pub fn resume(backend: Arc<dyn Backend>, config: &Config, saved: &Checkpoint) -> Result<Self> {
        let decomposition = backend.decomposition();
        let mut resumed = Self::with_state(backend, config, |_| Ok(Vec::new()))?;
        let boundaries = &config.boundaries;
        let needs_initial_state = |scalar: &PassiveScalar| scalar.needs_initial_state(boundaries);
        if boundaries.need_initial_state() || config.scalars.iter().any(needs_initial_state) {
            let mut start = initial(&*resumed.system, config)?;
            resumed.system.hold(&mut start, 0.0);
            resumed.system.capture_initial(&mut start)?;
            all_or_error(resumed.backend.comm(), resumed.backend.finish())?;
        }
        let head = &saved.head;
        let backend = resumed.backend.clone();
        let comm = backend.comm();
        let mismatch = |what: String| all_or_error(comm, Err(Error::refused(what, "")));
        all_or_error(comm, check_same_maps(&head.config, config))?;
        let names = resumed.system.names();
        let is_saved = |name: &String| head.fields.contains(name);
        let (flow, scalars) = names.split_at(names.len() - config.scalars.len());
        if !flow.iter().all(is_saved) {
            let found = head.fields.join(", ");
            mismatch(format!(
                "the checkpoint has the fields {found}, which differ from those of this case"
            ))?;
        }
        let block = decomposition.block(comm.rank(), head.points);
        check_values_memory(comm, head.fields.len(), &block)?;
        let points = resumed.grid().points;
        let references = resumed.system.base_state();
        for (name, reference) in names.iter().zip(references) {
            // A scalar that is missing in the checkpoint starts here.
            let Some(at) = head.fields.iter().position(|saved| saved == name) else {
                let (system, state) = (&*resumed.system, &resumed.state);
                let begun = initial_scalar(system, state, config, state.len() - flow.len())?;
                resumed.state.push(begun);
                continue;
            };
            let mut values = all_or_error(comm, saved.field(at, block, reference))?;
            if head.points != points {
                all_or_error(comm, check_interpolation(resumed.grid(), head.points))?;
                values = resample(comm, decomposition, head.points, points, values);
            }
            resumed.state.push(all_or_error(comm, resumed.backend.field(&values.into()))?);
        }
        if let Some(forcing) = &head.forcing {
            resumed.system.restore_force(forcing, head.last_dt);
        }
        resumed.time_level = TimeLevel { step: head.step, time: head.time };
        resumed.last_dt = head.last_dt;
        if explicit_filter(config).is_some() {
            resumed.unfiltered = head.unfiltered;
            let first = head.fields.len() - head.scalar_filter_rates.len();
            let rate_of = |name: &String| {
                let at = head.fields.iter().position(|saved| saved == name)?;
                head.scalar_filter_rates.get(at.checked_sub(first)?).copied()
            };
            let rates = scalars.iter().map(|name| rate_of(name).unwrap_or(0.0));
            resumed.filter_rates = std::iter::once(head.filter_rate).chain(rates).collect();
        }
        resumed.rate = Some(resumed.system.check_now(&resumed.state, resumed.time_level)?);
        resumed.begin_implicit(head.implicit)?;
        if let Some(implicit) = resumed.implicit.as_mut().filter(|_| head.points == points) {
            let at =
                |name: &String| head.fields.iter().position(|saved| *saved == before_name(name));
            let before = names.iter().filter_map(at).map(|at| saved.field(at, block, 0.0));
            let before = all_or_error(comm, before.collect::<Result<Vec<Vec<f64>>>>())?;
            all_or_error(comm, implicit.set_state_before(before, head.last_dt))?;
        }
        Ok(resumed)
    }
}

/// Name of a field of the previous state in files.
fn before_name(name: &String) -> String {
    format!("{name}_before")
}
