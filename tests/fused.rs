//! The fused right-hand side is the composed one to round-off, and moves as few words as it says.

use kolmo::Real;
use kolmo::backend::cpu::{Cpu, Field};
use kolmo::grid::Axis;
use kolmo::physics::words_of_stage;
use kolmo::time::Simulation;

use crate::common::{CONVECTION, ENERGY, LAWS, VISCOUS, config, steps};

/// U after 20 steps.
fn after<T: Real>(case: &str, points: [usize; 3], set: &[&str], how: &str) -> Vec<Field<T>> {
    let how = format!("compute.right_hand_side={how}");
    let set: Vec<&str> = set.iter().copied().chain([how.as_str()]).collect();
    let mut run = Simulation::<Cpu<T>>::new(&config(case, points, &set)).unwrap();
    steps(&mut run, 20);
    run.state().to_vec()
}

/// What the fields are stored relative to: in f32 they hold what differs from rest.
fn at_rest<T: Real>(case: &str, points: [usize; 3], set: &[&str]) -> Vec<f64> {
    let mut run = Simulation::<Cpu<T>>::new(&config(case, points, set)).unwrap();
    run.system_and_state().0.reference()
}

fn agree<T: Real>(case: &str, points: [usize; 3], set: &[&str], bound: f64) {
    let [fused, composed] = ["fused", "composed"].map(|how| after::<T>(case, points, set, how));
    let at_rest = at_rest::<T>(case, points, set);
    for (field, (a, b)) in fused.iter().zip(&composed).enumerate() {
        let size = b.iter().map(|b| (b.f64() + at_rest[field]).abs()).fold(0.0, f64::max);
        let off = a.iter().zip(&**b).map(|(a, b)| (a.f64() - b.f64()).abs()).fold(0.0, f64::max);
        // Where symmetry keeps a momentum at zero: density and velocity are of size 1.
        let size = size.max(1.0);
        assert!(off <= bound * size, "{case} {points:?} {set:?}, field {field}: {off:e} of {size}");
    }
}

#[test]
fn a_stage_moves_as_few_words_as_its_table_says() {
    let words = |case, points, set: &[&str]| {
        let config = config(case, points, set);
        let axes: Vec<Axis> = Axis::ALL.into_iter().filter(|a| points[a.index()] > 1).collect();
        words_of_stage(&config, &axes)
    };
    for convection in CONVECTION {
        for viscous in VISCOUS {
            let forms =
                [format!("scheme.convection={convection}"), format!("scheme.viscous={viscous}")];
            let set = [forms[0].as_str(), forms[1].as_str(), "gas.viscosity=sutherland"];
            assert_eq!(words("taylor-green", [16; 3], &set), 74, "{set:?}");
        }
    }
    // Two axes keep two gradients, one axis none; without viscosity there are none.
    assert_eq!(words("taylor-green", [16, 16, 1], &[]), 19 + 24);
    assert_eq!(words("shear-wave", [16, 1, 1], &[]), 20);
    assert_eq!(words("taylor-green", [16; 3], &["case.reynolds=inf"]), 15 + 15 + 20);
    assert_eq!(words("scalar-advection", [16; 3], &[]), 3 + 3 + 4);
}

#[test]
fn the_two_are_not_the_same_sweeps() {
    let [fused, composed] =
        ["fused", "composed"].map(|how| after::<f64>("taylor-green", [9, 12, 11], &[], how));
    assert!(fused.iter().zip(&composed).any(|(a, b)| a[..] != b[..]));
}

#[test]
fn every_form_agrees_with_the_composed_equations() {
    let mut at = 0;
    for convection in CONVECTION {
        for energy in ENERGY {
            for viscous in VISCOUS {
                // The laws in turn: with every convective and every viscous form each.
                let law = LAWS[at % LAWS.len()];
                at += 1;
                let set = [
                    format!("scheme.convection={convection}"),
                    format!("scheme.energy={energy}"),
                    format!("scheme.viscous={viscous}"),
                    format!("gas.viscosity={law}"),
                    "case.reynolds=100".into(),
                ];
                let set: Vec<&str> = set.iter().map(String::as_str).collect();
                agree::<f64>("taylor-green", [9, 12, 11], &set, 1e-12);
            }
        }
    }
}

#[test]
fn every_scheme_integrator_and_shape_agrees_with_the_composed_equations() {
    for family in kolmo::scheme::families() {
        let derivative = format!("scheme.derivative={}", family.name);
        let filter = "scheme.filter={ order = 8, alpha = 0.49 }";
        agree::<f64>("taylor-green", [16, 13, 17], &[&derivative], 1e-12);
        agree::<f64>("acoustic-wave", [13, 1, 17], &[&derivative, filter], 1e-12);
        agree::<f64>("shear-wave", [31, 1, 1], &[&derivative], 1e-12);
        agree::<f64>("scalar-advection", [17, 12, 13], &[&derivative, filter], 1e-12);
        let single = [&*derivative, "compute.precision=f32"];
        agree::<f32>("taylor-green", [16, 13, 17], &single, 1e-5);
    }
    for tableau in kolmo::scheme::TABLEAUX {
        let integrator = format!("time.integrator={}", tableau.name);
        agree::<f64>("taylor-green", [12, 13, 11], &[&integrator], 1e-12);
        agree::<f64>("acoustic-wave", [32, 12, 1], &[&integrator], 1e-12);
    }
}
