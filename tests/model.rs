//! The performance model: its predictions for many ranks follow from its rates.

use kolmo::comm::Sent;
use kolmo::config::{Config, parse};
use kolmo::engine::distributed::Method;
use kolmo::grid::Decomposition;
use kolmo::model::{Network, Prediction, Rates, Work, fastest, predict};

use crate::common::{program, root};

fn config() -> Config {
    let text =
        "[case]\nname = 'taylor-green'\n[grid]\npoints = [64, 64, 64]\n[time]\nmax_steps = 1\n";
    parse(text, "test", &[]).unwrap()
}

fn work(ranks: [usize; 3], points: [usize; 3], method: Method) -> Work {
    Work::new(&config(), points, Decomposition { ranks }, Some(method)).unwrap()
}

/// Rates at which every operation takes no time.
fn zero_cost() -> Rates {
    Rates {
        source: "a test".into(),
        latency: 0.0,
        overhead: 0.0,
        bandwidth: f64::MAX,
        again: f64::MAX,
        one_way: f64::MAX,
        all_to_all: f64::MAX,
        staging: None,
        copy: f64::MAX,
        sweep: 0.0,
        correct: 0.0,
        pack: f64::MAX,
        combine: f64::MAX,
        deal: f64::MAX,
        launch: 0.0,
        reduction: 0.0,
        progress: 1.0,
    }
}

fn assert_close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-9 * expected.abs(), "{actual:e}, not {expected:e}");
}

#[test]
fn one_rank_spends_all_time_in_sweeps() {
    let work = work([1; 3], [64; 3], Method::Pcr);
    let rates = Rates { sweep: 1e-9, ..zero_cost() };
    let found = predict(&work, &rates, Network::Flat);
    // The default forms take 65 line solves, with gradients that are recomputed instead of moved.
    let expected = 1e-9 * 65.0 * work.stages as f64 * 64.0_f64.powi(3);
    assert_close(found.step_seconds, expected);
    assert_close(found.local, expected);
    assert_eq!(work.sent(0), (Sent::default(), 0));
}

#[test]
fn neighbour_exchange_costs_latency_overhead_and_bandwidth() {
    let work = work([1, 1, 4], [16, 16, 256], Method::Neighbour);
    let stages = work.stages as f64;
    let latency = predict(&work, &Rates { latency: 1e-3, ..zero_cost() }, Network::Flat);
    // One round for the gradients, one for the other terms.
    assert_close(latency.step_seconds, 2.0 * stages * 1e-3);
    let (sent, planes) = work.sent(1);
    assert_eq!(sent.messages, 4);
    assert_eq!(sent.bytes, (planes * 16 * 16 * 8) as u64);
    let overhead = predict(&work, &Rates { overhead: 1e-3, ..zero_cost() }, Network::Flat);
    assert_close(overhead.step_seconds, 8.0 * stages * 1e-3);
    let bandwidth = predict(&work, &Rates { bandwidth: 1e6, ..zero_cost() }, Network::Flat);
    assert_close(bandwidth.step_seconds, stages * sent.bytes as f64 / 1e6);
    // There is no work to overlap with, so that it does not matter whether hardware or the rank transfers the bytes.
    let waiting = Rates { bandwidth: 1e6, progress: 0.0, ..zero_cost() };
    assert_close(predict(&work, &waiting, Network::Flat).step_seconds, bandwidth.step_seconds);
}

#[test]
fn messages_overlap_with_sweeps_only_if_hardware_transfers_them() {
    let work = work([1, 1, 4], [64, 64, 256], Method::Neighbour);
    let rates = Rates { sweep: 1e-9, latency: 1e-5, bandwidth: 1e10, ..zero_cost() };
    let found = predict(&work, &rates, Network::Flat);
    assert!(found.communicate > 1e-3, "{found:?}");
    assert_eq!(found.exposed, 0.0, "{found:?}");
    let by_rank = predict(&work, &Rates { progress: 0.0, ..rates }, Network::Flat);
    assert!(by_rank.exposed > 0.9 * by_rank.communicate - 2e-4, "{by_rank:?}");
}

#[test]
fn chain_method_has_a_round_per_rank_in_both_directions() {
    for ranks in [2, 5, 8] {
        let n = 12 * ranks;
        let work = work([1, 1, ranks], [12, 12, n], Method::Chain);
        let found = predict(&work, &Rates { latency: 1e-3, ..zero_cost() }, Network::Flat);
        // The halo, then forth and back along the chain; for the gradients and for the other terms.
        let rounds = 2.0 * (1.0 + 2.0 * (ranks - 1) as f64);
        assert_close(found.step_seconds, work.stages as f64 * rounds * 1e-3);
    }
}

#[test]
fn cyclic_reduction_takes_one_round_per_doubling_of_the_ranks() {
    for (ranks, doublings) in [(2, 1.0), (4, 2.0), (16, 4.0)] {
        let work = work([1, 1, ranks], [12, 12, 12 * ranks], Method::Pcr);
        let found = predict(&work, &Rates { latency: 1e-3, ..zero_cost() }, Network::Flat);
        let rounds = 2.0 * (1.0 + doublings + 2.0);
        assert_close(found.step_seconds, work.stages as f64 * rounds * 1e-3);
    }
}

#[test]
fn transpose_sends_from_every_rank_to_every_other() {
    let work = work([1, 1, 5], [12, 12, 61], Method::Transpose);
    for rank in 0..5 {
        let (sent, _) = work.sent(rank);
        // Forth and back to four other ranks: the gradients, then first and second derivatives, four operands at a time.
        assert_eq!(sent.messages, (1 + 5) * 2 * 4);
    }
}

#[test]
fn no_network_is_faster_than_a_flat_one_and_tapering_is_never_faster() {
    for method in Method::ALL {
        let work = work([8, 8, 8], [512; 3], method);
        let step = |network| predict(&work, &Rates::h200(), network).step_seconds;
        for network in Network::ALL {
            assert!(step(network) >= step(Network::Flat), "{method:?} on {network:?}");
        }
        for [plain, tapered] in [
            [Network::FatTree(1.0), Network::FatTree(4.0)],
            [Network::Dragonfly(1.0), Network::Dragonfly(8.0)],
        ] {
            assert!(step(tapered) >= step(plain), "{method:?}");
        }
    }
}

#[test]
fn predicted_parts_add_up_to_the_step_time() {
    for method in Method::ALL {
        let work = work([4, 2, 3], [220, 120, 150], method);
        let Prediction {
            step_seconds, local, pack, exposed, reduced, pointwise, reductions, ..
        } = predict(&work, &Rates::h200(), Network::Torus);
        assert_close(local + pack + exposed + reduced + pointwise + reductions, step_seconds);
    }
}

/// Detects messages of one axis that are counted for another axis, or twice.
#[test]
fn communication_time_is_reported_per_axis() {
    for method in Method::ALL {
        let work = work([4, 1, 2], [220, 60, 150], method);
        let found = predict(&work, &Rates::h200(), Network::Torus);
        assert!(found.communicate_x > 0.0 && found.communicate_z > 0.0, "{found:?}");
        assert_eq!(found.communicate_y, 0.0, "{found:?}");
        // The time along each axis is that of the rank that waits longest there, so that the sum is not below the time of any one rank.
        let along = found.communicate_x + found.communicate_z;
        assert!((0.999..1.5).contains(&(along / found.communicate)), "{found:?}");
    }
}

#[test]
fn model_docs_show_the_output_of_the_command() {
    let root = root();
    let chapter = std::fs::read_to_string(root.join("docs/model.md")).unwrap();
    let arguments = ["model", "--ranks", "8,131072", "--network", "fat-tree"];
    assert!(chapter.contains(&format!("kolmo {}\n", arguments.join(" "))));
    let printed = std::process::Command::new(program()).args(arguments).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(chapter.contains(&format!("```text\n{printed}```")), "the command prints\n{printed}");
}

#[test]
fn model_rejects_blocks_that_are_too_short() {
    let split = Decomposition { ranks: [1, 1, 8] };
    let error = Work::new(&config(), [64; 3], split, Some(Method::Neighbour)).unwrap_err();
    assert!(error.contains("`neighbour` needs blocks of"), "{error}");
    let error = Work::new(&config(), [64, 64, 4], split, None).unwrap_err();
    assert!(error.contains("4 points along z are fewer than 8 ranks"), "{error}");
}

#[test]
fn model_rejects_implicit_time_integration() {
    let model = ["model", "--ranks", "8", "--set", "time.implicit={ method = 'bdf2' }"];
    let output = std::process::Command::new(program()).args(model).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("the number of products of an implicit step"), "{stderr}");
}

#[test]
fn model_rejects_lines_of_more_than_65536_points() {
    let program = || std::process::Command::new(program());
    let model = ["model", "--network", "flat", "--method", "pcr", "--ranks", "104729"];
    let printed = String::from_utf8(program().args(model).output().unwrap().stdout).unwrap();
    let message = "26810624 points along z are more than the 65536 of a run";
    assert!(printed.contains(message), "{printed}");
}

#[test]
fn rates_round_trip_exactly_and_invalid_files_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rates.json");
    // Numbers that read back exactly.
    let rates = Rates { sweep: 9e-12, correct: 2e-12, ..Rates::h200() };
    let text = serde_json::to_string(&rates).unwrap();
    for text in [text.clone(), format!("{{\"rates\": {text}, \"results\": []}}")] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(Rates::load(&path).unwrap(), rates);
    }
    for (from, to, message) in [
        ("\"latency\"", "\"latencies\"", "latencies"),
        ("\"bandwidth\":50000000000.0", "\"bandwidth\":0.0", "`bandwidth` is 0; it must be more"),
        ("\"progress\":1.0", "\"progress\":2.0", "`progress` is 2; it must be 0 to 1"),
        ("{", "[{", "has no rates"),
        ("{", "{\"machine\":{},", "a single rank cannot measure messages"),
    ] {
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let error = Rates::load(&path).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

fn cut(points: [usize; 3], ranks: usize, rates: &Rates) -> Result<[usize; 3], kolmo::Error> {
    fastest(&input(points, ""), ranks, rates).map(|(best, _)| best.ranks)
}

#[test]
fn few_ranks_cut_long_axes_and_keep_blocks_long_enough_for_neighbour() {
    let rates = Rates::core();
    assert_eq!(cut([128, 128, 128], 2, &rates).unwrap(), [1, 1, 2]);
    // Along z alone, blocks of 16 points would be shorter than the reach of the inverse of compact6 (39): too short for `neighbour`.
    assert_eq!(cut([256, 256, 64], 4, &rates).unwrap()[2], 1);
    // A thin grid is cut along its long axis.
    assert_eq!(cut([512, 8, 8], 4, &rates).unwrap(), [4, 1, 1]);
}

fn input(points: [usize; 3], set: &str) -> Config {
    let input = format!(
        "[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nmax_steps = 1\n{set}"
    );
    parse(&input, "test", &[]).unwrap()
}

/// The same result from a prediction of every cut, each with its own plans.
fn best_cut(config: &Config, ranks: usize, rates: &Rates) -> Option<(Decomposition, f64)> {
    let points = config.grid.points;
    let mut best: Option<(Decomposition, f64)> = None;
    for cut in Decomposition::all(ranks, points) {
        let work = Work::new(config, points, cut, config.compute.distributed);
        let seconds = work.map(|work| predict(&work, rates, Network::Flat).step_seconds);
        let Ok(seconds) = seconds else { continue };
        if best.is_none_or(|(_, least)| seconds < 0.999 * least) {
            best = Some((cut, seconds));
        }
    }
    best
}

#[test]
fn shared_plans_give_the_same_fastest_decomposition() {
    for (points, set) in [
        ([64, 64, 64], ""),
        ([256, 128, 48], ""),
        ([96, 90, 100], "[compute]\ndistributed = 'pcr'\n"),
        ([40, 48, 56], "[compute]\ndistributed = 'transpose'\n"),
    ] {
        let config = input(points, set);
        for ranks in [2, 3, 4, 6, 8, 12, 16, 30, 64] {
            for rates in [Rates::core(), Rates::h200()] {
                let found = fastest(&config, ranks, &rates).ok();
                assert_eq!(found, best_cut(&config, ranks, &rates), "{ranks} ranks, {points:?}");
            }
        }
    }
}

#[test]
fn more_ranks_than_grid_points_are_rejected() {
    let error = cut([8, 8, 8], 1024, &Rates::core()).unwrap_err().to_string();
    assert!(error.contains("512"), "{error}");
}

fn study(arguments: &str) -> serde_json::Value {
    let mut program = std::process::Command::new(program());
    let program = program.args(["model", "--json"]).args(arguments.split_whitespace());
    let printed = program.output().unwrap();
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    serde_json::from_slice(&printed.stdout).unwrap()
}

#[test]
fn model_predicts_single_derivatives_in_the_setups_of_papers() {
    // Song et al. 2022, figure 11: p blocks along x, speedups relative to one rank.
    let found = study(
        "--derivative x --cut x --base 1 --method pcr --network fat-tree --ranks 1,63,64,2047,2048",
    );
    assert_eq!(found["of"], "first derivatives of one field by compact6 along x");
    let rows = found["rows"].as_array().unwrap();
    let number = |row: usize, key: &str| rows[row][key].as_f64().unwrap();
    assert_eq!(number(0, "efficiency"), 1.0);
    for (row, ranks) in [1, 63, 64, 2047, 2048].into_iter().enumerate() {
        assert_eq!(rows[row]["decomposition"], serde_json::json!([ranks, 1, 1]));
        assert_eq!(rows[row]["points"], serde_json::json!([256 * ranks, 256, 256]));
    }
    // With one rank less than a power of two, a row is detached at every level.
    assert!(number(1, "efficiency") < number(2, "efficiency"));
    assert!(number(3, "efficiency") < number(4, "efficiency"));
    // Srinath 2015, figure 4.8: derivatives along all axes, one after another.
    let strong = |axes: &str| {
        let found = study(&format!(
            "--derivative {axes} --points 512 --base 1 --method gather --network flat --ranks 64"
        ));
        found["rows"][0]["prediction"]["step_seconds"].as_f64().unwrap()
    };
    let sum: f64 = ["x", "y", "z"].map(strong).iter().sum();
    assert_close(strong("all"), sum);
}

#[test]
fn model_accepts_a_given_cut_and_rejects_invalid_ones() {
    let found = study("--cut 4x1x2 --method neighbour --network flat --points-per-rank 64");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["decomposition"]), (1, &serde_json::json!([4, 1, 2])));
    for cut in ["w", "2x2", "2x0x2", "2x2x2x2", "99999999x99999999x99999999", ""] {
        let mut program = std::process::Command::new(program());
        let output = program.args(["model", "--cut", cut]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{cut}: {stderr}");
        assert!(stderr.contains("a cut is cubic, x, y, z, or PXxPYxPZ, such as 4x2x2"), "{stderr}");
    }
}
