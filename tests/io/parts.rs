//! Small parts: run numbers, kmax η, the distance of two histories, what a terminal may show.

use std::f64::consts::PI;

use kolmo::compare::{difference, value_at};
use kolmo::io::RunId;
use kolmo::io::progress::visible;
use kolmo::io::summary::kmax_eta;

#[test]
fn a_number_is_read_as_it_was_written_and_no_two_are_equal() {
    let id = RunId::new();
    assert_eq!(id.to_string().parse(), Ok(id));
    assert_eq!(id.to_string().len(), 32);
    assert_ne!(id, RunId::new());
    for wrong in ["", "0", "+0000000000000000000000000000000", &"A".repeat(32), &"0".repeat(33)] {
        assert!(wrong.parse::<RunId>().is_err(), "{wrong}");
    }
}

#[test]
fn kmax_eta_of_the_taylor_green_vortex_at_re_1600_is_known() {
    // ε = 0.0125, Re = 1600: η = (1600⁻³ / 0.0125)^¼ = 0.011821; 512 points over 2π: kmax = 256.
    let h = 2.0 * PI / 512.0;
    assert!((kmax_eta(0.0125, [1.0, 1.0], h, 1600.0) - 256.0 * 0.011_821).abs() < 1e-3);
    // The same ν and ε, of a gas four times as dense and as viscous.
    assert!((kmax_eta(0.05, [4.0, 4.0], h, 1600.0) - 256.0 * 0.011_821).abs() < 1e-3);
}

#[test]
fn histories_are_compared_on_the_coarser_of_the_two_over_the_times_that_both_cover() {
    let coarse: (&[f64], &[f64]) = (&[0.0, 1.0, 2.0, 9.0], &[0.0, 1.0, 2.0, 100.0]);
    let times: Vec<f64> = (1..=25).map(|row| 0.1 * f64::from(row)).collect();
    // A kink between the coarse rows does not count; at the coarse rows 1 and 2 the distance is 0.25 and 0.5.
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
fn values_between_rows_lie_on_straight_lines_and_there_are_none_outside() {
    let (time, values) = ([0.0, 1.0, 3.0], [2.0, 4.0, 0.0]);
    let at = |t| value_at(&time, &values, t);
    assert_eq!([0.0, 0.5, 1.0, 2.0, 3.0].map(at), [2.0, 3.0, 4.0, 2.0, 0.0].map(Some));
    assert_eq!([-0.1, 3.1].map(at), [None, None]);
}

#[test]
fn what_steers_a_terminal_is_written_out_and_all_else_stays() {
    let text = "a \u{1b}[31mred\r\u{7f}\u{9b}2J \u{202e}txt\u{2066}\nη → “b”\n";
    let shown = "a \\u001b[31mred\\u000d\\u007f\\u009b2J \\u202etxt\\u2066\nη → “b”\n";
    assert_eq!(visible(text), shown);
    let json = serde_json::to_string("\u{7f}\u{9b}\u{202e}").unwrap();
    assert_eq!(serde_json::from_str::<String>(&visible(&json)).unwrap(), "\u{7f}\u{9b}\u{202e}");
}
