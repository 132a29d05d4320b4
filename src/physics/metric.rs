//! Grid metrics read by sweeps. Along stretched lines d/dx = m d/dξ, where the metric m = dξ/dx is a field; on a curvilinear grid the
//! fields are the areas of faces and 1/J.
//!
//! Operators act along ξ, where points are equally spaced. With one map per axis the metric multiplies a derivative: the derivative of a
//! constant remains 0, and Σ (1/m) m D₁F equals the sum on a uniform line. Second derivatives are m² (D₂ − (D₂x) m D₁): the second
//! derivative of x is 0.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::problem::Problem;
use super::slots::read;
use super::volume::field_of;
use super::{SchemeConfig, ViscousForm};
use crate::backend::{Backend, Field};
use crate::engine::{Expr, Op, Operation, Sweep, SweepBuilder, Value};
use crate::error::Result;
use crate::grid::{Axis, Grid};

/// At the points of this rank's block, for every stretched axis: m, then, where second derivatives are taken, −m² D₂x. On a curvilinear
/// grid, in place of x and y, for one plane of points: the areas of faces and 1/J.
pub(super) struct Metric {
    fields: [Option<Field>; 2 * 3],
    /// Whether the grid is curvilinear.
    curved: bool,
}

/// Number of fields on a block of `nz` planes; the five of a single plane on curvilinear grids count as 5/`nz`, rounded up.
pub(super) fn fields(grid: &Grid, problem: &Problem, nz: usize) -> usize {
    let in_plane = if problem.mapping.is_some() { 5_usize.div_ceil(nz.max(1)) } else { 0 };
    let second = usize::from(uses_second_derivative(&problem.scheme));
    in_plane + grid.lines.iter().flatten().count() * (1 + second)
}

fn uses_second_derivative(scheme: &SchemeConfig) -> bool {
    scheme.viscous == ViscousForm::Laplacian
}

impl Metric {
    /// The metric of `grid` for `scheme`.
    pub(super) fn new(backend: &dyn Backend, grid: &Grid, scheme: &SchemeConfig) -> Result<Self> {
        let block = backend.block(grid.points);
        let field = |a: usize, of: &dyn Fn(usize) -> f64| {
            field_of(backend, block.len(), |at| of(block.index(at)[a])).map(Some)
        };
        let mut fields = [const { None }; 6];
        for (a, line) in grid.lines.iter().enumerate() {
            let Some(line) = line else { continue };
            let m = |i: usize| 1.0 / line.jacobian[i];
            fields[a] = field(a, &m)?;
            if uses_second_derivative(scheme) {
                fields[3 + a] = field(a, &|i| -(m(i) * m(i) * line.curvature[i]))?;
            }
        }
        if let Some(plane) = &grid.plane {
            let field = |of: &dyn Fn(usize) -> f64| {
                let at = |point| grid.in_plane(block.index(point));
                field_of(backend, block.points_per_plane(), |point| of(at(point))).map(Some)
            };
            for (area, slot) in read::AREAS.into_iter().flatten().enumerate() {
                fields[slot - read::METRIC] = field(&|at| plane.areas(at)[area])?;
            }
            fields[read::PER_VOLUME - read::METRIC] = field(&|at| 1.0 / plane.jacobian[at])?;
        }
        Ok(Self { fields, curved: grid.plane.is_some() })
    }

    /// The areas of faces and 1/J of a curvilinear grid; empty for other grids.
    pub(super) fn curvilinear_fields(&self) -> impl Iterator<Item = &Field> {
        let slots = read::AREAS.into_iter().flatten().chain([read::PER_VOLUME]);
        slots.filter(|_| self.curved).filter_map(|slot| self.fields[slot - read::METRIC].as_ref())
    }

    /// `fields` read by a sweep, followed by the metric at its slots.
    pub(super) fn append_to<'a>(
        &'a self,
        fields: &[&'a Field],
    ) -> SmallVec<[&'a Field; read::METRIC + 6]> {
        let mut all = SmallVec::from_slice(fields);
        if let Some(any) = self.fields.iter().flatten().next() {
            // The slots in between are not read: any field can fill them.
            all.resize(read::METRIC, any);
            all.extend(self.fields.iter().map(|field| field.as_ref().unwrap_or(any)));
        }
        all
    }
}

/// `sweep`, written for equally spaced lines along `axis`, converted to stretched lines.
pub(super) fn stretched(sweep: &Sweep, axis: Axis) -> Sweep {
    let s = SweepBuilder::new();
    let mut values: BTreeMap<Value, Value> = BTreeMap::new();
    for operation in &sweep.operations {
        let new_value = |value: &Value| values[value];
        let expr = |expr: &Expr| expr.renamed(|value| new_value(&value));
        let results = match operation {
            Operation::Read { slot, plane, .. } => vec![s.read_as(*slot, *plane)],
            Operation::Previous { slot, .. } => vec![s.previous(*slot)],
            Operation::Apply { op, operand, .. } => {
                vec![apply_on_stretched(&s, axis, *op, expr(operand))]
            }
            Operation::Let { expr: old, .. } => vec![s.define(expr(old))],
            Operation::Map { map, operands, .. } => {
                s.map_again(map, operands.iter().map(new_value).collect())
            }
            Operation::Advance { value, slot, .. } => vec![s.advanced(new_value(value), *slot)],
            Operation::Add { slot, expr: old } => {
                s.add(*slot, expr(old));
                Vec::new()
            }
            Operation::Store { slot, expr: old } => {
                s.store(*slot, expr(old));
                Vec::new()
            }
        };
        values.extend(operation.results().iter().copied().zip(results));
    }
    s.build()
}

/// `op` on the lines along `axis`.
fn apply_on_stretched(s: &SweepBuilder, axis: Axis, op: Op, operand: Expr) -> Value {
    let m = || s.read(read::METRIC + axis.index());
    match op {
        Op::Filter | Op::FilterOfOdd | Op::InterpolateToMidpoints => s.apply(op, operand),
        Op::D1 | Op::D1OfOdd | Op::DerivativeToPoints => s.define(m() * s.apply(op, operand)),
        Op::D2 | Op::D2OfOdd => {
            let slope = if op == Op::D2 { Op::D1 } else { Op::D1OfOdd };
            let first = s.define(m() * s.apply(slope, operand.clone()));
            let curvature = s.read(read::METRIC + 3 + axis.index());
            s.define(m() * m() * s.apply(op, operand) + curvature * first)
        }
        Op::DerivativeToMidpoints => {
            let m_midpoint = s.apply(Op::InterpolateToMidpoints, m());
            s.define(m_midpoint * s.apply(op, operand))
        }
    }
}
