//! Small components: run IDs, kmax η, the difference of two time series, and safe terminal output.

use std::f64::consts::PI;

use kolmo::compare::{difference, value_at};
use kolmo::io::RunId;
use kolmo::io::progress::visible;
use kolmo::io::summary::kmax_eta;

#[test]
fn run_ids_round_trip_and_are_unique() {
    let id = RunId::new();
    assert_eq!(id.to_string().parse(), Ok(id));
    assert_eq!(id.to_string().len(), 32);
    assert_ne!(id, RunId::new());
    for invalid in ["", "0", "+0000000000000000000000000000000", &"A".repeat(32), &"0".repeat(33)] {
        assert!(invalid.parse::<RunId>().is_err(), "{invalid}");
    }
}

#[test]
fn kmax_eta_matches_the_taylor_green_value_at_re_1600() {
    // ε = 0.0125, Re = 1600: η = (1600⁻³ / 0.0125)^¼ = 0.011821; 512 points over 2π: kmax = 256.
    let h = 2.0 * PI / 512.0;
    assert!((kmax_eta(0.0125, [1.0, 1.0], h, 1600.0) - 256.0 * 0.011_821).abs() < 1e-3);
    // The same ν and ε for a gas with four times the density and viscosity.
    assert!((kmax_eta(0.05, [4.0, 4.0], h, 1600.0) - 256.0 * 0.011_821).abs() < 1e-3);
}

#[test]
fn histories_are_compared_at_the_coarser_times_of_the_common_interval() {
    let coarse: (&[f64], &[f64]) = (&[0.0, 1.0, 2.0, 9.0], &[0.0, 1.0, 2.0, 100.0]);
    let times: Vec<f64> = (1..=25).map(|row| 0.1 * f64::from(row)).collect();
    // A bump between the coarse rows is ignored; at t = 1 and 2, which are coarse rows, the difference is 0.25 and 0.5.
    let values: Vec<f64> =
        times.iter().map(|t| 1.25 * t + if (t - 1.5).abs() < 0.3 { 7.0 } else { 0.0 }).collect();
    for (a, b) in [(coarse, (&*times, &*values)), ((&*times, &*values), coarse)] {
        assert!((difference(a, b).unwrap_or(f64::NAN) - 0.5).abs() < 1e-12);
    }
    assert_eq!(difference(coarse, coarse), Some(0.0));
    assert_eq!(difference(coarse, (&[10.0, 11.0], &[0.0, 0.0])), None);
    assert_eq!(difference(coarse, (&[0.0, 1.0], &[0.0, f64::NAN])), Some(f64::INFINITY));
}

#[test]
fn values_are_interpolated_linearly_and_none_exist_outside_the_series() {
    let (time, values) = ([0.0, 1.0, 3.0], [2.0, 4.0, 0.0]);
    let at = |t| value_at(&time, &values, t);
    assert_eq!([0.0, 0.5, 1.0, 2.0, 3.0].map(at), [2.0, 3.0, 4.0, 2.0, 0.0].map(Some));
    assert_eq!([-0.1, 3.1].map(at), [None, None]);
}

#[test]
fn terminal_control_characters_are_escaped_and_other_text_is_unchanged() {
    let text = "a \u{1b}[31mred\r\u{7f}\u{9b}2J \u{202e}txt\u{2066}\nη → “b”\n";
    let shown = "a \\u001b[31mred\\u000d\\u007f\\u009b2J \\u202etxt\\u2066\nη → “b”\n";
    assert_eq!(visible(text), shown);
    let json = serde_json::to_string("\u{7f}\u{9b}\u{202e}").unwrap();
    assert_eq!(serde_json::from_str::<String>(&visible(&json)).unwrap(), "\u{7f}\u{9b}\u{202e}");
}
