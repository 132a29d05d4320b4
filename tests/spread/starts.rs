//! A custom initial state does not depend on the ranks.

use std::fs;

use kolmo::time::Simulation;

use super::blocks::{blocks, whole};
use super::threads::on_ranks;
use super::{DECOMPOSITIONS, ranks};
use crate::common::{config, max_difference, on_host, state};
use crate::custom::{doubles, sampled, with_file};

const POINTS: [usize; 3] = [13, 12, 11];

/// Noise and arrays, on this grid and on another. Catches a rank that counts points from its own first point, or that reads the block
/// of another rank.
#[test]
fn custom_initial_state_is_the_same_on_any_ranks() {
    let dir = tempfile::tempdir().unwrap();
    for (points, tolerance) in [(POINTS, 0.0), ([9, 16, 12], 1e-14)] {
        let path = dir.path().join(format!("{}", points[0]));
        fs::create_dir(&path).unwrap();
        let w = sampled(points, |[x, y, z]| (x + 2.0 * y).sin() * z.cos());
        fs::write(path.join("w.npy"), doubles(points, &w)).unwrap();
        let noise = "case.noise={ amplitude = '0.1*cos(z)', seed = 3, variables = ['u', 'w'] }";
        let config = with_file(POINTS, &path, &["case.v='sin(y)'", noise]);
        let one = state(&on_host(&config));
        for cut in DECOMPOSITIONS {
            let distributed = on_ranks(ranks(cut), |comm| {
                let simulation = Simulation::on(blocks(comm, cut, &config), &config).unwrap();
                whole(&simulation, cut)
            });
            for (found, expected) in distributed[0].iter().zip(&one) {
                assert!(max_difference(found, expected) <= tolerance, "{cut:?}");
            }
        }
    }
}

/// An invalid value on one rank, and a missing file. Catches a rank that waits for the rank that failed.
#[test]
fn invalid_custom_initial_state_is_rejected_on_all_ranks() {
    let bad = config("custom", POINTS, &["case.rho='max(1.5 - x/2, -1)'"]);
    let missing = config("custom", POINTS, &["case.file='missing.npz'"]);
    for (config, expected) in [(bad, "the initial state has rho = -"), (missing, "missing.npz")] {
        let reports = on_ranks(4, |comm| {
            let simulation = Simulation::on(blocks(comm, [2, 1, 2], &config), &config);
            let error = simulation.err().expect("is rejected");
            assert!(error.is_everywhere() && error.exit_code() == 2);
            error.report()
        });
        assert!(
            reports[0].contains(expected) && reports.iter().all(|text| *text == reports[0]),
            "{reports:?}"
        );
    }
}
