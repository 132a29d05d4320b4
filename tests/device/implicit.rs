//! Implicit time steps on a device against the host.

use std::sync::Arc;

use kolmo::backend::device::Gpu;
use kolmo::config::Config;
use kolmo::time::Simulation;

use super::{gpu, open};
use crate::common::{config, max_difference, on_host, state, steps};

/// An odd number of points along the closed axis: three colours.
const POINTS: [usize; 3] = [33, 18, 1];
const COUNT: usize = 33 * 18;

/// The flow around a cylinder at Re = 40 on a coarse grid.
fn cylinder(implicit: &str) -> Config {
    let set = [
        "case.reynolds=40",
        "case.gust=0",
        "scheme.filter={ order = 8, alpha = 0.45, time = 0.01 }",
        "time.cfl=10",
        implicit,
    ];
    config("cylinder", POINTS, &set)
}

/// Catches a kernel that orders unknowns wrongly, a vector that differs from that of the host, and blocks of the previous correction.
#[test]
fn implicit_steps_on_a_device_match_the_host() {
    // Time-accurate steps converge to `tolerance`; a step of a steady run is one correction, accurate to the linear tolerance.
    let in_time = "tolerance = 1e-10, linear_tolerance = 1e-4";
    for (method, bound) in [
        (format!("method = 'bdf2', {in_time}"), 1e-8),
        (format!("method = 'esdirk64', {in_time}"), 1e-8),
        ("method = 'steady', linear_tolerance = 1e-6".into(), 1e-4),
    ] {
        let config = cylinder(&format!("time.implicit={{ {method} }}"));
        let on_device = Simulation::on(Arc::new(gpu(config.compute.precision, COUNT)), &config);
        let (mut device, mut host) = (on_device.unwrap(), on_host(&config));
        steps(&mut device, 2);
        steps(&mut host, 2);
        for (found, expected) in state(&device).iter().zip(&state(&host)) {
            let deviation = max_difference(found, expected);
            assert!(deviation < bound, "{method}: {deviation:e}");
        }
        for column in ["newton_corrections", "linear_products"] {
            let [found, expected] =
                [&mut device, &mut host].map(|flow| flow.quantity(column).unwrap());
            let deviation = (found - expected).abs();
            // A stage whose residual is close to its tolerance may take one more correction, of 17.
            assert!(
                deviation <= (0.1 * expected).max(1.0),
                "{method}: {found} {column}, {expected}"
            );
        }
    }
}

/// Catches a vector that passes through the host in a matrix-vector product of the linear systems.
#[test]
fn matrix_vector_products_copy_no_field_to_or_from_the_host() {
    let device = open();
    let moved = |products: usize| {
        let implicit = format!(
            "time.implicit={{ method = 'steady', linear_tolerance = 1e-12, krylov = 30, products = {products} }}"
        );
        let config = cylinder(&implicit);
        let gpu = Gpu::configured(device.clone(), COUNT, &config.compute).unwrap();
        let mut flow = Simulation::on(Arc::new(gpu), &config).unwrap();
        steps(&mut flow, 1);
        let before = device.traffic();
        steps(&mut flow, 1);
        let after = device.traffic();
        assert_eq!(flow.quantity("linear_products").unwrap(), products as f64);
        assert_eq!(after.allocations, before.allocations);
        [after.to_host - before.to_host, after.to_device - before.to_device]
    };
    let (few, many) = (moved(10), moved(20));
    for (few, many) in few.into_iter().zip(many) {
        // A vector is five fields, and every product involves several vectors.
        assert!(many - few < 10 * 8 * COUNT as u64, "10 products copy {} bytes", many - few);
    }
}
