//! Explicit operators: A is the identity.

use super::super::job::LaunchSize;
use super::plan::{Plan, Step};
use crate::error::Result;

const THREADS: usize = 256;

/// One launch, with one thread per point.
pub(super) fn steps(plan: &Plan) -> Result<Vec<Step>> {
    let mut text = plan.text(plan.len());
    text.define("THREADS", THREADS);
    text.push(include_str!("../../../../kernels/lines/stencil.cu"));
    let shape = LaunchSize::over(plan.lines.count * plan.len(), THREADS);
    Ok(vec![plan.step(&text.source("stencil.cu"), "stencil", &shape, plan.arguments([]))?])
}
