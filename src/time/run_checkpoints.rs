//! The checkpoints of a run.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::Statistics;
use super::run_loop::Run;
use crate::config::CheckpointConfig;
use crate::error::Result;
use crate::io::RunDirectory;
use crate::io::checkpoint::{self, OutputProgress};
use crate::io::progress::tell;
use crate::io::series::TableMark;

/// Options of the checkpoint of a stopped run whose input requests none.
const UNREQUESTED: CheckpointConfig = CheckpointConfig {
    // Keep checkpoints from a time when they were requested.
    keep: usize::MAX,
    ..CheckpointConfig::LAST
};

impl Run<'_> {
    /// Write a checkpoint of the present state, or begin to. Collective.
    pub(super) fn write_checkpoint(&mut self) -> Result<()> {
        self.finish_checkpoint()?;
        let start = Instant::now();
        let options = self.config.output.checkpoint.as_ref().unwrap_or(&UNREQUESTED);
        let step = self.simulation.steps();
        // Flush the rows and the fields that it relies on first.
        let synced = self.sync_tables(step);
        let synced = synced.and_then(|tables| self.volumes.sync().map(|()| tables));
        let Some(tables) = self.tolerate_failure(synced)? else {
            if self.files.is_some() {
                tell(&format!("warning: no checkpoint of step {step}: it needs that file"));
            }
            return Ok(());
        };
        // Outputs that were switched off may be switched on again.
        let mut before = self.before.clone();
        before.tables.retain(|name, _| self.directory.join(name).exists());
        before.tables.extend(tables);
        before.volumes.extend(self.volumes.written(self.directory));
        let course = OutputProgress {
            written: self.schedule.all_written(),
            pictures: self.pictures_taken,
            statistics: self.statistics.as_ref().map(|statistics| statistics.state().clone()),
            profiles: self.statistics.as_ref().and_then(|it| it.profiles().cloned()),
            wall_seconds: self.wall_seconds(),
            ..before
        };
        let path = checkpoint::path(&RunDirectory::checkpoints(self.directory), step);
        let run_and_progress = (self.id, course);
        let begun = self.simulation.begin_to_save(&path, run_and_progress, *options);
        self.writing = self.tolerate_failure(begun)?;
        if !options.asynchronous {
            self.finish_checkpoint()?;
        }
        self.record_time("checkpoints", start);
        Ok(())
    }

    /// Wait for the checkpoint in progress, and then remove those in excess. Collective.
    pub(super) fn finish_checkpoint(&mut self) -> Result<()> {
        let Some(writing) = self.writing.take() else { return Ok(()) };
        let start = Instant::now();
        let comm = self.simulation.backend().comm();
        let options = self.config.output.checkpoint.as_ref().unwrap_or(&UNREQUESTED);
        let (step, began) = (writing.step(), writing.began());
        let directory = RunDirectory::checkpoints(self.directory);
        let written = writing.finish(comm).and_then(|bytes| {
            let seconds = began.elapsed().as_secs_f64();
            let own = self.files.as_ref().map(|files| &files.directory);
            let owns = |path: &Path| own.is_some_and(|own| own.owns(path));
            checkpoint::prune(comm, &directory, options.keep, owns)?;
            Ok((bytes, seconds))
        });
        if let Some((bytes, seconds)) = self.tolerate_failure(written)? {
            self.saved = Some(step);
            self.deadline.record_checkpoint(began.elapsed().as_secs_f64());
            tracing::info!(step, bytes, seconds, "checkpoint written");
        }
        self.record_time("checkpoints", start);
        Ok(())
    }

    /// Flush the rows of all tables to disk, and enter the checkpoint of `step` in the manifest; returns the marks of the tables
    /// on rank 0.
    fn sync_tables(&mut self, step: u64) -> Result<BTreeMap<String, TableMark>> {
        let Some(files) = &mut self.files else { return Ok(BTreeMap::new()) };
        files.directory.claim([format!("checkpoints/step_{step:08}.zarr/")])?;
        let mut tables = BTreeMap::from([("series.csv".to_string(), files.series.sync()?)]);
        let statistics = self.statistics.as_mut().map_or(Ok(Vec::new()), Statistics::sync)?;
        let named = |(name, mark)| (format!("statistics/{name}"), mark);
        tables.extend(statistics.into_iter().map(named));
        Ok(tables)
    }

    /// Wall time of the run so far in seconds, including the time before a restart.
    pub(super) fn wall_seconds(&self) -> f64 {
        self.before.wall_seconds + self.start.elapsed().as_secs_f64()
    }
}
