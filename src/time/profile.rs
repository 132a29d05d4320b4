//! The numerical and the exact solution along a line, and the loads on the wall of a body, at the end of a run.

use super::run_loop::Run;
use crate::comm::all_or_error;
use crate::error::Result;
use crate::io::pieces::line;
use crate::io::{PROFILE, SURFACE};

/// (ρ, ρu, ρv, ρw), as named in `profile.csv`.
const NAMES: [&str; 4] = ["density", "momentum_x", "momentum_y", "momentum_z"];

impl Run<'_> {
    /// Write `profile.csv`: the numerical and the exact solution at the points of a line through the middle of the box, along the
    /// first axis with more than one point. Does nothing without an exact solution. Collective.
    pub(super) fn write_profile(&mut self) -> Result<()> {
        let (grid, config) = (self.simulation.grid().clone(), self.config);
        let axis = (0..3).find(|&axis| grid.points[axis] > 1);
        let Some(axis) = axis.filter(|_| config.follows_case()) else { return Ok(()) };
        let middle = grid.points.map(|n| n / 2);
        let point = |i: usize| {
            let mut index = middle;
            index[axis] = i;
            grid.coordinates(index)
        };
        let time = self.simulation.time();
        let points = 0..grid.points[axis];
        let exact: Option<Vec<f64>> = points.map(|i| config.exact_at(point(i), time)).collect();
        let Some(exact) = exact else { return Ok(()) };
        let at = config.case.shown();
        let backend = self.simulation.backend.clone();
        let (system, state) = self.simulation.system_and_state();
        let base = system.base_state().get(at).copied().unwrap_or(0.0);
        let values = all_or_error(backend.comm(), backend.values(&state[at]))?;
        let values: Vec<f64> = values.iter().map(|value| base + value).collect();
        let decomposition = &self.decomposition;
        let computed = line(backend.comm(), decomposition, grid.points, (axis, middle), &values);
        let name = config.case.flow().map_or("scalar", |flow| NAMES[flow.shown()]);
        let mut text = format!("{},{name},exact\n", ["x", "y", "z"][axis]);
        for (i, (computed, exact)) in computed.into_iter().flatten().zip(exact).enumerate() {
            text += &format!("{:?},{computed:?},{exact:?}\n", point(i)[axis]);
        }
        self.write_table(PROFILE, &text)
    }

    /// Write `surface.csv`: the points of a body's wall with the arc length up to them and the pressure and friction
    /// coefficients. Does nothing without a body. Collective.
    pub(super) fn write_surface(&mut self) -> Result<()> {
        let Some(points) = self.simulation.surface()? else { return Ok(()) };
        let mut text = String::from("x,y,length,pressure_coefficient,friction_coefficient\n");
        let (mut length, mut last) = (0.0, points.first().copied());
        for point @ [x, y, pressure, friction] in points {
            length += last.map_or(0.0, |[before, below, ..]| (x - before).hypot(y - below));
            last = Some(point);
            text += &format!("{x:?},{y:?},{length:?},{pressure:?},{friction:?}\n");
        }
        self.write_table(SURFACE, &text)
    }

    /// Write the text of rank 0. Collective.
    fn write_table(&mut self, name: &str, text: &str) -> Result<()> {
        let written = self.files.as_mut().map_or(Ok(()), |files| files.write(name, text));
        self.tolerate_failure(written).map(drop)
    }
}
