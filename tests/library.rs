//! The library as other programs use it: fields as arrays, and initial states from arrays. The programs of `examples/` are run.

use kolmo::time::Simulation;
use ndarray::{Array3, ArrayView3};

use crate::common::config;

#[allow(dead_code, reason = "its main function is not called")]
#[path = "../examples/own_start.rs"]
mod own_start;
#[allow(dead_code, reason = "its main function is not called")]
#[path = "../examples/plane_average.rs"]
mod plane_average;

const POINTS: [usize; 3] = [6, 7, 8];

fn simulation(set: &[&str]) -> Simulation {
    Simulation::new(&config("taylor-green", POINTS, set)).unwrap()
}

/// An array with the value of a function of the coordinates at every point.
fn array(of: &Simulation, value: impl Fn([f64; 3]) -> f64) -> Array3<f64> {
    let [nx, ny, nz] = of.block().points;
    Array3::from_shape_fn((nz, ny, nx), |(k, j, i)| value(of.grid().coordinates([i, j, k])))
}

fn largest_difference(a: ArrayView3<'_, f64>, b: ArrayView3<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A flow that varies differently along every axis.
fn uneven(of: &Simulation) -> [(&'static str, Array3<f64>); 5] {
    [
        ("pressure", array(of, |[x, _, _]| 70.0 + x.sin())),
        ("velocity_x", array(of, |[_, y, _]| y.cos())),
        ("velocity_y", array(of, |[_, _, z]| (2.0 * z).sin())),
        ("density", array(of, |[x, y, z]| 1.0 + 0.1 * (x + 2.0 * y - z).sin())),
        ("velocity_z", array(of, |[x, y, _]| 0.5 * x.sin() * y.cos())),
    ]
}

fn views<'a>(
    arrays: &'a [(&'static str, Array3<f64>)],
) -> Vec<(&'static str, ArrayView3<'a, f64>)> {
    arrays.iter().map(|(name, array)| (*name, array.view())).collect()
}

#[test]
fn a_field_is_indexed_by_z_y_x() {
    let mut simulation = simulation(&[]);
    let u = array(&simulation, |[x, y, z]| x.sin() * y.cos() * z.cos());
    let found = simulation.field("velocity_x").unwrap();
    assert!(largest_difference(found.view(), u.view()) < 1e-15);
    // ω_z = ∂v/∂x − ∂u/∂y; on so few points the derivative of one mode differs from the exact one only by a constant factor.
    let shape = array(&simulation, |[x, y, z]| x.sin() * y.sin() * z.cos());
    let w = simulation.field("vorticity_z").unwrap();
    let factor = w[[0, 2, 1]] / shape[[0, 2, 1]];
    assert!((1.9..2.1).contains(&factor), "{factor}");
    assert!(largest_difference(w.view(), (factor * &shape).view()) < 0.05);
    assert_eq!(simulation.field_names().len(), 11);
}

#[test]
fn fields_equal_the_arrays_of_the_initial_state() {
    for precision in ["f64", "f32"] {
        let mut simulation = simulation(&[&format!("compute.precision={precision}")]);
        let start = uneven(&simulation);
        simulation.start_from(&views(&start)).unwrap();
        let epsilon = if precision == "f64" { f64::EPSILON } else { f64::from(f32::EPSILON) };
        for (name, array) in &start {
            let found = simulation.field(name).unwrap();
            let size = array.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            let deviation = largest_difference(found.view(), array.view());
            assert!(deviation < 4.0 * epsilon * size, "{name}: {deviation}");
        }
        let rho = simulation.conserved("density").unwrap();
        assert!(largest_difference(rho.view(), start[3].1.view()) < 2.0 * epsilon);
        // In f64 the stored field itself is returned, without a copy.
        assert_eq!(rho.is_view(), precision == "f64");
        let momentum = simulation.conserved("momentum_x").unwrap();
        let expected = &start[3].1 * &start[1].1;
        assert!(largest_difference(momentum.view(), expected.view()) < 2.0 * epsilon);
        // The time step belongs to the new state, whose speed of sound is √(1.4 · 71), not 10.
        let dt = simulation.step(None).unwrap();
        assert!(dt > 0.0 && simulation.steps() == 1);
    }
}

#[test]
fn start_from_arrays_discards_earlier_steps() {
    let mut own = simulation(&[]);
    let mut again = simulation(&["case.mach=0.1"]);
    let names = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"];
    let arrays = names.map(|name| (name, again.field(name).unwrap()));
    // Values computed from the previous state must be discarded.
    again.step(None).unwrap();
    again.start_from(&views(&arrays)).unwrap();
    own.start_from(&views(&arrays)).unwrap();
    let steps = [own.step(None).unwrap(), again.step(None).unwrap()];
    assert_eq!(steps[0].to_bits(), steps[1].to_bits());
    let fields = [&mut own, &mut again].map(|one| one.field("velocity_y").unwrap());
    assert_eq!(fields[0], fields[1]);
}

/// Catches walls, faces and an exact solution that remain those of the initial state of the case.
#[test]
fn start_from_arrays_updates_walls_and_faces_and_drops_exact_solution() {
    let start = |flow: &mut Simulation, u: f64| {
        let mut arrays = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"]
            .map(|name| (name, flow.field(name).unwrap()));
        arrays[1].1.fill(u);
        flow.start_from(&views(&arrays)).unwrap();
    };
    let mut plates = Simulation::new(&config("couette-flow", [1, 17, 1], &[])).unwrap();
    let columns = plates.columns().len();
    assert!(plates.error().unwrap().is_some());
    start(&mut plates, 0.5);
    assert!(plates.error().unwrap().is_none());
    assert!(plates.columns().len() + 2 == columns && plates.row().unwrap().len() + 2 == columns);
    let u = plates.field("velocity_x").unwrap();
    assert_eq!([u[[0, 0, 0]], u[[0, 8, 0]], u[[0, 16, 0]]], [0.0, 0.5, 1.0]);

    let faces = "boundary.x={ low = { kind = 'inflow', state = 'initial' }, high = 'outflow' }";
    let set = ["case.amplitude=0", "case.mach=0.5", faces];
    let mut stream = Simulation::new(&config("entropy-wave", [21, 1, 1], &set)).unwrap();
    start(&mut stream, 0.7);
    for _ in 0..50 {
        stream.step(None).unwrap();
    }
    let deviation =
        stream.field("velocity_x").unwrap().iter().map(|u| (u - 0.7).abs()).fold(0.0, f64::max);
    assert!(deviation < 1e-10, "{deviation:e}");

    let faces = "boundary.x={ low = { kind = 'inflow', velocity = [2.0, 0.0, 0.0], pressure = 0.7142857142857143 }, high = 'outflow' }";
    let dye = "scalars={ dye = { start = '0.1', schmidt = 1.0 } }";
    let set = ["case.amplitude=0", "case.mach=1.0", faces, dye];
    let mut fast = Simulation::new(&config("entropy-wave", [21, 1, 1], &set)).unwrap();
    for phi in [0.7, 0.3] {
        let mut arrays = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure", "dye"]
            .map(|name| (name, fast.field(name).unwrap()));
        arrays[5].1.fill(phi);
        fast.start_from(&views(&arrays)).unwrap();
        fast.step(None).unwrap();
        let dye = fast.field("dye").unwrap();
        assert!(dye.iter().all(|it| (it - phi).abs() < 1e-12), "{phi}: {dye}");
    }
}

/// Catches a panic, or a run with invalid settings, if a configuration is changed after it was read.
#[test]
fn changed_configurations_are_checked_and_unknown_columns_reported() {
    let mut changed = config("taylor-green", POINTS, &[]);
    changed.grid.points = [6, 0, 2];
    let message = Simulation::new(&changed).err().unwrap().to_string();
    assert!(
        message.starts_with("error: configuration:") && message.contains("points"),
        "{message}"
    );
    let message = simulation(&[]).quantity("kinetic").unwrap_err().to_string();
    assert!(
        message.contains("no column `kinetic`") && message.contains("kinetic_energy,"),
        "{message}"
    );
}

#[test]
fn invalid_initial_arrays_are_rejected_and_the_state_is_unchanged() {
    let mut simulation = simulation(&[]);
    let before = simulation.field("pressure").unwrap();
    let assert_rejected =
        |simulation: &mut Simulation, arrays: &[(&str, Array3<f64>)], expected: &str| {
            let arrays: Vec<_> = arrays.iter().map(|(name, array)| (*name, array.view())).collect();
            let error = simulation.start_from(&arrays).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
    let good = uneven(&simulation);
    assert_rejected(&mut simulation, &good[..4], "`velocity_z` is missing");
    let twice = [good.as_slice(), &good[..1]].concat();
    assert_rejected(&mut simulation, &twice, "`pressure` is given more than once");
    let mut other = good.clone();
    other[0].0 = "temperature";
    assert_rejected(&mut simulation, &other, "`temperature` is not an initial field");
    let mut other = good.clone();
    other[1].1 = other[1].1.clone().reversed_axes();
    assert_rejected(&mut simulation, &other, "`velocity_x` has [6, 7, 8] values");
    let mut other = good.clone();
    other[0].1[[3, 2, 1]] = -1.0;
    assert_rejected(&mut simulation, &other, "at point (1, 2, 3)");
    for until in [f64::NAN, 0.0, -1.0] {
        let error = simulation.step(Some(until)).unwrap_err().to_string();
        assert!(
            error.contains(&format!("target time {until} is not after the current time 0")),
            "{error}"
        );
    }
    assert_eq!(simulation.field("pressure").unwrap(), before);
    let error = simulation.field("velocity").unwrap_err().to_string();
    assert!(error.contains("no field `velocity`") && error.contains("velocity_x, velocity_y"));
    assert!(simulation.conserved("pressure").unwrap_err().to_string().contains("momentum_x"));
}

#[test]
fn plane_average_example_reproduces_the_kinetic_energy_of_the_vortex() {
    let (mut simulation, mean) = plane_average::run().unwrap();
    assert!((simulation.time() - 1.0).abs() < 1e-14);
    // At Ma 0.1 the density is 1 up to O(Ma²); u and v have equal energy by symmetry.
    let w = simulation.field("velocity_z").unwrap();
    let energy = mean.mean().unwrap() + 0.5 * (&w * &w).mean().unwrap();
    let expected = simulation.quantity("kinetic_energy").unwrap();
    assert!((energy / expected - 1.0).abs() < 0.01, "{energy} {expected}");
    let half = mean.len() / 2;
    assert!((0..half).all(|k| (mean[k] - mean[k + half]).abs() < 1e-12));
    // Initially ⟨u²⟩ is cos² z / 4, which vanishes near z = π/2.
    assert!(mean[0] > 10.0 * mean[half / 2]);
}

#[test]
fn shear_layer_example_rolls_up_and_preserves_its_symmetry() {
    let vorticity = own_start::run().unwrap();
    let n = vorticity.nrows();
    // The initial state is invariant under rotation by π about (0, 1/4).
    for ((j, i), w) in vorticity.indexed_iter() {
        let image = vorticity[[(3 * n / 2 - j) % n, (n - i) % n]];
        assert!((w - image).abs() < 1e-8, "{w} {image}");
    }
    assert!(vorticity.sum().abs() < 1e-8);
    // Initially the vorticity is zero half-way between the layers of opposite sign, at y = 0, and at most 30 everywhere.
    let largest = vorticity.iter().fold(0.0, |largest: f64, w| largest.max(w.abs()));
    assert!((20.0..30.0).contains(&largest), "{largest}");
}
