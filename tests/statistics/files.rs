//! The files of a run's statistics.

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

/// A flow that changes with the step.
fn sample(step: u64) -> Sample {
    let mut flow = random_flow(POINTS);
    let turns = usize::try_from(step).unwrap();
    flow.velocity[0].rotate_left(turns);
    flow.pressure.rotate_right(turns);
    Sample::Flow(Box::new(flow))
}

fn take(statistics: &mut Statistics, step: u64) {
    let (cut, grid) = (Decomposition::ONE, cube(POINTS));
    let time = 0.1 * float(usize::try_from(step).unwrap());
    statistics.sample(&Solo, &cut, &grid, step, time, &sample(step)).unwrap();
}

fn texts(directory: &Path) -> [String; 6] {
    FILES.map(|name| fs::read_to_string(directory.join(name)).unwrap())
}

/// The cells of a column as text.
fn column<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = header.iter().position(|known| *known == name);
    let at = at.unwrap_or_else(|| panic!("no {name} in {header:?}"));
    lines.map(|cells| cells[at]).collect()
}

#[test]
fn a_run_that_goes_on_leaves_the_same_bytes_as_one_that_was_not_interrupted() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let create =
        |directory: &Path| Statistics::create(&Solo, directory, &options(1.0), Kind::Flow).unwrap();
    let mut one = create(whole.path());
    [5, 10, 20, 33, 41].into_iter().for_each(|step| take(&mut one, step));
    one.sync().unwrap();
    let mut first = create(parts.path());
    assert!(first.needs_gradients());
    [5, 10, 20].into_iter().for_each(|step| take(&mut first, step));
    let saved = serde_json::to_string(first.state()).unwrap();
    // What the run did after the checkpoint, until it was killed in the middle of a line.
    [33, 34, 40].into_iter().for_each(|step| take(&mut first, step));
    drop(first);
    for name in FILES {
        let mut file = fs::File::options().append(true).open(parts.path().join(name)).unwrap();
        file.write_all(b"2").unwrap();
    }
    let running: Running = serde_json::from_str(&saved).unwrap();
    let mut second =
        Statistics::resume(&Solo, parts.path(), &options(1.0), Kind::Flow, Some(20), running)
            .unwrap();
    for text in texts(parts.path()) {
        assert!(text.ends_with('\n') && column(&text, "step").last() == Some(&"20"), "{text}");
    }
    [33, 41].into_iter().for_each(|step| take(&mut second, step));
    assert_eq!(second.state(), one.state());
    for (name, (found, expected)) in
        FILES.iter().zip(texts(parts.path()).iter().zip(texts(whole.path())))
    {
        assert!(*found == expected, "{name} differs");
    }
}

#[test]
fn rows_say_what_they_are_of_and_averages_begin_when_they_are_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    let mut statistics =
        Statistics::create(&Solo, directory.path(), &options(1.0), Kind::Flow).unwrap();
    [5, 10, 20].into_iter().for_each(|step| take(&mut statistics, step));
    let [moments, spectra, structure, gradients, gradient_moments, turbulence] =
        texts(directory.path());
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
    // 4 + 3 + 2 separations; axes that differ have no mean.
    assert_eq!(column(&structure, "axis")[..9].concat(), "xxxxyyyzz");
    assert_eq!(column(&structure, "transverse_6").len(), 27);
    assert_eq!(column(&gradients, "quantity")[200..202], ["longitudinal", "transverse"]);
    assert_eq!(column(&gradients, "density").len(), 3 * 2 * 201);
    assert_eq!(column(&gradient_moments, "quantity")[1..3], ["transverse", "longitudinal"]);
    assert_eq!(column(&gradient_moments, "flatness").len(), 6);
}

#[test]
fn many_ranks_write_what_one_rank_writes_and_all_have_the_same_averages() {
    let directory = tempfile::tempdir().unwrap();
    let mut one = Statistics::create(&Solo, directory.path(), &options(0.0), Kind::Flow).unwrap();
    [1, 2].into_iter().for_each(|step| take(&mut one, step));
    let expected = texts(directory.path());
    for ranks in DECOMPOSITIONS {
        let directory = tempfile::tempdir().unwrap();
        let cut = Decomposition { ranks };
        let states = on_ranks(cut.size(), |comm| {
            let mut statistics =
                Statistics::create(&*comm, directory.path(), &options(0.0), Kind::Flow).unwrap();
            for (step, time) in [(1, 0.1), (2, 0.2)] {
                let Sample::Flow(whole) = sample(step) else { unreachable!() };
                let part = part_of_flow(&whole, POINTS, &cut.block(comm.rank(), POINTS));
                let part = Sample::Flow(Box::new(part));
                statistics.sample(&*comm, &cut, &cube(POINTS), step, time, &part).unwrap();
            }
            statistics.state().clone()
        });
        assert!(states.iter().all(|state| *state == states[0]), "{ranks:?}");
        for (found, expected) in texts(directory.path()).iter().zip(&expected) {
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
fn a_scalar_has_moments_and_spectra_and_nothing_else() {
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
fn files_of_other_columns_are_refused_on_all_ranks_and_missing_ones_are_begun() {
    let directory = tempfile::tempdir().unwrap();
    let mut chosen = options(0.0);
    chosen.quantities = vec![Statistic::Spectra];
    fs::write(directory.path().join("spectra.csv"), "step,time,k,modes,scalar\n").unwrap();
    for told in on_ranks(3, |comm| {
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
        let told = told.unwrap();
        assert!(
            told.contains("spectra.csv: it lacks the columns energy")
                && told.contains("; nothing is written to the columns scalar\n"),
            "{told}"
        );
    }
    let (free, running) = (directory.path().join("free"), Running::default());
    Statistics::resume(&Solo, &free, &chosen, Kind::Flow, Some(7), running).unwrap();
    assert!(free.join("spectra.csv").exists() && !free.join("moments.csv").exists());
}

#[test]
fn averages_go_on_at_a_restart_where_they_still_begin_as_asked() {
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
    // From 0.5, the first sample after 0.3, on; what was not sampled before 0.5 stays so.
    for from in [0.3, 0.5, 0.0] {
        assert_eq!(after(&options(from)), 1.5, "from {from}");
    }
    assert_eq!(after(&options(0.6)), 0.5, "anew, from 1.5 on");
    assert_eq!(after(&options(1.7)), 0.0, "one sample");
    let no_moments = StatisticsConfig { quantities: vec![Statistic::Spectra], ..options(0.3) };
    assert_eq!(after(&no_moments), 0.0);
}
