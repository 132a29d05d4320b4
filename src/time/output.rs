//! What a run writes while it goes on.

use std::time::Instant;

use super::course::Run;
use crate::backend::Backend;
use crate::config::Variable;
use crate::error::Result;
use crate::io::pieces::plane;
use crate::io::{FieldData, FieldValues, ImageGrid, Plane, Slice};

impl<B: Backend> Run<'_, B>
where
    FieldValues: From<Vec<B::Real>>,
{
    pub(super) fn write_row(&mut self) -> Result<()> {
        let start = Instant::now();
        let row = self.simulation.row()?;
        let energy = self.simulation.columns().iter().position(|&name| name == "kinetic_energy");
        self.kinetic_energy = energy.map_or(f64::NAN, |at| row[at]);
        if let Some(files) = &mut self.files {
            files.series.append(self.simulation.steps(), &row[1..])?;
        }
        *self.simulation.phases.0.entry("series").or_default() += start.elapsed().as_secs_f64();
        Ok(())
    }

    pub(super) fn write_fields(&mut self) -> Result<()> {
        let Some(writer) = &mut self.fields else { return Ok(()) };
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        let grid = self.simulation.grid();
        let image = ImageGrid { points: grid.points, origin: grid.origin, spacing: grid.spacing };
        let variables = self.config.output.fields.iter().flat_map(|fields| &fields.variables);
        let (system, state) = self.simulation.system_and_state();
        let data = variables.map(|&variable| {
            Ok(FieldData {
                name: variable.name().to_string(),
                components: components(variable),
                values: system.output(state, variable)?.into(),
            })
        });
        let data = data.collect::<Result<_>>()?;
        let comm = self.simulation.backend().comm();
        let bytes = match comm.size() {
            1 => writer.write(step, time, &image, data)?,
            _ => writer.write_pieces(comm, &self.decomposition, (step, time), &image, data)?,
        };
        tracing::info!(step, time, bytes, "fields written");
        Ok(())
    }

    /// The planes through the middle of the box. Of a field that is spread over ranks nothing but them travels.
    pub(super) fn write_pictures(&mut self) -> Result<()> {
        self.pictures_taken += 1;
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        let points = self.simulation.grid().points;
        let (system, state) = self.simulation.system_and_state();
        let (quantity, values) = system.picture(state)?;
        let comm = self.simulation.backend().comm();
        for (name, across, [right, up]) in
            [(Plane::Xy, 2, [0, 1]), (Plane::Xz, 1, [0, 2]), (Plane::Yz, 0, [1, 2])]
        {
            let size = [points[right], points[up]];
            if size.contains(&1) {
                continue;
            }
            let middle = (across, points[across] / 2);
            let values = plane(comm, &self.decomposition, points, middle, &values);
            let (Some(values), Some(files)) = (values, &mut self.files) else { continue };
            // Each on its own scale: a plane of symmetry may hold far less than the others.
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let range = [least, most];
            let slice = Slice { plane: name, quantity, points: size, values: &values, range };
            files.slices.write(step, time, &slice)?;
        }
        Ok(())
    }
}

fn components(variable: Variable) -> u32 {
    match variable {
        Variable::Velocity | Variable::Vorticity => 3,
        _ => 1,
    }
}
