//! Flows, runs and files on several ranks match those of one rank, for every method that solves the lines.

pub(crate) mod blocks;
mod checkpoints;
mod forged_checkpoints;
mod pieces;
mod profiles;
mod restarts;
mod starts;
mod sweeps;
mod thousand_ranks;
pub(crate) mod threads;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use blocks::{blocks, whole};
use kolmo::backend::cpu::Field;
use kolmo::backend::on_host as on_cores;
use kolmo::backend::ranks::Ranks;
use kolmo::comm::Communicator;
use kolmo::config::Config;
use kolmo::engine::distributed::Method;
use kolmo::grid::Decomposition;
use kolmo::io::{Series, Summary};
use kolmo::time::{Ending, Origin, Requests, Simulation, Task, decomposition, run_on};
use kolmo::{Error, Result};
use threads::on_ranks;

use super::common::{config, max_difference, on_host, state, steps};
use super::io::{python, readback};

/// Unequal and equal blocks, along one axis, two axes and all axes.
const DECOMPOSITIONS: [[usize; 3]; 6] =
    [[1, 1, 1], [2, 1, 1], [1, 3, 1], [1, 1, 5], [2, 3, 1], [3, 2, 2]];

fn ranks(decomposition: [usize; 3]) -> usize {
    decomposition.iter().product()
}

/// Returns (series row, fields on the whole grid) after three steps with a filter.
fn after_three_steps(
    comm: Arc<dyn Communicator>,
    decomposition: [usize; 3],
    config: &Config,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let backend = blocks(comm, decomposition, config);
    let mut simulation = Simulation::on(backend, config).unwrap();
    assert_eq!(state(&simulation)[0].len(), simulation.block().len());
    steps(&mut simulation, 3);
    (simulation.row().unwrap(), whole(&simulation, decomposition))
}

#[test]
fn state_diagnostics_and_solution_errors_do_not_depend_on_the_blocks() {
    let filter = "scheme.filter={ order = 8, alpha = 0.495 }";
    for (case, points) in [
        ("taylor-green", [13, 12, 11]),
        ("entropy-wave", [16, 12, 13]),
        ("scalar-advection", [17, 16, 12]),
    ] {
        let config = config(case, points, &[filter]);
        let mut one = on_host(&config);
        steps(&mut one, 3);
        let row = one.row().unwrap();
        for decomposition in DECOMPOSITIONS {
            let label = format!("{case} on {decomposition:?}");
            let found = on_ranks(ranks(decomposition), |comm| {
                after_three_steps(comm, decomposition, &config)
            });
            for (found_row, fields) in found {
                for (name, (a, b)) in one.columns().iter().zip(row.iter().zip(&found_row)) {
                    assert!(
                        (a - b).abs() <= 1e-13 * a.abs().max(1.0),
                        "{label}, {name}: {a:e} {b:e}"
                    );
                }
                for (a, b) in state(&one).iter().zip(&fields) {
                    let size = a.iter().map(|a| a.abs()).fold(1.0, f64::max);
                    let deviation = max_difference(a, b);
                    // Terms are summed in another order; p/(γ − 1) is 180 where |ρu| is 1.
                    assert!(deviation <= 1e-12 * size, "{label}: {deviation:e} of {size:e}");
                }
            }
        }
    }
}

/// Catches a reduction that solves a block of a longer line without its neighbours, or that is given the complete line.
#[test]
fn host_line_solvers_on_blocks_match_one_rank() {
    let points = [12, 13, 29];
    let mut one = on_host(&config("taylor-green", points, &[]));
    steps(&mut one, 2);
    for (solver, method) in [
        ("cr", Method::Gather),
        ("neato-shared", Method::Pcr),
        ("pcr-banded", Method::Chain),
        ("cr-sorted-stepwise", Method::Transpose),
    ] {
        let solver = format!("compute.line_solver={solver}");
        let mut config = config("taylor-green", points, &[&solver]);
        config.compute.distributed = Some(method);
        for fields in on_ranks(2, |comm| {
            let (own, cut) =
                (on_cores(&config.compute, None).unwrap(), Decomposition { ranks: [1, 1, 2] });
            let backend = Arc::new(Ranks::new(own, comm, cut, &config.compute).unwrap());
            let mut simulation = Simulation::on(backend, &config).unwrap();
            steps(&mut simulation, 2);
            whole(&simulation, cut.ranks)
        }) {
            for (a, b) in state(&one).iter().zip(&fields) {
                let size = a.iter().map(|a| a.abs()).fold(1.0, f64::max);
                let deviation = max_difference(a, b);
                assert!(
                    deviation <= 1e-12 * size,
                    "{solver}, {method:?}: {deviation:e} of {size:e}"
                );
            }
        }
    }
}

/// Catches ranks that each choose the decomposition: with different inputs they would continue with different blocks.
#[test]
fn rank_0_chooses_the_decomposition_for_all_ranks() {
    let decompositions = |first: &str, second: &str| {
        on_ranks(2, |comm| {
            let set = if comm.rank() == 0 { first } else { second };
            decomposition(&config("taylor-green", [16; 3], &[set]), &*comm, false)
        })
    };
    for found in decompositions("compute.ranks=[2, 1, 1]", "compute.ranks=[1, 2, 1]") {
        assert_eq!(found.unwrap().0.ranks, [2, 1, 1]);
    }
    for found in decompositions("compute.ranks=auto", "compute.ranks=[2, 1, 1]") {
        assert_eq!(found.unwrap().0.ranks, [1, 1, 2]);
    }
    for found in decompositions("compute.ranks=[3, 1, 1]", "compute.ranks=[2, 1, 1]") {
        assert!(found.unwrap_err().to_string().contains("this run has 2"));
    }
}

/// Catches products and results of one batch of operands in place of those of another. All axes are split, because terms of axes that
/// are not split would be summed first.
#[test]
fn transpose_with_composed_operators_is_bitwise_identical_to_one_rank() {
    for more in ["scheme.viscous=laplacian", "scheme.convection=staggered"] {
        let set = ["compute.right_hand_side=composed", "compute.distributed=transpose", more];
        let config = config("taylor-green", [13, 12, 11], &set);
        let mut one = on_host(&config);
        steps(&mut one, 3);
        for (_, fields) in on_ranks(12, |comm| after_three_steps(comm, [2, 3, 2], &config)) {
            for (a, b) in state(&one).iter().zip(&fields) {
                assert!(a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()), "{more}");
            }
        }
    }
}

#[test]
fn all_ranks_report_the_diverged_point_of_the_lowest_rank() {
    let [nx, ny, nz] = [12, 13, 14];
    let nan_points = [[2, 12, 13], [9, 4, 8], [11, 12, 13]];
    for (case, name) in [("taylor-green", "density"), ("scalar-advection", "scalar")] {
        let config = config(case, [nx, ny, nz], &[]);
        // Blocks along x have i < 6 and i ≥ 6, blocks along z k < 7 and k ≥ 7: the points are on ranks 2, 3 and 3.
        let errors = on_ranks(4, |comm| {
            let backend = blocks(comm, [2, 1, 2], &config);
            let mut simulation = Simulation::on(backend, &config).unwrap();
            let block = simulation.block();
            let field = simulation.state_mut()[0].get_mut::<Field<f64>>();
            for at in 0..block.len() {
                if nan_points.contains(&block.index(at)) {
                    field[at] = f64::NAN;
                }
            }
            simulation.step(None).unwrap_err()
        });
        for error in errors {
            let Error::Diverged { step: 0, field, value, index, .. } = error else {
                panic!("{error}")
            };
            assert!(field == name && value.is_nan() && index == nan_points[0], "{field} {index:?}");
        }
    }
}

/// Runs a Python script, which must succeed.
fn python_script(script: &str, arguments: &[&Path]) {
    let output = Command::new(python()).args(["-c", script]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs `config` on blocks, or on one rank for the decomposition [1, 1, 1].
fn run_on_blocks(
    config: &Config,
    decomposition: [usize; 3],
    directory: &Path,
    stop: impl Fn(usize) -> Arc<AtomicBool> + Sync,
) -> Vec<Result<Ending>> {
    on_ranks(ranks(decomposition), |comm| {
        let stop = stop(comm.rank());
        let log = |path: &Path| {
            fs::write(path, "").unwrap();
            Ok(())
        };
        let backend = blocks(comm, decomposition, config);
        let decomposition = Decomposition { ranks: decomposition };
        let requests = &Requests { stop, ..Requests::default() };
        let origin = Origin::Case;
        run_on(backend, Task { config, directory, origin, decomposition, requests }, &log)
    })
}

fn no_stop(_: usize) -> Arc<AtomicBool> {
    Arc::default()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn run_on_ranks_writes_the_files_of_one_rank_except_for_pieces() {
    let set = [
        "time.end=0.2",
        "output.series.every_steps=1",
        "output.fields={ every_time = 0.1, variables = ['velocity', 'pressure', 'q_criterion'] }",
    ];
    let dir = tempfile::tempdir().unwrap();
    for (name, further) in [("f64", "compute.precision=f64"), ("f32", "compute.precision=f32")] {
        let set = [&set[..], &[further]].concat();
        let config = config("taylor-green", [12, 11, 13], &set);
        let [one, many] = ["one", "many"].map(|count| dir.path().join(format!("{name}-{count}")));
        for (directory, decomposition) in [(&one, [1, 1, 1]), (&many, [2, 1, 3])] {
            for ending in run_on_blocks(&config, decomposition, directory, no_stop) {
                assert_eq!(ending.unwrap(), Ending::Finished);
            }
            let (valid, text) = readback(directory);
            assert!(valid && text.contains("3 fields of 12 x 11 x 13 points"), "{text}");
        }
        assert_eq!(names(&one), names(&many));
        assert_eq!(names(&one.join("slices")), names(&many.join("slices")));
        let fields = names(&many.join("fields"));
        assert_eq!(fields.len(), 2 * 3 + 1, "{fields:?}");
        assert_eq!(names(&many.join("fields/step_00000000")).len(), 6);
        for picture in names(&one.join("slices")).iter().filter(|name| name.contains("00000000")) {
            let [a, b] = [&one, &many].map(|run| fs::read(run.join("slices").join(picture)));
            assert!(a.unwrap() == b.unwrap(), "{picture} differs");
        }

        let [a, b] = [&one, &many].map(|run| Series::read(&run.join("series.csv")).unwrap());
        let tolerance = if name == "f64" { 1e-13 } else { 1e-6 };
        for column in kolmo::physics::FLOW_COLUMNS {
            let [a, b] = [&a, &b].map(|series| series.column(column).unwrap());
            assert_eq!(a.len(), b.len());
            let size = a.iter().copied().map(f64::abs).fold(1.0, f64::max);
            for (a, b) in a.iter().zip(b) {
                assert!((a - b).abs() <= tolerance * size, "{name} {column}: {a:e} {b:e}");
            }
        }
        let [serial, parallel] =
            [&one, &many].map(|run| Summary::read(&run.join("summary.json")).unwrap());
        assert!(serial.ranks.is_none());
        let ranks = parallel.ranks.unwrap();
        assert_eq!((ranks.count, ranks.decomposition), (6, [2, 1, 3]));
        assert_eq!(parallel.steps, serial.steps);
        for (phase, slowest) in &parallel.phases {
            let mean = ranks.phases_mean[phase];
            assert!(*slowest >= mean && mean > 0.0, "{phase}: {slowest} {mean}");
        }
        let report = fs::read_to_string(many.join("report.html")).unwrap();
        assert!(report.contains("6 (2 × 1 × 3)"));

        let last = fields.iter().rfind(|name| name.ends_with(".pvti")).unwrap();
        let single = last.replace(".pvti", ".vti");
        let script = r#"
import sys, numpy, vtk
from vtk.util.numpy_support import vtk_to_numpy as array
readers = vtk.vtkXMLImageDataReader(), vtk.vtkXMLPImageDataReader()
images = []
for reader, path in zip(readers, sys.argv[1:]):
    reader.SetFileName(path)
    reader.Update()
    images.append(reader.GetOutput())
one, many = images
for found in ("GetExtent", "GetOrigin", "GetSpacing"):
    assert getattr(one, found)() == getattr(many, found)(), found
for name in ("velocity", "pressure", "q_criterion"):
    a, b = (array(image.GetPointData().GetArray(name)) for image in images)
    assert a.dtype == b.dtype and a.shape == b.shape, name
    assert abs(a - b).max() <= 100 * numpy.finfo(a.dtype).eps * max(abs(a).max(), 1), (name, abs(a - b).max())
"#;
        python_script(script, &[&one.join("fields").join(single), &many.join("fields").join(last)]);

        // A new run in this directory removes the pieces and keeps other files.
        let foreign = many.join("fields/step_00000000/notes.txt");
        fs::write(&foreign, "mine").unwrap();
        kolmo::io::RunDirectory::create(&many, kolmo::io::RunId::new()).unwrap();
        assert_eq!(names(&many.join("fields")), ["step_00000000"]);
        assert_eq!(names(&many.join("fields/step_00000000")), ["notes.txt"]);
    }
}

#[test]
fn stop_request_on_one_rank_stops_all_after_the_same_step() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["output.series.every_steps=1", "output.fields={ every_wall = 0.001 }"];
    let config = config("taylor-green", [8, 9, 8], &set);
    let series = dir.path().join("series.csv");
    let rows = || fs::read_to_string(&series).map_or(0, |text| text.lines().count());
    let stop_request = Arc::new(AtomicBool::new(false));
    let endings = std::thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            while rows() < 5 && start.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(1));
            }
            stop_request.store(true, Ordering::Relaxed);
        });
        run_on_blocks(&config, [3, 1, 1], dir.path(), |rank| {
            if rank == 1 { stop_request.clone() } else { no_stop(rank) }
        })
    });
    for ending in endings {
        assert_eq!(ending.unwrap(), Ending::Stopped);
    }
    let summary = Summary::read(&dir.path().join("summary.json")).unwrap();
    assert!(!summary.finished && summary.steps >= 3);
    let (valid, text) = readback(dir.path());
    assert!(valid, "{text}");
}

#[test]
fn diverging_run_ends_all_ranks_with_the_same_error_and_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["scheme.convection=divergence", "time.dt=0.2", "output.series.every_steps=1"];
    let config = config("taylor-green", [12, 12, 12], &set);
    let endings = run_on_blocks(&config, [1, 2, 2], dir.path(), no_stop);
    let messages: Vec<String> = endings.into_iter().map(|e| e.unwrap_err().to_string()).collect();
    assert!(
        messages[0].contains("diverged") && messages.iter().all(|text| *text == messages[0]),
        "{messages:?}"
    );
    let summary = Summary::read(&dir.path().join("summary.json")).unwrap();
    assert!(!summary.finished && messages[0].starts_with(&summary.stop_reason));
    assert!(fs::read_to_string(dir.path().join("report.html")).unwrap().contains("Not finished"));
}

#[test]
fn invalid_initial_state_is_rejected_on_all_ranks_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let config = config("taylor-green", [12, 12, 12], &["case.mach=2"]);
    for ending in run_on_blocks(&config, [2, 1, 2], &run, no_stop) {
        let error = ending.unwrap_err();
        assert!(error.is_everywhere() && error.exit_code() == 2);
        let text = error.report();
        assert!(text.starts_with("error: the initial state has pressure = -"), "{text}");
    }
    assert!(!run.exists());
}
