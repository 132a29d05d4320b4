//! A sweep that is compiled when it is first needed.

use std::sync::{Arc, OnceLock};

use super::program::{Program, Task};
use super::{Fusing, Workspace};
use crate::engine::{LineOperators, Sweep};
use crate::error::Result;
use crate::grid::Axis;

/// A sweep, and the program that is made of it.
pub(super) struct Later {
    pub(super) workspace: Arc<Workspace>,
    pub(super) fusing: Fusing,
    pub(super) sweep: Sweep,
    pub(super) axis: Axis,
    pub(super) points: [usize; 3],
    pub(super) operators: LineOperators,
    pub(super) made: OnceLock<Program>,
}

impl Later {
    /// The program, which is made now where it was not.
    pub(super) fn get(&self) -> Result<&Program> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let Self { workspace, fusing, sweep, axis, points, operators, .. } = self;
        let (fusing, axis, points) = (*fusing, *axis, *points);
        let made = Program::new(&Task { workspace, fusing, sweep, axis, points, operators })?;
        Ok(self.made.get_or_init(|| made))
    }

    /// Whether it is made.
    pub(super) fn is_made(&self) -> bool {
        self.made.get().is_some()
    }
}
