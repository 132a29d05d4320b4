//! Files that only rank 0 writes.

use std::path::Path;

use super::Simulation;
use super::run_loop::tables;
use super::summary::reference_csv;
use crate::error::Result;
use crate::io::checkpoint::OutputProgress;
use crate::io::directory::entries;
use crate::io::series::cut;
use crate::io::{
    Progress, RunDirectory, SeriesWriter, SliceWriter, USER_REFERENCE, remove_file, sync_file,
    write_text,
};

pub(super) struct Files {
    pub(super) directory: RunDirectory,
    pub(super) series: SeriesWriter,
    pub(super) slices: SliceWriter,
    pub(super) progress: Progress,
}

/// Files that every run writes into its directory.
pub(super) const STANDARD_FILES: [&str; 5] =
    ["log.jsonl", "config.toml", "series.csv", "summary.json", "report.html"];

impl Files {
    /// Open the files in the `directory` of the run: new for a new run, continued for a restart. `curves` is the user's
    /// reference.
    pub(super) fn open(
        simulation: &Simulation,
        mut directory: RunDirectory,
        course: Option<&OutputProgress>,
        curves: Option<String>,
        log: impl Fn(&Path) -> Result<()>,
    ) -> Result<Self> {
        let (series, slices) = (directory.join("series.csv"), directory.join("slices"));
        let (config, columns) = (&simulation.config, simulation.columns());
        let series = match course {
            None => {
                log(&directory.join("log.jsonl"))?;
                SeriesWriter::create(&series, columns)?
            }
            Some(course) => {
                let last = course.written.get("series").copied();
                let writer = SeriesWriter::resume(&series, columns, last)?;
                cut_statistics(&directory, course)?;
                log(&directory.join("log.jsonl"))?;
                writer
            }
        };
        let mut write = |name: &str, text: &str| write(&mut directory, name, text);
        write("config.toml", &config.to_toml())?;
        let reference = reference_csv(simulation);
        reference.as_ref().map_or(Ok(()), |text| write("reference.csv", text))?;
        curves.as_ref().map_or(Ok(()), |text| write(USER_REFERENCE, text))?;
        if config.output.statistics.is_some() && config.follows_case() {
            let active = simulation.grid().active();
            let spectrum = config.case.reference_spectrum(&config.gas, &config.grid.domain, active);
            spectrum.map_or(Ok(()), |it| write("reference_spectrum.csv", &it.csv()))?;
        }
        // A restart must be able to read it even after a machine failure.
        sync_file(&directory.join("config.toml"))?;
        // References of an earlier flow of the run, or of an earlier input.
        for (name, is_there) in
            [("reference.csv", reference.is_some()), (USER_REFERENCE, curves.is_some())]
        {
            let table = directory.join(name);
            if !is_there && directory.owns(&table) {
                remove_file(&table)?;
            }
        }
        let slices = match course {
            None => SliceWriter::create(&slices)?,
            // With fields, pictures are taken whenever fields are written: at the step of the checkpoint, which may have been the
            // last step then, only where fields were due.
            Some(course) => {
                let step = simulation.steps();
                let due = config.output.fields.is_none()
                    || course.written.get("fields").is_some_and(|last| *last == step);
                let last = if due { Some(step) } else { step.checked_sub(1) };
                SliceWriter::resume(&slices, last)?
            }
        };
        let progress = Progress::new(config.time.end, config.time.max_steps);
        Ok(Self { directory, series, slices, progress })
    }

    /// Write a file of the run.
    pub(super) fn write(&mut self, name: &str, text: &str) -> Result<()> {
        write(&mut self.directory, name, text)
    }

    /// Check that the run in `path` can continue from the table marks in `course`.
    pub(super) fn check(
        simulation: &Simulation,
        path: &Path,
        course: &OutputProgress,
    ) -> Result<()> {
        let written = tables(&simulation.config);
        // A table that the continued run does not need may be missing.
        let needed = |name: &String| {
            name == "series.csv" || written.contains(name) || path.join(name).exists()
        };
        let mut marks = course.tables.iter().filter(|(name, _)| needed(name));
        marks.try_for_each(|(name, mark)| mark.check(&path.join(name)))?;
        let last = course.written.get("series");
        let Some(&last) = last else { return Ok(()) };
        SeriesWriter::check(&path.join("series.csv"), simulation.columns(), last)
    }
}

fn write(directory: &mut RunDirectory, name: &str, text: &str) -> Result<()> {
    directory.claim([name.to_string()])?;
    write_text(&directory.join(name), text)
}

/// Remove the rows of later steps also from tables that the continued run does not write.
fn cut_statistics(directory: &RunDirectory, course: &OutputProgress) -> Result<()> {
    let tables = entries(&directory.join("statistics")).into_iter();
    let mut tables = tables.filter(|path| directory.owns(path));
    tables.try_for_each(|table| cut(&table, course.written.get("statistics").copied()))
}
