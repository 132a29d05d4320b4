//! Sampling and writing of the statistics of a run.

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
use crate::time::on_first;
use files::Files;

/// Samples and writes statistics.
pub struct Statistics {
    options: StatisticsConfig,
    kind: Kind,
    running: Running,
    profiles: RunningProfiles,
    /// Empty on other ranks than 0.
    files: Files,
    /// Planned with the first sample that needs it.
    fourier: Option<Fourier>,
}

impl Statistics {
    /// Create `directory` (`RUN_DIR/statistics`) and the files in it that `options` request. A scalar has moments and spectra.
    /// Collective.
    ///
    /// # Errors
    /// On all ranks, where the system refuses.
    pub fn create(
        comm: &dyn Communicator,
        directory: &Path,
        options: &StatisticsConfig,
        kind: Kind,
    ) -> Result<Self> {
        Self::with_files(comm, options, kind, || Files::create(directory, options, kind))
    }

    /// Continue the files in `directory`: rows of steps after `last_step` (all, where it is `None`) and an unfinished last line
    /// are cut. A missing file is created. `running` is the earlier [`Statistics::state`]: averages continue from it, unless they
    /// now begin later or no moments are taken. Collective.
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
        let mut resumed = Self::with_files(comm, options, kind, files)?;
        // Without moments there is a gap, and the samples on both sides of it do not represent it.
        if resumed.wants(Statistic::Moments) {
            resumed.running = running.since(options.from);
        }
        Ok(resumed)
    }

    /// Without averages, on the `files` of rank 0. Collective.
    fn with_files(
        comm: &dyn Communicator,
        options: &StatisticsConfig,
        kind: Kind,
        files: impl FnOnce() -> Result<Files>,
    ) -> Result<Self> {
        let files = on_first(comm, files)?.unwrap_or_default();
        let (running, profiles) = Default::default();
        Ok(Self { options: options.clone(), kind, running, profiles, files, fourier: None })
    }

    /// Continue the time averages of profiles from an earlier [`Statistics::profiles`]; where averages now begin later, or none
    /// are taken, they restart.
    #[must_use]
    pub fn with_profiles(mut self, profiles: Option<RunningProfiles>) -> Self {
        let profiles = profiles.filter(|_| self.wants(Statistic::Profiles));
        self.profiles = profiles.unwrap_or_default().since(self.options.from);
        self
    }

    /// Discard the time averages: they are meaningless for steps without a physical time.
    pub fn forget(&mut self) {
        (self.running, self.profiles) = Default::default();
    }

    /// Whether samples must include the velocity gradient.
    pub fn needs_gradients(&self) -> bool {
        let quantities = &self.options.quantities;
        self.kind == Kind::Flow && quantities.iter().any(|quantity| quantity.needs_gradients())
    }

    /// Take the statistics of one instant, and write them. Instants must be in the order of time. The work runs on the threads of
    /// the caller: see `within` of `dyn Backend`. Collective.
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
        let (files, from) = (&mut self.files, self.options.from);
        let wants = |quantity| self.options.quantities.contains(&quantity);
        if wants(Statistic::Moments) {
            let now = moments::moments(comm, grid, sample);
            if time >= from {
                self.running.add(time, &now);
            }
            files.moments(step, time, &now, &self.running);
        }
        let needs_spectra = wants(Statistic::Spectra) || wants(Statistic::Turbulence);
        let spectra = needs_spectra.then(|| {
            let fourier = self
                .fourier
                .get_or_insert_with(|| Fourier::new(*decomposition, grid.points, comm.size()));
            match sample {
                Sample::Flow(flow) => spectrum::flow(comm, fourier, grid, flow),
                Sample::Scalar(phi) => spectrum::scalar(comm, fourier, grid, phi),
            }
        });
        if let Some(spectra) = &spectra {
            files.spectra(step, time, spectra);
        }
        if let Sample::Flow(flow) = sample {
            if wants(Statistic::Increments) {
                let velocity = &flow.velocity;
                let found = increments::structure_functions(comm, decomposition, grid, velocity);
                files.structure(step, time, &found);
            }
            if let Some(walls) = flow.walls.as_ref().filter(|_| wants(Statistic::Profiles)) {
                let mut now = profiles::means(comm, decomposition, grid, flow, walls);
                if time >= from {
                    self.profiles.add(time, &now, walls);
                    now = self.profiles.means().unwrap_or(now);
                }
                let rows = profiles::rows(&now, grid, walls);
                files.profiles(step, time, self.profiles.duration(), &rows);
            }
            let gradient = |of| flow.gradient.as_ref().filter(|_| wants(of));
            if let Some(gradient) = gradient(Statistic::Gradients) {
                files.gradients(step, time, &gradients::densities(comm, grid, gradient));
            }
            if let Some((gradient, spectra)) = gradient(Statistic::Turbulence).zip(spectra.as_ref())
            {
                let found = turbulence::turbulence(comm, grid, flow, gradient, spectra);
                files.turbulence(step, time, &found);
            }
        }
        all_or_error(comm, files.flush())
    }

    /// The time averages so far, for a checkpoint. The same on all ranks.
    pub fn state(&self) -> &Running {
        &self.running
    }

    /// The time averages of profiles, where there are any, for a checkpoint. The same on all ranks.
    pub fn profiles(&self) -> Option<&RunningProfiles> {
        Some(&self.profiles).filter(|_| self.wants(Statistic::Profiles))
    }

    /// Flush all output to disk; returns the marks of the tables on rank 0, by their names.
    ///
    /// # Errors
    /// On rank 0, where the system refuses.
    pub fn sync(&mut self) -> Result<Vec<(String, TableMark)>> {
        self.files.sync()
    }

    /// The names of the tables that `options` request.
    pub fn tables(options: &StatisticsConfig, kind: Kind) -> Vec<String> {
        let name = |path: &Path, _: &[String]| Ok(path.display().to_string());
        files::tables(Path::new(""), options, kind, name).unwrap_or_default()
    }

    fn wants(&self, quantity: Statistic) -> bool {
        self.options.quantities.contains(&quantity)
    }
}
