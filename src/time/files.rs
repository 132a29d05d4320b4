//! What rank 0 alone writes of a run.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::Simulation;
use super::close::reference_csv;
use super::course::Origin;
use crate::backend::Backend;
use crate::config::Config;
use crate::error::Result;
use crate::io::checkpoint::Course;
use crate::io::series::cut;
use crate::io::{Progress, RunDirectory, SeriesWriter, SliceWriter, remove_file, write_whole};

pub(super) struct Files {
    /// Held, so that no other process runs in the directory.
    _lock: Option<File>,
    pub(super) directory: RunDirectory,
    pub(super) series: SeriesWriter,
    pub(super) slices: SliceWriter,
    pub(super) progress: Progress,
}

impl Files {
    /// In a directory of their own, where the run begins; behind what is in the directory, where it goes on.
    pub(super) fn open<B: Backend>(
        config: &Config,
        simulation: &Simulation<B>,
        path: &Path,
        origin: &Origin,
        log: impl Fn(&Path) -> Result<()>,
    ) -> Result<Self> {
        let (series, slices) = (path.join("series.csv"), path.join("slices"));
        let columns = simulation.columns();
        let course: Option<&Course> = origin.course();
        let mut lock = RunDirectory::lock(path)?;
        let (directory, series) = match course {
            None => {
                let directory = RunDirectory::create(path)?;
                // What makes the directory a run's is the first thing in it.
                log(&directory.join("log.jsonl"))?;
                lock = RunDirectory::lock(path)?;
                (directory, SeriesWriter::create(&series, columns)?)
            }
            Some(course) => {
                let writer = match course.written.get("series") {
                    Some(last) => SeriesWriter::resume_behind(&series, columns, *last)?,
                    None => SeriesWriter::resume(&series, columns, None)?,
                };
                cut_statistics(&path.join("statistics"), course)?;
                // They tell of an end that is none any more.
                remove_file(&path.join("summary.json"))?;
                remove_file(&path.join("report.html"))?;
                log(&path.join("log.jsonl"))?;
                (RunDirectory::open(path), writer)
            }
        };
        let write = |name: &str, text: &str| {
            write_whole(&directory.join(name), |to| to.write_all(text.as_bytes()))
        };
        write("config.toml", &config.to_toml())?;
        if let Some(text) = reference_csv(config, simulation) {
            write("reference.csv", &text)?;
        }
        if config.output.statistics.is_some() {
            let active = simulation.grid().active();
            let spectrum = config.case.reference_spectrum(&config.gas, &config.grid.domain, active);
            spectrum.map_or(Ok(()), |it| write("reference_spectrum.csv", &it.csv()))?;
        }
        let slices = match course {
            None => SliceWriter::create(&slices)?,
            // Beside fields pictures are taken whenever fields are written, and only then.
            Some(course) => match config.output.fields {
                Some(_) => SliceWriter::resume(&slices, course.written.get("fields").copied())?,
                None => SliceWriter::resume(&slices, Some(simulation.steps()))?,
            },
        };
        let progress = Progress::new(config.time.end, config.time.max_steps);
        Ok(Self { _lock: lock, series, slices, directory, progress })
    }

    /// Whether the run in `path` can go on from what `course` says of its series.
    pub(super) fn check<B: Backend>(
        simulation: &Simulation<B>,
        path: &Path,
        course: &Course,
    ) -> Result<()> {
        let last = course.written.get("series");
        let Some(&last) = last else { return Ok(()) };
        SeriesWriter::check(&path.join("series.csv"), simulation.columns(), last)
    }
}

/// Remove the rows of later steps also from tables that the run does not go on with.
fn cut_statistics(directory: &Path, course: &Course) -> Result<()> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    let tables = entries.flatten().map(|entry| entry.path());
    let mut tables = tables.filter(|path| path.extension().is_some_and(|end| end == "csv"));
    tables.try_for_each(|table| cut(&table, course.written.get("statistics").copied()))
}
