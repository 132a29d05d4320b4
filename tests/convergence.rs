//! Convergence of the isentropic vortex, a nonlinear exact solution, at the order of the scheme, and of a plane Taylor-Green
//! vortex at the order of the integrator.

use kolmo::scheme::TABLEAUX;

use crate::common::{
    CONVECTION, ENERGY, FAMILIES, advance, assert_close, assert_orders, float, max_difference,
    run_with, simulation, state, steps,
};

/// (spacing, root mean square of the error of the density) of the vortex after a short time.
fn vortex(points: usize, derivative: &str, convection: &str, energy: &str) -> (f64, f64) {
    let forms = [derivative, convection, energy, "auto"];
    let set = ["case.half_width=9.0", "time.cfl=0.15"].map(String::from);
    let mut run = run_with("isentropic-vortex", [points, points, 1], forms, &set);
    advance(&mut run, 0.25);
    (18.0 / float(points), run.error().unwrap().unwrap()[0])
}

#[test]
fn isentropic_vortex_converges_at_the_order_of_the_scheme() {
    let finest = [1.34e-5, 2.50e-6, 1.32e-7, 1.68e-8, 8.07e-9, 1.26e-9];
    for ((derivative, order), expected) in FAMILIES.into_iter().zip(finest) {
        let found = [48, 64, 96].map(|n| vortex(n, derivative, "kennedy-gruber", "split-pressure"));
        // The coarsest grid has 2.7 points per radius: the measured order approaches the nominal one from above.
        let order = f64::from(order);
        assert_orders(&found, order - 0.3..order + 1.9, derivative);
        assert_close(found[2].1, expected, 0.05, derivative);
    }
}

#[test]
fn isentropic_vortex_converges_at_sixth_order_in_every_form() {
    for (convection, energy) in CONVECTION.iter().flat_map(|c| ENERGY.map(|e| (*c, e))) {
        let label = format!("{convection} {energy}");
        let found = [48, 64, 96].map(|n| vortex(n, "compact6", convection, energy));
        assert_orders(&found, 5.7..7.1, &label);
        assert_close(found[2].1, 1.65e-7, 0.25, &label);
    }
}

#[test]
fn isentropic_vortex_returns_after_a_period() {
    let forms = ["compact10-penta", "kennedy-gruber", "split-pressure", "auto"];
    let set = ["case.half_width=9.0".to_string()];
    let mut run = run_with("isentropic-vortex", [64, 64, 1], forms, &set);
    advance(&mut run, 18.0);
    let [mean, largest] = run.error().unwrap().unwrap();
    assert_close(mean, 1.66e-5, 0.05, "root mean square");
    assert_close(largest, 2.17e-4, 0.05, "maximum");
}

/// U at t = 0.64 of a plane Taylor-Green vortex on a coarse grid, in `n` steps.
fn plane_vortex(integrator: &str, n: u32) -> Vec<f64> {
    let set = [
        "case.mach=0.5",
        "case.reynolds=50.0",
        &format!("time.integrator={integrator}"),
        &format!("time.dt={:e}", 0.64 / f64::from(n)),
    ];
    let mut run = simulation("taylor-green", [12, 12, 1], &set);
    steps(&mut run, n as usize);
    state(&run).concat()
}

#[test]
fn every_integrator_converges_at_its_order_in_time() {
    // The largest error in U at dt = 0.01. kcl43-2r is of fourth order except for nonlinear terms, which are small here.
    let rows = [
        ("rk4", 4, 1.24e-7),
        ("ssprk3", 3, 7.50e-6),
        ("ssprk43", 3, 3.79e-6),
        ("ssprk54", 4, 5.78e-8),
        ("williamson3", 3, 7.51e-6),
        ("wray3", 3, 7.51e-6),
        ("ck54", 4, 5.03e-8),
        ("kcl54", 4, 5.01e-8),
        ("kcl54-2r", 4, 5.23e-8),
        ("kcl43-2r", 4, 1.26e-7),
        ("berland64", 4, 7.31e-9),
        ("hale64", 4, 4.12e-8),
        ("bogey-bailly62", 2, 1.70e-6),
    ];
    assert_eq!(rows.map(|(name, ..)| name), TABLEAUX.map(|tableau| tableau.name));
    let fine = plane_vortex("rk4", 1024);
    for (name, order, size) in rows {
        let found = [16, 32, 64]
            .map(|n| (0.64 / f64::from(n), max_difference(&plane_vortex(name, n), &fine)));
        assert_orders(&found, f64::from(order) - 0.2..f64::from(order) + 0.1, name);
        assert_close(found[2].1, size, 0.02, name);
    }
}
