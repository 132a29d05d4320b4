//! A sweep along a split axis by whole lines: operands travel so that every rank holds some lines from end to end, and
//! results travel back. Two all-to-alls for the operands of one operator.

use std::sync::{Mutex, PoisonError};

use super::{Blocks, Deal, Phase, Ranks};
use crate::backend::Weights;
use crate::engine::distributed::{Parts, Source};
use crate::engine::{LineOperators, Op, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::Axis;

/// Which lines.
pub(super) struct Place {
    pub(super) axis: Axis,
    /// Points of this rank's block.
    pub(super) block: [usize; 3],
    /// Points of every block along the axis.
    pub(super) lengths: Vec<usize>,
}

/// A sweep ready to run with its lines made whole.
pub(super) struct Transposed<B: Blocks> {
    axis: usize,
    read: usize,
    written: usize,
    stages: Vec<Stage<B>>,
    last: B::Program,
    state: Mutex<State<B>>,
}

struct Stage<B: Blocks> {
    products: Option<B::Program>,
    count: usize,
    transfers: Vec<Transfer<B>>,
}

/// All operands of one operator, and where their results go.
struct Transfer<B: Blocks> {
    operands: Vec<(Source, usize)>,
    deal: Deal,
    /// (first value, values) for every rank: of shares of lines of this block, and of this rank's lines.
    shares: Vec<(usize, usize)>,
    lines: Vec<(usize, usize)>,
    /// Solves this rank's lines; `None` where it has none.
    solve: Option<B::Program>,
}

struct State<B: Blocks> {
    products: Vec<B::Field>,
    results: Vec<B::Field>,
    /// Of every transfer, one after another.
    buffers: Vec<Buffers<B>>,
}

struct Buffers<B: Blocks> {
    /// Shares of this block's lines.
    shares: B::Field,
    /// This rank's lines, and their results.
    lines: [B::Field; 2],
    /// Host memory for both kinds.
    staging: [B::Staging; 2],
}

impl<B: Blocks> Transposed<B> {
    pub(super) fn new(
        ranks: &Ranks<B>,
        sweep: &Sweep,
        place: Place,
        operators: &LineOperators<B::Real>,
    ) -> Result<Self> {
        let inner = &ranks.inner;
        let parts = Parts::of(sweep);
        let Place { axis, block, .. } = place;
        let len = block.iter().product();
        let pointwise = |sweep: &Sweep| inner.program(sweep, axis, block, operators);
        let mut stages = Vec::new();
        let mut buffers = Vec::new();
        let mut first = 0;
        for stage in &parts.stages {
            let mut ops: Vec<Op> = stage.applied.iter().map(|(op, _)| *op).collect();
            ops.sort_unstable_by_key(|op| *op as usize);
            ops.dedup();
            let mut transfers = Vec::new();
            for op in ops {
                let of_op = stage.applied.iter().enumerate().filter(|(_, (other, _))| *other == op);
                let operands = of_op.map(|(at, (_, source))| (*source, first + at)).collect();
                let transfer = Transfer::new(ranks, &place, op, operands, operators)?;
                let len = |ranges: &[(usize, usize)]| {
                    ranges.iter().map(|(_, count)| count).sum::<usize>().max(1)
                };
                let [shares, lines] = [len(&transfer.shares), len(&transfer.lines)];
                buffers.push(Buffers {
                    shares: inner.planes(shares)?,
                    lines: [inner.planes(lines)?, inner.planes(lines)?],
                    staging: [shares, lines].map(|len| ranks.staging(len)),
                });
                transfers.push(transfer);
            }
            first += stage.applied.len();
            let products = match stage.count {
                0 => None,
                _ => Some(pointwise(&stage.products)?),
            };
            stages.push(Stage { products, count: stage.count, transfers });
        }
        let most = stages.iter().map(|stage| stage.count).max().unwrap_or(0);
        let fields = |count: usize| (0..count).map(|_| inner.zeros(len)).collect::<Result<_>>();
        let state = State { products: fields(most)?, results: fields(parts.results)?, buffers };
        Ok(Self {
            axis: axis.index(),
            read: parts.read,
            written: parts.written,
            stages,
            last: pointwise(&parts.last)?,
            state: Mutex::new(state),
        })
    }

    pub(super) fn run(
        &self,
        ranks: &Ranks<B>,
        read: &[&B::Field],
        write: &mut [&mut B::Field],
        weights: Weights,
    ) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { products, results, buffers } = &mut *state;
        let mut buffers = buffers.iter_mut();
        let read = &read[..self.read];
        for stage in &self.stages {
            if let Some(program) = &stage.products {
                let written = write[..self.written].iter().map(|field| &**field);
                let all: Vec<&B::Field> =
                    read.iter().copied().chain(written).chain(&*results).collect();
                let mut to: Vec<&mut B::Field> = products.iter_mut().take(stage.count).collect();
                ranks.timed(Phase::Local, || ranks.inner.run(program, &all, &mut to, Weights::SET));
            }
            for (transfer, buffers) in stage.transfers.iter().zip(buffers.by_ref()) {
                let operand =
                    |source: Source, results: &[B::Field], at: usize, to: &mut B::Field| {
                        let field = match source {
                            Source::Read(slot) => read[slot],
                            Source::Written(slot) => &*write[slot],
                            Source::Result(at) => &results[at],
                            Source::Product(at) => &products[at],
                        };
                        ranks.inner.deal(&transfer.deal, at, field, to);
                    };
                transfer.run(ranks, self.axis, operand, results, buffers);
            }
        }
        let all: Vec<&B::Field> = read.iter().copied().chain(&*results).collect();
        ranks.timed(Phase::Local, || ranks.inner.run(&self.last, &all, write, weights));
    }
}

impl<B: Blocks> Transfer<B> {
    fn new(
        ranks: &Ranks<B>,
        place: &Place,
        op: Op,
        operands: Vec<(Source, usize)>,
        operators: &LineOperators<B::Real>,
    ) -> Result<Self> {
        let Place { axis, block, lengths } = place;
        let (a, parts) = (axis.index(), lengths.len());
        let position = ranks.decomposition.position(ranks.comm.rank())[a];
        let deal = Deal { points: *block, axis: *axis, parts, fields: operands.len() };
        let mine = deal.share(position).len() * operands.len();
        let shares = (0..parts).map(|part| {
            let share = deal.share(part);
            let a_line = block[a] * operands.len();
            (share.start * a_line, share.len() * a_line)
        });
        let lines = (0..parts).map(|from| {
            let before: usize = lengths[..from].iter().sum();
            (before * mine, lengths[from] * mine)
        });
        // What comes is [point][field][line]: the fields are more lines, side by side, along the second axis.
        let n: usize = lengths.iter().sum();
        let solve = match mine {
            0 => None,
            _ => {
                let s = SweepBuilder::new();
                s.store(0, s.apply(op, s.read(0)));
                let whole = operators.get(*axis, op).clone();
                let whole = LineOperators::along(Axis::Y, vec![(op, whole)]);
                Some(ranks.inner.program(&s.build(), Axis::Y, [mine, n, 1], &whole)?)
            }
        };
        let (shares, lines) = (shares.collect(), lines.collect());
        Ok(Self { operands, deal, shares, lines, solve })
    }

    /// Results of all operands; `deal` deals out one of them.
    fn run(
        &self,
        ranks: &Ranks<B>,
        axis: usize,
        deal: impl Fn(Source, &[B::Field], usize, &mut B::Field),
        results: &mut [B::Field],
        Buffers { shares, lines: [lines, solved], staging: [of_shares, of_lines] }: &mut Buffers<B>,
    ) {
        ranks.timed(Phase::Pack, || {
            for (at, (source, _)) in self.operands.iter().enumerate() {
                deal(*source, results, at, shares);
            }
        });
        let staging = [&mut *of_shares, &mut *of_lines];
        ranks.all_to_all(axis, shares, &self.shares, lines, &self.lines, staging);
        if let Some(program) = &self.solve {
            ranks.timed(Phase::Local, || {
                ranks.inner.run(program, &[lines], &mut [solved], Weights::SET);
            });
        }
        let staging = [of_lines, of_shares];
        ranks.all_to_all(axis, solved, &self.lines, shares, &self.shares, staging);
        ranks.timed(Phase::Pack, || {
            for (at, (_, result)) in self.operands.iter().enumerate() {
                ranks.inner.collect(&self.deal, at, shares, &mut results[*result]);
            }
        });
    }
}
