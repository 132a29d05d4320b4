//! A two-dimensional flow, computed by the engine of the library from the same input.

use kolmo::config::{self, Config, Variable};
use kolmo::time::Simulation;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error_message;

/// Largest number of points that a page computes in a reasonable time.
const MAX_POINTS: usize = 256 * 256;

/// A flow to start: the input of a case, changed by `key.path=value`.
#[derive(Deserialize)]
pub(crate) struct Start {
    case: String,
    set: Vec<String>,
}

/// Steps to compute, up to the time `until`.
#[derive(Deserialize)]
pub(crate) struct Advance {
    steps: u32,
    until: Option<f64>,
}

/// A picture to draw.
#[derive(Deserialize)]
pub(crate) struct Picture {
    variable: String,
}

pub(crate) struct Flow {
    simulation: Simulation,
    picture: Vec<f32>,
}

impl Flow {
    pub(crate) fn new(start: &Start) -> Result<Self, String> {
        let input = config::built_in(&start.case).map_err(|error| error_message(&error))?;
        // A page has one processor and no devices.
        let backend = ["compute.backend=\"cpu\"".to_string()];
        let set: Vec<String> = start.set.iter().cloned().chain(backend).collect();
        let config =
            config::parse(input, &start.case, &set).map_err(|error| error_message(&error))?;
        check(&config)?;
        let simulation = Simulation::new(&config).map_err(|error| error_message(&error))?;
        Ok(Self { simulation, picture: Vec::new() })
    }

    pub(crate) fn picture(&self) -> &[f32] {
        &self.picture
    }

    /// Returns the grid and the current row of the series.
    pub(crate) fn describe(&mut self) -> Result<Value, String> {
        let row = self.simulation.row().map_err(|error| error_message(&error))?;
        let grid = self.simulation.grid();
        let [width, height] = [0, 1].map(|axis| grid.spacing[axis] * grid.points[axis] as f64);
        Ok(json!({
            "points": grid.points,
            "size": [width, height],
            "columns": self.simulation.columns(),
            "row": row,
        }))
    }

    /// Advances the flow and returns the new row of the series.
    pub(crate) fn advance(&mut self, request: &Advance) -> Result<Value, String> {
        for _ in 0..request.steps {
            if request.until.is_some_and(|until| self.simulation.time() >= until) {
                break;
            }
            self.simulation.step(request.until).map_err(|error| error_message(&error))?;
        }
        let row = self.simulation.row().map_err(|error| error_message(&error))?;
        Ok(json!({ "row": row }))
    }

    /// Stores the values of a field at the points, x fastest. A vector is represented by its z component, the only component of the
    /// vorticity of a two-dimensional flow.
    pub(crate) fn draw(&mut self, picture: &Picture) -> Result<Value, String> {
        let variable =
            Variable::FLOW_VARIABLES.into_iter().find(|known| known.name() == picture.variable);
        let variable =
            variable.ok_or_else(|| format!("`{}` is no field of a flow", picture.variable))?;
        let values = self.simulation.output(&variable).map_err(|error| error_message(&error))?;
        let (components, len) = (variable.components(), values.len() / variable.components());
        self.picture.clear();
        let last = |point: usize| values.at(point * components + components - 1) as f32;
        self.picture.extend((0..len).map(last));
        let (low, high) =
            self.picture.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &value| {
                (low.min(value), high.max(value))
            });
        Ok(json!({ "len": len, "low": low, "high": high }))
    }
}

fn check(config: &Config) -> Result<(), String> {
    let [x, y, z] = config.grid.points;
    if z > 1 {
        return Err(format!(
            "{x} x {y} x {z} points: a page shows flows of the plane; use one point along z"
        ));
    }
    if x * y > MAX_POINTS {
        return Err(format!(
            "{x} x {y} points: a page computes {MAX_POINTS} at most, as 256 x 256"
        ));
    }
    Ok(())
}
