//! `thomas`: LU, one thread per line.

use super::super::job::LaunchSize;
use super::plan::{Plan, Slot, Step};
use super::{OnHost, Solver, TRIDIAGONAL};
use crate::error::Result;

const THREADS: usize = 128;

pub(super) const THOMAS: Solver = Solver {
    name: "thomas",
    pentadiagonal: true,
    steps,
    on_host: OnHost::Elimination,
    ..TRIDIAGONAL
};

/// One launch, with one thread per line.
fn steps(plan: &Plan) -> Result<Vec<Step>> {
    let factors = &plan.operator.factors;
    let p = factors.half_band;
    let mut text = plan.text(factors.core);
    text.define("THREADS", THREADS);
    text.define("HEAD", factors.head);
    text.define("TAIL", factors.tail);
    text.constants("CORNER", factors.corner);
    text.push(include_str!("../../../../kernels/lines/thomas.cu"));

    let rows = factors.lower.iter().zip(&factors.upper);
    let rows = rows.flat_map(|(lower, upper)| lower[..=p].iter().chain(&upper[..p]));
    let coupled = if plan.operator.periodic { 0..factors.core } else { 0..0 };
    let coupled = coupled.filter(|m| *m < factors.head || *m >= factors.tail);
    let border = coupled.flat_map(|m| factors.rows[m][..p].iter().chain(&factors.columns[m][..p]));
    let tables = plan.table(rows.chain(border).copied().collect())?;

    let shape = LaunchSize::over(plan.lines.count, THREADS);
    let arguments = plan.arguments([Slot::Buffer(tables)]);
    Ok(vec![plan.step(&text.source("thomas.cu"), "thomas", &shape, arguments)?])
}
