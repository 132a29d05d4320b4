//! A compiled sweep on a device: fused if possible, else operation by operation.

use std::sync::{Arc, OnceLock};

use super::composed::Composed;
use super::ends::Lines;
use super::fused::Fused;
use super::sweep_kernel::SweepKernel;
use super::{Buffer, Fusing, Workspace, get_or_try_init};
use crate::backend::Weights;
use crate::engine::{LineOperator, LineOperators, Op, Sweep};
use crate::error::Result;
use crate::grid::Axis;

/// A sweep along one axis of a grid, to be compiled for a device.
pub(super) struct Task {
    pub(super) workspace: Arc<Workspace>,
    pub(super) fusing: Fusing,
    pub(super) sweep: Sweep,
    pub(super) axis: Axis,
    pub(super) points: [usize; 3],
    pub(super) operators: LineOperators,
}

impl Task {
    /// Returns the number of values of a field.
    pub(super) fn values(&self) -> usize {
        self.points.iter().product()
    }

    /// Returns the lines along the axis of the sweep.
    pub(super) fn lines(&self) -> Lines {
        Lines::along(self.axis, self.points)
    }

    pub(super) fn operator(&self, op: Op) -> &LineOperator {
        self.operators.get(self.axis, op)
    }
}

/// A task, and its program, which is compiled at first use.
pub(super) struct LazyProgram {
    pub(super) task: Task,
    pub(super) compiled: OnceLock<Program>,
}

impl LazyProgram {
    /// Returns the program, which is compiled first if necessary.
    pub(super) fn get(&self) -> Result<&Program> {
        get_or_try_init(&self.compiled, || Program::new(&self.task))
    }
}

/// Fields of one run of a sweep.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) read: &'a [&'a Buffer],
    pub(super) write: &'a [&'a mut Buffer],
    /// Interface values of every stage; empty if lines are whole.
    pub(super) planes: &'a [&'a Buffer],
}

/// A sweep along one axis, compiled for a device.
pub(super) struct Program {
    fused: Option<Fused>,
    /// Present if the sweep is not fused, or if its lines are split across ranks: it packs the values for the neighbours.
    composed: Option<Composed>,
}

impl Program {
    pub(super) fn new(task: &Task) -> Result<Self> {
        let fused = Fused::new(task)?;
        let packs = fused.as_ref().is_none_or(Fused::is_coupled);
        let composed = packs.then(|| Composed::new(task)).transpose()?;
        Ok(Self { fused, composed })
    }

    /// Compiles a sweep over whole lines that applies operators to a field that it advances. Returns `None` if it is not
    /// one kernel: operation by operation, a field is advanced only at the end of the sweep, after the operators.
    pub(super) fn of_advanced(task: &Task) -> Result<Option<Self>> {
        let fused = Fused::new(task)?;
        Ok(fused.map(|fused| Self { fused: Some(fused), composed: None }))
    }

    /// Returns its kernel, if it is a single kernel.
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

    /// Fills `planes[stage]` from the operands of that stage; `planes` of earlier stages hold their interface values.
    pub(super) fn pack(&self, stage: usize, fields: Fields) {
        if let Some(composed) = &self.composed {
            composed.pack(stage, fields);
        }
    }
}
