//! Run a case from an input and read its fields as arrays: the mean of u² over planes of constant z in the
//! Taylor-Green vortex.
//!
//! ```text
//! cargo run --release --example plane_average
//! ```

use kolmo::Result;
use kolmo::time::Simulation;
use ndarray::{Array1, Axis};

const INPUT: &str = "
[case]
name = 'taylor-green'
mach = 0.1
reynolds = 100.0
[grid]
points = [32, 32, 32]
[time]
end = 1.0
";
/// End time of the input.
const END: f64 = 1.0;

fn main() -> Result<()> {
    let (simulation, mean) = run()?;
    println!("t = {:.3}, {} steps", simulation.time(), simulation.steps());
    for (k, mean) in mean.iter().enumerate() {
        let [_, _, z] = simulation.grid().coordinates([0, 0, k]);
        println!("z = {z:6.3}   <u u> = {mean:.6}");
    }
    Ok(())
}

/// The flow at the end, and the mean at each z.
pub(crate) fn run() -> Result<(Simulation, Array1<f64>)> {
    let config = kolmo::config::parse(INPUT, "example", &[])?;
    let mut simulation = Simulation::new(&config)?;
    while simulation.time() < END {
        simulation.step(Some(END))?;
    }
    // Axes 0, 1, 2 of an array are z, y, x.
    let u = simulation.field("velocity_x")?;
    let points_of_a_plane = u.len_of(Axis(1)) * u.len_of(Axis(2));
    let mean = (&u * &u).sum_axis(Axis(2)).sum_axis(Axis(1)) / points_of_a_plane as f64;
    Ok((simulation, mean))
}
