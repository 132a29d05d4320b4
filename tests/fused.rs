//! The fused right-hand side equals the composed one to round-off, and moves the documented number of words.

use std::f64::consts::TAU;

use kolmo::config::Variable;
use kolmo::physics::{Drawn, StageWork, TermGroup};
use kolmo::statistics::Sample;
use kolmo::time::Simulation;

use crate::common::{
    CONVECTION, ENERGY, LAWS, VISCOUS, config, float, max_difference, set_flow, simulation, state,
    steps, terms,
};

/// U after 20 steps.
fn after(case: &str, points: [usize; 3], set: &[&str], how: &str) -> Vec<Vec<f64>> {
    let how = format!("compute.right_hand_side={how}");
    let set: Vec<&str> = set.iter().copied().chain([how.as_str()]).collect();
    let mut run = simulation(case, points, &set);
    steps(&mut run, 20);
    state(&run)
}

fn agree(case: &str, points: [usize; 3], set: &[&str], bound: f64) {
    let [fused, composed] = ["fused", "composed"].map(|how| after(case, points, set, how));
    // The base state: in f32 the fields store deviations from the state at rest.
    let at_rest = simulation(case, points, set).system_and_state().0.base_state();
    for (field, (a, b)) in fused.iter().zip(&composed).enumerate() {
        let size = b.iter().map(|b| (b + at_rest[field]).abs()).fold(0.0, f64::max);
        let deviation = max_difference(a, b);
        // At least 1, the size of density and velocity, because symmetry keeps a momentum at zero.
        let size = size.max(1.0);
        assert!(
            deviation <= bound * size,
            "{case} {points:?} {set:?}, field {field}: {deviation:e} of {size}"
        );
    }
}

#[test]
fn stages_move_the_documented_number_of_words() {
    let words = |case, points, set: &[&str]| {
        StageWork::of(&config(case, points, set).problem()).map_or(0, |work| work.words)
    };
    for convection in CONVECTION {
        for viscous in VISCOUS {
            let forms =
                [format!("scheme.convection={convection}"), format!("scheme.viscous={viscous}")];
            let set = [forms[0].as_str(), forms[1].as_str(), "gas.viscosity=sutherland"];
            assert_eq!(words("taylor-green", [16; 3], &set), 74, "{set:?}");
        }
    }
    // Two axes store two gradients, one axis none; without viscosity there are none.
    let work = |set| StageWork::of(&config("taylor-green", [16; 3], set).problem()).unwrap();
    // The pass along y and the sweeps along x and y take 6 + 23 + 19 words separately and 23 together.
    assert_eq!(work(&[]).words_in_planes, 49);
    assert_eq!(words("taylor-green", [16, 16, 1], &[]), 19 + 24);
    assert_eq!(words("shear-wave", [16, 1, 1], &[]), 20);
    assert_eq!(words("taylor-green", [16; 3], &["case.reynolds=inf"]), 15 + 15 + 20);
    assert_eq!(words("scalar-advection", [16; 3], &[]), 3 + 3 + 4);
}

#[test]
fn default_forms_take_65_line_solves_per_stage_and_the_cheapest_44() {
    // Compared with the composed equations, five more, because each sweep differentiates the velocity that it needs along its axis; and
    // one less per axis, where an operand is a sum.
    let work =
        |set: &[&str]| StageWork::of(&config("taylor-green", [16; 3], set).problem()).unwrap();
    let default = work(&[]);
    assert_eq!(default.solves, 65);
    let cheapest = work(&["scheme.convection=feiereisen", "scheme.energy=split-enthalpy"]);
    // Only the sums use the derivatives: one operator of each kind per sum.
    assert_eq!(cheapest.solves, 44);
    // A solve of compact6 takes 11 operations (6 for two pairs of points, 5 for both eliminations).
    for StageWork { solves, flops, .. } in [default, cheapest] {
        assert!((11 * solves..22 * solves).contains(&flops), "{flops}");
    }
    let butcher = config("taylor-green", [16; 3], &["time.integrator=rk4"]);
    assert_eq!(StageWork::of(&butcher.problem()), None);
}

#[test]
fn fused_and_composed_results_are_not_bitwise_identical() {
    let [fused, composed] =
        ["fused", "composed"].map(|how| after("taylor-green", [9, 12, 11], &[], how));
    assert!(fused.iter().zip(&composed).any(|(a, b)| a != b));
}

#[test]
fn all_forms_agree_with_the_composed_equations() {
    let mut at = 0;
    for convection in CONVECTION {
        for energy in ENERGY {
            for viscous in VISCOUS {
                // The laws alternate, so that each meets every convective and every viscous form.
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
                agree("taylor-green", [9, 12, 11], &set, 1e-12);
            }
        }
    }
}

#[test]
fn all_schemes_integrators_and_shapes_agree_with_composed_equations() {
    for family in kolmo::scheme::families() {
        let derivative = format!("scheme.derivative={}", family.name);
        let filter = "scheme.filter={ order = 8, alpha = 0.49 }";
        agree("taylor-green", [16, 13, 17], &[&derivative], 1e-12);
        agree("acoustic-wave", [13, 1, 17], &[&derivative, filter], 1e-12);
        agree("shear-wave", [31, 1, 1], &[&derivative], 1e-12);
        agree("scalar-advection", [17, 12, 13], &[&derivative, filter], 1e-12);
        let single = [&*derivative, "compute.precision=f32"];
        agree("taylor-green", [16, 13, 17], &single, 1e-5);
    }
    for tableau in kolmo::scheme::TABLEAUX {
        let integrator = format!("time.integrator={}", tableau.name);
        agree("taylor-green", [12, 13, 11], &[&integrator], 1e-12);
        agree("acoustic-wave", [32, 12, 1], &[&integrator], 1e-12);
    }
}

/// Grids with three, two and one active axes, in different positions.
const SHAPES: [[usize; 3]; 4] = [[9, 12, 11], [12, 9, 1], [12, 1, 9], [16, 1, 1]];

/// A flow with all velocity components that varies along every axis.
fn mixed(points: [usize; 3], set: &[&str]) -> Simulation {
    let set = [set, &["case.mach=0.5", "case.reynolds=20"]].concat();
    let mut run = simulation("acoustic-wave", points, &set);
    set_flow(&mut run, 1.4, |index, _| {
        let turns: f64 = (0..3).map(|axis| float(index[axis]) / float(points[axis])).sum();
        let (sin, cos) = (TAU * turns).sin_cos();
        [1.0 + 0.1 * cos, 0.3 * sin, 0.2 * cos, 0.1 * sin - 0.2 * cos, 2.9 + 0.2 * sin]
    });
    run
}

#[test]
fn each_term_group_agrees_with_the_composed_equations() {
    let composed = "compute.right_hand_side=composed";
    for points in SHAPES {
        for (at, convection) in CONVECTION.iter().enumerate() {
            let set = [
                format!("scheme.convection={convection}"),
                format!("scheme.viscous={}", VISCOUS[at % 3]),
                format!("gas.viscosity={}", LAWS[(at + at / 3) % 3]),
                "case.reynolds=20".into(),
                "case.mach=0.5".into(),
            ];
            let set = set.each_ref().map(String::as_str);
            let run = mixed(points, &set);
            for part in
                [TermGroup::All, TermGroup::Convection, TermGroup::Pressure, TermGroup::Viscous]
            {
                let [fused, composed] = [&set[..], &[&set[..], &[composed]].concat()]
                    .map(|set| terms(part, &config("acoustic-wave", points, set), run.state()));
                let size = composed.iter().flat_map(|field| field.iter());
                let size = size.fold(0.0_f64, |size, x| size.max(x.abs()));
                let deviation = fused.iter().zip(&composed).map(|(a, b)| max_difference(a, b));
                let deviation = deviation.fold(0.0, f64::max) / size;
                assert!(
                    deviation < 1e-12 && size > 1e-3,
                    "{part:?} {points:?} {set:?}: {deviation:e} of {size}"
                );
            }
        }
    }
}

/// The fields that a right-hand side uses between its sweeps are also the work arrays of rows and outputs.
#[test]
fn diagnostics_between_steps_do_not_change_the_steps() {
    for how in ["fused", "composed"] {
        for integrator in ["hale64", "rk4"] {
            for points in SHAPES {
                let set = [
                    format!("compute.right_hand_side={how}"),
                    format!("time.integrator={integrator}"),
                    "gas.viscosity=sutherland".into(),
                ];
                let set = set.each_ref().map(String::as_str);
                let (mut plain, mut watched) = (mixed(points, &set), mixed(points, &set));
                for _ in 0..4 {
                    plain.step(None).unwrap();
                    watched.step(None).unwrap();
                    watched.output(&Variable::Vorticity).unwrap();
                    watched.picture(Drawn::Vorticity).unwrap();
                    watched.sample(true).unwrap();
                    watched.row().unwrap();
                }
                assert!(state(&plain) == state(&watched), "{how} {integrator} {points:?}");
            }
        }
    }
}

#[test]
fn gradients_in_later_steps_vanish_along_axes_with_one_point() {
    for how in ["fused", "composed"] {
        for points in &SHAPES[1..] {
            let mut run = mixed(*points, &[&format!("compute.right_hand_side={how}")]);
            for _ in 0..2 {
                steps(&mut run, 2);
                run.output(&Variable::Vorticity).unwrap();
            }
            let Sample::Flow(flow) = run.sample(true).unwrap() else { panic!("expected a flow") };
            for (at, field) in flow.gradient.unwrap().iter().enumerate() {
                let largest = field.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
                let active = points[at % 3] > 1;
                assert!(if active { largest > 1e-2 } else { largest == 0.0 }, "{at}: {largest:e}");
            }
        }
    }
}
