//! The fused right-hand side is the composed one to round-off, and moves as few words as it says.

use kolmo::Real;
use kolmo::backend::cpu::{Cpu, Field};
use kolmo::config::Config;
use kolmo::physics::{sweeps_of_stage, words};
use kolmo::scheme::FAMILY_NAMES;
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

fn agree<T: Real>(case: &str, points: [usize; 3], set: &[&str], bound: f64) {
    let [fused, composed] = ["fused", "composed"].map(|how| after::<T>(case, points, set, how));
    for (field, (a, b)) in fused.iter().zip(&composed).enumerate() {
        let size = b.iter().map(|b| b.f64().abs()).fold(0.0, f64::max);
        let off = a.iter().zip(&**b).map(|(a, b)| (a.f64() - b.f64()).abs()).fold(0.0, f64::max);
        // Where symmetry keeps a momentum at zero its scale is that of the others.
        let size = size.max(if field == 0 || field == 4 { 0.0 } else { 1.0 });
        assert!(off <= bound * size, "{case} {points:?} {set:?}, field {field}: {off:e} of {size}");
        assert!(off > 0.0 || field > 0, "{case} {set:?}: the same sweeps were run twice");
    }
}
