//! A user-defined flow that starts from arrays: two shear layers that roll up into vortices (Brown and Minion, Journal of
//! Computational Physics 122, 1995, eq. 5.1; here at Ma 0.2, with uniform density and pressure), in two dimensions.
//!
//! ```text
//! cargo run --release --example own_start
//! ```

use std::f64::consts::TAU;

use kolmo::Result;
use kolmo::time::Simulation;
use ndarray::{Array2, Array3, Axis};

/// The complete input; the initial state of its case is replaced.
const INPUT: &str = "
[case]
name = 'entropy-wave'
mach = 0.2
reynolds = 2000.0
[grid]
points = [64, 64, 1]
[time]
end = 1.0
";
/// End time of the input, at which each layer has rolled up once.
const END: f64 = 1.0;
/// One over the thickness of a layer.
const STEEPNESS: f64 = 30.0;
/// Amplitude of the disturbance.
const DISTURBANCE: f64 = 0.05;

fn main() -> Result<()> {
    let vorticity = run()?;
    // Six values per row are enough to see two layers of opposite sign with a vortex in each.
    for row in vorticity.outer_iter().step_by(4) {
        println!("{}", row.iter().step_by(11).map(|w| format!("{w:8.2}")).collect::<String>());
    }
    Ok(())
}

/// The vorticity at the end, `[[j, i]]`.
pub(crate) fn run() -> Result<Array2<f64>> {
    let config = kolmo::config::parse(INPUT, "example", &[])?;
    let mut simulation = Simulation::new(&config)?;
    let grid = simulation.grid().clone();
    let [nx, ny, nz] = grid.points;
    let field = |value: &dyn Fn(f64, f64) -> f64| {
        Array3::from_shape_fn((nz, ny, nx), |(k, j, i)| {
            let [x, y, _] = grid.coordinates([i, j, k]);
            value(x, y)
        })
    };
    let layers = |y: f64| if y <= 0.5 { y - 0.25 } else { 0.75 - y };
    let pressure = 1.0 / (config.gas.gamma * config.gas.mach.powi(2));
    simulation.start_from(&[
        ("density", field(&|_, _| 1.0).view()),
        ("velocity_x", field(&|_, y| (STEEPNESS * layers(y)).tanh()).view()),
        ("velocity_y", field(&|x, _| DISTURBANCE * (TAU * x).sin()).view()),
        ("velocity_z", field(&|_, _| 0.0).view()),
        ("pressure", field(&|_, _| pressure).view()),
    ])?;
    while simulation.time() < END {
        simulation.step(Some(END))?;
    }
    Ok(simulation.field("vorticity_z")?.index_axis_move(Axis(0), 0))
}
