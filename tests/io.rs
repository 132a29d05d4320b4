//! Every file of a run is written and read back, by this crate and by the software users have.
#![allow(clippy::unwrap_used, reason = "the helpers of the tests fail as the tests do")]

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kolmo::comm::Solo;
use kolmo::grid::Decomposition;
use kolmo::io::fields::Layout;
use kolmo::io::pieces::Selection;
use kolmo::io::reference::Reference;
use kolmo::io::series::{ERROR_COLUMNS, SCALAR_COLUMNS};
use kolmo::io::summary::{self, Machine, SchemeSummary, Verdict};
use kolmo::io::{
    FLOW_COLUMNS, FieldData, FieldValues, FieldWriter, ImageGrid, Plane, Series, SeriesWriter,
    Slice, SliceWriter, Summary, write_report,
};

/// Python with vtk and pandas: `KOLMO_PYTHON`, else the project's environment, else the system's.
pub(crate) fn python() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python");
    match std::env::var_os("KOLMO_PYTHON") {
        Some(python) => python.into(),
        None if own.exists() => own,
        None => "python3".into(),
    }
}

/// Run `tests/readback.py`; its output, and whether it was content.
pub(crate) fn readback(run: &Path) -> (bool, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readback.py");
    let output = Command::new(python()).arg(script).arg(run).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// A run that no solver made: curves like those of a Taylor-Green vortex, and a field whose value tells its index.
fn made_up_run(points: [usize; 3]) -> tempfile::TempDir {
    let run = tempfile::tempdir().unwrap();
    let dir = run.path();
    fs::write(dir.join("config.toml"), "[case]\nname = \"taylor-green\" # <&>\n").unwrap();
    let mut series = SeriesWriter::create(&dir.join("series.csv"), &FLOW_COLUMNS).unwrap();
    let mut curve = String::from("# made up\ntime,kinetic_energy,dissipation\n");
    for step in 0..=100_u32 {
        let t = f64::from(step) / 10.0;
        let dissipation = 0.0005 + 0.0125 * (-(t - 9.0).powi(2) / 6.0).exp();
        let energy = 0.125 - 0.0005 * t;
        let mut row = [0.0; 21];
        row[..5].copy_from_slice(&[t, 0.1, energy, 800.0 * dissipation, dissipation]);
        row[8] = -dissipation;
        row[11] = -dissipation;
        row[13] = 1.0;
        series.append(u64::from(step), &row).unwrap();
        curve += &format!("{t},{energy},{dissipation}\n");
    }
    fs::write(dir.join("reference.csv"), curve).unwrap();

    let grid = ImageGrid { points, origin: [0.0; 3], spacing: points.map(|n| TAU / n as f64) };
    let count: usize = points.iter().product();
    let ramp = |n: usize| (0..n).map(|i| i as f64).collect::<Vec<_>>();
    let single = |n: usize| (0..n).map(|i| i as f32 / 3.0).collect::<Vec<_>>();
    let layout = Layout { grid, selection: Selection::all(points), files: 1 };
    let mut fields = FieldWriter::new(&dir.join("fields"), "fields", layout);
    let mut slices = SliceWriter::create(&dir.join("slices")).unwrap();
    for step in [0, 100] {
        let arrays = vec![
            FieldData {
                name: "density".into(),
                components: 1,
                values: FieldValues::F64(ramp(count)),
            },
            FieldData {
                name: "velocity".into(),
                components: 3,
                values: FieldValues::F64(ramp(3 * count)),
            },
            FieldData {
                name: "pressure".into(),
                components: 1,
                values: FieldValues::F32(single(count)),
            },
        ];
        let moment = (step, step as f64 / 10.0);
        fields.write(&Solo, &Decomposition::ONE, moment, arrays).unwrap();
        let values = ramp(points[0] * points[1]);
        let slice = Slice {
            plane: Plane::Xy,
            quantity: "vorticity magnitude",
            points: [points[0], points[1]],
            values: &values,
            range: [0.0, values.len() as f64],
        };
        slices.write(step, step as f64 / 10.0, &slice).unwrap();
    }
    summary_of(dir, points).write(&dir.join("summary.json")).unwrap();
    run
}

fn summary_of(dir: &Path, points: [usize; 3]) -> Summary {
    let series = Series::read(&dir.join("series.csv")).unwrap();
    let length = [TAU; 3];
    let h = summary::largest_spacing(points, length);
    let resolution = summary::resolution(&series, h, 1600.0);
    let reference =
        Reference::read(&dir.join("reference.csv")).ok().and_then(|r| r.compare(&series));
    Summary {
        version: env!("CARGO_PKG_VERSION").into(),
        case: "taylor-green".into(),
        title: "Taylor-Green vortex".into(),
        mach: Some(0.1),
        reynolds: Some(1600.0),
        points,
        length,
        scheme: SchemeSummary { derivative: "compact6".into(), ..SchemeSummary::default() },
        backend: "cpu".into(),
        precision: "f64".into(),
        machine: Machine::here(2, "avx2", None),
        ranks: None,
        steps: 100,
        end_time: 10.0,
        finished: true,
        stop_reason: "The end time was reached.".into(),
        restarts: vec![40],
        wall_seconds: 12.5,
        ns_per_point_stage: Some(40.0),
        phases: BTreeMap::from([("derivatives".into(), 8.0), ("output".into(), 4.5)]),
        resolution,
        verdict: summary::verdict(resolution, reference.as_ref()),
        reference,
    }
}

#[test]
fn every_number_of_a_series_reads_back_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("series.csv");
    let mut writer = SeriesWriter::create(&path, &["step", "time", "a", "b"]).unwrap();
    let rows = [
        [0.1 + 0.2, f64::MIN_POSITIVE, -0.0],
        [1.0 / 3.0, f64::MAX, 5e-324],
        [1e22, f64::INFINITY, -TAU],
    ];
    for (step, row) in rows.iter().enumerate() {
        writer.append(step as u64, row).unwrap();
        // Each row is there as soon as it is written, the writer still open.
        let series = Series::read(&path).unwrap();
        assert_eq!(series.rows(), step + 1);
        for (name, value) in ["time", "a", "b"].iter().zip(row) {
            assert_eq!(series.column(name).unwrap()[step].to_bits(), value.to_bits());
        }
    }
    writer.append(3, &[f64::NAN; 3]).unwrap();
    assert!(Series::read(&path).unwrap().column("a").unwrap()[3].is_nan());
    assert!(
        fs::read_to_string(&path).unwrap().starts_with("step,time,a,b\n0,0.30000000000000004,")
    );
}

#[test]
fn a_row_that_was_cut_off_is_left_out_and_a_broken_one_is_reported_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("series.csv");
    fs::write(&path, "step,time\n0,0.0\n1,0.1").unwrap();
    assert_eq!(Series::read(&path).unwrap().rows(), 1);
    for (text, message) in [
        ("", "the file is empty: a line of column names is missing"),
        ("step,time\n0,0.0\n1\n", "line 3: 1 values where the header names 2 columns"),
        ("step,time\n0,zero\n", "line 2: `zero` in column `time` is not a number"),
    ] {
        fs::write(&path, text).unwrap();
        let error = Series::read(&path).unwrap_err().to_string();
        assert_eq!(error, format!("{}: {message}", path.display()));
    }
    fs::write(&path, "step,time\n0,0.0\n").unwrap();
    let error = Series::read(&path).unwrap().required("enstrophy", &path).unwrap_err().to_string();
    assert!(error.ends_with("column `enstrophy` is missing; the file has step, time"), "{error}");
}

#[test]
fn vtk_and_pandas_read_a_whole_run() {
    for points in [[5, 4, 3], [9, 7, 1]] {
        let run = made_up_run(points);
        write_report(run.path()).unwrap();
        let (content, text) = readback(run.path());
        assert!(content, "{text}");
        let [nx, ny, nz] = points;
        assert!(text.contains(&format!("2 fields of {nx} x {ny} x {nz} points")), "{text}");
    }
}

#[test]
fn vtk_finds_every_value_at_its_point() {
    let run = made_up_run([5, 4, 3]);
    let script = r#"
import math, sys, vtk
from vtk.util.numpy_support import vtk_to_numpy as array
reader = vtk.vtkXMLImageDataReader()
reader.SetFileName(sys.argv[1])
reader.Update()
image = reader.GetOutput()
assert image.GetDimensions() == (5, 4, 3), image.GetDimensions()
for spacing, n in zip(image.GetSpacing(), (5, 4, 3)):
    assert abs(spacing - math.tau / n) < 1e-6, spacing
data = image.GetPointData()
for name, kind, parts in (("density", "float64", 1), ("velocity", "float64", 3), ("pressure", "float32", 1)):
    values = array(data.GetArray(name))
    assert values.dtype == kind and values.size == 60 * parts, (name, values.dtype, values.size)
point = image.ComputePointId((2, 3, 1))
assert point == 2 + 5 * (3 + 4 * 1), point
assert data.GetArray("density").GetTuple(point) == (float(point),)
assert data.GetArray("velocity").GetTuple(point) == (3.0 * point, 3.0 * point + 1, 3.0 * point + 2)
assert abs(data.GetArray("pressure").GetValue(point) - point / 3) < 1e-5
"#;
    let field = run.path().join("fields/step_00000100.vti");
    let output = Command::new(python()).args(["-c", script]).arg(field).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn readback_objects_to_a_run_with_a_hole() {
    type Damage = (&'static str, fn(&Path));
    let damage: [Damage; 4] = [
        ("series.csv", |dir| {
            let text = fs::read_to_string(dir.join("series.csv")).unwrap();
            fs::write(dir.join("series.csv"), text.replace(",1.0,", ",NaN,")).unwrap();
        }),
        ("step_00000100.vti", |dir| fs::remove_file(dir.join("fields/step_00000100.vti")).unwrap()),
        ("summary.json", |dir| fs::write(dir.join("summary.json"), "{}").unwrap()),
        ("report.html", |dir| fs::write(dir.join("report.html"), "<html></html>").unwrap()),
    ];
    for (file, break_it) in damage {
        let run = made_up_run([5, 4, 3]);
        write_report(run.path()).unwrap();
        break_it(run.path());
        let (content, text) = readback(run.path());
        assert!(!content && text.contains(file) && !text.contains("Traceback"), "{file}: {text}");
    }
}

#[test]
fn a_report_holds_every_plot_the_slices_and_the_configuration_and_asks_for_nothing_else() {
    let run = made_up_run([16, 16, 16]);
    write_report(run.path()).unwrap();
    let page = fs::read_to_string(run.path().join("report.html")).unwrap();
    for name in ["kinetic_energy", "dissipation", "enstrophy", "budget", "resolution"] {
        let svg = fs::read_to_string(run.path().join(format!("plots/{name}.svg"))).unwrap();
        assert!(page.contains(&svg), "{name}");
    }
    assert_eq!(page.matches("data:image/png;base64,").count(), 2);
    assert!(page.contains("name = &quot;taylor-green&quot; # &lt;&amp;&gt;"));
    assert!(page.contains("Re = 1600, Ma = 0.1, 16³ points"));
    assert!(page.contains("Passed: the run lies on the reference"));
    for outside in ["<script", "<link", "src=\"http", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_report_of_a_scalar_with_one_row_or_broken_values_is_drawn() {
    let run = made_up_run([16, 1, 1]);
    fs::remove_file(run.path().join("reference.csv")).unwrap();
    fs::remove_dir_all(run.path().join("slices")).unwrap();
    let columns = [&SCALAR_COLUMNS[..], &ERROR_COLUMNS[..]].concat();
    let path = run.path().join("series.csv");
    let mut series = SeriesWriter::create(&path, &columns).unwrap();
    let rows = [
        [0.0, 0.1, 1.0, 0.5, -1.0, 1.0, 0.0, 0.0],
        [0.1, 0.1, 1.0, 0.5, -1.0, 1.0, 1e-9, 2e-9],
        [0.2, 0.1, f64::NAN, f64::INFINITY, -1.0, 1.0, 1e-5, f64::NAN],
    ];
    for (step, row) in rows.iter().enumerate() {
        series.append(step as u64, row).unwrap();
        let summary = Summary { reynolds: None, mach: None, ..summary_of(run.path(), [16, 1, 1]) };
        assert_eq!(summary.verdict, Verdict::NoReference);
        summary.write(&run.path().join("summary.json")).unwrap();
        write_report(run.path()).unwrap();
        let page = fs::read_to_string(run.path().join("report.html")).unwrap();
        for title in ["Variance of the scalar", "Range of the scalar", "Error"] {
            assert!(page.contains(&format!("aria-label=\"{title}\"")), "{title}");
        }
        assert!(!page.contains("Kinetic energy"));
    }
}

#[test]
fn a_report_says_which_file_is_missing() {
    for name in ["config.toml", "series.csv", "summary.json"] {
        let run = made_up_run([5, 4, 3]);
        fs::remove_file(run.path().join(name)).unwrap();
        let error = write_report(run.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("{name} is missing")), "{error}");
    }
    let error = write_report(Path::new("no/such/run")).unwrap_err().to_string();
    assert_eq!(error, "no/such/run: there is no such directory");
}

#[test]
fn a_comparison_finds_the_largest_distance_in_fractions_of_the_peak() {
    let run = made_up_run([5, 4, 3]);
    let path = run.path().join("reference.csv");
    let series = Series::read(&run.path().join("series.csv")).unwrap();
    let mut reference = Reference::read(&path).unwrap();
    assert_eq!(reference.source, "made up");
    let same = reference.compare(&series).unwrap();
    assert!(same.dissipation_max_deviation < 1e-12 && same.kinetic_energy_max_deviation < 1e-12);
    assert_eq!(same.until, 10.0);
    let peak = reference.dissipation.iter().copied().fold(0.0, f64::max);
    reference.dissipation[30] -= 0.05 * peak;
    reference.kinetic_energy[70] += 0.02 * 0.125;
    let far = reference.compare(&series).unwrap();
    assert!((far.dissipation_max_deviation - 0.05).abs() < 1e-12);
    assert!((far.energy_loss_max_deviation - 0.05).abs() < 1e-12);
    assert!((far.kinetic_energy_max_deviation - 0.02).abs() < 1e-12);
}

#[test]
fn a_slice_is_drawn_upright_and_greys_what_is_no_number() {
    let run = tempfile::tempdir().unwrap();
    let path = run.path().join("slice.png");
    // 3 × 2 points: the lower left is the smallest, the upper right the largest, the lower right no number.
    let values = [0.0, 0.5, f64::NAN, 0.5, 0.5, 1.0];
    let slice = Slice {
        plane: Plane::Xy,
        quantity: "test",
        points: [3, 2],
        values: &values,
        range: [0.0, 1.0],
    };
    kolmo::io::slices::write_slice(&path, &slice).unwrap();
    let file = std::io::BufReader::new(fs::File::open(&path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    assert_eq!((width, height), (384, 256));
    let at = |x: usize, y: usize| pixels[x + width * y];
    assert_eq!(at(0, height - 1), 0);
    assert_eq!(at(width - 1, 0), 254);
    assert_eq!(at(width - 1, height - 1), 255);
    assert_eq!(at(0, 0), 127);
    // Half-way between 0 and 0.5 along the left side.
    assert!((62..=65).contains(&at(0, height / 2)));
}
