//! `kolmo bench` on several ranks: its output is complete and correct. Speed is not tested.

use std::process::Command;

use serde_json::Value;

use super::{Job, job};
use crate::common::program;

/// Runs a benchmark on `ranks` ranks, which must succeed, and returns its JSON.
fn report(ranks: usize, arguments: &str) -> Value {
    let Job { code, out, err } =
        bench(ranks, &format!("{arguments} --repeats 2 --threads 1 --json"));
    assert_eq!(code, Some(0), "{arguments}: {err}");
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}"));
    assert!(report["failures"].as_array().unwrap().is_empty());
    report
}

fn bench(ranks: usize, arguments: &str) -> Job {
    let mut command = Command::new(program());
    command.arg("bench").args(arguments.split_whitespace());
    job(ranks, &command)
}

fn rows(report: &Value) -> &Vec<Value> {
    report["results"].as_array().unwrap()
}

#[test]
fn comm_bench_measures_every_method_and_checks_errors_and_messages() {
    for ranks in [2, 3] {
        let report = report(ranks, "comm --points 48x6x5 --axis x --operands 3 --backend cpu");
        let methods: Vec<_> =
            rows(&report).iter().map(|row| row["method"].as_str().unwrap()).collect();
        assert_eq!(methods, ["neighbour", "pcr", "gather", "transpose", "chain"]);
        for row in rows(&report) {
            assert!(row["error"].as_f64().unwrap() < 1e-12, "{row}");
            assert_eq!(row["decomposition"], serde_json::json!([ranks, 1, 1]));
            let phases = &row["phase_seconds"];
            for phase in ["local", "communicate"] {
                assert!(phases[phase]["min"].as_f64().unwrap() > 0.0, "{row}");
            }
            let predicted = row["predicted_seconds"]["all"].as_f64().unwrap();
            assert!(predicted > 0.0 && predicted.is_finite(), "{row}");
        }
        // One message to each neighbour for any number of operands. With two ranks both neighbours are the same rank.
        assert_eq!(rows(&report)[0]["messages"], if ranks == 2 { 1 } else { 2 });
        let messages = report["messages"].as_array().unwrap();
        for name in ["ping-pong", "exchange"] {
            let of_name = messages.iter().filter(|row| row["name"] == name);
            let bytes: Vec<_> = of_name.map(|row| row["bytes"].as_u64().unwrap()).collect();
            assert!(bytes.len() > 3 && bytes.is_sorted(), "{bytes:?}");
        }
        // The rates are valid input of the performance model.
        let rates: kolmo::model::Rates = serde_json::from_value(report["rates"].clone()).unwrap();
        assert_eq!(rates.check(), Ok(()));
        assert!(rates.bandwidth > 0.0 && rates.staging.is_none());
    }
}

#[test]
fn comm_bench_skips_neighbour_on_short_blocks_and_notes_it() {
    let report = report(2, "comm --points 16x6x5 --axis x --backend cpu");
    let methods: Vec<_> = rows(&report).iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["pcr", "gather", "transpose", "chain"]);
    assert!(report["notes"].to_string().contains("left out: neighbour along x"), "{report}");
}

/// Catches messages that are counted for the wrong axis or for no axis.
#[test]
fn step_bench_measures_weak_and_strong_scaling_in_one_job() {
    let weak = report(3, "step --weak --points 16 --backend cpu");
    let of = |report: &Value, key: &str| -> Vec<Value> {
        rows(report).iter().map(|row| row[key].clone()).collect()
    };
    assert_eq!(of(&weak, "ranks"), [1, 2, 3]);
    assert_eq!(of(&weak, "points"), vec![serde_json::json!([16, 16, 16]); 3]);
    assert_eq!(rows(&weak)[0]["messages"], 0);
    for row in &rows(&weak)[1..] {
        assert!(row["messages"].as_u64().unwrap() > 0 && row["efficiency"].is_number(), "{row}");
        assert!(row["predicted_seconds"]["communicate"].is_number(), "{row}");
        // Blocks have neighbours along z only.
        for [x, y, z] in [&row["phase_seconds"], &row["predicted_seconds"]]
            .map(|seconds| ["x", "y", "z"].map(|axis| &seconds[format!("communicate_{axis}")]))
        {
            let spent = |seconds: &Value| seconds["median"].as_f64().or(seconds.as_f64());
            assert!(spent(x) == Some(0.0) && spent(y) == Some(0.0), "{row}");
            assert!(spent(z).unwrap() > 0.0, "{row}");
        }
        let seconds = |name: &str| row["phase_seconds"][name]["median"].as_f64().unwrap();
        let (along, all) = (seconds("communicate_z"), seconds("communicate"));
        assert!((along / all - 1.0).abs() < 1e-6, "{row}");
    }
    // Blocks of unequal size, and blocks too short for lines within one block, which get no prediction.
    for (points, predicted) in [("9x8x17", true), ("8x8x8", false)] {
        let strong = report(2, &format!("step --strong --points {points} --backend cpu"));
        assert_eq!(rows(&strong)[1]["predicted_seconds"]["all"].is_number(), predicted, "{points}");
        assert_eq!(strong["notes"].to_string().contains("no prediction for 2 ranks"), !predicted);
    }
    for (requested, measured) in [("all", vec![3]), ("2,1", vec![1, 2])] {
        let weak = report(3, &format!("step --weak --ranks {requested} --points 16 --backend cpu"));
        assert_eq!(of(&weak, "ranks"), measured);
        assert_eq!(of(&weak, "grid")[0], serde_json::json!([16, 16, 16 * measured[0]]));
    }
    let strong = report(2, "step --strong --points 17x16x20 --backend opencl");
    assert_eq!(of(&strong, "ranks"), [1, 2]);
    assert_eq!(rows(&strong)[1]["points"], serde_json::json!([17, 16, 10]));
}

#[test]
fn bench_error_is_reported_once_and_ends_all_ranks() {
    for (arguments, message) in [
        ("comm --points 4", "compact6 needs 5"),
        ("step --weak --rates no-such-file", "no-such-file"),
        ("comm --method crout", "the methods are all"),
        ("step --weak --ranks 1,3", "--ranks 3: this job has 2 ranks"),
        ("comm --points 8 --method neighbour", "error: nothing was measured"),
    ] {
        let Job { code, out, err } = bench(2, arguments);
        assert_ne!(code, Some(0), "{arguments}");
        assert_eq!(err.matches(message).count(), 1, "{arguments}: {err}");
        assert!(out.is_empty(), "{arguments}: {out}");
    }
}
