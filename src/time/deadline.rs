//! The wall-time limit of a run.

use std::env;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::config::WallLimit;
use crate::error::{Error, Result};

/// Assumed write rate in bytes per second of a rank, and of all ranks together, until a checkpoint was written.
const RANK_WRITE_RATE: f64 = 50e6;
const TOTAL_WRITE_RATE: f64 = 2e9;

/// Decides when a run has to stop so that its checkpoint is written in time.
#[derive(Debug)]
pub(super) struct Deadline {
    end: Option<Instant>,
    slowest_step: f64,
    slowest_checkpoint: Option<f64>,
    /// Assumed duration of a checkpoint before one was written.
    assumed_checkpoint: f64,
}

impl Deadline {
    /// For a run that began at `start`, and a state of `bytes` bytes on each of `ranks`.
    ///
    /// # Errors
    /// Where the batch system is to be queried and gives no answer.
    pub(super) fn new(
        limit: Option<WallLimit>,
        start: Instant,
        [bytes, ranks]: [usize; 2],
    ) -> Result<Self> {
        let end = match limit {
            None => None,
            Some(WallLimit::Seconds(seconds)) => after(start, seconds),
            Some(WallLimit::Auto) => after(Instant::now(), batch_seconds()?),
        };
        let assumed_checkpoint =
            bytes as f64 * (ranks as f64 / TOTAL_WRITE_RATE).max(1.0 / RANK_WRITE_RATE);
        Ok(Self { end, slowest_step: 0.0, slowest_checkpoint: None, assumed_checkpoint })
    }

    /// Record the duration of a step including all outputs after it.
    pub(super) fn record_step(&mut self, seconds: f64) {
        self.slowest_step = self.slowest_step.max(seconds);
    }

    /// Record the duration of a checkpoint.
    pub(super) fn record_checkpoint(&mut self, seconds: f64) {
        self.slowest_checkpoint = Some(self.slowest_checkpoint.unwrap_or(0.0).max(seconds));
    }

    /// Whether one more step would leave no time for the last outputs and a checkpoint, if they take twice as long as the longest
    /// so far.
    pub(super) fn is_near(&self) -> bool {
        let checkpoint = self.slowest_checkpoint.unwrap_or(self.assumed_checkpoint);
        let reserve = 3.0 * self.slowest_step + 2.0 * checkpoint;
        let left = |end: Instant| end.saturating_duration_since(Instant::now()).as_secs_f64();
        self.end.is_some_and(|end| left(end) <= reserve)
    }
}

/// `None` is beyond the range of the clock.
fn after(start: Instant, seconds: f64) -> Option<Instant> {
    start.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// Seconds that the batch system leaves this job.
fn batch_seconds() -> Result<f64> {
    let number = |name: &str| env::var(name).ok()?.trim().parse::<f64>().ok();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64());
    // Slurm gives the end in seconds since 1970; PBS the length of the job, which began with its session.
    let length = || number("PBS_WALLTIME").map(|length| length - session_age().unwrap_or(0.0));
    let left = number("SLURM_JOB_END_TIME").map(|end| end - now).or_else(length);
    left.map(|left| left.max(0.0)).ok_or_else(|| {
        Error::refused(
            "time.wall_limit = \"auto\", and no batch system says when this job ends",
            "neither SLURM_JOB_END_TIME nor PBS_WALLTIME is set to a number of seconds; give the time, as in \"11h50m\"",
        )
    })
}

/// Seconds since the start of the session leader, the shell of a batch job; `None` where the system does not report it.
#[cfg(target_os = "linux")]
fn session_age() -> Option<f64> {
    use std::fs::read_to_string;
    // SAFETY: queries about this process and the system, which cannot fail with these arguments.
    let (leader, ticks) = unsafe { (libc::getsid(0), libc::sysconf(libc::_SC_CLK_TCK)) };
    // The name may contain anything; after it follows the third of the fields of proc(5); the 22nd is the start of the process.
    let stat = read_to_string(format!("/proc/{leader}/stat")).ok()?;
    let began: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let uptime: f64 =
        read_to_string("/proc/uptime").ok()?.split_whitespace().next()?.parse().ok()?;
    Some((uptime - began / ticks as f64).max(0.0))
}

#[cfg(not(target_os = "linux"))]
fn session_age() -> Option<f64> {
    None
}
