//! A thousand ranks, each with few points, start, save a checkpoint, restart, and write slices.

use std::fs;
use std::path::Path;

use kolmo::comm::Solo;
use kolmo::comm::placement::Placement;
use kolmo::config::Config;
use kolmo::grid::{Block, Decomposition};
use kolmo::io::checkpoint::{self, Checkpoint};
use kolmo::time::{Ending, Origin, Requests, Task, decomposition, run_on};

use super::blocks::blocks;
use super::threads::on_ranks;
use super::{config, max_difference, names, ranks};

const POINTS: [usize; 3] = [20, 20, 20];
const THOUSAND: [usize; 3] = [10, 10, 10];

#[test]
fn thousand_ranks_agree_on_a_decomposition_and_list_few_placements() {
    let config = config("taylor-green", [640, 640, 640], &[]);
    let found = on_ranks(1000, |comm| {
        let (cut, summary) = decomposition(&config, &*comm, false).unwrap();
        let place = Placement::find(&*comm, Some(1)).described(&*comm, None);
        (cut, summary, place)
    });
    let [(cut, summary, place), others @ ..] = &found[..] else { panic!("no ranks") };
    assert_eq!(cut.ranks, THOUSAND);
    assert!(summary.contains("1000 ranks, 10 x 10 x 10"), "{summary}");
    assert!(others.iter().all(|(other, _, place)| other == cut && place.is_none()));
    let place = place.as_ref().unwrap();
    let lines: Vec<&str> = place.lines().collect();
    assert_eq!(lines.len(), 10, "{place}");
    assert!(lines[3].starts_with("rank 3 on ") && lines[4] == "... 992 ranks ...", "{place}");
    assert!(lines[8].starts_with("rank 999 on "), "{place}");
    assert!(lines[9].starts_with("warning: 1000 ranks on "), "{place}");
}

/// Runs the advection of a scalar until `steps`: from the start, or from the newest checkpoint in `directory`.
fn run(steps: u64, cut: [usize; 3], directory: &Path, restart: bool) {
    let set = [
        "output.checkpoint={ every_steps = 1, keep = 2, files = 5 }",
        "output.fields={ every_steps = 1, pieces = 3 }",
    ];
    let config: &Config = &{
        let mut config = config("scalar-advection", POINTS, &set);
        config.time.max_steps = Some(steps);
        config
    };
    on_ranks(ranks(cut), |comm| {
        let origin = match restart {
            false => Origin::Case,
            true => {
                let saved = directory.join("checkpoints");
                let (newest, damaged) = Checkpoint::newest(&*comm, &saved, None).unwrap();
                assert!(damaged.is_empty());
                Origin::Own(newest.unwrap())
            }
        };
        let log = |path: &Path| fs::write(path, "").map_err(kolmo::Error::io(path));
        let backend = blocks(comm, cut, config);
        let (decomposition, requests) = (Decomposition { ranks: cut }, &Requests::default());
        let task = Task { config, directory, origin, decomposition, requests };
        assert_eq!(run_on(backend, task, &log).unwrap(), Ending::Finished);
    });
}

#[test]
fn thousand_ranks_write_few_files_and_the_run_restarts_on_other_ranks() {
    let dir = tempfile::tempdir().unwrap();
    let [one, many] = ["one", "many"].map(|name| dir.path().join(name));
    run(2, [1, 1, 1], &one, false);
    run(1, THOUSAND, &many, false);
    let saved = many.join("checkpoints/step_00000001.zarr");
    // Five shards and their metadata.
    assert_eq!(names(&saved.join("scalar")).len(), 5 + 1);
    assert_eq!(names(&many.join("fields/step_00000001")).len(), 3);
    let text = fs::read_to_string(saved.join("zarr.json")).unwrap();
    assert!(text.matches("xxh3_128").count() < 20, "{text}");
    run(2, [5, 4, 3], &many, true);
    let last = |run: &Path| {
        let path = checkpoint::path(&run.join("checkpoints"), 2);
        let saved = Checkpoint::open(&Solo, &path).unwrap();
        saved.field(0, Block::whole(POINTS), 0.0).unwrap()
    };
    assert!(max_difference(&last(&one), &last(&many)) <= 1e-13);
    for picture in names(&one.join("slices")).iter().filter(|name| name.ends_with(".png")) {
        let [a, b] = [&one, &many].map(|run| run.join("slices").join(picture).exists());
        assert!(a && b, "{picture}");
    }
}
