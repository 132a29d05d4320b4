//! A sweep on a device, ready to run: fused where that can be, else operation by operation.

use super::composed::Composed;
use super::ends::Lines;
use super::fused::Fused;
use super::{Buffer, Gpu};
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

/// A sweep along one axis of a grid, to be made ready to run on a device.
#[derive(Clone, Copy)]
pub(super) struct Task<'a, T> {
    pub(super) gpu: &'a Gpu<T>,
    pub(super) sweep: &'a Sweep,
    pub(super) axis: Axis,
    pub(super) points: [usize; 3],
    pub(super) operators: &'a LineOperators<T>,
}

impl<T: Real> Task<'_, T> {
    /// The lines that the sweep goes along.
    pub(super) fn lines(&self) -> Lines {
        Lines::along(self.axis, self.points)
    }
}

impl<T: Real> Program<T> {
    pub(super) fn new(task: &Task<T>) -> Result<Self> {
        let fused = Fused::new(task)?;
        let packs = fused.as_ref().is_none_or(Fused::is_coupled);
        let composed = packs.then(|| Composed::new(task)).transpose()?;
        Ok(Self { fused, composed })
    }

    /// That of a sweep over whole lines that applies operators to a field that it advances: `None` where it is not one kernel, as
    /// operation by operation an operator's operand is a field that is complete before the sweep ends.
    pub(super) fn of_advanced(task: &Task<T>) -> Result<Option<Self>> {
        let fused = Fused::new(task)?;
        Ok(fused.map(|fused| Self { fused: Some(fused), composed: None }))
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
