//! Flow quantities at the points, for pictures, files and statistics.

use super::Variable;
use super::navier_stokes::{Formulas, NavierStokes};
use super::slots::{conserved, exactly, flow};
use crate::backend::{Backend, Field, Prepared};
use crate::error::Result;
use crate::statistics::Flow;

/// The values of a field on the host; `at_rest` is their base value.
pub(super) fn on_host(backend: &dyn Backend, field: &Field, at_rest: f64) -> Result<Vec<f64>> {
    Ok(backend.values(field)?.iter().map(|value| value + at_rest).collect())
}

impl NavierStokes {
    /// (u, v, w, p', T'), written to `scratch`.
    fn primitives<'a>(&self, u: &[Field], scratch: &'a mut [Field]) -> [&'a mut Field; 5] {
        let [x, y, z, p, t] = exactly(scratch.iter_mut().take(5));
        let to = &mut [&mut *x, &mut *y, &mut *z, &mut *p, &mut *t];
        self.backend.map(&self.formulas.primitives, &flow(u), to, &[]);
        [x, y, z, p, t]
    }

    /// The results of a formula of the velocity gradients, written over ∂u/∂xⱼ.
    pub(super) fn map_gradients<'a>(
        &'a mut self,
        formula: fn(&Formulas) -> &Prepared,
        u: &[Field],
        scratch: &'a mut [Field],
    ) -> [&'a Field; 3] {
        let [x, y, z, rest @ ..] = self.gradients.compute(&*self.backend, u, scratch);
        let (rest, to) = (rest.map(|field| &*field), &mut [&mut *x, &mut *y, &mut *z]);
        self.backend.map(formula(&self.formulas), &rest, to, &[]);
        [x, y, z]
    }

    /// The components of a variable for output.
    pub(super) fn components<'a>(
        &'a mut self,
        u: &[Field],
        scratch: &'a mut [Field],
        variable: &Variable,
    ) -> Vec<&'a Field> {
        let full_value = |which: usize, from: &Field, to: &'a mut Field| {
            self.backend.map(&self.formulas.full_values[which], &[from], &mut [&mut *to], &[]);
            vec![&*to]
        };
        match variable {
            Variable::Velocity => {
                let [x, y, z, ..] = self.primitives(u, scratch);
                vec![x, y, z]
            }
            Variable::Density => full_value(0, &u[conserved::MASS], &mut scratch[0]),
            Variable::Pressure => {
                let [to, _, _, p, _] = self.primitives(u, scratch);
                full_value(1, p, to)
            }
            Variable::Temperature => {
                let [to, _, _, _, t] = self.primitives(u, scratch);
                full_value(2, t, to)
            }
            Variable::Vorticity => self.map_gradients(|it| &it.vorticity, u, scratch).to_vec(),
            Variable::QCriterion => vec![self.map_gradients(|it| &it.invariants, u, scratch)[1]],
            Variable::Dilatation => vec![self.map_gradients(|it| &it.invariants, u, scratch)[2]],
            Variable::Passive(name) => vec![self.scalar(u, name, &mut scratch[0])],
            Variable::Scalar => unreachable!("refused by the configuration"),
        }
    }

    /// Quantities at the points of this rank's block without gradients; Σ μ over these points replaces the viscosity.
    pub(super) fn quantities_of_sample(&self, u: &[Field], scratch: &mut [Field]) -> Result<Flow> {
        let host = |field: &Field, at_rest: f64| on_host(&*self.backend, field, at_rest);
        let [x, y, z, p, t] = self.primitives(u, scratch);
        let temperature = host(t, self.base.temperature)?;
        let mut flow = Flow {
            density: host(&u[conserved::MASS], self.base.density)?,
            velocity: [host(x, 0.0)?, host(y, 0.0)?, host(z, 0.0)?],
            pressure: host(p, self.base.pressure)?,
            viscosity: temperature.iter().map(|&t| self.gas.mu(t)).sum(),
            temperature,
            scalars: Vec::new(),
            gradient: None,
            gas: self.gas,
            walls: None,
        };
        for name in &self.scalar_names {
            flow.scalars.push(host(self.scalar(u, name, &mut scratch[0]), 0.0)?);
        }
        Ok(flow)
    }

    /// φ of the passive scalar `name`, written to `to`.
    fn scalar<'a>(&self, u: &[Field], name: &str, to: &'a mut Field) -> &'a Field {
        let passive = self.scalars.as_ref();
        let field = passive.and_then(|it| it.fraction(&*self.backend, u, name, to));
        field.unwrap_or_else(|| unreachable!("refused by the configuration"))
    }
}
