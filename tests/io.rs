//! Every file of a run is written and read back, by this crate and by common tools.
#![allow(clippy::unwrap_used, reason = "a test helper may panic")]

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kolmo::Error;
use kolmo::cases::Domain;
use kolmo::comm::Solo;
use kolmo::grid::{Block, Decomposition, Grid};
use kolmo::io::fields::Layout;
use kolmo::io::pieces::Selection;
use kolmo::io::reference::Reference;
use kolmo::io::summary::{self, Machine, SchemeSummary};
use kolmo::io::verdict::{Evidence, Verdict, decide};
use kolmo::io::{
    FieldData, FieldWriter, Plane, Series, SeriesWriter, Slice, SliceWriter, Summary, write_report,
};
use kolmo::physics::{ERROR_COLUMNS, FLOW_COLUMNS, SCALAR_COLUMNS};

use crate::common::root;

mod components;
mod pages;
mod slices;
mod verdict;

/// The box of synthetic runs.
const BOX: Domain = Domain { origin: [0.0; 3], length: [TAU; 3] };

/// Python with vtk and pandas: `KOLMO_PYTHON`, else the one of the project's environment, else the system's.
pub(crate) fn python() -> PathBuf {
    let own = root().join(".venv/bin/python");
    match std::env::var_os("KOLMO_PYTHON") {
        Some(python) => python.into(),
        None if own.exists() => own,
        None => "python3".into(),
    }
}

/// Runs `tests/readback.py`. Returns whether it succeeded, and its output.
pub(crate) fn readback(run: &Path) -> (bool, String) {
    let script = root().join("tests/readback.py");
    let output = Command::new(python()).arg(script).arg(run).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Detects a writer that stores all fields before it writes the first, and an incomplete file that remains after an error.
#[test]
fn fields_are_written_one_at_a_time_and_incomplete_files_removed() {
    let directory = tempfile::tempdir().unwrap();
    let grid = Grid::periodic([16; 3], &BOX);
    let layout = Layout { selection: Selection::all(&grid), grid, files: 1 };
    let mut writer = FieldWriter::new(directory.path(), "fields", layout);
    let selection = *writer.selection();
    let length = |name: &str| fs::metadata(directory.path().join(name)).map_or(0, |it| it.len());
    let fields = [0, 1, 2].map(|before| {
        let values = vec![0.0; 16 * 16 * 16].into();
        let field = FieldData { name: format!("f{before}"), components: 1, values };
        (before, selection.of(&Block::whole([16; 3]), &field))
    });
    let observed = fields.clone().into_iter().map(|(before, field)| {
        // Eight bytes per value, four characters per three bytes, one more plane along each axis; all but one buffer is on disk.
        let written = before * (17 * 17 * 17 * 8 * 4 / 3);
        let found = length("step_00000007.vti.part");
        assert!(found + 8192 >= written, "{found} of {written} bytes on disk");
        Ok(field)
    });
    writer.write(&Solo, &Decomposition::ONE, (7, 0.5), observed).unwrap();
    assert!(length("step_00000007.vti") > 3 * 17 * 17 * 17 * 8);

    let failing = fields.into_iter().map(|(before, field)| match before {
        2 => Err(Error::Config(vec!["error: no more".into()])),
        _ => Ok(field),
    });
    let error = writer.write(&Solo, &Decomposition::ONE, (8, 0.6), failing).unwrap_err();
    assert_eq!(error.report(), "error: no more");
    assert_eq!(length("step_00000008.vti") + length("step_00000008.vti.part"), 0);
}

/// A synthetic run: curves like those of a Taylor-Green vortex, and fields whose values identify their index.
fn synthetic_run(points: [usize; 3]) -> tempfile::TempDir {
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

    let grid = Grid::periodic(points, &BOX);
    let count: usize = points.iter().product();
    let ramp = |n: usize| (0..n).map(|i| i as f64).collect::<Vec<_>>();
    let single = |n: usize| (0..n).map(|i| i as f32 / 3.0).collect::<Vec<_>>();
    let layout = Layout { grid: grid.clone(), selection: Selection::all(&grid), files: 1 };
    let mut fields = FieldWriter::new(&dir.join("fields"), "fields", layout);
    let mut slices = SliceWriter::create(&dir.join("slices")).unwrap();
    for step in [0, 100] {
        let arrays = [
            FieldData { name: "density".into(), components: 1, values: ramp(count).into() },
            FieldData { name: "velocity".into(), components: 3, values: ramp(3 * count).into() },
            FieldData { name: "pressure".into(), components: 1, values: single(count).into() },
        ];
        let moment = (step, step as f64 / 10.0);
        let block = Block::whole(points);
        let selection = *fields.selection();
        let arrays = arrays.iter().map(|array| Ok(selection.of(&block, array)));
        fields.write(&Solo, &Decomposition::ONE, moment, arrays).unwrap();
        let values = ramp(points[0] * points[1]);
        let slice = Slice {
            plane: Plane::Xy,
            at: 3.0,
            quantity: "vorticity magnitude",
            unit: "V₀/L",
            edges: [[-0.5, 6.5]; 2],
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
    let reynolds = Some(1600.0);
    let largest_spacing = TAU / points.iter().copied().filter(|n| *n > 1).min().unwrap() as f64;
    let (until, other_flow, gas) = (u64::MAX, false, None);
    let part = summary::Part {
        until,
        points,
        length,
        walls: false,
        largest_spacing,
        gas,
        reynolds,
        other_flow,
    };
    let resolution = summary::resolution(&series, &[part]);
    let reference =
        Reference::read(&dir.join("reference.csv")).ok().and_then(|r| r.compare(&series, 10.0));
    let evidence = Evidence { resolution, reference: reference.as_ref(), ..Evidence::default() };
    let (verdict, verdict_reason) = decide(&evidence);
    Summary {
        version: env!("CARGO_PKG_VERSION").into(),
        case: "taylor-green".into(),
        title: "Taylor-Green vortex".into(),
        mach: Some(0.1),
        reynolds: Some(1600.0),
        walls: false,
        symmetry: false,
        largest_spacing,
        gas: None,
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
        earlier: Vec::new(),
        wall_seconds: 12.5,
        ns_per_point_stage: Some(40.0),
        phases: BTreeMap::from([("derivatives".into(), 8.0), ("output".into(), 4.5)]),
        resolution,
        wall_units: None,
        verdict,
        verdict_reason,
        reference,
    }
}

#[test]
fn time_series_values_round_trip_bit_for_bit() {
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
        // Each row is readable as soon as it is written, while the writer is still open.
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
fn truncated_series_rows_are_skipped_and_broken_rows_reported_by_line() {
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
    let error = Series::read(&path).unwrap().required("enstrophy").unwrap_err().to_string();
    assert!(error.ends_with("column `enstrophy` is missing; the file has step, time"), "{error}");
}

#[test]
fn vtk_and_pandas_read_a_complete_run() {
    for points in [[5, 4, 3], [9, 7, 1]] {
        let run = synthetic_run(points);
        write_report(run.path(), &mut |_| Ok(())).unwrap();
        let (accepted, text) = readback(run.path());
        assert!(accepted, "{text}");
        let [nx, ny, nz] = points;
        assert!(text.contains(&format!("2 fields of {nx} x {ny} x {nz} points")), "{text}");
    }
}

#[test]
fn vtk_reads_every_value_at_its_point() {
    let run = synthetic_run([5, 4, 3]);
    let script = r#"
import math, sys, vtk
from vtk.util.numpy_support import vtk_to_numpy as array
reader = vtk.vtkXMLImageDataReader()
reader.SetFileName(sys.argv[1])
reader.Update()
image = reader.GetOutput()
# The first plane is repeated after the last: the box is closed, to the last digit.
points = (5, 4, 3)
assert image.GetDimensions() == tuple(n + 1 for n in points), image.GetDimensions()
assert image.GetBounds()[::2] == (0.0, 0.0, 0.0), image.GetBounds()
assert all(abs(end - math.tau) < 2e-15 for end in image.GetBounds()[1::2]), image.GetBounds()
assert array(image.GetFieldData().GetArray("last_plane_repeats_first")).tolist() == [1, 1, 1]
data = image.GetPointData()
for name, kind, parts in (("density", "float64", 1), ("velocity", "float64", 3), ("pressure", "float32", 1)):
    values = array(data.GetArray(name))
    assert values.dtype == kind and values.size == 120 * parts, (name, values.dtype, values.size)
for at in range(120):
    index = at % 6, at // 6 % 5, at // 30
    i, j, k = (i % n for i, n in zip(index, points))
    value, point = i + 5 * (j + 4 * k), image.ComputePointId(index)
    assert data.GetArray("density").GetTuple(point) == (float(value),), index
    assert data.GetArray("velocity").GetTuple(point) == (3.0 * value, 3.0 * value + 1, 3.0 * value + 2), index
    assert abs(data.GetArray("pressure").GetValue(point) - value / 3) < 1e-5, index
"#;
    let field = run.path().join("fields/step_00000100.vti");
    let output = Command::new(python()).args(["-c", script]).arg(field).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn readback_rejects_incomplete_and_damaged_runs() {
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
    for (file, apply) in damage {
        let run = synthetic_run([5, 4, 3]);
        write_report(run.path(), &mut |_| Ok(())).unwrap();
        apply(run.path());
        let (accepted, text) = readback(run.path());
        assert!(!accepted && text.contains(file) && !text.contains("Traceback"), "{file}: {text}");
    }
}

#[test]
fn a_report_is_self_contained_with_plots_slices_and_configuration() {
    let run = synthetic_run([16, 16, 16]);
    write_report(run.path(), &mut |_| Ok(())).unwrap();
    let page = fs::read_to_string(run.path().join("report.html")).unwrap();
    for name in ["kinetic_energy", "dissipation", "enstrophy", "budget", "resolution"] {
        let svg = fs::read_to_string(run.path().join(format!("plots/{name}.svg"))).unwrap();
        let drawing = svg.strip_suffix("<!-- drawn by kolmo -->\n").unwrap();
        assert!(page.contains(drawing), "{name}");
    }
    assert_eq!(page.matches("data:image/png;base64,").count(), 2);
    assert!(page.contains("name = &quot;taylor-green&quot; # &lt;&amp;&gt;"));
    assert!(page.contains("Re = 1600, Ma = 0.1, 16³ points"));
    assert!(page.contains("<strong>✗ Under-resolved</strong><br>kmax η falls to "));
    for external in ["<script src", "<link", "src=\"http", "url(", "@import", "fetch("] {
        assert!(!page.contains(external), "{external}");
    }
}

#[test]
fn scalar_reports_are_written_for_one_row_and_for_non_finite_values() {
    let run = synthetic_run([16, 1, 1]);
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
        write_report(run.path(), &mut |_| Ok(())).unwrap();
        let page = fs::read_to_string(run.path().join("report.html")).unwrap();
        for title in ["Variance of the scalar", "Range of the scalar", "Error"] {
            assert!(page.contains(&format!("aria-label=\"{title}\"")), "{title}");
        }
        assert!(!page.contains("Kinetic energy"));
    }
}

#[test]
fn report_errors_name_the_missing_file() {
    for name in ["config.toml", "series.csv", "summary.json"] {
        let run = synthetic_run([5, 4, 3]);
        fs::remove_file(run.path().join(name)).unwrap();
        let error = write_report(run.path(), &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains(&format!("{name} is missing")), "{error}");
    }
    let error = write_report(Path::new("no/such/run"), &mut |_| Ok(())).unwrap_err().to_string();
    assert_eq!(error, "no/such/run: there is no such directory");
}

#[test]
fn comparison_gives_the_largest_deviation_as_a_fraction_of_the_peak() {
    let run = synthetic_run([5, 4, 3]);
    let path = run.path().join("reference.csv");
    let series = Series::read(&run.path().join("series.csv")).unwrap();
    let mut reference = Reference::read(&path).unwrap();
    assert_eq!(reference.source, "made up");
    let same = reference.compare(&series, 10.0).unwrap();
    assert!(same.dissipation_max_deviation < 1e-12 && same.kinetic_energy_max_deviation < 1e-12);
    assert_eq!(same.until, 10.0);
    let peak = reference.dissipation.iter().copied().fold(0.0, f64::max);
    reference.dissipation[30] -= 0.05 * peak;
    reference.kinetic_energy[70] += 0.02 * 0.125;
    let modified = reference.compare(&series, 10.0).unwrap();
    assert!((modified.dissipation_max_deviation - 0.05).abs() < 1e-12);
    assert!((modified.energy_loss_max_deviation - 0.05).abs() < 1e-12);
    assert!((modified.kinetic_energy_max_deviation - 0.02).abs() < 1e-12);
}

#[test]
fn sparse_series_get_no_verdict_and_the_reason_names_the_gap() {
    let run = synthetic_run([5, 4, 3]);
    let reference = Reference::read(&run.path().join("reference.csv")).unwrap();
    let path = run.path().join("series.csv");
    let text = fs::read_to_string(&path).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    type Filter = fn(usize) -> bool;
    let selections: [(Filter, Option<&str>); 6] = [
        (|_| true, None),
        (|row| row % 5 == 0, None),
        (|row| row == 0 || row == 100, Some("from t = 0 to 10,")),
        (|row| row % 30 == 0 || row == 100, Some("from t = 6 to 9,")),
        (|row| !(70..90).contains(&row), Some("from t = 6.9 to 9,")),
        (|row| row > 80, Some("from t = 0 to 8.1,")),
    ];
    for (keep, gap) in selections {
        let rows = rows.iter().enumerate().filter(|(row, _)| keep(*row)).map(|(_, line)| *line);
        let text: Vec<&str> = std::iter::once(header).chain(rows).collect();
        fs::write(&path, text.join("\n") + "\n").unwrap();
        let comparison = reference.compare(&Series::read(&path).unwrap(), 10.0).unwrap();
        let (verdict, reason) = decide(&Evidence {
            resolution: Some(summary::Resolution { kmax_eta_min: 2.0, time: 9.0 }),
            reference: Some(&comparison),
            ..Evidence::default()
        });
        match gap {
            None => assert_eq!(verdict, Verdict::Passed, "{reason}"),
            Some(gap) => {
                assert_eq!(verdict, Verdict::NoVerdict, "{reason}");
                assert!(
                    reason.starts_with("too few rows in series.csv: ") && reason.contains(gap),
                    "{reason}"
                );
            }
        }
    }
}

/// A full disk truncates a row, and the partial row is removed again: the file must not have a hole before the next row.
#[test]
fn a_row_written_after_truncation_follows_the_last_complete_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("series.csv");
    let mut writer = SeriesWriter::create(&path, &["step", "a"]).unwrap();
    let header = fs::metadata(&path).unwrap().len();
    writer.append(1, &[0.5]).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(header).unwrap();
    writer.append(2, &[0.25]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "step,a\n2,0.25\n");
}
