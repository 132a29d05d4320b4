//! `kolmo verify`: its reports, its verdicts and its errors for bad arguments. Its checks are themselves tests of the method and
//! run here as users run them.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use kolmo::comm::Solo;
use kolmo::verify::{FAMILIES, VerifyOptions};

use crate::common::{program, root};
use crate::io::python;

/// Run `kolmo verify`.
fn verify(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.arg("verify").args(arguments).current_dir(directory).env("CUDA_VISIBLE_DEVICES", "");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The JSON of checks, all of which must pass.
fn passing(arguments: &[&str]) -> serde_json::Value {
    let dir = tempfile::tempdir().unwrap();
    let output = verify(dir.path(), &[arguments, &["--json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", report["checks"], text(&output.stderr));
    report
}

#[test]
fn quick_checks_pass_on_the_host_and_report_value_bound_and_source() {
    let report = passing(&["--quick", "--backend", "cpu"]);
    let checks = report["checks"].as_array().unwrap();
    assert_eq!(report["passed"], checks.len());
    assert_eq!(report["failed"], 0);
    assert_eq!(report["quick"], true);
    for check in checks {
        let number = |key: &str| check[key].as_f64().unwrap();
        assert!(number("measured") <= number("bound"), "{check}");
        for key in ["name", "what", "source"] {
            assert!(!check[key].as_str().unwrap().is_empty(), "{check}");
        }
        assert_eq!(check["passed"], true);
    }
    let mut names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    for family in &FAMILIES {
        let own = |name: &&&str| name.starts_with(&format!("{}/", family.name));
        assert!(names.iter().filter(own).count() > 2, "{}", family.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), checks.len(), "duplicate names of checks");
}

#[test]
fn quick_checks_of_named_families_pass_on_an_opencl_device() {
    let report = passing(&["--quick", "--backend", "opencl", "closures", "waves", "exact"]);
    assert!(report["checks"].as_array().unwrap().len() > 30);
    assert!(report["place"].as_str().unwrap().contains("OpenCL"), "{}", report["place"]);
}

#[test]
fn verdict_ends_the_table_and_the_html_page_has_the_same_checks() {
    let dir = tempfile::tempdir().unwrap();
    let output = verify(dir.path(), &["filters", "--backend", "cpu", "--html", "page.html"]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    let verdict = table.lines().last().unwrap();
    assert!(
        verdict.starts_with("All ") && verdict.ends_with(" checks pass on the cpu."),
        "{table}"
    );
    let page = std::fs::read_to_string(dir.path().join("page.html")).unwrap();
    assert!(page.contains(verdict) && page.contains("filters/filter8-order"), "{page}");
    // A page of `kolmo verify` is overwritten; another file is not.
    let again = ["closures", "--backend", "cpu", "--html", "page.html"];
    assert_eq!(verify(dir.path(), &again).status.code(), Some(0));
    std::fs::write(dir.path().join("page.html"), "mine").unwrap();
    let rejected = verify(dir.path(), &again);
    assert_eq!(rejected.status.code(), Some(2));
    assert!(text(&rejected.stderr).contains("`kolmo verify` did not write it"));
    assert!(rejected.stdout.is_empty());
}

#[test]
fn list_option_names_every_family_and_runs_no_check() {
    let dir = tempfile::tempdir().unwrap();
    let output = verify(dir.path(), &["--list"]);
    assert_eq!(output.status.code(), Some(0));
    let listed = text(&output.stdout);
    assert_eq!(listed.lines().count(), FAMILIES.len());
    assert!(
        FAMILIES.iter().zip(listed.lines()).all(|(family, line)| line.starts_with(family.name))
    );
}

#[test]
fn verify_rejects_bad_arguments_before_any_check_runs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    for (arguments, error) in [
        (&["operator"][..], "`operator` is not a family of checks"),
        (&["--backend", "gpu"], "gpu"),
        (&["--backend", "opencl", "--device", "900"], "900"),
        (&["--html", "."], "is a directory; a page needs a file"),
        (&["--html", "file/page.html"], "file: a file is there, not a directory"),
    ] {
        let output = verify(dir.path(), arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(error) && !stderr.contains("checking"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn every_planted_mistake_still_matches_the_source() {
    let script = root().join("validation/mistakes.py");
    let output = Command::new(python()).arg(script).arg("--check").output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", text(&printed));
}

/// Asserts that every check of these families passes on the host, including the slow checks that `--quick` leaves out.
pub(crate) fn assert_verified(families: &[&str]) {
    let options = VerifyOptions {
        names: families.iter().map(ToString::to_string).collect(),
        backend: Some("cpu".into()),
        ..VerifyOptions::default()
    };
    let report = kolmo::verify::verify(&options, &(Arc::new(Solo) as _), &|_| Ok(())).unwrap();
    assert!(report.failed == 0 && report.passed > 0, "{report}");
}
