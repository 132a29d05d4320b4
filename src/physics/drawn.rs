//! The fields shown in the pictures of a run.

use super::Gas;
use super::base_state::BaseState;
use super::formulas::Primitives;
use super::slots::{conserved, exactly};
use crate::backend::{Backend, Field};
use crate::engine::Formula as _;
use crate::error::Result;
use crate::io::slices::MACH_NUMBER;

/// A field shown in pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// |ω|.
    Vorticity,
    /// |u| / c, of flows on curvilinear grids.
    MachNumber,
    /// φ of the advection of a scalar.
    Scalar,
}

impl Drawn {
    /// The name of the quantity, for labels.
    pub fn quantity(self) -> &'static str {
        match self {
            Drawn::Vorticity => "vorticity magnitude",
            Drawn::MachNumber => MACH_NUMBER,
            Drawn::Scalar => "scalar",
        }
    }

    /// The unit; empty for quantities without a scale.
    pub fn unit(self) -> &'static str {
        if self == Drawn::Vorticity { "V₀/L" } else { "" }
    }
}

/// Ma |u| / √T at every point of the block: c² = T / Ma².
pub(super) fn mach_number(
    backend: &dyn Backend,
    (gas, base): (&Gas, BaseState),
    u: &[Field],
) -> Result<Vec<f64>> {
    let fields = u.iter().take(conserved::COUNT).map(|field| backend.values(field));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let primitives = Primitives { gas: *gas, base };
    let at = |point: usize| {
        let state = exactly(fields.iter().map(|field| field.at(point)));
        let [u, v, w, _, t] = primitives.at(state, state, []);
        gas.mach * ((u * u + v * v + w * w) / (t + base.temperature)).sqrt()
    };
    Ok((0..fields[conserved::MASS].len()).map(at).collect())
}
