//! What an implicit stage makes zero.

use rayon::prelude::*;

use crate::backend::{Backend, Field};
use crate::comm::Communicator;
use crate::error::{Error, Result};
use crate::physics::{Jacobian, System};
use crate::real::Values;

/// Unknowns of a point.
pub(super) const COUNT: usize = 5;
/// Points that a thread takes at least.
const PART: usize = 1024;

/// The equations of a stage, V − U* − γ dt R(V) = 0, divided by γ dt. What boundaries hold of the state is an equation too: V − P(V) = 0.
/// Unknowns and equations are scaled; those of a point stand together.
pub(super) struct Residual {
    scale: [f64; COUNT],
    /// Whether boundaries hold each unknown.
    held: Vec<[bool; COUNT]>,
}

/// The end of a stage: 1/(γ dt), and the time that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageEnd {
    pub(super) per_dt: f64,
    pub(super) time: f64,
}

/// What a residual is computed of: the equations, and fields for U and its rates.
pub(in crate::time) struct Place<'a> {
    pub(in crate::time) system: &'a mut dyn System,
    pub(in crate::time) u: &'a mut [Field],
    pub(in crate::time) rate: &'a mut [Field],
}

impl Residual {
    pub(super) fn new(jacobian: &Jacobian) -> Self {
        Self { scale: jacobian.scale(), held: jacobian.held().collect() }
    }

    /// How many unknowns this rank has.
    pub(super) fn len(&self) -> usize {
        COUNT * self.held.len()
    }

    /// U of scaled unknowns, point by point.
    pub(super) fn unscaled(&self, v: &[f64]) -> Vec<f64> {
        v.iter().zip(self.scale.iter().cycle()).map(|(v, scale)| v * scale).collect()
    }

    /// The scaled unknowns of variables that stand one after another.
    pub(super) fn scaled(&self, variables: &[Vec<f64>]) -> Vec<f64> {
        let value = |at: usize| variables[at % COUNT][at / COUNT] / self.scale[at % COUNT];
        (0..self.len()).map(value).collect()
    }

    /// The scaled unknowns of a state.
    ///
    /// # Errors
    /// What the device says of the work so far.
    pub(super) fn gather(&self, place: &Place<'_>, to: &mut [f64]) -> Result<()> {
        let u = on_host(place.system.backend(), place.u)?;
        let u = u.each_ref().map(numbers);
        to.par_chunks_exact_mut(COUNT).with_min_len(PART).enumerate().for_each(|(at, to)| {
            (0..COUNT).for_each(|k| to[k] = u[k][at] / self.scale[k]);
        });
        Ok(())
    }

    /// The state of scaled unknowns, with what boundaries hold at `time`.
    ///
    /// # Errors
    /// What the device says of the work so far.
    pub(super) fn scatter(&self, place: &mut Place<'_>, v: &[f64], time: f64) -> Result<()> {
        self.write(place, v)?;
        place.system.impose(place.u, time);
        Ok(())
    }

    /// The same as it is.
    ///
    /// # Errors
    /// As there.
    pub(super) fn write(&self, place: &mut Place<'_>, v: &[f64]) -> Result<()> {
        for (k, (field, scale)) in place.u.iter_mut().zip(self.scale).enumerate() {
            let own = v.par_chunks_exact(COUNT).with_min_len(PART).map(|point| point[k] * scale);
            place.system.backend().write(field, &own.collect::<Vec<f64>>().into())?;
        }
        Ok(())
    }

    /// The residual at `v`, where `base` is U*. The fields hold anything behind it.
    ///
    /// # Errors
    /// What the device says of the work so far.
    pub(super) fn at(
        &self,
        place: &mut Place<'_>,
        [v, base]: [&[f64]; 2],
        stage: StageEnd,
        to: &mut [f64],
    ) -> Result<()> {
        self.scatter(place, v, stage.time)?;
        let Place { system, u, rate } = place;
        system.rhs(u, rate);
        let (state, rates) = (on_host(system.backend(), u)?, on_host(system.backend(), rate)?);
        let (state, rates) = (state.each_ref().map(numbers), rates.each_ref().map(numbers));
        to.par_chunks_exact_mut(COUNT).with_min_len(PART).enumerate().for_each(|(at, to)| {
            for k in 0..COUNT {
                let own = state[k][at] / self.scale[k];
                to[k] = match self.held[at][k] {
                    true => stage.per_dt * (v[COUNT * at + k] - own),
                    false => {
                        stage.per_dt * (own - base[COUNT * at + k]) - rates[k][at] / self.scale[k]
                    }
                };
            }
        });
        Ok(())
    }

    /// The largest fraction of `change` that leaves density and pressure above a third of what they are, of 1, 1/2, 1/4 ... Collective.
    pub(super) fn admissible(&self, comm: &dyn Communicator, v: &[f64], change: &[f64]) -> f64 {
        const LEAST: f64 = 1.0 / 3.0;
        let density_and_pressure = |v: [f64; COUNT]| {
            let [rho, x, y, z, e] = std::array::from_fn(|k| v[k] * self.scale[k]);
            (rho, e - 0.5 * (x * x + y * y + z * z) / rho)
        };
        let fraction = |(v, change): (&[f64], &[f64])| {
            let (rho, p) = density_and_pressure(std::array::from_fn(|k| v[k]));
            let holds = |fraction: &f64| {
                let moved = std::array::from_fn(|k| v[k] + fraction * change[k]);
                let (moved_rho, moved_p) = density_and_pressure(moved);
                moved_rho > LEAST * rho && moved_p > LEAST * p
            };
            let tried = std::iter::successors(Some(1.0), |fraction| Some(0.5 * fraction));
            tried.take(40).find(holds).unwrap_or(0.0)
        };
        let points = v.par_chunks_exact(COUNT).zip(change.par_chunks_exact(COUNT));
        let least = points.with_min_len(PART).map(fraction).reduce(|| 1.0, f64::min);
        let mut negative = [-least];
        comm.max(&mut negative);
        -negative[0]
    }
}

fn on_host<'a>(backend: &dyn Backend, fields: &'a [Field]) -> Result<[Values<'a>; COUNT]> {
    let values = fields.iter().take(COUNT).map(|field| backend.values(field));
    let values = values.collect::<Result<Vec<_>>>()?;
    values
        .try_into()
        .map_err(|_| Error::refused("implicit steps of other fields than a flow's", ""))
}

/// Of fields of 64 bit, which implicit steps have.
fn numbers<'a>(values: &'a Values<'_>) -> &'a [f64] {
    match values {
        Values::F64(values) => values,
        Values::F32(_) => &[],
    }
}
