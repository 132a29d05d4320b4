//! A sweep on a device, ready to run: fused where that can be, else operation by operation.

use std::sync::{Arc, OnceLock};

use super::composed::Composed;
use super::ends::Lines;
use super::fused::Fused;
use super::sweep_kernel::SweepKernel;
use super::{Buffer, Fusing, Workspace, made_once};
use crate::backend::Weights;
use crate::engine::{LineOperator, LineOperators, Op, Sweep};
use crate::error::Result;
use crate::grid::Axis;

/// A sweep along one axis of a grid, to be made ready to run on a device.
pub(super) struct Task {
    pub(super) workspace: Arc<Workspace>,
    pub(super) fusing: Fusing,
    pub(super) sweep: Sweep,
    pub(super) axis: Axis,
    pub(super) points: [usize; 3],
    pub(super) operators: LineOperators,
}

impl Task {
    /// Values of a field.
    pub(super) fn values(&self) -> usize {
        self.points.iter().product()
    }

    /// The lines that the sweep goes along.
    pub(super) fn lines(&self) -> Lines {
        Lines::along(self.axis, self.points)
    }

    pub(super) fn operator(&self, op: Op) -> &LineOperator {
        self.operators.get(self.axis, op)
    }
}

/// A task, and the program that is made of it when it is first needed.
pub(super) struct Later {
    pub(super) task: Task,
    pub(super) made: OnceLock<Program>,
}

impl Later {
    /// The program, which is made now where it was not.
    pub(super) fn get(&self) -> Result<&Program> {
        made_once(&self.made, || Program::new(&self.task))
    }
}

/// What a sweep is given in one run.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) read: &'a [&'a Buffer],
    pub(super) write: &'a [&'a mut Buffer],
    /// The interface values of every stage; none where lines are whole.
    pub(super) planes: &'a [&'a Buffer],
}

/// A sweep along one axis, ready to run on a device.
pub(super) struct Program {
    fused: Option<Fused>,
    /// Where it is not fused, or its lines are blocks of longer ones: what goes to the neighbours is packed by it.
    composed: Option<Composed>,
}

impl Program {
    pub(super) fn new(task: &Task) -> Result<Self> {
        let fused = Fused::new(task)?;
        let packs = fused.as_ref().is_none_or(Fused::is_coupled);
        let composed = packs.then(|| Composed::new(task)).transpose()?;
        Ok(Self { fused, composed })
    }

    /// That of a sweep over whole lines that applies operators to a field that it advances: `None` where it is not one kernel, as
    /// operation by operation an operator's operand is a field that is complete before the sweep ends.
    pub(super) fn of_advanced(task: &Task) -> Result<Option<Self>> {
        let fused = Fused::new(task)?;
        Ok(fused.map(|fused| Self { fused: Some(fused), composed: None }))
    }

    /// Its kernel, where it is one.
    pub(super) fn kernel(&self) -> Result<Option<SweepKernel>> {
        self.fused.as_ref().map(Fused::kernel).transpose()
    }

    pub(super) fn run(&self, fields: Fields, weights: Weights) {
        match (&self.fused, &self.composed) {
            (Some(fused), _) => fused.run(fields, weights),
            (None, Some(composed)) => composed.run(fields, weights),
            (None, None) => {}
        }
    }

    /// Fill `planes[stage]` from the operands of that stage; `planes` of earlier ones hold their interface values.
    pub(super) fn pack(&self, stage: usize, fields: Fields) {
        if let Some(composed) = &self.composed {
            composed.pack(stage, fields);
        }
    }
}
