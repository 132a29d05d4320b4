//! The scripts of postprocess/ draw the output of runs: their images have the right size and are not blank.

use kolmo::comm::Solo;
use kolmo::config::parse;
use kolmo::grid::{Block, Decomposition, Grid};
use kolmo::io::fields::Layout;
use kolmo::io::pieces::Selection;
use kolmo::io::{FieldData, FieldWriter};

use super::*;
use crate::common::on_host;

/// Runs a short case with all outputs that the scripts need; returns its directory.
fn run_with_outputs(directory: &Path) -> PathBuf {
    let further = [
        "--set",
        "time={ end = 0.4, cfl = 0.8 }",
        "--set",
        "case.reynolds=1600",
        "--set",
        "output.series={ every_steps = 1 }",
        "--set",
        "output.fields={ every_time = 0.2, variables = ['vorticity', 'q_criterion', 'velocity'] }",
        "--out",
        "run",
    ];
    run_ok(directory, small_run(&further));
    directory.join("run")
}

/// Width, height, number of frames, colours of the emptiest frame, and number of frames that differ from the previous one.
fn picture(path: &Path) -> [usize; 5] {
    let stdout = run_script("tests/picture.py", &[path]);
    let numbers: Vec<usize> = stdout.split_whitespace().map(|n| n.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// Runs a script that must fail; returns its error message.
fn failure(name: &str, arguments: &[&Path]) -> String {
    let script = root().join(name);
    let outcome: Outcome =
        Command::new(python()).arg(script).args(arguments).output().unwrap().into();
    assert_eq!(outcome.code, Some(1), "{name}: {}", outcome.stderr);
    outcome.stderr
}

#[test]
fn scripts_draw_images_of_a_run_that_are_not_blank() {
    let dir = tempfile::tempdir().unwrap();
    let run = run_with_outputs(dir.path());
    super::statistics::write_spectra(&run, &[0.0, 0.2, 0.4]);
    let reference = "# made up\n# time: 0.2\nk,energy\n1,1e-3\n2,2e-2\n4,1e-3\n";
    fs::write(run.join("reference_spectrum.csv"), reference).unwrap();
    // Measured numbers of colours: 32,700 with the surface and 230 without it; 890 and 1,200 with the curves and 256 with the axes
    // alone; 190 in the film, whose frames differ.
    for (name, size, frames, colours) in [
        ("q_criterion", [1200, 1000], 1, 5000),
        ("spectra", [700, 800], 1, 500),
        ("dissipation", [700, 650], 1, 500),
        ("slice_movie", [600, 540], 3, 100),
    ] {
        let extension = if frames > 1 { "gif" } else { "png" };
        let path = dir.path().join(name).with_extension(extension);
        run_script(&format!("postprocess/{name}.py"), &[&run, &path]);
        let [width, height, count, found_colours, changes] = picture(&path);
        assert_eq!(([width, height], count), (size, frames), "{name}");
        assert!(found_colours > colours, "{name}: {found_colours} colours");
        assert_eq!(changes, frames - 1, "{name}");
    }
    let pair = dir.path().join("vorticity.png");
    run_script("postprocess/vorticity.py", &[&pair, Path::new("0.4"), &run, &run]);
    let [width, height, _, found_colours, _] = picture(&pair);
    assert!(
        [width, height] == [640, 390] && found_colours > 100,
        "{width} {height} {found_colours}"
    );
    let film = dir.path().join("planes.gif");
    for (field, plane) in [("velocity", "xz"), ("q_criterion", "yz")] {
        let arguments = [run.as_path(), &film, Path::new(field), Path::new(plane)];
        run_script("postprocess/slice_movie.py", &arguments);
        assert_eq!(picture(&film)[2], 3, "{field}");
    }
}

#[test]
fn scripts_read_fields_written_in_several_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let run = run_with_outputs(dir.path());
    fs::remove_dir_all(run.join("fields")).unwrap();
    let n = 16_usize;
    let x = |at: usize| 0.39 * crate::common::float(at);
    let grid = Grid {
        points: [n; 3],
        origin: [0.0; 3],
        spacing: [0.39; 3],
        ends: [None; 3],
        lines: Default::default(),
        plane: None,
        end_weights: [[&[0.5]; 2]; 3],
    };
    let q: Vec<f64> = (0..n * n * n).map(|at| x(at % n).sin() * x(at / n % n).cos()).collect();
    let omega: Vec<f64> = q.iter().flat_map(|q| [*q, 0.0, 1.0]).collect();
    let field = |name: &str, components, values: Vec<f64>| FieldData {
        name: name.into(),
        components,
        values: values.into(),
    };
    let data = [field("q_criterion", 1, q), field("vorticity", 3, omega)];
    let layout = Layout { grid: grid.clone(), selection: Selection::all(&grid), files: 2 };
    let mut writer = FieldWriter::new(&run.join("fields"), "fields", layout);
    let selection = *writer.selection();
    let data = data.iter().map(|field| Ok(selection.of(&Block::whole(grid.points), field)));
    writer.write(&Solo, &Decomposition::ONE, (3, 0.25), data).unwrap();
    for name in ["q_criterion.png", "slice_movie.gif"] {
        let path = dir.path().join(name);
        let (script_name, _) = name.split_once('.').unwrap();
        run_script(&format!("postprocess/{script_name}.py"), &[&run, &path]);
        assert!(picture(&path)[3] > 100, "{name}");
    }
}

/// Writes a checkpoint after three steps; returns its path.
fn save_checkpoint(directory: &Path, precision: &str) -> PathBuf {
    let input = format!(
        "[case]\nname = 'taylor-green'\n[grid]\npoints = [13, 12, 11]\n[time]\nmax_steps = 3\n\
         [compute]\nthreads = 1\nprecision = '{precision}'\n"
    );
    let config = parse(&input, "test", &[]).unwrap();
    let mut simulation = on_host(&config);
    (0..3).for_each(|_| assert!(simulation.step(None).unwrap() > 0.0));
    let path = directory.join("step_00000003.zarr");
    simulation.save(&path).unwrap();
    path
}

/// What the checkpoint script prints for such a checkpoint, and the properties of its image.
fn run_checkpoint_script(directory: &Path, precision: &str) -> (String, [usize; 5]) {
    let path = save_checkpoint(directory, precision);
    let drawn = directory.join("checkpoint.png");
    let arguments = [path.as_path(), &drawn, Path::new("momentum_x")];
    (run_script("postprocess/checkpoint.py", &arguments), picture(&drawn))
}

#[test]
fn checkpoint_script_reads_both_precisions_and_prints_point_means() {
    let dir = tempfile::tempdir().unwrap();
    // On a non-uniform grid this is not a volume average: "mean" alone would be mistaken for the average in the time series.
    let mean = "mean over points ";
    let number = |stdout: &str, field: &str, name: &str| -> f64 {
        let line = stdout.lines().find(|line| line.starts_with(field)).unwrap();
        let (_, rest) = line.split_once(name).unwrap();
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    let (double, picture) = run_checkpoint_script(dir.path(), "f64");
    assert!(double.starts_with("step 3, time "), "{double}");
    assert!(double.contains("points {'z': 11, 'y': 12, 'x': 13}"), "{double}");
    assert_eq!(picture[..2], [600, 500]);
    assert!(picture[3] > 100, "{picture:?}");
    let (single, _) = run_checkpoint_script(dir.path(), "f32");
    for stdout in [&double, &single] {
        // Mass is 1; rho E is p / (gamma - 1) + 1/8 with p near 1 / (gamma Ma^2) = 71.43.
        assert!((number(stdout, "density", mean) - 1.0).abs() < 1e-6, "{stdout}");
        assert!((number(stdout, "total_energy", mean) - 178.70).abs() < 0.05, "{stdout}");
        let largest = number(stdout, "momentum_x", "max ");
        assert!((0.9..1.001).contains(&largest), "{stdout}");
        assert_eq!(stdout.lines().count(), 6);
    }
}

/// Opens a checkpoint with xarray alone, without any code of Kolmo.
const OPEN_WITH_XARRAY: &str = r#"
import sys, numpy, xarray
data = xarray.open_zarr(sys.argv[1], consolidated=False)
assert set(data.coords) == {"x", "y", "z"}, data.coords
assert data.density.dims == ("z", "y", "x") and "x" not in data.data_vars
for axis, points in (("x", 13), ("y", 12), ("z", 11)):
    found = data[axis]
    assert found.dims == (axis,) and found.dtype == "f8", found
    assert abs(found.values - 2 * numpy.pi * numpy.arange(points) / points).max() < 1e-14, found
assert data.attrs["step"] == 3 and data.attrs["time"] > 0
near = data.density.sel(x=numpy.pi, y=1.0, z=0.0, method="nearest")
assert abs(near - 1) < 0.1 and float(near.z) == 0, near
"#;

#[test]
fn xarray_opens_a_checkpoint_with_its_coordinates() {
    let dir = tempfile::tempdir().unwrap();
    for precision in ["f64", "f32"] {
        let path = save_checkpoint(dir.path(), precision);
        let output =
            Command::new(python()).args(["-c", OPEN_WITH_XARRAY]).arg(path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn scripts_report_missing_input_in_an_error_message() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run", "--set", "output.fields=none"]));
    let (run, image) = (dir.path().join("run"), dir.path().join("picture.png"));
    for (name, message) in [
        ("overview", "has no fields; set output.fields"),
        ("q_criterion", "has no fields; set output.fields"),
        ("slice_movie", "has no fields; set output.fields"),
        ("spectra", "has no statistics/spectra.csv"),
        ("checkpoint", "is not a checkpoint"),
    ] {
        let name = format!("postprocess/{name}.py");
        let stderr = failure(&name, &[&run, &image]);
        assert!(stderr.starts_with("error: ") && stderr.contains(message), "{name}: {stderr}");
        assert!(failure(&name, &[]).contains("usage: "), "{name}");
        assert!(!image.exists());
    }
}

/// Catches a package that the scripts or the package `kolmo` import but that is not listed, and a listed one that nothing imports.
#[test]
fn postprocess_requirements_list_exactly_the_imported_packages() {
    let script = r#"
import ast, sys
from pathlib import Path
root = Path(sys.argv[1])
scripts, modules = list(root.glob("postprocess/*.py")), list(root.glob("python/kolmo/*.py"))
assert scripts and modules
own = {path.stem for path in scripts} | {"kolmo"}
found = set()
for path in scripts + modules:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        found |= {name.split(".")[0] for name in names}
packages = {"PIL": "pillow", "mpl_toolkits": "matplotlib"}
found = {packages.get(name, name) for name in found - own - set(sys.stdlib_module_names)}
def lines(name):
    return [line for line in (root / name).read_text(encoding="utf-8").splitlines() if not line.startswith('#')]
listed = {line.split("==")[0] for line in lines("postprocess/requirements.txt")}
# numpy comes with each of the others.
assert found - {"numpy"} == listed, (found, listed)
assert "-r ../postprocess/requirements.txt" in lines("tests/requirements.txt")
"#;
    let outcome: Outcome =
        Command::new(python()).args(["-c", script]).arg(root()).output().unwrap().into();
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

/// An environment that is older than one of the two requirements files would lack packages.
#[test]
fn python_environment_is_updated_when_either_requirements_file_changes() {
    let dir = tempfile::tempdir().unwrap();
    for list in ["tests", "postprocess"] {
        fs::create_dir(dir.path().join(list)).unwrap();
        let name = format!("{list}/requirements.txt");
        fs::copy(root().join(&name), dir.path().join(&name)).unwrap();
    }
    // Runs the function of `./test` itself, with an environment that only counts the installations.
    let root = root().display();
    let script = format!(
        "eval \"$(sed -n '/^python_packages()/,/^}}/p' '{root}/test')\"
         environment() {{
             mkdir -p .venv/bin
             printf '#!/bin/sh\\necho >>installed\\n' >.venv/bin/python
             chmod +x .venv/bin/python
         }}
         count() {{ python_packages; wc -l <installed; }}
         count; count
         echo extra >>postprocess/requirements.txt
         count; count
         echo extra >>tests/requirements.txt
         count; count"
    );
    let outcome: Outcome =
        Command::new("bash").args(["-c", &script]).current_dir(dir.path()).output().unwrap().into();
    let counts: Vec<&str> = outcome.stdout.split_whitespace().collect();
    assert_eq!(counts, ["1", "1", "2", "2", "3", "3"], "{}", outcome.stderr);
}
