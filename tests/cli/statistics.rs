//! The report plots the data in statistics/.

use std::fmt::Write as _;

use kolmo::cases::Case;
use kolmo::physics::{Gas, Viscosity};

use super::*;

/// Writes `statistics/spectra.csv` of a run: at each time sixteen shells that decay as k^(−5/3), the first two at round-off.
pub(super) fn write_spectra(run: &Path, times: &[f64]) {
    let mut text = String::from(
        "step,time,k,modes,energy,energy_solenoidal,energy_dilatational,energy_density_weighted,dissipation,density,pressure\n",
    );
    for (step, time) in times.iter().enumerate() {
        for k in 0..16 {
            let shell = f64::from(k);
            let energy =
                if k < 2 { 1e-32 } else { (1.0 - 0.05 * time) * 0.1 * shell.powf(-5.0 / 3.0) };
            writeln!(
                text,
                "{step},{time:?},{k},{},{energy:?},{energy:?},0,{energy:?},0,0,0",
                k * k
            )
            .unwrap();
        }
    }
    fs::create_dir_all(run.join("statistics")).unwrap();
    fs::write(run.join("statistics/spectra.csv"), text).unwrap();
}

#[test]
fn report_plots_spectra_and_reference_structure_functions_and_pdfs() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run"]));
    let run = dir.path().join("run");
    assert!(!read(run.join("report.html")).contains("Statistics"));
    write_spectra(&run, &[0.0, 0.5, 1.0, 1.5, 9.0]);
    let gas = Gas {
        gamma: 1.4,
        prandtl: 0.71,
        mach: 0.1,
        reynolds: 1600.0,
        viscosity: Viscosity::Constant,
    };
    let case = Case::default_for("taylor-green").unwrap();
    let reference = case.reference_spectrum(&gas, &case.domain(), [true; 3]).unwrap();
    fs::write(run.join("reference_spectrum.csv"), reference.csv()).unwrap();
    let mut structure = String::from("step,time,axis,r,longitudinal_2,longitudinal_3\n");
    let mut gradients = String::from("step,time,quantity,value,density\n");
    for at in 1..9 {
        for axis in ["x", "y", "z"] {
            writeln!(structure, "4,9.0,{axis},{at},{},0", 0.01 * f64::from(at)).unwrap();
        }
    }
    for quantity in ["longitudinal", "transverse"] {
        for at in -8..9 {
            let density = (-0.5 * f64::from(at * at)).exp();
            writeln!(gradients, "4,9.0,{quantity},{at},{density:e}").unwrap();
        }
    }
    fs::write(run.join("statistics/structure.csv"), structure).unwrap();
    fs::write(run.join("statistics/gradients.csv"), gradients).unwrap();
    run_ok(dir.path(), ["plot", "run"]);
    let page = read(run.join("report.html"));
    for text in ["<h2>Statistics</h2>", "slope −5/3", "t = 9.00", "t = 1.00", "Carton de Wiart"] {
        assert!(page.contains(text), "{text}");
    }
    let drawn = read(run.join("plots/spectra.svg"));
    assert!(
        !drawn.contains("t = 0.50"),
        "only the first time, one in the middle and the last are drawn"
    );
    assert!(page.contains("t = 0.50"), "a slider contains the others");
    // Round-off in the first shells does not stretch the axis.
    let has_exponent =
        |lead: &str| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().any(|digit| drawn.contains(&format!("{lead}{digit}")));
    assert!(
        drawn.contains("10⁻")
            && !has_exponent("10⁻¹")
            && !has_exponent("10⁻²")
            && !has_exponent("10⁻³")
    );
    for (name, words) in [
        ("spectra", ["reference, t = 9.00", "wavenumber k"]),
        ("structure", ["along z", "slope 2/3"]),
        ("gradients", ["longitudinal", "transverse"]),
    ] {
        let svg = read(run.join("plots").join(name).with_extension("svg"));
        assert!(words.iter().all(|word| svg.contains(word)), "{name}");
        assert!(page.contains(svg.lines().nth(1).unwrap()), "{name}");
    }
}

#[test]
fn damaged_statistics_files_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run"]));
    let run = dir.path().join("run");
    write_spectra(&run, &[0.0]);
    let file = run.join("statistics/spectra.csv");
    let text = read(&file);
    for (damaged, message) in [
        (text.replace("energy,", "power,"), "column `energy` is missing"),
        (text.replacen("0,0.0,3", "0,0.0,three", 1), "`three` in column `k` is not a number"),
        (String::new(), "the file is empty"),
    ] {
        fs::write(&file, damaged).unwrap();
        let outcome = kolmo(dir.path(), ["plot", "run"]);
        assert_eq!(outcome.code, Some(1));
        assert!(
            outcome.stderr.starts_with("error: run/statistics/spectra.csv: "),
            "{}",
            outcome.stderr
        );
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    }
    write_spectra(&run, &[0.0]);
    fs::write(run.join("reference_spectrum.csv"), "# somebody\nk,energy\n4,1e-3\n").unwrap();
    let outcome = kolmo(dir.path(), ["plot", "run"]);
    assert!(
        outcome.stderr.contains("a line `# time: ` with a number is missing"),
        "{}",
        outcome.stderr
    );
    fs::remove_file(run.join("reference_spectrum.csv")).unwrap();
    fs::write(run.join("statistics/structure.csv"), "step,time,axis\n0,0.0\n").unwrap();
    let outcome = kolmo(dir.path(), ["plot", "run"]);
    assert!(
        outcome.stderr.contains("line 2: 2 values where the header names 3"),
        "{}",
        outcome.stderr
    );
}
