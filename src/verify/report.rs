//! The results as text, JSON and HTML.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use serde::Serialize;

use super::check::Check;
use super::families::Family;
use crate::error::Result;
use crate::io::page::{Page, Table, escape};

/// All checks that were run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of the program.
    pub version: &'static str,
    /// Description of the backend and machine.
    pub place: String,
    /// Whether these are the quick checks.
    pub quick: bool,
    /// Every check, in the order of the families.
    pub checks: Vec<Check>,
    /// Number of passed checks.
    pub passed: usize,
    /// Number of failed checks.
    pub failed: usize,
    /// Total wall time in seconds.
    pub seconds: f64,
    #[serde(skip)]
    parts: Vec<Part>,
}

/// The checks of one family.
#[derive(Clone, Debug)]
struct Part {
    name: &'static str,
    shows: &'static str,
    checks: usize,
    seconds: f64,
}

impl Report {
    pub(super) fn new(place: String, quick: bool) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            place,
            quick,
            checks: Vec::new(),
            passed: 0,
            failed: 0,
            seconds: 0.0,
            parts: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, family: &Family, checks: Vec<Check>, seconds: f64) {
        let Family { name, shows, .. } = *family;
        self.parts.push(Part { name, shows, checks: checks.len(), seconds });
        self.passed += checks.iter().filter(|check| check.passed).count();
        self.failed += checks.iter().filter(|check| !check.passed).count();
        self.seconds += seconds;
        let with_family = |check: Check| Check { name: format!("{name}/{}", check.name), ..check };
        self.checks.extend(checks.into_iter().map(with_family));
    }

    /// The result in one sentence.
    pub fn verdict(&self) -> String {
        let Self { place, checks, passed, .. } = self;
        let kind = if self.quick { "quick checks" } else { "checks" };
        match self.failed {
            0 if checks.is_empty() => format!("Nothing could be checked on {place}."),
            0 => format!("All {passed} {kind} pass on {place}."),
            failed => {
                let wrong = checks.iter().filter(|check| !check.passed);
                let names: Vec<&str> = wrong.map(|check| check.name.as_str()).collect();
                let all = checks.len();
                format!("{failed} of {all} {kind} fail on {place}: {}.", names.join(", "))
            }
        }
    }

    fn table(checks: &[Check]) -> Table {
        let header = ["check", "", "measured", "bound", "what it shows", "bound from"];
        let row = |check: &Check| {
            vec![
                check.name.clone(),
                if check.passed { "pass" } else { "FAIL" }.into(),
                format!("{:.2e}", check.measured),
                format!("{:.2e}", check.bound),
                check.what.clone(),
                check.source.clone(),
            ]
        };
        Table { header: header.map(String::from).to_vec(), rows: checks.iter().map(row).collect() }
    }

    /// Families with their checks.
    fn parts(&self) -> impl Iterator<Item = (&Part, &[Check])> {
        let mut rest = self.checks.as_slice();
        self.parts.iter().map(move |part| {
            let (own, others) = rest.split_at(part.checks);
            rest = others;
            (part, own)
        })
    }

    /// A family with its checks as text; empty if it has none.
    fn text(part: &Part, checks: &[Check]) -> String {
        if checks.is_empty() {
            return String::new();
        }
        let Part { name, shows, seconds, .. } = part;
        format!("\n{name}: {shows} ({seconds:.1} s)\n{}", Self::table(checks).text())
    }

    /// The last added family as text.
    pub(super) fn latest(&self) -> String {
        self.parts().last().map_or_else(String::new, |(part, checks)| Self::text(part, checks))
    }

    /// Write the report as an HTML page.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_page(&self, path: &Path) -> Result<()> {
        let mut page = Page::new("verify", "Verification", &self.place);
        page.paragraph(&self.verdict());
        for (part, checks) in self.parts() {
            page.push(&format!("<h2>{}</h2>", escape(part.name)));
            page.paragraph(&format!("{} ({:.1} s).", part.shows, part.seconds));
            page.push(&Self::table(checks).html());
        }
        page.write(path, self.version, "kolmo verify --json")
    }
}

impl Display for Report {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.parts().try_for_each(|(part, checks)| to.write_str(&Self::text(part, checks)))?;
        writeln!(to, "\n{}", self.verdict())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::FAMILIES;

    #[test]
    fn failed_checks_and_nan_results_fail_the_verdict() {
        let check = |name: &str, measured: f64, bound: f64| Check::at_most(name, measured, bound);
        let mut report = Report::new("a machine".into(), false);
        report.add(&FAMILIES[0], vec![check("right", 1.0, 1.0)], 0.0);
        assert_eq!(report.verdict(), "All 1 checks pass on a machine.");
        report.add(&FAMILIES[1], vec![check("large", 1.1, 1.0), check("none", f64::NAN, 1.0)], 0.0);
        assert_eq!((report.passed, report.failed), (1, 2));
        let failing = format!("{0}/large, {0}/none", FAMILIES[1].name);
        assert_eq!(report.verdict(), format!("2 of 3 checks fail on a machine: {failing}."));
        assert_eq!(report.to_string().matches("FAIL").count(), 2);
        let json: serde_json::Value = serde_json::from_str(&crate::io::json(&report)).unwrap();
        assert_eq!(json["checks"][2]["measured"], serde_json::Value::Null);
        assert_eq!(json["failed"], 2);
    }
}
