//! The residual of an implicit stage.

use std::borrow::Cow;
use std::sync::Arc;

use super::formulas::{AlongEquation, COUNT, Equation, Rescaled, RescaledAlong, Shortfall};
use super::vectors::{Vector, fields};
use crate::backend::{Backend, Field, Prepared};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::physics::{Jacobian, System};
use crate::real::Values;

/// The equations of a stage, V − U* − γ dt R(V) = 0, divided by γ dt. The equation of an unknown imposed by boundaries is V − P(V) = 0.
/// Unknowns and equations are scaled.
pub(super) struct Residual {
    backend: Arc<dyn Backend>,
    scale: [f64; COUNT],
    /// 1 for each unknown imposed by boundaries, otherwise 0.
    held: Vector,
    scaled: Prepared,
    unscaled: Prepared,
    moved: Prepared,
    equation: Prepared,
    along: Prepared,
    shortfall: Prepared,
    /// For a steady run: (Γ − I)/(γ dt), and β.
    pseudo_time: Option<(Prepared, Field)>,
}

/// The end of a stage: 1/(γ dt), and the time.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageEnd {
    pub(super) per_dt: f64,
    pub(super) time: f64,
}

/// The equations, and the fields for U and its rates.
pub(in crate::time) struct FlowAccess<'a> {
    pub(in crate::time) system: &'a mut dyn System,
    pub(in crate::time) u: &'a mut [Field],
    pub(in crate::time) rate: &'a mut [Field],
}

impl FlowAccess<'_> {
    /// The fields of the flow in U.
    fn flow(&mut self) -> [&mut Field; COUNT] {
        let Some(flow) = self.u.first_chunk_mut() else {
            unreachable!("implicit steps are of flows")
        };
        flow.each_mut()
    }
}

/// A change of V for a finite difference of the residual: ε x, and minus the residual at V.
pub(super) struct Perturbation<'a> {
    pub(super) x: &'a Vector,
    pub(super) epsilon: f64,
    pub(super) right: &'a Vector,
}

impl Residual {
    pub(super) fn new(
        backend: Arc<dyn Backend>,
        jacobian: &Jacobian,
        is_steady: bool,
    ) -> Result<Self> {
        let scale = jacobian.scale();
        let held = |k: usize| {
            let held = jacobian.held().map(|held| f64::from(u8::from(held[k])));
            backend.field(&held.collect::<Vec<f64>>().into())
        };
        let map = |formula| backend.prepare(formula);
        let inertia = is_steady.then(|| backend.zeros(jacobian.held().len())).transpose()?;
        let pseudo_time = |inertia| Ok((map(PointFormula::map(jacobian.pseudo_time()))?, inertia));
        Ok(Self {
            pseudo_time: inertia.map(pseudo_time).transpose()?,
            held: [held(0)?, held(1)?, held(2)?, held(3)?, held(4)?],
            scaled: map(PointFormula::map(Rescaled(scale.map(f64::recip))))?,
            unscaled: map(PointFormula::map(Rescaled(scale)))?,
            moved: map(PointFormula::map(RescaledAlong(scale)))?,
            equation: map(PointFormula::map(Equation))?,
            along: map(PointFormula::map(AlongEquation))?,
            shortfall: map(PointFormula::max(Shortfall(scale)))?,
            scale,
            backend,
        })
    }

    /// U from scaled unknowns, on the host, point by point.
    pub(super) fn unscaled(&self, v: &Vector) -> Result<Vec<f64>> {
        let mut state = Vec::new();
        for (k, (field, scale)) in v.iter().zip(self.scale).enumerate() {
            let values = self.backend.values(field)?;
            state.resize(COUNT * values.len(), 0.0);
            let to = state[k..].iter_mut().step_by(COUNT);
            to.zip(values.iter()).for_each(|(to, value)| *to = scale * value);
        }
        Ok(state)
    }

    /// The variables of U from scaled unknowns, on the host.
    pub(super) fn variables(&self, v: &Vector) -> Result<Vec<Values<'static>>> {
        let variable = |(field, scale): (&Field, f64)| {
            let values = self.backend.values(field)?;
            Ok(values.iter().map(|value| scale * value).collect::<Vec<f64>>().into())
        };
        v.iter().zip(self.scale).map(variable).collect()
    }

    /// The scaled unknowns from variables of U on the host.
    pub(super) fn scaled(&self, variables: &[Vec<f64>; COUNT]) -> Result<Vector> {
        let field = |k: usize| {
            let scaled = variables[k].iter().map(|value| value / self.scale[k]);
            self.backend.field(&scaled.collect::<Vec<f64>>().into())
        };
        Ok([field(0)?, field(1)?, field(2)?, field(3)?, field(4)?])
    }

    /// Copy the state into scaled unknowns.
    pub(super) fn gather(&self, access: &mut FlowAccess<'_>, to: &mut Vector) {
        let u = access.flow();
        self.backend.map(&self.scaled, &u.each_ref().map(|u| &**u), &mut to.each_mut(), &[]);
    }

    /// Set the state from scaled unknowns, with the boundary conditions at `time`.
    pub(super) fn scatter(&self, access: &mut FlowAccess<'_>, v: &Vector, time: f64) {
        self.write(access, v);
        access.system.hold(access.u, time);
    }

    /// Set the state from scaled unknowns, without boundary conditions.
    pub(super) fn write(&self, access: &mut FlowAccess<'_>, v: &Vector) {
        self.backend.map(&self.unscaled, &fields([v]), &mut access.flow(), &[]);
    }

    /// The residual at `v`, where `base` is U*. Overwrites the fields of `access`.
    pub(super) fn at(
        &self,
        access: &mut FlowAccess<'_>,
        [v, base]: [&Vector; 2],
        stage: StageEnd,
        to: &mut Vector,
    ) {
        self.scatter(access, v, stage.time);
        let FlowAccess { system, u, rate } = access;
        system.rhs(u, rate, stage.time);
        for k in 0..COUNT {
            let read = [&u[k], &rate[k], &v[k], &base[k], &self.held[k]];
            let parameters = [stage.per_dt, self.scale[k].recip()];
            self.backend.map(&self.equation, &read, &mut [&mut to[k]], &parameters);
        }
    }

    /// Set β of pseudo-time, if used.
    pub(super) fn set_inertia(&mut self, inertia: Option<&[f64]>) -> Result<()> {
        match self.pseudo_time.as_mut().zip(inertia) {
            Some(((_, field), inertia)) => {
                self.backend.write(field, &Values::F64(Cow::Borrowed(inertia)))
            }
            None => Ok(()),
        }
    }

    /// The directional derivative of the residual at `v` along x. Overwrites the fields of `access`.
    pub(super) fn directional_derivative(
        &self,
        access: &mut FlowAccess<'_>,
        [v, base]: [&Vector; 2],
        stage: StageEnd,
        Perturbation { x, epsilon, right }: Perturbation<'_>,
        to: &mut Vector,
    ) {
        self.backend.map(&self.moved, &fields([v, x]), &mut access.flow(), &[epsilon]);
        access.system.hold(access.u, stage.time);
        let FlowAccess { system, u, rate } = access;
        system.rhs(u, rate, stage.time);
        for k in 0..COUNT {
            let read = [&u[k], &rate[k], &v[k], &base[k], &self.held[k], &x[k], &right[k]];
            let parameters = [stage.per_dt, self.scale[k].recip(), epsilon];
            self.backend.map(&self.along, &read, &mut [&mut to[k]], &parameters);
        }
        if let Some((formula, inertia)) = &self.pseudo_time {
            let mut read = fields([v, x, &self.held]);
            read.push(inertia);
            self.backend.map(formula, &read, &mut to.each_mut(), &[stage.per_dt]);
        }
    }

    /// The largest of the fractions 1, 1/2, 1/4 ... of `correction` that leaves density and pressure above a third of their values.
    /// All smaller fractions do so too, because ρe is a concave function of U. Collective.
    pub(super) fn admissible_fraction(&self, v: &Vector, correction: &Vector) -> Result<f64> {
        let mut fraction = 1.0;
        for _ in 0..40 {
            let read = fields([v, correction]);
            let shortfall = self.backend.reduce(&self.shortfall, &read, &[fraction])?;
            let [density, energy] = shortfall.wait()?;
            if density < 0.0 && energy < 0.0 {
                return Ok(fraction);
            }
            fraction *= 0.5;
        }
        Ok(0.0)
    }
}
