//! A sweep on a device, ready to run: fused where that can be, else operation by operation.

use super::composed::Composed;
use super::fused::Fused;
use super::{Buffer, Fusing, Gpu};
use crate::backend::Weights;
use crate::engine::{LineOperators, Sweep};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Real;

/// A sweep along one axis, ready to run on a device.
pub struct Program<T> {
    fused: Option<Fused<T>>,
    /// Where it is not fused, or its lines are blocks of longer ones: what goes to the neighbours is packed by it.
    composed: Option<Composed<T>>,
}

impl<T: Real> Program<T> {
    pub(super) fn new(
        gpu: &Gpu<T>,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators<T>,
    ) -> Result<Self> {
        let fused = match gpu.fuses() {
            Fusing::Nothing => None,
            _ => Fused::new(gpu, sweep, axis, points, operators)?,
        };
        let packs = fused.as_ref().is_none_or(Fused::is_coupled);
        let composed = packs.then(|| Composed::new(gpu, sweep, axis, points, operators));
        Ok(Self { fused, composed: composed.transpose()? })
    }

    /// Run the sweep. `planes` of every stage hold its inflow; there are none where lines are whole.
    pub(super) fn run(
        &self,
        gpu: &Gpu<T>,
        read: &[&Buffer<T>],
        write: &[&mut Buffer<T>],
        planes: &[Buffer<T>],
        weights: Weights,
    ) {
        match (&self.fused, &self.composed) {
            (Some(fused), _) => fused.run(gpu, read, write, planes, weights),
            (None, Some(composed)) => composed.run(gpu, read, write, planes, weights),
            (None, None) => {}
        }
    }

    /// Fill `planes[stage]` from the operands of that stage; `planes` of earlier ones hold their inflow.
    pub(super) fn pack(
        &self,
        gpu: &Gpu<T>,
        stage: usize,
        read: &[&Buffer<T>],
        write: &[&mut Buffer<T>],
        planes: &[Buffer<T>],
    ) {
        if let Some(composed) = &self.composed {
            composed.pack(gpu, stage, read, write, planes);
        }
    }
}
