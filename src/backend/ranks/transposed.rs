//! A sweep along a split axis by whole lines: operands are exchanged so that every rank holds some whole lines, and
//! results are sent back. Each batch of operands of one operator takes two all-to-alls.

use super::room::{Needed, WholeLines};
use super::{Phase, Place, Ranks, Staging, TransposeLayout, locked};
use crate::backend::{Field, Program, Sources, Targets, Weights};
use crate::engine::distributed::{Batch, Parts, Source};
use crate::engine::{LineOperators, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::Axis;

/// A sweep ready to run on lines made whole.
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
    deal: TransposeLayout,
    /// (first value, values) for every rank: of the shares of this block's lines, and of the lines that this rank solves.
    shares: Vec<(usize, usize)>,
    lines: Vec<(usize, usize)>,
    /// Solves this rank's lines; `None` if it has none.
    solve: Option<Program>,
}

/// Returns the number of values to exchange for `fields` operands: the larger of this block and the lines that this rank
/// solves.
pub(super) fn buffer(place: &Place, fields: usize) -> usize {
    let Place { axis, block, lengths, position } = place;
    let deal = TransposeLayout { points: *block, axis: *axis, parts: lengths.len(), fields };
    let lines = deal.share(*position).len() * lengths.iter().sum::<usize>();
    fields * lines.max(block.iter().product())
}

impl Transposed {
    pub(super) fn new(
        ranks: &Ranks,
        sweep: &Sweep,
        place: &Place,
        operators: &LineOperators,
    ) -> Result<Self> {
        let parts = Parts::of(sweep);
        let Place { axis, block, .. } = *place;
        let field = block.iter().product();
        ranks.room.grow(ranks, &Needed::of_whole_lines(&parts, place), field)?;
        let transfer = |batch: &Batch| Transfer::new(ranks, place, batch, operators);
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
        let mut whole_lines = locked(&ranks.room.whole_lines);
        let own = whole_lines.entry(self.field).or_default();
        let WholeLines { products, results, travel, .. } = own;
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
                ranks.inner.deal(&transfer.deal, at, field, to);
            };
            let Some((buffers, staging)) = travel else { continue };
            transfer.run(ranks, self.axis, operand, results, buffers, staging);
        }
        let all: Vec<&Field> = read.iter().copied().chain(&*results).collect();
        ranks.timed(Phase::Local, || ranks.inner.run(&self.last, &all, write, weights));
    }
}

impl Transfer {
    fn new(ranks: &Ranks, place: &Place, batch: &Batch, operators: &LineOperators) -> Result<Self> {
        let Place { axis, block, lengths, position } = place;
        let Batch { op, products, count, applied } = batch;
        let (a, parts, fields) = (axis.index(), lengths.len(), applied.len());
        let deal = TransposeLayout { points: *block, axis: *axis, parts, fields };
        let mine = deal.share(*position).len() * fields;
        let shares = (0..parts).map(|part| {
            let share = deal.share(part);
            let a_line = block[a] * fields;
            (share.start * a_line, share.len() * a_line)
        });
        let lines = (0..parts).map(|from| {
            let before: usize = lengths[..from].iter().sum();
            (before * mine, lengths[from] * mine)
        });
        let products = match count {
            0 => None,
            _ => Some(ranks.inner.program(products, (*axis, *block, operators))?),
        };
        // Received data are [point][field][line]: the fields act as additional lines, side by side, along the second
        // axis.
        let n: usize = lengths.iter().sum();
        let solve = match mine {
            0 => None,
            _ => {
                let s = SweepBuilder::new();
                s.store(0, s.apply(*op, s.read(0)));
                let whole = operators.get(*axis, *op).clone();
                let whole = LineOperators::along(Axis::Y, vec![(*op, whole)]);
                Some(ranks.inner.program(&s.build(), (Axis::Y, [mine, n, 1], &whole))?)
            }
        };
        let (shares, lines) = (shares.collect(), lines.collect());
        Ok(Self { products, count: *count, operands: applied.clone(), deal, shares, lines, solve })
    }

    /// Computes the results of all operands; `deal` distributes the lines of one operand.
    fn run(
        &self,
        ranks: &Ranks,
        axis: usize,
        deal: impl Fn(Source, &[Field], usize, &mut Field),
        results: &mut [Field],
        [here, there]: &mut [Field; 2],
        staging: &mut [Staging; 2],
    ) {
        ranks.timed(Phase::Pack, || {
            for (at, (source, _)) in self.operands.iter().enumerate() {
                deal(*source, results, at, here);
            }
        });
        ranks.all_to_all(axis, here, &self.shares, there, &self.lines, staging);
        if let Some(program) = &self.solve {
            ranks.timed(Phase::Local, || {
                ranks.inner.run_on_beginnings(program, there, here);
            });
        }
        ranks.all_to_all(axis, here, &self.lines, there, &self.shares, staging);
        ranks.timed(Phase::Pack, || {
            for (at, (_, result)) in self.operands.iter().enumerate() {
                ranks.inner.collect(&self.deal, at, there, &mut results[*result]);
            }
        });
    }
}
