//! The errors a user can meet, by kind. `main` prints them and turns them into exit codes.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The result of any operation whose failure is reported to the user.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The sentence for insufficient memory: "`what` need 2.0 GiB `of`; 1.0 GiB `where_free`".
pub(crate) fn out_of_memory(
    what: impl Display,
    [needed, free]: [f64; 2],
    of: &str,
    where_free: impl Display,
) -> String {
    let [needed, free] = [needed, free].map(|bytes| bytes / (1_u64 << 30) as f64);
    format!("{what} need {needed:.1} GiB {of}; {free:.1} GiB {where_free}")
}

/// A mistake of the user, with advice on how to correct it.
pub(crate) fn refused(what: impl Display, advice: impl Display) -> Error {
    Error::Config(vec![format!("error: {what}"), format!("       {advice}")])
}

/// All errors, each displayed as a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is wrong: all problems found, each a complete message. Nothing was run or written.
    #[error("{}", .0.join("\n"))]
    Config(Vec<String>),
    /// The run directory already holds a run.
    #[error(
        "{directory} already holds a run\n       to continue it:       {restart_command}\n       in another directory: {elsewhere}\n       to replace it:        {again}",
        directory = .directory.display()
    )]
    RunExists {
        /// The directory to be written.
        directory: PathBuf,
        /// The command that continues the run.
        restart_command: String,
        /// The command that runs the same input in an unused directory.
        elsewhere: String,
        /// The command that replaces the existing run.
        again: String,
    },
    /// The flow left the range in which the equations are defined.
    #[error(
        "the run diverged at step {step}, t = {time:.6}: {field} = {value} at point ({}, {}, {})\n       what was written before is intact; use a smaller `time.cfl` or `time.dt`, more points, a filter, or a more robust `scheme.convection` and `scheme.energy`",
        .index[0], .index[1], .index[2]
    )]
    Diverged {
        /// Step after which the invalid state was found.
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
    /// A step does not change the time: dt is smaller than the spacing of floating-point numbers at t.
    #[error(
        "the run stalled at step {step}, t = {time}: a step of dt = {dt:e} does not change t\n       what was written before is intact; where dt has fallen to it, density or temperature came close to 0 (`min_density`, `min_temperature` in series.csv): use more points, a filter, or more robust forms; else use a larger `time.dt` or `time.cfl`"
    )]
    Stalled {
        /// Steps done.
        step: u64,
        /// Non-dimensional time.
        time: f64,
        /// The time step.
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
        /// The remaining residual, or the cause of the failure.
        why: String,
    },
    /// A GPU, its driver or its compiler reported an error.
    #[error("{0}")]
    Device(String),
    /// An error on one of several ranks that all ranks know about.
    #[error("{message}")]
    Elsewhere {
        /// The message that `main` prints there.
        message: String,
        /// The exit code there.
        exit_code: u8,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file of a run does not have the expected content.
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

    /// One mistake of the user, found before anything was run, with advice, which may be empty.
    pub(crate) fn refused(what: impl Display, advice: &str) -> Error {
        let mut lines = vec![format!("error: {what}")];
        if !advice.is_empty() {
            lines.push(format!("       {advice}"));
        }
        lines.push("1 error; nothing was run".into());
        Error::Config(lines)
    }

    /// The same for a sentence whose second line is the advice.
    pub(crate) fn refused_with_advice(sentence: &str) -> Error {
        let (what, advice) = sentence.split_once('\n').unwrap_or((sentence, ""));
        Error::refused(what, advice)
    }

    /// The printed text: lines that begin with "error".
    pub fn report(&self) -> String {
        match self {
            Error::Config(_) | Error::Elsewhere { .. } => self.to_string(),
            other => format!("error: {other}"),
        }
    }

    /// The same text as a part of another message: without the leading "error".
    pub fn what(&self) -> String {
        let report = self.report();
        report.strip_prefix("error: ").unwrap_or(&report).to_string()
    }

    /// Whether all ranks have this error. If not, the rank that has it must end the others.
    pub fn is_everywhere(&self) -> bool {
        matches!(
            self,
            Error::Elsewhere { .. }
                | Error::Diverged { .. }
                | Error::Stalled { .. }
                | Error::NotConverged { .. }
        )
    }

    /// The exit code of the program: 1 for a failed run, 2 for wrong usage or configuration.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Config(_) | Error::RunExists { .. } => 2,
            Error::Elsewhere { exit_code, .. } => *exit_code,
            _ => 1,
        }
    }
}
