//! A sweep along a split axis by transposed lines: operands are exchanged so that every rank stores some complete
//! lines, and results are sent back. Each batch of operands of one operator takes two all-to-alls.

use super::work_arrays::{TransposeArrays, WorkArrayLengths};
use super::{Phase, Ranks, SplitLines, Staging, TransposeLayout, locked};
use crate::backend::{Field, Program, Sources, Targets, Weights};
use crate::engine::distributed::{Batch, Parts, Source};
use crate::engine::{LineOperators, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::Axis;

/// A sweep ready to run on lines made complete by a transpose.
pub(super) struct Transposed {
    axis: usize,
    /// Number of values per field.
    field: usize,
    read: usize,
    written: usize,
    results: usize,
    transfers: Vec<Transfer>,
    last: Program,
}

/// A batch of operands of one operator, and the targets of their results.
struct Transfer {
    products: Option<Program>,
    count: usize,
    operands: Vec<(Source, usize)>,
    layout: TransposeLayout,
    /// (first value, values) for every rank: of the shares of this block's lines, and of the lines that this rank solves.
    shares: Vec<(usize, usize)>,
    lines: Vec<(usize, usize)>,
    /// Solves this rank's lines; `None` if it has none.
    solve: Option<Program>,
}

/// Returns the number of values to exchange for `fields` operands: the larger of this block and the lines that this rank
/// solves.
pub(super) fn buffer_len(split_lines: &SplitLines, fields: usize) -> usize {
    let SplitLines { axis, block, lengths, position } = split_lines;
    let layout = TransposeLayout { points: *block, axis: *axis, parts: lengths.len(), fields };
    let lines = layout.share(*position).len() * lengths.iter().sum::<usize>();
    fields * lines.max(block.iter().product())
}

impl Transposed {
    pub(super) fn new(
        ranks: &Ranks,
        sweep: &Sweep,
        split_lines: &SplitLines,
        operators: &LineOperators,
    ) -> Result<Self> {
        let parts = Parts::of(sweep);
        let SplitLines { axis, block, .. } = *split_lines;
        let field = block.iter().product();
        ranks.work_arrays.grow(
            ranks,
            &WorkArrayLengths::for_transpose(&parts, split_lines),
            field,
        )?;
        let transfer = |batch: &Batch| Transfer::new(ranks, split_lines, batch, operators);
        Ok(Self {
            axis: axis.index(),
            field,
            read: parts.read,
            written: parts.written,
            results: parts.results,
            transfers: parts.batches.iter().map(transfer).collect::<Result<_>>()?,
            last: ranks.inner.program(&parts.last, (axis, block, operators))?,
        })
    }

    pub(super) fn run(&self, ranks: &Ranks, read: Sources, write: Targets, weights: Weights) {
        let mut transpose = locked(&ranks.work_arrays.transpose);
        let own = transpose.entry(self.field).or_default();
        let TransposeArrays { products, results, exchanged, .. } = own;
        let results = &mut results[..self.results];
        let read = &read[..self.read];
        for transfer in &self.transfers {
            if let Some(program) = &transfer.products {
                let written = write[..self.written].iter().map(|field| &**field);
                let all: Vec<&Field> =
                    read.iter().copied().chain(written).chain(&*results).collect();
                let mut to: Vec<&mut Field> = products.iter_mut().take(transfer.count).collect();
                ranks.timed(Phase::Local, || ranks.inner.run(program, &all, &mut to, Weights::SET));
            }
            let operand = |source: Source, results: &[Field], at: usize, to: &mut Field| {
                let field = match source {
                    Source::Read(slot) => read[slot],
                    Source::Written(slot) => &*write[slot],
                    Source::Result(at) => &results[at],
                    Source::Product(at) => &products[at],
                };
                ranks.inner.deal(&transfer.layout, at, field, to);
            };
            let Some((buffers, staging)) = exchanged else { continue };
            transfer.run(ranks, self.axis, operand, results, buffers, staging);
        }
        let all: Vec<&Field> = read.iter().copied().chain(&*results).collect();
        ranks.timed(Phase::Local, || ranks.inner.run(&self.last, &all, write, weights));
    }
}

impl Transfer {
    fn new(
        ranks: &Ranks,
        split_lines: &SplitLines,
        batch: &Batch,
        operators: &LineOperators,
    ) -> Result<Self> {
        let SplitLines { axis, block, lengths, position } = split_lines;
        let Batch { op, products, count, applied } = batch;
        let (a, parts, fields) = (axis.index(), lengths.len(), applied.len());
        let layout = TransposeLayout { points: *block, axis: *axis, parts, fields };
        let own_lines = layout.share(*position).len() * fields;
        let shares = (0..parts).map(|part| {
            let share = layout.share(part);
            let per_line = block[a] * fields;
            (share.start * per_line, share.len() * per_line)
        });
        let lines = (0..parts).map(|from| {
            let before: usize = lengths[..from].iter().sum();
            (before * own_lines, lengths[from] * own_lines)
        });
        let products = match count {
            0 => None,
            _ => Some(ranks.inner.program(products, (*axis, *block, operators))?),
        };
        // Received data are [point][field][line]: the fields act as additional lines, side by side, along the second
        // axis.
        let n: usize = lengths.iter().sum();
        let solve = match own_lines {
            0 => None,
            _ => {
                let s = SweepBuilder::new();
                s.store(0, s.apply(*op, s.read(0)));
                let whole = operators.get(*axis, *op).clone();
                let whole = LineOperators::along(Axis::Y, vec![(*op, whole)]);
                Some(ranks.inner.program(&s.build(), (Axis::Y, [own_lines, n, 1], &whole))?)
            }
        };
        let (shares, lines) = (shares.collect(), lines.collect());
        Ok(Self {
            products,
            count: *count,
            operands: applied.clone(),
            layout,
            shares,
            lines,
            solve,
        })
    }

    /// Computes the results of all operands; `distribute` sends the lines of one operand.
    fn run(
        &self,
        ranks: &Ranks,
        axis: usize,
        distribute: impl Fn(Source, &[Field], usize, &mut Field),
        results: &mut [Field],
        [sent, received]: &mut [Field; 2],
        staging: &mut [Staging; 2],
    ) {
        ranks.timed(Phase::Pack, || {
            for (at, (source, _)) in self.operands.iter().enumerate() {
                distribute(*source, results, at, sent);
            }
        });
        ranks.all_to_all(axis, sent, &self.shares, received, &self.lines, staging);
        if let Some(program) = &self.solve {
            ranks.timed(Phase::Local, || {
                ranks.inner.run_on_leading_values(program, received, sent);
            });
        }
        ranks.all_to_all(axis, sent, &self.lines, received, &self.shares, staging);
        ranks.timed(Phase::Pack, || {
            for (at, (_, result)) in self.operands.iter().enumerate() {
                ranks.inner.collect(&self.layout, at, received, &mut results[*result]);
            }
        });
    }
}
