//! The checkpoints of a run.

use std::time::Instant;

use super::course::Run;
use crate::backend::Backend;
use crate::config::{CheckpointConfig, Schedule};
use crate::error::Result;
use crate::io::checkpoint::{self, Course, Manner};
use crate::io::{FieldValues, RunDirectory};
use crate::statistics::Statistics;

/// How a run that is stopped writes one though the input asks for none.
const UNASKED: CheckpointConfig = CheckpointConfig {
    schedule: Schedule { every_steps: None, every_time: None, every_wall: None },
    // Those of a time when they were asked for stay.
    keep: usize::MAX,
    asynchronous: false,
    compress: false,
};

impl<B: Backend> Run<'_, B>
where
    FieldValues: From<Vec<B::Real>>,
{
    /// Write a checkpoint of the present state, or begin to. Collective.
    pub(super) fn write_checkpoint(&mut self) -> Result<()> {
        self.finish_checkpoint()?;
        let start = Instant::now();
        let asked = self.config.output.checkpoint.as_ref().unwrap_or(&UNASKED);
        let manner = Manner { compress: asked.compress, asynchronous: asked.asynchronous };
        let step = self.simulation.steps();
        // The rows that it counts on are on disk first.
        let synced = match &mut self.files {
            Some(files) => files.series.sync(),
            None => Ok(()),
        };
        let synced =
            synced.and_then(|()| self.statistics.as_mut().map_or(Ok(()), Statistics::sync));
        if self.spared(synced)?.is_none() {
            return Ok(());
        }
        let course = Course {
            written: self.agenda.all_written(),
            pictures: self.pictures_taken,
            statistics: self.statistics.as_ref().map(|statistics| statistics.state().clone()),
            restarts: self.restarts.clone(),
            wall_seconds: self.seconds(),
        };
        let path = checkpoint::path(&RunDirectory::checkpoints(self.directory), step);
        let begun =
            self.simulation.begin_to_save(&self.decomposition, &path, self.config, course, manner);
        self.writing = self.spared(begun)?;
        if !manner.asynchronous {
            self.finish_checkpoint()?;
        }
        self.spent("checkpoints", start);
        Ok(())
    }

    /// Wait for the checkpoint that is under way, and remove those that are too many then. Collective.
    pub(super) fn finish_checkpoint(&mut self) -> Result<()> {
        let Some(writing) = self.writing.take() else { return Ok(()) };
        let start = Instant::now();
        let comm = self.simulation.backend().comm();
        let asked = self.config.output.checkpoint.as_ref().unwrap_or(&UNASKED);
        let (step, began) = (writing.step(), writing.began());
        let directory = RunDirectory::checkpoints(self.directory);
        let written = writing.finish(comm).and_then(|bytes| {
            let seconds = began.elapsed().as_secs_f64();
            checkpoint::prune(comm, &directory, asked.keep)?;
            Ok((bytes, seconds))
        });
        if let Some((bytes, seconds)) = self.spared(written)? {
            self.saved = Some(step);
            self.deadline.saved(began.elapsed().as_secs_f64());
            tracing::info!(step, bytes, seconds, "checkpoint written");
        }
        self.spent("checkpoints", start);
        Ok(())
    }

    /// Seconds that the run took so far, those before a restart too.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds_before + self.start.elapsed().as_secs_f64()
    }
}
