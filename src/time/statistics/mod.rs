//! The statistics that a run takes and writes.

mod files;

use std::path::Path;

use crate::comm::{Communicator, all_or_error};
use crate::error::Result;
use crate::fourier::Fourier;
use crate::grid::{Decomposition, Grid};
use crate::io::StatisticsConfig;
use crate::io::series::TableMark;
use crate::statistics::{
    Kind, Running, RunningProfiles, Sample, Statistic, gradients, increments, moments, profiles,
    spectrum, turbulence,
};
use files::Files;

/// Takes statistics and writes them.
pub struct Statistics {
    options: StatisticsConfig,
    kind: Kind,
    running: Running,
    profiles: RunningProfiles,
    /// On rank 0.
    files: Option<Files>,
    /// Planned with the first sample that needs it.
    fourier: Option<Fourier>,
}

impl Statistics {
    /// Make `directory` (`RUN_DIR/statistics`) and begin the files in it that `options` ask for. Of a scalar there are
    /// moments and spectra. Collective.
    ///
    /// # Errors
    /// On all ranks, where the system refuses.
    pub fn create(
        comm: &dyn Communicator,
        directory: &Path,
        options: &StatisticsConfig,
        kind: Kind,
    ) -> Result<Self> {
        let files = || Files::create(directory, options, kind);
        let files = all_or_error(comm, (comm.rank() == 0).then(files).transpose())?;
        Ok(Self {
            options: options.clone(),
            kind,
            running: Running::default(),
            profiles: RunningProfiles::default(),
            files,
            fourier: None,
        })
    }

    /// Go on with the files in `directory`: rows of steps after `last_step` (all of them, where it is `None`) are cut, and
    /// so is a last line that was never finished. A file that is not there is begun. `running` is what
    /// [`Statistics::state`] was then: it goes on, but where averages begin later now or no moments are taken. Collective.
    ///
    /// # Errors
    /// On all ranks, where a file has other columns or the system refuses.
    pub fn resume(
        comm: &dyn Communicator,
        directory: &Path,
        options: &StatisticsConfig,
        kind: Kind,
        last_step: Option<u64>,
        running: Running,
    ) -> Result<Self> {
        let files = || Files::resume(directory, options, kind, last_step);
        let files = all_or_error(comm, (comm.rank() == 0).then(files).transpose())?;
        let running = match options.quantities.contains(&Statistic::Moments) {
            true => running.since(options.from),
            // What comes on both sides of a gap says nothing of it.
            false => Running::default(),
        };
        let profiles = RunningProfiles::default();
        Ok(Self { options: options.clone(), kind, running, profiles, files, fourier: None })
    }

    /// Go on with the averages over time of profiles that [`Statistics::profiles`] were; where averages begin later now, or none are
    /// taken, they begin again.
    #[must_use]
    pub fn going_on(mut self, profiles: Option<RunningProfiles>) -> Self {
        let profiles = profiles.filter(|_| self.wants(Statistic::Profiles));
        self.profiles = profiles.unwrap_or_default().since(self.options.from);
        self
    }

    /// Forget the averages over time: those of steps that follow no time mean nothing.
    pub fn forget(&mut self) {
        (self.running, self.profiles) = (Running::default(), RunningProfiles::default());
    }

    /// Whether samples must hold the velocity gradient.
    pub fn needs_gradients(&self) -> bool {
        let quantities = &self.options.quantities;
        self.kind == Kind::Flow && quantities.iter().any(|quantity| quantity.needs_gradients())
    }

    /// Take the statistics of one instant, and write them. Instants come in the order of their times. The work is that of the
    /// threads that the caller is on: see [`crate::backend::Backend::carry_out`]. Collective.
    ///
    /// # Errors
    /// On all ranks, where a file cannot be written.
    pub fn sample(
        &mut self,
        comm: &dyn Communicator,
        decomposition: &Decomposition,
        grid: &Grid,
        step: u64,
        time: f64,
        sample: &Sample,
    ) -> Result<()> {
        assert_eq!(sample.kind(), self.kind, "a run has one kind of samples");
        let moments = self.wants(Statistic::Moments).then(|| {
            let now = moments::moments(comm, grid, sample);
            if time >= self.options.from {
                self.running.add(time, &now);
            }
            now
        });
        let needs_spectra = self.wants(Statistic::Spectra) || self.wants(Statistic::Turbulence);
        let spectra = needs_spectra.then(|| {
            let fourier = self
                .fourier
                .get_or_insert_with(|| Fourier::new(*decomposition, grid.points, comm.size()));
            match sample {
                Sample::Flow(flow) => spectrum::flow(comm, fourier, grid, flow),
                Sample::Scalar(phi) => spectrum::scalar(comm, fourier, grid, phi),
            }
        });
        let (mut structure, mut densities, mut scales, mut rows) = (None, None, None, Vec::new());
        if let Sample::Flow(flow) = sample {
            structure = self.wants(Statistic::Increments).then(|| {
                increments::structure_functions(comm, decomposition, grid, &flow.velocity)
            });
            if let Some(walls) = flow.walls.as_ref().filter(|_| self.wants(Statistic::Profiles)) {
                let mut now = profiles::means(comm, decomposition, grid, flow, walls);
                if time >= self.options.from {
                    self.profiles.add(time, &now, walls);
                    now = self.profiles.means().unwrap_or(now);
                }
                rows = profiles::rows(&now, grid, walls);
            }
            let gradient = |of| flow.gradient.as_ref().filter(|_| self.wants(of));
            densities = gradient(Statistic::Gradients)
                .map(|gradient| gradients::densities(comm, grid, gradient));
            scales =
                gradient(Statistic::Turbulence).zip(spectra.as_ref()).map(|(gradient, spectra)| {
                    turbulence::turbulence(comm, grid, flow, gradient, spectra)
                });
        }
        let mut write = || {
            let Some(files) = &mut self.files else { return Ok(()) };
            if let Some(now) = &moments {
                files.moments(step, time, now, &self.running);
            }
            if let Some(spectra) = &spectra {
                files.spectra(step, time, spectra);
            }
            files.profiles(step, time, self.profiles.duration(), &rows);
            files.structure(step, time, structure.as_deref().unwrap_or_default());
            files.gradients(step, time, densities.as_ref().map_or(&[], |found| &found[..]));
            if let Some(found) = &scales {
                files.turbulence(step, time, found);
            }
            files.flush()
        };
        let written = write();
        all_or_error(comm, written)
    }

    /// The averages over time so far: what a checkpoint carries. The same on all ranks.
    pub fn state(&self) -> &Running {
        &self.running
    }

    /// The averages over time of profiles, where there are any: what a checkpoint carries. The same on all ranks.
    pub fn profiles(&self) -> Option<&RunningProfiles> {
        Some(&self.profiles).filter(|_| self.wants(Statistic::Profiles))
    }

    /// Return when all that was written is on disk: on rank 0 the marks of the tables, by their names.
    ///
    /// # Errors
    /// On rank 0, where the system refuses.
    pub fn sync(&mut self) -> Result<Vec<(String, TableMark)>> {
        self.files.as_mut().map_or(Ok(Vec::new()), Files::sync)
    }

    /// The names of the tables that `options` ask for.
    pub fn tables(options: &StatisticsConfig, kind: Kind) -> Vec<String> {
        files::names(options, kind)
    }

    fn wants(&self, quantity: Statistic) -> bool {
        self.options.quantities.contains(&quantity)
    }
}
