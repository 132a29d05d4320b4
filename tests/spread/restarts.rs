//! A run that is stopped and restarted on other ranks writes the output of an uninterrupted run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kolmo::comm::Solo;
use kolmo::config::Config;
use kolmo::grid::{Block, Decomposition};
use kolmo::io::checkpoint::{self, Checkpoint};
use kolmo::time::{Ending, Origin, Requests, Task, run_on};

use super::blocks::blocks;
use super::threads::on_ranks;
use super::{config, ranks};

const POINTS: [usize; 3] = [13, 12, 11];

/// A vortex with all kinds of output, until `steps`.
fn vortex(steps: u64) -> Config {
    let set = [
        "scheme.filter={ order = 8, alpha = 0.495, every = 3 }",
        "output.series={ every_steps = 2 }",
        "output.fields={ every_time = 0.11, variables = [\"velocity\", \"q_criterion\"] }",
        "output.planes={ every_steps = 3, z = [0.0], variables = [\"vorticity\"] }",
        "output.statistics={ every_steps = 3, from = 0.1 }",
        "output.checkpoint={ every_steps = 4, keep = 2 }",
    ];
    let mut config = config("taylor-green", POINTS, &set);
    config.time.max_steps = Some(steps);
    config
}

/// Runs the vortex on blocks in `directory`: from the start, or from the newest checkpoint there.
fn run(steps: u64, cut: [usize; 3], directory: &Path, restart: bool) {
    let config = &vortex(steps);
    on_ranks(ranks(cut), |comm| {
        let origin = match restart {
            false => Origin::Case,
            true => {
                let (newest, damaged) =
                    Checkpoint::newest(&*comm, &directory.join("checkpoints"), None).unwrap();
                assert!(damaged.is_empty());
                Origin::Own(newest.unwrap())
            }
        };
        let log = |path: &Path| fs::write(path, "").map_err(kolmo::Error::io(path));
        let backend = blocks(comm, cut, config);
        let decomposition = Decomposition { ranks: cut };
        let requests = &Requests::default();
        let task = Task { config, directory, origin, decomposition, requests };
        assert_eq!(run_on(backend, task, &log).unwrap(), Ending::Finished);
    });
}

/// The cells of a CSV file, row by row.
fn cells(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect()
}

/// Asserts that two tables have the same rows, with numbers that agree to round-off relative to the largest value of their column.
fn assert_tables_agree(found: &Path, expected: &Path, label: &str) {
    let (found, expected) = (cells(found), cells(expected));
    assert_eq!(found.len(), expected.len(), "{label}");
    assert_eq!(found[0], expected[0], "{label}");
    for (column, name) in expected[0].iter().enumerate() {
        let number = |row: &Vec<String>| row[column].parse::<f64>();
        let sizes = expected[1..].iter().filter_map(|row| number(row).ok());
        let size = sizes.filter(|x| x.is_finite()).fold(1.0, |most: f64, x| most.max(x.abs()));
        for (a, b) in found[1..].iter().zip(&expected[1..]) {
            match (number(a), number(b)) {
                (Ok(a), Ok(b)) => assert!(
                    (a - b).abs() <= 1e-12 * size || (a.is_nan() && b.is_nan()),
                    "{label}, {name}: {a:e} {b:e}"
                ),
                _ => assert_eq!(a[column], b[column], "{label}, {name}"),
            }
        }
    }
}

/// Returns (steps, times) that the `.series` file in a folder lists, of single files or of pieces.
fn listed(folder: &Path, stem: &str) -> (Vec<String>, Vec<f64>) {
    let paths = ["vti", "pvti"].map(|kind| folder.join(format!("{stem}.{kind}.series")));
    let [path] = &paths.iter().filter(|path| path.exists()).collect::<Vec<_>>()[..] else {
        panic!("{} has no `.series` file, or has two", folder.display())
    };
    let series: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let files = series["files"].as_array().unwrap();
    let name = |file: &serde_json::Value| file["name"].as_str().unwrap().to_string();
    files.iter().for_each(|file| assert!(folder.join(name(file)).exists()));
    let steps = files.iter().map(|file| name(file)[..13].to_string()).collect();
    (steps, files.iter().map(|file| file["time"].as_f64().unwrap()).collect())
}

fn assert_agree(found: &Path, expected: &Path, label: &str) {
    assert_tables_agree(&found.join("series.csv"), &expected.join("series.csv"), label);
    for name in ["moments", "spectra", "structure", "gradients", "gradient_moments"] {
        let file = |run: &Path| run.join(format!("statistics/{name}.csv"));
        assert_tables_agree(&file(found), &file(expected), label);
    }
    for (folder, stem) in [("fields", "fields"), ("planes/z_0.00000", "plane")] {
        let [found, expected] = [found, expected].map(|run| listed(&run.join(folder), stem));
        assert_eq!(found.0, expected.0, "{label}");
        let deviation = found.1.iter().zip(&expected.1).map(|(a, b)| (a - b).abs());
        assert!(deviation.fold(0.0, f64::max) <= 1e-13, "{label}");
    }
    let last = |run: &Path| {
        let checkpoints = run.join("checkpoints");
        let step = checkpoint::steps(&checkpoints)[0];
        let found = Checkpoint::open(&Solo, &checkpoint::path(&checkpoints, step)).unwrap();
        let references = found.head.references.clone();
        let fields = found.fields(Block::whole(POINTS), &references);
        (fields.collect::<kolmo::Result<Vec<_>>>().unwrap(), found.head)
    };
    let ((found, head), (expected, other)) = (last(found), last(expected));
    assert_eq!((head.step, head.course.written), (other.step, other.course.written), "{label}");
    for (a, b) in found.iter().zip(&expected) {
        let size = b.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let deviation = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(deviation <= 1e-12 * size, "{label}: {deviation:e} of {size:e}");
    }
}

/// Returns every file whose content does not depend on the machine or on wall-clock time.
fn files(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![run.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(run).unwrap().to_path_buf();
            if path.is_dir() {
                folders.push(path);
            } else if ["series.csv", "fields", "planes", "statistics"]
                .iter()
                .any(|part| name.starts_with(part))
            {
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn restart_is_bitwise_identical_on_same_ranks_and_to_round_off_on_others() {
    let dir = tempfile::tempdir().unwrap();
    let uninterrupted = |cut: [usize; 3]| {
        let directory = dir.path().join(format!("uninterrupted-{cut:?}"));
        if !directory.exists() {
            run(14, cut, &directory, false);
        }
        directory
    };
    let changes: [([usize; 3], [usize; 3]); 6] = [
        ([1, 1, 1], [2, 2, 1]),
        ([1, 2, 2], [3, 1, 1]),
        ([1, 3, 1], [1, 1, 1]),
        ([2, 2, 1], [1, 1, 5]),
        ([2, 1, 2], [2, 1, 2]),
        ([1, 1, 1], [1, 1, 1]),
    ];
    for (from, to) in changes {
        let label = format!("{from:?} to {to:?}");
        let restarted = dir.path().join(&label);
        run(7, from, &restarted, false);
        run(14, to, &restarted, true);
        let uninterrupted = uninterrupted(from);
        assert_agree(&restarted, &uninterrupted, &label);
        if from == to {
            assert!(files(&restarted) == files(&uninterrupted), "{label}");
        }
    }
}

#[test]
fn fields_are_written_in_at_most_the_requested_number_of_pieces() {
    let dir = tempfile::tempdir().unwrap();
    for (pieces, expected) in [(1, 0), (2, 2), (3, 3), (9, 4)] {
        let mut config = vortex(1);
        let fields = config.output.fields.as_mut().unwrap();
        fields.pieces = Some(pieces);
        let directory = &dir.path().join(format!("{pieces}"));
        on_ranks(4, |comm| {
            let backend = blocks(comm, [2, 2, 1], &config);
            let decomposition = Decomposition { ranks: [2, 2, 1] };
            let requests = &Requests::default();
            let origin = Origin::Case;
            let config = &config;
            let task = Task { config, directory, origin, decomposition, requests };
            run_on(backend, task, &|path| fs::write(path, "").map_err(kolmo::Error::io(path)))
                .unwrap();
        });
        let step = directory.join("fields/step_00000001");
        let found = fs::read_dir(&step).map_or(0, |files| files.count());
        assert_eq!(found, expected, "{pieces}");
        assert_eq!(directory.join("fields/step_00000001.vti").exists(), pieces == 1);
        let (valid, text) = super::readback(directory);
        assert!(valid, "{text}");
    }
}
