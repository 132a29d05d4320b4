//! Explicit operators: A is the identity.

use super::plan::{Plan, Step};
use crate::error::Result;
use crate::real::Real;

const KERNEL: &str = include_str!("../../../../kernels/lines/stencil.cu");
const THREADS: usize = 256;

/// One launch, a thread a point.
pub(super) fn steps<T: Real>(plan: &Plan<T>) -> Result<Vec<Step<T>>> {
    let mut text = plan.text(plan.len());
    text.define("THREADS", THREADS);
    text.push(KERNEL);
    let blocks = (plan.lines * plan.len()).div_ceil(THREADS);
    let source = text.source("stencil.cu");
    Ok(vec![plan.step(&source, "stencil", blocks, THREADS, 0, plan.arguments([]))?])
}
