//! Statistics files of a run.

use std::fs;
use std::io::Write;
use std::path::Path;

use kolmo::comm::Solo;
use kolmo::config::{Statistic, StatisticsConfig};
use kolmo::grid::Decomposition;
use kolmo::statistics::{Kind, Running, Sample};
use kolmo::time::Statistics;

use super::{DECOMPOSITIONS, cube, options, part_of_flow, random_flow};
use crate::common::float;
use crate::spread::threads::on_ranks;

const FILES: [&str; 6] = [
    "moments.csv",
    "spectra.csv",
    "structure.csv",
    "gradients.csv",
    "gradient_moments.csv",
    "turbulence.csv",
];
const POINTS: [usize; 3] = [8, 6, 5];

/// A flow that depends on the step.
fn sample(step: u64) -> Sample {
    let mut flow = random_flow(POINTS);
    let shift = usize::try_from(step).unwrap();
    flow.velocity[0].rotate_left(shift);
    flow.pressure.rotate_right(shift);
    Sample::Flow(Box::new(flow))
}

fn add_sample(statistics: &mut Statistics, step: u64) {
    let (cut, grid) = (Decomposition::ONE, cube(POINTS));
    let time = 0.1 * float(usize::try_from(step).unwrap());
    statistics.sample(&Solo, &cut, &grid, step, time, &sample(step)).unwrap();
}

fn read_files(directory: &Path) -> [String; 6] {
    FILES.map(|name| fs::read_to_string(directory.join(name)).unwrap())
}

/// The cells of a column, as text.
fn column<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = header.iter().position(|known| *known == name);
    let at = at.unwrap_or_else(|| panic!("no {name} in {header:?}"));
    lines.map(|cells| cells[at]).collect()
}

#[test]
fn resumed_statistics_files_match_an_uninterrupted_run_byte_for_byte() {
    let (reference, restarted) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let create =
        |directory: &Path| Statistics::create(&Solo, directory, &options(1.0), Kind::Flow).unwrap();
    let mut uninterrupted = create(reference.path());
    [5, 10, 20, 33, 41].into_iter().for_each(|step| add_sample(&mut uninterrupted, step));
    uninterrupted.sync().unwrap();
    let mut before = create(restarted.path());
    assert!(before.needs_gradients());
    [5, 10, 20].into_iter().for_each(|step| add_sample(&mut before, step));
    let saved = serde_json::to_string(before.state()).unwrap();
    // Rows written after the checkpoint, until the run is killed in the middle of a line.
    [33, 34, 40].into_iter().for_each(|step| add_sample(&mut before, step));
    drop(before);
    for name in FILES {
        let mut file = fs::File::options().append(true).open(restarted.path().join(name)).unwrap();
        file.write_all(b"2").unwrap();
    }
    let running: Running = serde_json::from_str(&saved).unwrap();
    let mut after =
        Statistics::resume(&Solo, restarted.path(), &options(1.0), Kind::Flow, Some(20), running)
            .unwrap();
    for text in read_files(restarted.path()) {
        assert!(text.ends_with('\n') && column(&text, "step").last() == Some(&"20"), "{text}");
    }
    [33, 41].into_iter().for_each(|step| add_sample(&mut after, step));
    assert_eq!(after.state(), uninterrupted.state());
    for (name, (found, expected)) in
        FILES.iter().zip(read_files(restarted.path()).iter().zip(read_files(reference.path())))
    {
        assert!(*found == expected, "{name} differs");
    }
}

#[test]
fn statistics_rows_are_labelled_and_averages_start_at_the_given_time() {
    let directory = tempfile::tempdir().unwrap();
    let mut statistics =
        Statistics::create(&Solo, directory.path(), &options(1.0), Kind::Flow).unwrap();
    [5, 10, 20].into_iter().for_each(|step| add_sample(&mut statistics, step));
    let [moments, spectra, structure, gradients, gradient_moments, turbulence] =
        read_files(directory.path());
    assert_eq!(column(&moments, "step"), ["5", "10", "20"]);
    assert_eq!(column(&turbulence, "step"), ["5", "10", "20"]);
    assert!(column(&turbulence, "kmax_eta").iter().all(|cell| cell.parse::<f64>().unwrap() > 0.0));
    assert_eq!(column(&moments, "time"), ["0.5", "1.0", "2.0"]);
    assert_eq!(column(&moments, "weight"), ["0.0", "0.0", "1.0"]);
    let average = column(&moments, "average_pressure");
    let now = column(&moments, "pressure");
    assert_eq!((average[0], average[1]), ("NaN", now[1]));
    assert!(average[2] != now[2]);
    assert_eq!(column(&moments, "average_favre_stress_yz").len(), 3);
    for name in ["k", "modes", "energy", "energy_solenoidal", "dissipation", "pressure"] {
        let cells = column(&spectra, name);
        assert!(cells.iter().all(|cell| cell.parse::<f64>().is_ok_and(f64::is_finite)), "{name}");
    }
    // 4 + 3 + 2 separations along x, y and z; there is no mean over axes that differ.
    assert_eq!(column(&structure, "axis")[..9].concat(), "xxxxyyyzz");
    assert_eq!(column(&structure, "transverse_6").len(), 27);
    assert_eq!(column(&gradients, "quantity")[200..202], ["longitudinal", "transverse"]);
    assert_eq!(column(&gradients, "density").len(), 3 * 2 * 201);
    assert_eq!(column(&gradient_moments, "quantity")[1..3], ["transverse", "longitudinal"]);
    assert_eq!(column(&gradient_moments, "flatness").len(), 6);
}

#[test]
fn parallel_files_match_serial_ones_and_all_ranks_have_equal_averages() {
    let directory = tempfile::tempdir().unwrap();
    let mut one = Statistics::create(&Solo, directory.path(), &options(0.0), Kind::Flow).unwrap();
    [1, 2].into_iter().for_each(|step| add_sample(&mut one, step));
    let expected = read_files(directory.path());
    for ranks in DECOMPOSITIONS {
        let directory = tempfile::tempdir().unwrap();
        let cut = Decomposition { ranks };
        let states = on_ranks(cut.size(), |comm| {
            let mut statistics =
                Statistics::create(&*comm, directory.path(), &options(0.0), Kind::Flow).unwrap();
            for (step, time) in [(1, 0.1), (2, 0.2)] {
                let Sample::Flow(flow) = sample(step) else { unreachable!() };
                let part = part_of_flow(&flow, POINTS, &cut.block(comm.rank(), POINTS));
                let part = Sample::Flow(Box::new(part));
                statistics.sample(&*comm, &cut, &cube(POINTS), step, time, &part).unwrap();
            }
            statistics.state().clone()
        });
        assert!(states.iter().all(|state| *state == states[0]), "{ranks:?}");
        for (found, expected) in read_files(directory.path()).iter().zip(&expected) {
            let rows = |text: &'_ str| text.lines().map(str::to_string).collect::<Vec<_>>();
            assert_eq!(rows(found).len(), rows(expected).len());
            for (found, expected) in rows(found).iter().zip(rows(expected)) {
                for (a, b) in found.split(',').zip(expected.split(',')) {
                    let close = match (a.parse::<f64>(), b.parse::<f64>()) {
                        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-12 * b.abs().max(1.0),
                        _ => a == b,
                    };
                    assert!(close, "{ranks:?}: {found} {expected}");
                }
            }
        }
    }
}

#[test]
fn scalar_statistics_are_moments_and_spectra_only() {
    let directory = tempfile::tempdir().unwrap();
    let grid = cube(POINTS);
    let phi = Sample::Scalar(super::random(POINTS, 3));
    let mut statistics =
        Statistics::create(&Solo, directory.path(), &options(0.0), Kind::Scalar).unwrap();
    assert!(!statistics.needs_gradients());
    statistics.sample(&Solo, &Decomposition::ONE, &grid, 4, 0.5, &phi).unwrap();
    let mut names: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["moments.csv", "spectra.csv"]);
    let text = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    let variance: f64 = column(&text("moments.csv"), "scalar_variance")[0].parse().unwrap();
    let spectra = text("spectra.csv");
    assert!(spectra.starts_with("step,time,k,modes,scalar\n"));
    let sum: f64 = column(&spectra, "scalar").iter().map(|x| x.parse::<f64>().unwrap()).sum();
    assert!((sum - variance).abs() < 1e-14, "{sum} {variance}");
}

#[test]
fn resume_rejects_files_with_other_columns_and_creates_missing_files() {
    let directory = tempfile::tempdir().unwrap();
    let mut chosen = options(0.0);
    chosen.quantities = vec![Statistic::Spectra];
    fs::write(directory.path().join("spectra.csv"), "step,time,k,modes,scalar\n").unwrap();
    for message in on_ranks(3, |comm| {
        let resumed = Statistics::resume(
            &*comm,
            directory.path(),
            &chosen,
            Kind::Flow,
            Some(7),
            Running::default(),
        );
        resumed.err().map(|error| error.to_string())
    }) {
        let message = message.unwrap();
        assert!(
            message.contains("spectra.csv: it lacks the columns energy")
                && message.contains("; nothing is written to the columns scalar\n"),
            "{message}"
        );
    }
    let (empty, running) = (directory.path().join("free"), Running::default());
    Statistics::resume(&Solo, &empty, &chosen, Kind::Flow, Some(7), running).unwrap();
    assert!(empty.join("spectra.csv").exists() && !empty.join("moments.csv").exists());
}

#[test]
fn averages_continue_after_a_restart_unless_their_start_is_set_later() {
    let directory = tempfile::tempdir().unwrap();
    let grid = cube(POINTS);
    let sample = |statistics: &mut Statistics, time: f64| {
        let phi = Sample::Scalar(super::random(POINTS, 3));
        statistics.sample(&Solo, &Decomposition::ONE, &grid, 1, time, &phi).unwrap();
    };
    let mut before =
        Statistics::create(&Solo, directory.path(), &options(0.3), Kind::Scalar).unwrap();
    [0.0, 0.5, 1.0].into_iter().for_each(|time| sample(&mut before, time));
    assert_eq!(before.state().duration(), 0.5);
    let after = |options: &StatisticsConfig| {
        let running = before.state().clone();
        let mut after =
            Statistics::resume(&Solo, directory.path(), options, Kind::Scalar, Some(1), running)
                .unwrap();
        [1.5, 2.0].into_iter().for_each(|time| sample(&mut after, time));
        after.state().duration()
    };
    // The average starts at 0.5, the first sample after 0.3. An earlier start at the restart does not extend it to times before 0.5.
    for from in [0.3, 0.5, 0.0] {
        assert_eq!(after(&options(from)), 1.5, "from {from}");
    }
    assert_eq!(after(&options(0.6)), 0.5, "restarts at 1.5");
    assert_eq!(after(&options(1.7)), 0.0, "one sample");
    let no_moments = StatisticsConfig { quantities: vec![Statistic::Spectra], ..options(0.3) };
    assert_eq!(after(&no_moments), 0.0);
}
