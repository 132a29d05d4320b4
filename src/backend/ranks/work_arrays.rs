//! Work arrays of sweeps along split axes. The sweeps of a rank use them one after another, so that a rank needs only the
//! memory of its largest sweep.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::coupled::layouts;
use super::transposed::buffer_len;
use super::{Ranks, SplitLines, Staging, locked};
use crate::backend::Field;
use crate::engine::distributed::{self, Batch, Layout, Method, Parts};
use crate::engine::{LineOperators, Op, Sweep};
use crate::error::Result;
use crate::grid::{Axis, Block, Decomposition};

/// Lengths of the work arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkArrayLengths {
    /// Number of values of the planes of every stage of sweeps along each axis. The axes do not share arrays: messages of
    /// sweeps along several axes are under way at the same time.
    planes: [Vec<usize>; 3],
    /// For sweeps by transposed lines: number of fields that operators are applied to, number of result fields, and
    /// values of each of the two exchanged arrays.
    pub(super) products: usize,
    pub(super) results: usize,
    pub(super) buffer: usize,
}

impl WorkArrayLengths {
    /// Returns the lengths for the planes of every stage along an axis.
    pub(super) fn planes(axis: usize, stages: Vec<usize>) -> Self {
        let mut needed = Self::default();
        needed.planes[axis] = stages;
        needed
    }

    /// Returns the lengths that `sweeps` need on the rank with `block` if the run requests method `requested`. Sweeps
    /// that a run rejects are not counted.
    pub(crate) fn of<'a>(
        sweeps: impl IntoIterator<Item = &'a (Axis, Sweep)>,
        operators: &LineOperators,
        decomposition: Decomposition,
        (points, block): ([usize; 3], &Block),
        requested: Option<Method>,
    ) -> Self {
        let mut needed = Self::default();
        for (axis, sweep) in sweeps {
            let (a, ops) = (axis.index(), sweep.operators());
            let is_known = |op: &Op| operators.find(*axis, *op).is_some();
            if decomposition.ranks[a] == 1 || ops.is_empty() || !ops.iter().all(is_known) {
                continue;
            }
            let lengths = decomposition.lengths(a, points[a]);
            let first = |position: usize| lengths[..position].iter().sum::<usize>();
            let position = (0..lengths.len()).find(|at| first(*at) == block.start[a]).unwrap_or(0);
            let (method, _) =
                distributed::choose_method(requested, *axis, &ops, operators, &lengths);
            if method == Method::Transpose {
                let split_lines =
                    SplitLines { axis: *axis, block: block.points, lengths, position };
                needed.add(&Self::for_transpose(&Parts::of(sweep), &split_lines));
                continue;
            }
            let plan = |op: &Op| {
                let operator = operators.get(*axis, *op);
                let block = distributed::distribute(operator, &lengths, position, method);
                block.ok().map(|(_, plan)| (*op, plan))
            };
            let Some(plans) = ops.iter().map(plan).collect::<Option<Vec<_>>>() else { continue };
            let lines = block.len() / block.points[a].max(1);
            let planes = |(_, layout): (_, Layout)| layout.planes() * lines;
            needed.add(&Self::planes(a, layouts(sweep, &plans).into_iter().map(planes).collect()));
        }
        needed
    }

    /// Returns the lengths that the `parts` of a sweep need along lines that are made complete by a transpose.
    pub(super) fn for_transpose(parts: &Parts, split_lines: &SplitLines) -> Self {
        let max = |of: &dyn Fn(&Batch) -> usize| parts.batches.iter().map(of).max().unwrap_or(0);
        Self {
            products: max(&|batch| batch.count),
            results: parts.results,
            buffer: buffer_len(split_lines, max(&|batch| batch.applied.len())),
            ..Self::default()
        }
    }

    fn add(&mut self, other: &Self) {
        for (own, other) in self.planes.iter_mut().zip(&other.planes) {
            own.resize(own.len().max(other.len()), 0);
            own.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
        }
        self.products = self.products.max(other.products);
        self.results = self.results.max(other.results);
        self.buffer = self.buffer.max(other.buffer);
    }

    /// Returns the number of values of all arrays, for fields of `field` values.
    pub(crate) fn values(&self, field: usize) -> usize {
        let planes: usize = self.planes.iter().flatten().sum();
        planes + (self.products + self.results) * field + 2 * self.buffer
    }
}

/// The work arrays.
#[derive(Default)]
pub(super) struct WorkArrays {
    /// Arrays of sweeps along each axis, for one sweep at a time.
    pub(super) planes: [Mutex<Planes>; 3],
    /// Arrays by number of values per field.
    pub(super) transpose: Mutex<BTreeMap<usize, TransposeArrays>>,
}

/// Arrays for the planes of every stage of the sweeps along an axis.
#[derive(Default)]
pub(super) struct Planes {
    pub(super) planes: Vec<Field>,
    pub(super) staging: Vec<Staging>,
    lengths: Vec<usize>,
}

/// The two exchanged arrays, and host memory for each.
type ExchangedArrays = ([Field; 2], [Staging; 2]);

/// Arrays for sweeps by transposed lines.
#[derive(Default)]
pub(super) struct TransposeArrays {
    pub(super) products: Vec<Field>,
    pub(super) results: Vec<Field>,
    /// The array that is sent and the array that is received, both ways, and host memory for them.
    pub(super) exchanged: Option<ExchangedArrays>,
    /// Number of values of each exchanged array.
    buffer: usize,
}

impl WorkArrays {
    /// Makes the arrays at least as long as `needed`, for fields of `field` values.
    pub(super) fn grow(
        &self,
        ranks: &Ranks,
        needed: &WorkArrayLengths,
        field: usize,
    ) -> Result<()> {
        for (own, lengths) in self.planes.iter().zip(&needed.planes) {
            let Planes { planes, staging, lengths: known } = &mut *locked(own);
            for (stage, &len) in lengths.iter().enumerate() {
                let len = len.max(1);
                if known.get(stage).is_some_and(|known| *known >= len) {
                    continue;
                }
                if stage == known.len() {
                    known.push(0);
                    planes.push(ranks.inner.planes(1)?);
                    staging.push(ranks.staging(0));
                }
                planes[stage] = ranks.inner.planes(len)?;
                staging[stage] = ranks.staging(len);
                known[stage] = len;
            }
        }
        let mut transpose = locked(&self.transpose);
        let own = transpose.entry(field).or_default();
        let TransposeArrays { products, results, exchanged, buffer } = own;
        for (fields, count) in [(products, needed.products), (results, needed.results)] {
            while fields.len() < count {
                fields.push(ranks.inner.zeros(field)?);
            }
        }
        if needed.buffer > *buffer {
            // The short arrays are freed before the longer ones are allocated.
            (*exchanged, *buffer) = (None, needed.buffer);
            let array = || ranks.inner.planes(needed.buffer);
            let staging = || ranks.staging(needed.buffer);
            *exchanged = Some(([array()?, array()?], [staging(), staging()]));
        }
        Ok(())
    }
}
