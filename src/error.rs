//! The errors a user can meet, by kind. `main` prints them and turns them into exit codes.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The result of anything that can fail in a way a user has to hear about.
pub type Result<T> = std::result::Result<T, Error>;

/// What does not fit, as a sentence: "`what` need 2.0 GiB `of`; 1.0 GiB `there`".
pub(crate) fn no_room(
    what: impl Display,
    [needed, free]: [f64; 2],
    of: &str,
    there: impl Display,
) -> String {
    let [needed, free] = [needed, free].map(|bytes| bytes / (1_u64 << 30) as f64);
    format!("{what} need {needed:.1} GiB {of}; {free:.1} GiB {there}")
}

/// A mistake of the user, and the way out of it.
pub(crate) fn refused(what: impl Display, way_out: impl Display) -> Error {
    Error::Config(vec![format!("error: {what}"), format!("       {way_out}")])
}

/// Everything that can go wrong, as a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is wrong: every problem found, each a full message. Nothing was run or written.
    #[error("{}", .0.join("\n"))]
    Config(Vec<String>),
    /// A run directory is there already.
    #[error(
        "{directory} already holds a run\n       to go on with it:     {onwards}\n       in another directory: {elsewhere}\n       in its place:         {again}",
        directory = .directory.display()
    )]
    RunExists {
        /// The directory that was to be written.
        directory: PathBuf,
        /// The command that goes on with it.
        onwards: String,
        /// The command that runs the same in a directory that is free.
        elsewhere: String,
        /// The command that replaces what is there.
        again: String,
    },
    /// The flow left the range in which the equations have a meaning.
    #[error(
        "the run diverged at step {step}, t = {time:.6}: {field} = {value} at point ({}, {}, {})\n       what was written before is intact; use a smaller `time.cfl` or `time.dt`, more points, a filter, or a more robust `scheme.convection` and `scheme.energy`",
        .index[0], .index[1], .index[2]
    )]
    Diverged {
        /// Step at whose end the state was found broken.
        step: u64,
        /// Non-dimensional time of that step.
        time: f64,
        /// Name of the field: `density`, `pressure`, `velocity` ...
        field: String,
        /// The offending value: not a number, infinite, or not positive.
        value: f64,
        /// First such point (i, j, k).
        index: [usize; 3],
    },
    /// A step does not change the time: dt is less than the spacing of numbers there.
    #[error(
        "the run stands still at step {step}, t = {time}: a step of dt = {dt:e} does not change t\n       what was written before is intact; where dt has fallen to it, density or temperature came close to 0 (`min_density`, `min_temperature` in series.csv): use more points, a filter, or more robust forms; else use a larger `time.dt` or `time.cfl`"
    )]
    Stalled {
        /// Steps done.
        step: u64,
        /// Non-dimensional time.
        time: f64,
        /// The step.
        dt: f64,
    },
    /// The equations of an implicit stage were not solved.
    #[error(
        "the step after step {step}, t = {time:.6}, was not solved: {why}\n       what was written before is intact; use a smaller `time.cfl` or `time.dt`, or in `time.implicit` more `products`, `krylov` or `sweeps`, or a larger `tolerance`"
    )]
    NotConverged {
        /// Steps done.
        step: u64,
        /// Non-dimensional time.
        time: f64,
        /// What was left of it, or what was in the way.
        why: String,
    },
    /// A GPU, its driver or its compiler refused.
    #[error("{0}")]
    Device(String),
    /// What went wrong on one of many ranks, and all of them know of.
    #[error("{message}")]
    Elsewhere {
        /// What `main` prints there.
        message: String,
        /// The exit code there.
        exit_code: u8,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of a run was read and does not hold what it should.
    #[error("{}: {what}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

impl Error {
    /// Wrap an I/O error with the path it happened at: `.map_err(Error::io(path))`.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.as_ref().to_path_buf();
        move |source| Error::Io { path, source }
    }

    /// One mistake of the user before anything was run, with the way out of it, which may be empty.
    pub(crate) fn refused(what: impl Display, way_out: &str) -> Error {
        let mut lines = vec![format!("error: {what}")];
        if !way_out.is_empty() {
            lines.push(format!("       {way_out}"));
        }
        lines.push("1 error; nothing was run".into());
        Error::Config(lines)
    }

    /// The same of a sentence that has the way out in a second line.
    pub(crate) fn refused_with_advice(sentence: &str) -> Error {
        let (what, way_out) = sentence.split_once('\n').unwrap_or((sentence, ""));
        Error::refused(what, way_out)
    }

    /// What is printed: lines that begin with "error".
    pub fn report(&self) -> String {
        match self {
            Error::Config(_) | Error::Elsewhere { .. } => self.to_string(),
            other => format!("error: {other}"),
        }
    }

    /// The same as a part of another message: without "error" at its beginning.
    pub fn what(&self) -> String {
        let report = self.report();
        report.strip_prefix("error: ").unwrap_or(&report).to_string()
    }

    /// Whether all ranks have this error. Where they have not, the rank that has it must end the others.
    pub fn is_everywhere(&self) -> bool {
        matches!(
            self,
            Error::Elsewhere { .. }
                | Error::Diverged { .. }
                | Error::Stalled { .. }
                | Error::NotConverged { .. }
        )
    }

    /// The exit code of the program: 1 a run failed, 2 usage or configuration.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Config(_) | Error::RunExists { .. } => 2,
            Error::Elsewhere { exit_code, .. } => *exit_code,
            _ => 1,
        }
    }
}
