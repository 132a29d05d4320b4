//! What is compiled when it is first needed.

use std::sync::{Arc, OnceLock};

use super::program::{Program, Task};
use super::{Fusing, Workspace};
use crate::engine::{LineOperators, Sweep};
use crate::error::Result;
use crate::grid::Axis;

/// What `made` holds, which is made now where it was not.
pub(super) fn made_once<T>(made: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(made) = made.get() {
        return Ok(made);
    }
    let new = make()?;
    Ok(made.get_or_init(|| new))
}

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
        let Self { workspace, fusing, sweep, axis, points, operators, made } = self;
        let (fusing, axis, points) = (*fusing, *axis, *points);
        let make = || Program::new(&Task { workspace, fusing, sweep, axis, points, operators });
        made_once(made, make)
    }

    /// Whether it is made.
    pub(super) fn is_made(&self) -> bool {
        self.made.get().is_some()
    }
}
