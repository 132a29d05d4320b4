//! Sweeps along stretched lines: d/dx = m d/dξ, where the metric m = dξ/dx is a field that they read.
//!
//! Operators act along ξ, where points have equal spacings. With one map an axis the metric stands before a derivative: that of a
//! constant stays 0, and Σ (1/m) m D₁F is that of a uniform line. Second derivatives are m² D₂ + m (D₁m) D₁.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::slots::read;
use crate::backend::{Backend, Field};
use crate::engine::{Expr, Op, Operation, Sweep, SweepBuilder, Value};
use crate::error::Result;
use crate::grid::{Axis, Grid};
use crate::real::Values;

/// m at the points of this rank's block, of every stretched axis.
pub(super) struct Metric([Option<Field>; 3]);

impl Metric {
    /// That of `grid`.
    ///
    /// # Errors
    /// Where there is no memory left.
    pub(super) fn new(backend: &dyn Backend, grid: &Grid) -> Result<Self> {
        let block = backend.block(grid.points);
        let field = |a: usize| {
            let mut values = Values::zeros(backend.precision(), block.len());
            for at in 0..block.len() {
                values.set(at, 1.0 / grid.jacobian(a, block.index(at)[a]));
            }
            backend.field(&values)
        };
        let of = |a: usize| grid.lines[a].as_ref().map(|_| field(a)).transpose();
        Ok(Self([of(0)?, of(1)?, of(2)?]))
    }

    /// `fields` that a sweep reads, with those of the metric where it expects them.
    pub(super) fn behind<'a>(
        &'a self,
        fields: &[&'a Field],
    ) -> SmallVec<[&'a Field; read::METRIC + 3]> {
        let mut all = SmallVec::from_slice(fields);
        if let Some(any) = self.0.iter().flatten().next() {
            // Nobody reads what lies between: any field stands for it.
            all.resize(read::METRIC, any);
            all.extend(self.0.iter().map(|field| field.as_ref().unwrap_or(any)));
        }
        all
    }
}

/// `sweep`, written for lines along `axis` of equal spacings, on the lines of `grid`.
pub(super) fn on_lines(sweep: Sweep, axis: Axis, grid: &Grid) -> Sweep {
    if grid.lines[axis.index()].is_some() { stretched(&sweep, axis) } else { sweep }
}

fn stretched(sweep: &Sweep, axis: Axis) -> Sweep {
    let s = SweepBuilder::new();
    let mut values: BTreeMap<Value, Value> = BTreeMap::new();
    for operation in &sweep.operations {
        let of = |value: &Value| values[value];
        let expr = |expr: &Expr| expr.renamed(|value| of(&value));
        let (results, made): (&[Value], Vec<Value>) = match operation {
            Operation::Read { slot, .. } => (operation.results(), vec![s.read(*slot)]),
            Operation::Previous { slot, .. } => (operation.results(), vec![s.previous(*slot)]),
            Operation::Apply { op, operand, .. } => {
                (operation.results(), vec![applied(&s, axis, *op, expr(operand))])
            }
            Operation::Let { expr: of, .. } => (operation.results(), vec![s.define(expr(of))]),
            Operation::Map { map, operands, .. } => {
                (operation.results(), s.map_again(map, operands.iter().map(of).collect()))
            }
            Operation::Advance { value, slot, .. } => {
                (operation.results(), vec![s.advanced(of(value), *slot)])
            }
            Operation::Add { slot, expr: of } => {
                s.add(*slot, expr(of));
                continue;
            }
            Operation::Store { slot, expr: of } => {
                s.store(*slot, expr(of));
                continue;
            }
        };
        values.extend(results.iter().copied().zip(made));
    }
    s.build()
}

/// `op` on the lines along `axis`.
fn applied(s: &SweepBuilder, axis: Axis, op: Op, operand: Expr) -> Value {
    let m = || s.read(read::METRIC + axis.index());
    match op {
        Op::Filter | Op::InterpolateToMidpoints => s.apply(op, operand),
        Op::D1 | Op::DerivativeToPoints => s.define(m() * s.apply(op, operand)),
        Op::D2 => {
            let first = s.define(m() * s.d1(operand.clone()));
            s.define(m() * m() * s.d2(operand) + s.d1(m()) * first)
        }
        Op::DerivativeToMidpoints => {
            let between = s.apply(Op::InterpolateToMidpoints, m());
            s.define(between * s.apply(op, operand))
        }
    }
}
