//! `thomas`: LU, one thread a line.

use super::plan::{Plan, Slot, Step};
use crate::error::Result;
use crate::real::Real;

const KERNEL: &str = include_str!("../../../../kernels/lines/thomas.cu");
const THREADS: usize = 128;

/// One launch, a thread a line.
pub(super) fn steps<T: Real>(plan: &Plan<T>) -> Result<Vec<Step<T>>> {
    let factors = &plan.operator.factors;
    let p = factors.half_band;
    let mut text = plan.text(factors.core);
    text.define("THREADS", THREADS);
    text.define("HEAD", factors.head);
    text.define("TAIL", factors.tail);
    text.constants::<T>("CORNER", factors.corner.map(T::f64));
    text.push(KERNEL);

    let rows = factors.lower.iter().zip(&factors.upper);
    let rows = rows.flat_map(|(lower, upper)| lower[..=p].iter().chain(&upper[..p]));
    let coupled = if plan.operator.periodic { 0..factors.core } else { 0..0 };
    let coupled = coupled.filter(|m| *m < factors.head || *m >= factors.tail);
    let border = coupled.flat_map(|m| factors.rows[m][..p].iter().chain(&factors.columns[m][..p]));
    let tables = plan.table(rows.chain(border).map(|value| value.f64()))?;

    let blocks = plan.lines.div_ceil(THREADS);
    let source = text.source("thomas.cu");
    Ok(vec![plan.step(
        &source,
        "thomas",
        blocks,
        THREADS,
        0,
        plan.arguments([Slot::Buffer(tables)]),
    )?])
}
