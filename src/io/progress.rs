//! Output on the terminal during a run.

use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, Instant};

use super::bar::Bar;

/// Write a line to standard error, as [`visible`] shows it. A closed standard error does not end a run.
pub fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(text));
}

/// `text` with terminal control characters written out: `\u001b` for the start of an escape sequence. Line ends and tabs stay.
/// JSON keeps its meaning.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            // Writing to a string cannot fail.
            c if needs_escape(c) => drop(write!(shown, "\\u{:04x}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// Control characters, and those that change the direction of the following text or break its line.
fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Seconds between two plain lines, where the output is not a terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

/// One line that is redrawn on a terminal, plain lines every few seconds elsewhere; on standard error.
#[derive(Debug)]
pub struct Progress {
    end_time: Option<f64>,
    max_steps: Option<u64>,
    start: Instant,
    done_at_start: Option<f64>,
    bar: Option<Bar>,
    last_line: Option<Instant>,
    line: String,
}

impl Progress {
    /// For a run to `end_time`, to `max_steps`, or to the first of both.
    pub fn new(end_time: Option<f64>, max_steps: Option<u64>) -> Self {
        let (bar, start, line) = (Bar::open(), Instant::now(), String::new());
        Self { end_time, max_steps, start, done_at_start: None, bar, last_line: None, line }
    }

    /// Show the progress of the run; `ns` is nanoseconds per point and Runge-Kutta stage. Energy and `ns` are left out where they
    /// are NaN: not known yet, or not defined.
    pub fn update(&mut self, step: u64, t: f64, dt: f64, kinetic_energy: f64, ns: f64) {
        let done = self.fraction_done(step, t);
        let done_at_start = *self.done_at_start.get_or_insert(done);
        let remaining =
            seconds_left(self.start.elapsed().as_secs_f64(), done - done_at_start, 1.0 - done);
        self.line = line(step, &time(t, self.end_time), dt, kinetic_energy, ns, remaining);
        self.show(done, &format!("{:3.0} %  ", 100.0 * done));
    }

    /// The same for a steady run, whose progress is the fall of the residual in decades, out of the required number. The rate of
    /// the fall varies, so no remaining time is shown.
    pub fn update_steady(
        &mut self,
        step: u64,
        [fallen, required]: [f64; 2],
        dt: f64,
        kinetic_energy: f64,
        ns: f64,
    ) {
        self.line = line(step, &decades(fallen, required), dt, kinetic_energy, ns, None);
        self.show((fallen / required).clamp(0.0, 1.0), "");
    }

    /// Show the line, beside a bar on a terminal, after `part` elsewhere.
    fn show(&mut self, done: f64, part: &str) {
        match &self.bar {
            Some(bar) => bar.show(done, &self.line),
            None if self.last_line.is_none_or(|last| last.elapsed() >= PLAIN_INTERVAL) => {
                tell(&format!("{part}{}", self.line));
                self.last_line = Some(Instant::now());
            }
            None => {}
        }
    }

    /// Show the last state permanently, and a closing sentence.
    pub fn finish(&mut self, message: &str) {
        match &self.bar {
            Some(bar) => bar.leave(),
            None if !self.line.is_empty() => tell(&self.line),
            None => {}
        }
        if !message.is_empty() {
            tell(message);
        }
    }

    /// The fraction of the run that is done, in 0..1.
    fn fraction_done(&self, step: u64, t: f64) -> f64 {
        let part = |now: f64, end: Option<f64>| end.filter(|&end| end > 0.0).map(|end| now / end);
        let time = part(t, self.end_time).unwrap_or(0.0);
        let steps = part(step as f64, self.max_steps.map(|max| max as f64)).unwrap_or(0.0);
        time.max(steps).clamp(0.0, 1.0)
    }
}

/// From the time taken so far; `None` while nothing is done.
fn seconds_left(elapsed: f64, done: f64, to_do: f64) -> Option<f64> {
    (done > 0.0).then(|| elapsed * to_do / done)
}

/// The time, with decimals suited to the length of the run.
fn time(t: f64, end: Option<f64>) -> String {
    let plain = (1e-2..1e6).contains(&end.unwrap_or(1.0));
    match end {
        Some(end) if plain => format!("t {t:.3} / {end}"),
        Some(end) => format!("t {t:.2e} / {end:e}"),
        None => format!("t {t:.3}"),
    }
}

fn decades(fallen: f64, required: f64) -> String {
    format!("residual {fallen:.1} / {required:.1} decades")
}

/// Fits into 80 columns beside the bar, except for the unit at its end. `reached` is the progress.
fn line(
    step: u64,
    reached: &str,
    dt: f64,
    kinetic_energy: f64,
    ns: f64,
    remaining: Option<f64>,
) -> String {
    let mut parts = vec![format!("step {step}"), reached.to_string(), format!("dt {dt:.1e}")];
    if kinetic_energy.is_finite() {
        parts.push(format!("E {kinetic_energy:.5}"));
    }
    if let Some(remaining) = remaining {
        parts.push(format!("{} left", duration(remaining)));
    }
    if ns.is_finite() {
        parts.push(format!("{ns:.0} ns/point/stage"));
    }
    parts.join("  ")
}

/// `45 s`, `3 min 20 s`, `2 h 05 min`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_line_has_step_time_energy_speed_and_remaining_time() {
        let text = line(1200, &time(3.2, Some(10.0)), 2.5e-3, 0.1234567, 41.27, Some(200.0));
        assert_eq!(
            text,
            "step 1200  t 3.200 / 10  dt 2.5e-3  E 0.12346  3 min 20 s left  41 ns/point/stage"
        );
        let short = line(3, &time(3e-301, Some(1e-300)), 1e-301, f64::NAN, f64::NAN, None);
        assert_eq!(short, "step 3  t 3.00e-301 / 1e-300  dt 1.0e-301");
        let begun = line(0, &time(0.0, None), 0.1, f64::NAN, f64::NAN, None);
        assert_eq!(begun, "step 0  t 0.000  dt 1.0e-1");
        let steady = line(12, &decades(3.46, 10.0), 18.0, 0.1234567, 41.27, None);
        assert_eq!(
            steady,
            "step 12  residual 3.5 / 10.0 decades  dt 1.8e1  E 0.12346  41 ns/point/stage"
        );
    }

    #[test]
    fn remaining_time_follows_from_the_speed_so_far() {
        assert_eq!(seconds_left(30.0, 0.25, 0.75), Some(90.0));
        assert_eq!(seconds_left(30.0, 0.0, 1.0), None);
        assert_eq!(duration(7505.0), "2 h 05 min");
        assert_eq!(duration(59.6), "1 min 00 s");
    }

    #[test]
    fn progress_is_relative_to_the_nearer_of_two_ends() {
        let progress = Progress::new(Some(10.0), Some(100));
        assert_eq!(progress.fraction_done(50, 1.0), 0.5);
        assert_eq!(progress.fraction_done(5, 9.0), 0.9);
        assert_eq!(Progress::new(None, None).fraction_done(5, 9.0), 0.0);
    }
}
