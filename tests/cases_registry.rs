//! The registry of cases: names, parameters, inputs and reference histories.

use std::f64::consts::PI;

use kolmo::cases::{
    AcousticWave, Case, Definition, Domain, EntropyWave, IsentropicVortex, NAMES, ReferenceHistory,
    ScalarAdvection, Start, TaylorGreen, input,
};
use kolmo::physics::{Gas, Viscosity};

use crate::common::root;

fn gas(mach: f64, reynolds: f64) -> Gas {
    Gas { gamma: 1.4, prandtl: 0.71, mach, reynolds, viscosity: Viscosity::Constant }
}

fn reference(case: &TaylorGreen, mach: f64, reynolds: f64) -> Option<ReferenceHistory> {
    case.reference(&gas(mach, reynolds), &case.domain(), [true; 3])
}

#[test]
fn taylor_green_reference_is_selected_by_reynolds_mach_and_start() {
    let (constant_density, constant_temperature) = (
        TaylorGreen::default(),
        TaylorGreen { start: Start::ConstantTemperature, ..TaylorGreen::default() },
    );
    let flow = |case, mach, reynolds| reference(case, mach, reynolds).map(|found| found.flow);
    assert!(flow(&constant_density, 0.1, 100.0).unwrap().starts_with("Re = 100, Ma = 0.1"));
    assert_eq!(flow(&constant_density, 0.05, 100.0), Some("Re = 100, incompressible"));
    assert_eq!(flow(&constant_temperature, 0.1, 100.0), Some("Re = 100, incompressible"));
    assert_eq!(flow(&constant_density, 0.1, 200.0), Some("Re = 200, incompressible"));
    assert_eq!(flow(&constant_temperature, 0.1, 1600.0), Some("Re = 1600, incompressible"));
    assert_eq!(flow(&constant_density, 0.5, 1600.0), None);
    assert_eq!(flow(&constant_density, 0.1, 400.0), Some("Re = 400, incompressible"));
    assert_eq!(flow(&constant_density, 0.1, 300.0), None);
    let incompressible = gas(0.1, 200.0);
    assert_eq!(constant_density.reference(&incompressible, &Domain::cube(1.0), [true; 3]), None);
    assert_eq!(
        constant_density.reference(
            &incompressible,
            &constant_density.domain(),
            [true, true, false]
        ),
        None
    );
}

#[test]
fn taylor_green_references_have_the_known_peaks() {
    // Dissipation: Brachet et al. 1983 (Re 100, within 1 %), spectral runs (all), van Rees et al. 2011 (Re 1600).
    let peaks = [
        (0.1, 100.0, 0.0129782, 4.9, 10.0),
        (0.05, 100.0, 0.0129754, 4.887, 20.0),
        (0.1, 200.0, 0.0127934, 5.984, 15.0),
        (0.1, 1600.0, 0.0128576, 8.973, 19.99),
    ];
    for (mach, reynolds, peak, when, end) in peaks {
        let reference = reference(&TaylorGreen::default(), mach, reynolds).unwrap();
        let at = |t| reference.dissipation_at(t).unwrap();
        assert!((at(when) / peak - 1.0).abs() < 2e-5, "Re {reynolds}: {}", at(when));
        assert!(at(when) > at(when - 0.2) && at(when) > at(when + 0.2));
        assert_eq!((reference.time[0], reference.time.last()), (0.0, Some(&end)));
        assert_eq!((reference.kinetic_energy[0], reference.enstrophy[0]), (0.125, 0.375));
        assert!(reference.time.is_sorted_by(|a, b| a < b) && !reference.source.is_empty());
        assert_eq!(reference.kinetic_energy.len(), reference.time.len());
    }
}

#[test]
fn taylor_green_references_interpolate_to_1e_4_of_the_peak() {
    // Samples of the sources at times between the rows of the tables: Re, t, kinetic energy, dissipation.
    let between = [
        (200.0, 0.1, 0.124625432, 0.00374264489),
        (200.0, 0.9, 0.121577217, 0.00396057872),
        (1600.0, 0.03, 0.124985937852, 0.000468742835),
        (1600.0, 8.53, 0.0923428671534, 0.012036374418),
        (1600.0, 8.57, 0.0918582139474, 0.012196751848),
    ];
    for (reynolds, t, energy, dissipation) in between {
        let reference = reference(&TaylorGreen::default(), 0.1, reynolds).unwrap();
        let error = (reference.kinetic_energy_at(t).unwrap() - energy).abs();
        assert!(error < 1e-8, "Re {reynolds}, t {t}: energy error {error:e}");
        let error = (reference.dissipation_at(t).unwrap() - dissipation).abs();
        assert!(error < 1e-4 * 0.0128, "Re {reynolds}, t {t}: dissipation error {error:e}");
        let z = reference.enstrophy_at(t).unwrap();
        assert!((z - 0.5 * reynolds * dissipation).abs() < 1e-4 * z);
        for outside in [-0.01, 20.01, f64::NAN] {
            assert_eq!(reference.dissipation_at(outside), None);
        }
    }
}

#[test]
fn every_case_has_a_name_a_summary_a_box_and_an_input() {
    for name in NAMES {
        let case = Case::default_for(name).unwrap();
        assert_eq!(case.name(), name);
        assert!(!case.about().summary.is_empty() && case.about().summary.len() < 100);
        assert!(case.is_flow() != case.scalar().is_some());
        let (domain, gas) = (case.domain(), gas((case.about().mach)(1.4), case.about().reynolds));
        assert!(domain.length.iter().all(|&length| length > 0.0));
        assert!(gas.mach > 0.0 && gas.reynolds > 0.0);
        assert_eq!(case.problems(&gas, &domain), []);
        let input: toml::Table = input(name).unwrap().parse().unwrap();
        assert_eq!(input["case"]["name"].as_str(), Some(name));
        let points = input["grid"]["points"].as_array().unwrap();
        for (needed, n) in case.about().needs.into_iter().zip(points) {
            assert!(!needed || n.as_integer().unwrap() > 1);
        }
    }
    assert_eq!((Case::default_for("taylor"), input("taylor")), (None, None));
}

#[test]
#[rustfmt::skip]
fn errors_for_impossible_parameters_name_the_key() {
    let (usual, sonic, viscous) = (gas(0.5, 100.0), gas(1.0, f64::INFINITY), gas(0.5, 0.5));
    let bad = [
        (Case::IsentropicVortex(IsentropicVortex { strength: 20.0, ..Default::default() }), sonic, "strength"),
        (Case::EntropyWave(EntropyWave { amplitude: -1.0, ..Default::default() }), usual, "amplitude"),
        (Case::AcousticWave(AcousticWave { wavenumber: 8, ..Default::default() }), viscous, "wavenumber"),
        (Case::ScalarAdvection(ScalarAdvection { width: 63.0, ..Default::default() }), usual, "width"),
    ];
    for (case, gas, key) in bad {
        let problems = case.problems(&gas, &case.domain());
        assert_eq!(problems.len(), 1, "{case:?}: {problems:?}");
        assert!(problems[0].0 == key && problems[0].1.starts_with(&format!("{key} = ")));
    }
    // Limit of the strength: T = 0 at the centre.
    let limit = (8.0 * PI * PI / (0.4 * 1.0_f64.exp())).sqrt();
    for (strength, count) in [(limit * 0.999, 0), (limit * 1.001, 1)] {
        let case = Case::IsentropicVortex(IsentropicVortex { strength, ..Default::default() });
        assert_eq!(case.problems(&sonic, &case.domain()).len(), count);
    }
}

#[test]
fn every_shipped_input_is_toml_with_a_known_case() {
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("configs")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let table: toml::Table = text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = table["case"]["name"].as_str().unwrap();
        assert!(NAMES.contains(&name), "{}: {name}", path.display());
        for key in ["grid", "time", "output"] {
            assert!(table.contains_key(key), "{}: no [{key}]", path.display());
        }
        count += 1;
    }
    assert!(count >= 13, "{count}");
}
