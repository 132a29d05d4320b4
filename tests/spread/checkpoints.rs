//! A simulation that resumes from a checkpoint continues unchanged, on any ranks. Damaged checkpoints are not used.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kolmo::comm::{Communicator, Solo};
use kolmo::config::Config;
use kolmo::grid::{Block, Decomposition, Grid};
use kolmo::io::checkpoint::{self, Checkpoint, Head, OutputProgress, Writing};
use kolmo::io::{CheckpointConfig, RunId};
use kolmo::time::Simulation;

use super::blocks::{blocks, whole};
use super::threads::on_ranks;
use super::{DECOMPOSITIONS, config, max_difference, on_host, python_script, ranks, state};
use crate::common::host;

const POINTS: [usize; 3] = [13, 12, 11];

/// A vortex with a filter that is due between checkpoints.
fn vortex(precision: &str) -> Config {
    let filter = "scheme.filter={ order = 8, alpha = 0.495, every = 2 }";
    config("taylor-green", POINTS, &[filter, &format!("compute.precision={precision}")])
}

/// Fields on the whole grid and a row of the series.
type Outcome = (Vec<Vec<f64>>, Vec<f64>);

/// Returns the result of `work` on rank 0, run on the ranks of a decomposition.
fn on(ranks_along: [usize; 3], work: impl Fn(Arc<dyn Communicator>) -> Outcome + Sync) -> Outcome {
    on_ranks(ranks(ranks_along), work).swap_remove(0)
}

/// Runs three steps, saves them to `path`, and runs three more.
fn saved(ranks_along: [usize; 3], config: &Config, path: &Path) -> Outcome {
    on(ranks_along, |comm| {
        let is_first = comm.rank() == 0;
        let backend = blocks(comm, ranks_along, config);
        let mut simulation = Simulation::on(backend, config).unwrap();
        three_steps(&mut simulation);
        let bytes = simulation.save(path).unwrap();
        assert_eq!(bytes > 5 * 8 * 13 * 12 * 11, is_first);
        three_more(&mut simulation, ranks_along)
    })
}

/// Resumes from `path` on these ranks and runs the last three steps.
fn resumed(ranks_along: [usize; 3], config: &Config, path: &Path) -> Outcome {
    on(ranks_along, |comm| {
        let saved = Checkpoint::open(&*comm, path).unwrap();
        let backend = blocks(comm, ranks_along, config);
        let mut simulation = Simulation::resume(backend, config, &saved).unwrap();
        assert_eq!(simulation.steps(), 3);
        three_more(&mut simulation, ranks_along)
    })
}

fn three_steps(simulation: &mut Simulation) {
    (0..3).for_each(|_| assert!(simulation.step(None).unwrap() > 0.0));
}

fn three_more(simulation: &mut Simulation, ranks_along: [usize; 3]) -> Outcome {
    three_steps(simulation);
    (whole(simulation, ranks_along), simulation.row().unwrap())
}

#[test]
fn resume_is_bitwise_identical_on_same_ranks_and_to_round_off_on_others() {
    let config = vortex("f64");
    let dir = tempfile::tempdir().unwrap();
    for from in DECOMPOSITIONS {
        let path = dir.path().join("saved.zarr");
        let (fields, row) = saved(from, &config, &path);
        for to in DECOMPOSITIONS {
            let (found, again) = resumed(to, &config, &path);
            if from == to {
                assert!(found == fields && again == row, "{from:?}");
                continue;
            }
            for (found, field) in found.iter().zip(&fields) {
                let largest = field.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                let worst = max_difference(found, field);
                assert!(worst <= 1e-12 * largest, "{from:?} to {to:?}: {worst:e}");
            }
        }
    }
}

/// Runs three steps on one rank and saves them to `path`.
fn save_one(precision: &str, path: &Path) -> Simulation {
    let config = vortex(precision);
    let mut simulation = on_host(&config);
    three_steps(&mut simulation);
    simulation.save(path).unwrap();
    simulation
}

/// Resumes on one rank.
fn resume_one(precision: &str, saved: &Checkpoint) -> Simulation {
    let config = vortex(precision);
    Simulation::resume(host(&config.compute), &config, saved).unwrap()
}

#[test]
fn checkpoint_resumes_in_another_precision() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("saved.zarr");
    let narrow = save_one("f32", &path);
    let saved = Checkpoint::open(&Solo, &path).unwrap();
    // Single precision stores deviations from the state at rest, double precision does not.
    let references = saved.head.references.clone();
    assert!(references[0] == 1.0 && references[1] == 0.0 && references[4] > 100.0);
    let wide = resume_one("f64", &saved);
    for ((wide, narrow), reference) in state(&wide).iter().zip(state(&narrow)).zip(&references) {
        assert!(wide.iter().zip(narrow).all(|(a, b)| *a == b + reference));
    }
    let wide = save_one("f64", &path);
    let saved = Checkpoint::open(&Solo, &path).unwrap();
    assert_eq!(saved.head.references, [0.0; 5]);
    let narrow = resume_one("f32", &saved);
    for ((wide, narrow), reference) in state(&wide).iter().zip(state(&narrow)).zip(&references) {
        let rounded = |(a, b): (&f64, f64)| {
            let deviation = a - reference;
            (deviation - b).abs() <= f64::from(f32::EPSILON) * deviation.abs()
        };
        assert!(wide.iter().zip(narrow).all(rounded));
    }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn damaged_checkpoint_is_reported_and_the_previous_one_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (checkpoint::path(dir.path(), 1), checkpoint::path(dir.path(), 2));
    let mut simulation = on_host(&vortex("f64"));
    for path in [&old, &new] {
        simulation.step(None).unwrap();
        simulation.save(path).unwrap();
    }
    let all = files(&new);
    // Five fields and three coordinates, each with a metadata file and a data file, and the metadata of the group.
    assert_eq!(all.len(), 17);
    let (newest, damaged) = Checkpoint::newest(&Solo, dir.path(), None).unwrap();
    assert!(newest.is_some() && damaged.is_empty());
    let mut damages = 0;
    for file in &all {
        let intact = fs::read(file).unwrap();
        let mut variants: Vec<Option<Vec<u8>>> =
            vec![None, Some(vec![]), Some(intact[1..].to_vec())];
        variants.push(Some(intact[..intact.len() - 1].to_vec()));
        for at in (0..intact.len()).step_by((intact.len() / 40).max(1)) {
            let mut flipped = intact.clone();
            flipped[at] ^= 1 << (at % 8);
            variants.push(Some(flipped));
        }
        for bytes in variants {
            match &bytes {
                Some(bytes) => fs::write(file, bytes).unwrap(),
                None => fs::remove_file(file).unwrap(),
            }
            let (newest, damaged) = Checkpoint::newest(&Solo, dir.path(), None).unwrap();
            assert!(newest.is_some(), "the previous checkpoint is used");
            assert_eq!(damaged.len(), 1, "{}: {bytes:?}", file.display());
            let report = damaged[0].report();
            assert!(report.contains(file.to_str().unwrap()), "{report}");
            damages += 1;
        }
        fs::write(file, &intact).unwrap();
    }
    assert!(damages > 17 * 40, "{damages}");
    assert!(Checkpoint::open(&Solo, &new).is_ok());
}

#[test]
fn checkpoint_of_a_newer_format_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("saved.zarr");
    save_one("f64", &path);
    let file = path.join("zarr.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"format\": 2", "\"format\": 7")).unwrap();
    let message = Checkpoint::open(&Solo, &path).unwrap_err().report();
    assert!(
        message.contains("it has format 7; this version of Kolmo reads formats up to 2"),
        "{message}"
    );
}

#[test]
fn checkpoint_of_another_case_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("saved.zarr");
    save_one("f64", &path);
    let saved = Checkpoint::open(&Solo, &path).unwrap();
    let scalar = config("scalar-advection", POINTS, &[]);
    let cpu = host(&scalar.compute);
    let error = Simulation::resume(cpu, &scalar, &saved).err().unwrap();
    assert!(error.report().contains("has the fields density, momentum_x"), "{error}");
}

#[test]
fn resume_on_a_finer_grid_keeps_the_fourier_modes_on_any_ranks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("saved.zarr");
    let coarse = config("taylor-green", [8, 9, 10], &[]);
    on_host(&coarse).save(&path).unwrap();
    // The initial vortex is a sum of few Fourier modes, which are known exactly on every grid.
    for points in [[16, 15, 13], [32, 9, 20]] {
        let fine = config("taylor-green", points, &[]);
        let exact = state(&on_host(&fine));
        for cut in [[1, 1, 1], [3, 1, 2], [1, 4, 1]] {
            let found = on_ranks(ranks(cut), |comm| {
                let saved = Checkpoint::open(&*comm, &path).unwrap();
                let backend = blocks(comm, cut, &fine);
                let found = Simulation::resume(backend, &fine, &saved).unwrap();
                whole(&found, cut)
            });
            for (found, exact) in found[0].iter().zip(&exact) {
                let size = exact.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
                assert!(max_difference(found, exact) <= 1e-14 * size, "{points:?} on {cut:?}");
            }
        }
    }
}

#[test]
fn shards_with_several_chunks_are_read_in_any_block() {
    // A layer has 1.4 MB, so that each shard of three layers has one chunk per layer. The last shard has two layers beyond the grid.
    let points = [512, 345, 10];
    let config = config("scalar-advection", points, &[]);
    let grid = Grid::periodic(points, &config.grid.domain);
    let value = |[i, j, k]: [usize; 3]| (i + 1000 * (j + 1000 * k)) as f64 - 0.5;
    let cut = Decomposition { ranks: [1, 1, 4] };
    let part = Block { start: [3, 100, 2], points: [500, 7, 8] };
    for compress in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("saved.zarr");
        on_ranks(4, |comm| {
            let block = cut.block(comm.rank(), points);
            let values: Vec<f64> = (0..block.len()).map(|at| value(block.index(at))).collect();
            let head = head_of(points, RunId::shared(&*comm));
            let settings =
                CheckpointConfig { compress, asynchronous: compress, ..CheckpointConfig::LAST };
            let writing =
                Writing::begin(&*comm, &cut, &path, &grid, head, &[values.into()], settings);
            writing.unwrap().finish(&*comm).unwrap();
        });
        let saved = Checkpoint::open(&Solo, &path).unwrap();
        let found = saved.fields(part, &[0.0]).next().unwrap().unwrap();
        assert!((0..part.len()).all(|at| found[at] == value(part.index(at))), "{compress}");
        // The layers beyond the grid are not written.
        let layer = (512 * 345 * 8) as u64;
        let length = fs::metadata(path.join("scalar/c.3.0.0")).unwrap().len();
        assert!(length < layer + 100 && (length > layer || compress), "{length}");
    }
}

/// Returns the checkpoint head of a scalar on this many points.
fn head_of(points: [usize; 3], run: RunId) -> Head {
    Head {
        version: "0".into(),
        run,
        step: 1,
        time: 1.0,
        last_dt: 1.0,
        unfiltered: 0.0,
        filter_rate: 0.0,
        scalar_filter_rates: Vec::new(),
        points,
        fields: vec!["scalar".into()],
        references: vec![0.0],
        config: String::new(),
        forcing: None,
        implicit: None,
        course: OutputProgress::default(),
    }
}

#[test]
fn field_uses_at_most_the_requested_files_and_is_read_on_any_ranks() {
    let points = [13, 12, 11];
    let config = config("scalar-advection", points, &[]);
    let grid = Grid::periodic(points, &config.grid.domain);
    let value = |[i, j, k]: [usize; 3]| (i + 1000 * (j + 1000 * k)) as f64 - 0.5;
    let dir = tempfile::tempdir().unwrap();
    for cut in [[1, 1, 5], [2, 3, 1], [3, 2, 2], [5, 4, 3]] {
        let decomposition = Decomposition { ranks: cut };
        for (files, asynchronous) in [(1, false), (2, false), (4, true), (100, false)] {
            let path = dir.path().join(format!("{}-{files}.zarr", ranks(cut)));
            on_ranks(ranks(cut), |comm| {
                let block = decomposition.block(comm.rank(), points);
                let values: Vec<f64> = (0..block.len()).map(|at| value(block.index(at))).collect();
                let head = head_of(points, RunId::shared(&*comm));
                let settings = CheckpointConfig { asynchronous, files, ..CheckpointConfig::LAST };
                let (grid, values) = (&grid, [values.into()]);
                Writing::begin(&*comm, &decomposition, &path, grid, head, &values, settings)
                    .unwrap()
                    .finish(&*comm)
                    .unwrap();
            });
            let chunks = fs::read_dir(path.join("scalar")).unwrap().count() - 1;
            let most = files.min(ranks(cut));
            assert!(chunks <= most && 2 * chunks >= most, "{cut:?}, {files}: {chunks} files");
            for to in [[1, 1, 1], [2, 2, 3]] {
                let other = Decomposition { ranks: to };
                on_ranks(ranks(to), |comm| {
                    let saved = Checkpoint::open(&*comm, &path).unwrap();
                    let block = other.block(comm.rank(), points);
                    let found = saved.field(0, block, 0.0).unwrap();
                    let expected: Vec<f64> =
                        (0..block.len()).map(|at| value(block.index(at))).collect();
                    assert!(found == expected, "{cut:?} to {to:?}, {files} files");
                });
            }
        }
    }
    let script = r#"
import sys, numpy, zarr
from pathlib import Path
k, j, i = numpy.mgrid[0:11, 0:12, 0:13]
paths = sorted(Path(sys.argv[1]).iterdir())
assert len(paths) == 16, paths
for path in paths:
    assert (zarr.open_group(path, mode="r")["scalar"][:] == i + 1000 * (j + 1000 * k) - 0.5).all(), path
"#;
    python_script(script, &[dir.path()]);
}

#[test]
fn failed_save_keeps_the_existing_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("saved.zarr");
    let simulation = save_one("f64", &path);
    // A file at the path of the folder into which the checkpoint is written first.
    fs::write(dir.path().join("saved.zarr.part"), "").unwrap();
    let message = simulation.save(&path).unwrap_err().report();
    assert!(message.contains("saved.zarr.part"), "{message}");
    assert!(Checkpoint::open(&Solo, &path).is_ok());
}
