//! Reference spectra, whose shells sum to the energy and the dissipation of the reference histories, and their files.

use kolmo::cases::{Case, Domain};
use kolmo::io::spectra::{ReferenceSpectrum, Spectra};
use kolmo::physics::{Gas, Viscosity};

use crate::common::assert_close;

fn gas(mach: f64, reynolds: f64) -> Gas {
    Gas { gamma: 1.4, prandtl: 0.71, mach, reynolds, viscosity: Viscosity::Constant }
}

#[test]
fn taylor_green_shells_at_re_1600_sum_to_energy_and_dissipation_at_t_9() {
    let case = Case::default_for("taylor-green").unwrap();
    let (gas, domain) = (gas(0.1, 1600.0), case.domain());
    let spectrum = case.reference_spectrum(&gas, &domain, [true; 3]).unwrap();
    let history = case.reference(&gas, &domain, [true; 3]).unwrap();
    assert_eq!(spectrum.time, 9.0);
    let shells: Vec<(f64, f64)> =
        spectrum.k.iter().copied().zip(spectrum.energy.iter().copied()).collect();
    assert!(shells.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1.0));
    assert_eq!((shells[0].0, shells[shells.len() - 1].0), (4.0, 242.0));
    // The shells that the source omits: shell 1 of the vortex is empty, and these two are from a run on 64^3 points at t = 9.
    let (second, third) = (0.019985, 0.011861);
    let energy = second + third + shells.iter().map(|shell| shell.1).sum::<f64>();
    assert_close(energy, history.kinetic_energy_at(9.0).unwrap(), 0.01, "energy");
    let strain = 4.0 * second + 9.0 * third + shells.iter().map(|(k, e)| k * k * e).sum::<f64>();
    let dissipation = 2.0 / 1600.0 * strain;
    assert_close(dissipation, history.dissipation_at(9.0).unwrap(), 0.01, "dissipation");
}

#[test]
fn reference_spectrum_exists_for_one_reynolds_number_in_the_default_box() {
    let case = Case::default_for("taylor-green").unwrap();
    let default_box = case.domain();
    let exists = |case: &Case, mach, reynolds, domain: &Domain, active| {
        case.reference_spectrum(&gas(mach, reynolds), domain, active).is_some()
    };
    assert!(exists(&case, 0.05, 1600.0, &default_box, [true; 3]));
    assert!(!exists(&case, 0.1, 1500.0, &default_box, [true; 3]));
    assert!(!exists(&case, 0.5, 1600.0, &default_box, [true; 3]));
    assert!(!exists(&case, 0.1, 1600.0, &Domain::cube(1.0), [true; 3]));
    assert!(!exists(&case, 0.1, 1600.0, &default_box, [true, true, false]));
    let wave = Case::default_for("entropy-wave").unwrap();
    assert!(!exists(&wave, 0.1, 1600.0, &default_box, [true; 3]));
}

#[test]
fn reference_spectrum_round_trips_through_its_file() {
    let case = Case::default_for("taylor-green").unwrap();
    let reference = case.reference_spectrum(&gas(0.1, 1600.0), &case.domain(), [true; 3]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reference_spectrum.csv");
    std::fs::write(&path, reference.csv()).unwrap();
    let read = ReferenceSpectrum::read(&path).unwrap();
    assert!(read.source.starts_with("Taylor-Green vortex, Re = 1600, incompressible: "));
    assert_eq!((read.spectrum.time, read.spectrum.k), (9.0, reference.k));
    assert_eq!(read.spectrum.energy, reference.energy);
}

#[test]
fn spectra_are_read_time_by_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("spectra.csv");
    std::fs::write(&path, "step,time,k,modes,scalar\n0,0.0,0,1,1\n0,0.0,1,6,0.5\n7,0.25,0,1,2\n")
        .unwrap();
    let spectra = Spectra::read(&path).unwrap();
    assert!(spectra.of_scalar);
    let times: Vec<(f64, usize)> =
        spectra.times.iter().map(|one| (one.time, one.k.len())).collect();
    assert_eq!(times, [(0.0, 2), (0.25, 1)]);
    assert_eq!(spectra.nearest(0.2).unwrap().energy, [2.0]);
    assert_eq!(spectra.nearest(-1.0).unwrap().energy, [1.0, 0.5]);
}
