//! The verdict on a run and its reason.

use kolmo::io::reference::Comparison;
use kolmo::io::summary::Resolution;
use kolmo::io::verdict::{Evidence, Verdict, decide};

fn at(kmax_eta_min: f64) -> Option<Resolution> {
    Some(Resolution { kmax_eta_min, time: 9.0 })
}

/// A comparison from the start to t = 10, past the peak at t = 9, with rows dense enough to resolve the reference.
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

fn judge(resolution: Option<Resolution>, reference: Option<&Comparison>) -> (Verdict, String) {
    decide(&Evidence { resolution, reference, ..Evidence::default() })
}

#[test]
fn a_resolved_run_close_to_the_reference_passes() {
    let (verdict, reason) = judge(at(1.5), Some(&close()));
    assert_eq!(verdict, Verdict::Passed);
    assert_eq!(
        reason,
        "on the reference up to t = 10: dissipation within 1.9 % and energy loss within 1.9 % of its peak, \
         kinetic energy within 0.9 % of its start; kmax η is 1.5 or more"
    );
}

#[test]
fn an_under_resolved_run_does_not_pass_however_close_to_the_reference() {
    let (verdict, reason) = judge(at(1.499), Some(&close()));
    assert_eq!(verdict, Verdict::UnderResolved);
    let start = "kmax η falls to 1.49 at t = 9, below the 1.5 of a resolved run; on the reference up to t = 10: ";
    assert!(reason.starts_with(start), "{reason}");
    assert_eq!(judge(None, Some(&close())), (Verdict::NoVerdict, "kmax η is not known".into()));
}

#[test]
fn a_run_that_deviates_in_any_of_three_quantities_does_not_pass() {
    for deviating in [off_by(0.0101, 0.0, 0.0), off_by(0.0, 0.0201, 0.0), off_by(0.0, 0.0, 0.0201)]
    {
        let (verdict, reason) = judge(at(2.0), Some(&deviating));
        assert_eq!(verdict, Verdict::Deviates);
        assert!(reason.starts_with("off the reference up to t = 10: "), "{reason}");
        assert_eq!(reason.matches("(more than ").count(), 1, "{reason}");
        assert_eq!(judge(at(1.49), Some(&deviating)).0, Verdict::UnderResolved);
    }
    let infinite = off_by(f64::INFINITY, 0.0, 0.0);
    assert_eq!(judge(None, Some(&infinite)).0, Verdict::Deviates);
}

#[test]
fn insufficient_evidence_gives_no_verdict_and_the_reason() {
    let none = Comparison { rows: 0, until: 0.0, ..close() };
    let early = Comparison { until: 8.99, ..close() };
    let sparse = Comparison { unseen: 0.5, unseen_between: [0.0, 10.0], ..close() };
    for (comparison, words) in [
        (none, "no row of series.csv lies within the times of the reference"),
        (early, "end at t = 8.99, before the peak of the reference at t = 9"),
        (sparse, "too few rows in series.csv: from t = 0 to 10, where it has none"),
    ] {
        let (verdict, reason) = judge(at(2.0), Some(&comparison));
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
    // Evidence against a run counts also if the run is not finished.
    assert_eq!(decide(&Evidence { resolution: at(1.0), ..stopped }).0, Verdict::UnderResolved);
    let deviating = off_by(0.1, 0.0, 0.0);
    assert_eq!(decide(&Evidence { reference: Some(&deviating), ..stopped }).0, Verdict::Deviates);
}

#[test]
fn without_a_reference_the_verdict_uses_resolution_or_exact_error() {
    assert_eq!(
        judge(at(1.5), None),
        (Verdict::NoReference, "nothing to compare with; kmax η is 1.5 or more".into())
    );
    assert_eq!(judge(None, None), (Verdict::NoReference, "nothing to compare with".into()));
    assert_eq!(judge(at(1.49), None).0, Verdict::UnderResolved);
    let own = Evidence { has_user_curves: true, ..Evidence::default() };
    let reason = "nothing to compare with except your own curves, which are not judged";
    assert_eq!(decide(&own), (Verdict::NoReference, reason.into()));
    let exact = Evidence { error: Some((2e-9, "the density")), ..Evidence::default() };
    let reason =
        "the largest error against the exact solution is 2.0e-9 at the end, of the density"
            .to_string();
    // For a laminar flow the error is a better measure than kmax η.
    for resolution in [None, at(1.0), at(1e3)] {
        let exact = Evidence { resolution, ..exact };
        assert_eq!(decide(&exact), (Verdict::Measured, reason.clone()));
    }
}

#[test]
fn a_run_that_was_a_different_flow_before_a_restart_gets_no_verdict() {
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
