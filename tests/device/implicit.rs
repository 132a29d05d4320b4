//! Implicit steps on a device against the host.

use std::sync::Arc;

use kolmo::backend::device::Gpu;
use kolmo::config::Config;
use kolmo::time::Simulation;

use super::{gpu, open};
use crate::common::{config, max_difference, on_host, state, steps};

/// An odd number of points along the closed axis: three colours.
const POINTS: [usize; 3] = [33, 18, 1];
const COUNT: usize = 33 * 18;

/// The flow round a cylinder at Re = 40, on few points.
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

/// Catches a kernel that orders unknowns wrongly, a vector that is not what it is on the host, and blocks of the correction before.
#[test]
fn implicit_steps_on_a_device_are_those_of_the_host() {
    // Through time to the tolerance; a step of a steady run is one correction, to that of its linear system.
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
            let off = max_difference(found, expected);
            assert!(off < bound, "{method}: {off:e}");
        }
        for column in ["newton_corrections", "linear_products"] {
            let [found, expected] =
                [&mut device, &mut host].map(|flow| flow.quantity(column).unwrap());
            let off = (found - expected).abs();
            // A stage whose residual is at its tolerance may take a correction more, of 17.
            assert!(off <= (0.1 * expected).max(1.0), "{method}: {found} {column}, {expected}");
        }
    }
}

/// Catches a vector that goes through the host in a product of the linear systems.
#[test]
fn a_product_of_a_linear_system_moves_no_field_to_or_from_the_host() {
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
        // A vector is five fields, and every product has several.
        assert!(many - few < 10 * 8 * COUNT as u64, "{} bytes of 10 products", many - few);
    }
}
