//! Which verdict a run gets, and the sentence that says why.

use kolmo::io::reference::Comparison;
use kolmo::io::summary::Resolution;
use kolmo::io::verdict::{Evidence, Verdict, decide};

fn at(kmax_eta_min: f64) -> Option<Resolution> {
    Some(Resolution { kmax_eta_min, time: 9.0 })
}

/// Compared from the start to t = 10, past the peak at t = 9, in rows that leave nothing unseen.
fn off_by(energy: f64, dissipation: f64, loss: f64) -> Comparison {
    Comparison {
        source: "made up".into(),
        until: 10.0,
        kinetic_energy_max_deviation: energy,
        dissipation_max_deviation: dissipation,
        energy_loss_max_deviation: loss,
        rows: 101,
        peak_time: 9.0,
        unseen: 0.001,
        unseen_between: [8.9, 9.0],
        whole: false,
    }
}

fn close() -> Comparison {
    off_by(0.009, 0.019, 0.019)
}

fn held(resolution: Option<Resolution>, reference: Option<&Comparison>) -> (Verdict, String) {
    decide(&Evidence { resolution, reference, ..Evidence::default() })
}

#[test]
fn a_run_passes_where_it_lies_on_the_reference_and_is_resolved() {
    let (verdict, reason) = held(at(1.5), Some(&close()));
    assert_eq!(verdict, Verdict::Passed);
    assert_eq!(
        reason,
        "on the reference up to t = 10: dissipation within 1.9 % and energy loss within 1.9 % of its peak, \
         kinetic energy within 0.9 % of its start; kmax η is 1.5 or more"
    );
}

#[test]
fn a_coarse_run_does_not_pass_however_close_it_lies() {
    let (verdict, reason) = held(at(1.499), Some(&close()));
    assert_eq!(verdict, Verdict::UnderResolved);
    let start = "kmax η falls to 1.49 at t = 9, below the 1.5 of a resolved run; on the reference up to t = 10: ";
    assert!(reason.starts_with(start), "{reason}");
    assert_eq!(held(None, Some(&close())), (Verdict::NoVerdict, "kmax η is not known".into()));
}

#[test]
fn a_run_off_its_reference_in_any_of_the_three_does_not_pass() {
    for far in [off_by(0.0101, 0.0, 0.0), off_by(0.0, 0.0201, 0.0), off_by(0.0, 0.0, 0.0201)] {
        let (verdict, reason) = held(at(2.0), Some(&far));
        assert_eq!(verdict, Verdict::Deviates);
        assert!(reason.starts_with("off the reference up to t = 10: "), "{reason}");
        assert_eq!(reason.matches("(more than ").count(), 1, "{reason}");
        assert_eq!(held(at(1.49), Some(&far)).0, Verdict::UnderResolved);
    }
    let broken = off_by(f64::INFINITY, 0.0, 0.0);
    assert_eq!(held(None, Some(&broken)).0, Verdict::Deviates);
}

#[test]
fn a_run_that_shows_too_little_has_no_verdict_and_says_what_is_missing() {
    let none = Comparison { rows: 0, until: 0.0, ..close() };
    let early = Comparison { until: 8.99, ..close() };
    let sparse = Comparison { unseen: 0.5, unseen_between: [0.0, 10.0], ..close() };
    for (comparison, words) in [
        (none, "no row of series.csv lies within the times of the reference"),
        (early, "end at t = 8.99, before the peak of the reference at t = 9"),
        (sparse, "too few rows in series.csv: from t = 0 to 10, where it has none"),
    ] {
        let (verdict, reason) = held(at(2.0), Some(&comparison));
        assert_eq!(verdict, Verdict::NoVerdict);
        assert!(reason.contains(words), "{reason}");
    }
    let stopped = Evidence {
        unfinished: Some("asked to stop"),
        resolution: at(2.0),
        reference: Some(&close()),
        ..Evidence::default()
    };
    let expected = (Verdict::NoVerdict, "not finished: asked to stop".to_string());
    assert_eq!(decide(&stopped), expected);
    assert_eq!(decide(&Evidence { reference: None, ..stopped }), expected);
    // What speaks against a run does so wherever it stopped.
    assert_eq!(decide(&Evidence { resolution: at(1.0), ..stopped }).0, Verdict::UnderResolved);
    let far = off_by(0.1, 0.0, 0.0);
    assert_eq!(decide(&Evidence { reference: Some(&far), ..stopped }).0, Verdict::Deviates);
}

#[test]
fn without_a_reference_only_the_resolution_speaks() {
    assert_eq!(
        held(at(1.5), None),
        (Verdict::NoReference, "nothing to compare with; kmax η is 1.5 or more".into())
    );
    assert_eq!(held(None, None), (Verdict::NoReference, "nothing to compare with".into()));
    assert_eq!(held(at(1.49), None).0, Verdict::UnderResolved);
    let own = Evidence { own_curves: true, ..Evidence::default() };
    let reason = "nothing to compare with except your own curves, which are not judged";
    assert_eq!(decide(&own), (Verdict::NoReference, reason.into()));
    let exact = Evidence { error: Some((2e-9, "the density")), ..Evidence::default() };
    let told = "the largest error against the exact solution is 2.0e-9 at the end, of the density"
        .to_string();
    // kmax η of a laminar flow says less than its error.
    for resolution in [None, at(1.0), at(1e3)] {
        let exact = Evidence { resolution, ..exact };
        assert_eq!(decide(&exact), (Verdict::Measured, told.clone()));
    }
}

#[test]
fn a_run_that_was_another_flow_is_not_held_against_a_reference() {
    let changed = Evidence {
        unjudged: Some("it was a different flow up to step 7"),
        resolution: at(2.0),
        error: Some((2e-9, "density")),
        ..Evidence::default()
    };
    let reason = "it was a different flow up to step 7; kmax η is 2 or more";
    assert_eq!(decide(&changed), (Verdict::NoVerdict, reason.into()));
    assert_eq!(decide(&Evidence { resolution: at(1.0), ..changed }).0, Verdict::UnderResolved);
}
