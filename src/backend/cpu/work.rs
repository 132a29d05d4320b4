//! Work on one tile of lines: forward and backward passes, one block of rows after another.

use pulp::{Simd, WithSimd};

use super::applied::Applied;
use super::closed::{AtEnd, Closed};
use super::copy::{Load, Store};
use super::eliminate::{CyclicForward, Differences, Eliminate, FivePoints, Product};
use super::ends::Pack;
use super::machine::Machine;
use super::point_code::PointCode;
use super::program::{Application, Instruction, Loaded, Pass, Slot, Staged};
use super::rows::{BLOCK, Blocks, Place, Rows, lanes};
use super::run::{End, Job};
use super::solver::SolveMethod;
use super::stager::Stager;
use super::sums::{Advance, Evaluate};
use super::tile::Group;
use crate::real::Real;
use crate::simd::{array_of, mapped};

/// Maximum number of values that a formula reads or computes.
const MAX_VALUES: usize = 8;

/// Work of one thread on one tile, or on several adjacent ones.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a, T> {
    pub(super) arch: pulp::Arch,
    pub(super) job: &'a Job<'a, T>,
    pub(super) tile: Group,
    /// True if nothing was loaded for it while another tile was processed.
    pub(super) is_first: bool,
    /// The next tile.
    pub(super) next: Option<Group>,
    /// For packing: the end of the lines.
    pub(super) end: Option<End>,
    pub(super) rows: Rows<T>,
}

impl<T: Real> WithSimd for Tile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (job, rows) = (self.job, self.rows);
        let Staged { pass: main, early, prefetched, late } = &job.code.staged;
        if self.is_first {
            Stager::new(job, self.tile, early, &[], rows, false).finish(simd, job);
        }
        let columns = self.tile.lines.div_ceil(lanes::<T>());
        for (at, pass) in job.code.passes.iter().enumerate() {
            for column in 0..columns {
                let own = (at == *main && column == 0)
                    .then(|| Stager::new(job, self.tile, late, &[], rows, false));
                self.column(column).forward(simd, pass, own);
            }
            let applied = Applied { applications: &pass.applied, tiles: &self, columns };
            applied.between_passes(simd);
            let next = self.next.filter(|_| at == *main);
            let mut next = next.map(|tile| Stager::new(job, tile, early, prefetched, rows, true));
            let blocks = rows.blocks();
            let substitutes = pass.machine.as_deref().is_some_and(Machine::substitutes);
            // In the first pass no operator comes before: its blocks are processed in the order of memory, unless
            // generated code loads the fields, which goes through rows from the last to the first.
            let is_forward = at == 0 && !job.code.transfers;
            for done in 0..blocks {
                let block = if is_forward { done } else { blocks - 1 - done };
                if !substitutes {
                    applied.substitute(simd, job, block);
                }
                // The next tile may be loaded where this one is no longer needed.
                let next = next.as_mut().filter(|_| done > 0);
                self.run_instructions(simd, pass, block, columns, next);
            }
            if let Some(next) = &mut next {
                next.finish(simd, job);
            }
        }
        for application in &job.code.packed {
            self.pack(simd, application);
        }
    }
}

impl<T: Real> Tile<'_, T> {
    /// One of the adjacent tiles that are processed together.
    #[inline(always)]
    pub(super) fn column(&self, index: usize) -> Self {
        let first = index * lanes::<T>();
        let tile = self.tile.part(first, lanes::<T>().min(self.tile.lines - first));
        Self { tile, rows: self.rows.of_column(index), ..*self }
    }

    /// Forward elimination of all operators of a pass.
    #[inline(always)]
    fn forward<S: Simd>(&self, simd: S, pass: &Pass<T>, mut own: Option<Stager<'_, T>>) {
        for application in &pass.applied {
            self.init_carried(simd, application);
        }
        for block in 0..self.rows.blocks() {
            let end = block * BLOCK + self.rows.valid_rows(block);
            let after = [self.rows.wrapped(end), self.rows.wrapped(end + 1)];
            for application in &pass.applied {
                match (application.five_points, &application.solver.method) {
                    (true, SolveMethod::Cyclic(_)) => {
                        self.eliminate_periodic(simd, application, block, after)
                    }
                    (true, SolveMethod::Factored(_)) => {
                        self.eliminate_closed(simd, application, block)
                    }
                    _ => self.eliminate_general(simd, application, block),
                }
                if let Some(own) = &mut own {
                    own.step(simd, self.job, pass.applied.len());
                }
            }
        }
        if let Some(own) = &mut own {
            own.finish(simd, self.job);
        }
    }

    /// Formulas with the results of the operators, in one block.
    #[inline(always)]
    fn run_instructions<S: Simd>(
        &self,
        simd: S,
        pass: &Pass<T>,
        block: usize,
        columns: usize,
        mut next: Option<&mut Stager<'_, T>>,
    ) {
        let Pass { before, machine, instructions, .. } = pass;
        let calls = if machine.is_some() { columns } else { 0 };
        let steps = before.len() + calls + instructions.len();
        let mut step = || {
            if let Some(next) = &mut next {
                next.step(simd, self.job, steps);
            }
        };
        for instruction in before {
            self.run_columns(simd, instruction, block, columns);
            step();
        }
        if let Some(machine) = machine {
            for column in 0..columns {
                let Self { tile, rows, .. } = self.column(column);
                // SAFETY: memory of this thread for the program of the code, and lines that no other thread processes;
                // code is generated only for an instruction set that the processor has.
                unsafe { machine.run(self.job, tile, rows, block) };
                step();
            }
        }
        for instruction in instructions {
            self.run_columns(simd, instruction, block, columns);
            step();
        }
    }

    /// One instruction in a block of all columns.
    #[inline(always)]
    fn run_columns<S: Simd>(
        &self,
        simd: S,
        instruction: &Instruction<T>,
        block: usize,
        columns: usize,
    ) {
        match instruction {
            // Memory transfers several columns faster.
            Instruction::Load(_) | Instruction::Store { .. } => {
                self.run_instruction(simd, instruction, block);
            }
            _ => {
                for column in 0..columns {
                    self.column(column).run_instruction(simd, instruction, block);
                }
            }
        }
    }

    /// Initialises the carried rows for the first row.
    #[inline(always)]
    fn init_carried<S: Simd>(&self, simd: S, application: &Application<T>) {
        let solver = &*application.solver;
        let taps = solver.taps();
        let carried = self.rows.carried(application.carried);
        for r in 0..taps - 1 {
            let m = r.cast_signed() - solver.back.cast_signed();
            self.operand(simd, application, m, 1, self.rows.offset(carried, r));
        }
        let zeros = self.rows.carried(application.carried + taps - 1);
        // SAFETY: rows that this operator carries, of this thread's memory.
        unsafe { zeros.write_bytes(0, 3 * solver.half_band() * lanes::<T>()) };
    }

    /// The operand at `count` points starting at `m`, all in one block. Outside a periodic line it is that of the other
    /// end; outside any other line it is arbitrary.
    #[inline(always)]
    fn operand<S: Simd>(
        &self,
        simd: S,
        application: &Application<T>,
        m: isize,
        count: usize,
        to: *mut T,
    ) {
        let n = self.rows.points.cast_signed();
        let m = match application.solver.operator.periodic {
            _ if m >= 0 && m < n => m,
            true => m.rem_euclid(n),
            false => m.clamp(0, n - 1),
        };
        let mut rows = [std::ptr::null(); 2];
        let factors = &*application.factors;
        for at in 0..factors.len() {
            rows[at] = self.rows.row(factors[at], m.cast_unsigned()).cast_const();
        }
        let factors = &rows[..factors.len()];
        simd.vectorize(Product { factors, rows: count, to });
    }

    /// One elimination in a block; `after`: the two rows that follow it on the periodic line.
    #[inline(always)]
    fn eliminate_periodic<S: Simd>(
        &self,
        simd: S,
        application: &Application<T>,
        block: usize,
        after: [(Blocks<T>, usize); 2],
    ) {
        let Application { solver, factors, to, carried, .. } = application;
        let (here, rows) = (self.rows.of_block(block), self.rows.valid_rows(block));
        let (to, carried) = (here.at(*to), self.rows.carried(*carried));
        macro_rules! five_points {
            ($factors:expr, $k:literal, $odd:literal) => {
                simd.vectorize(FivePoints::<T, $k, $odd> {
                    solver,
                    rows,
                    here: mapped($factors, |factor| here.at(factor).cast_const()),
                    after: mapped(after, |(blocks, skipped)| {
                        mapped($factors, |factor| {
                            blocks.at(factor).wrapping_add(skipped).cast_const()
                        })
                    }),
                    to,
                    carried,
                })
            };
        }
        match (&**factors, solver.stencil.odd) {
            (&[a], true) => five_points!([a], 1, true),
            (&[a], false) => five_points!([a], 1, false),
            (&[a, b], true) => five_points!([a, b], 2, true),
            (&[a, b], false) => five_points!([a, b], 2, false),
            _ => unreachable!("one factor or two"),
        }
    }

    /// General version for every operator and block.
    #[inline(always)]
    fn eliminate_general<S: Simd>(&self, simd: S, application: &Application<T>, block: usize) {
        let (solver, rows) = (&*application.solver, self.rows);
        let (first, valid_rows, padded_rows) =
            (block * BLOCK, rows.valid_rows(block), rows.padded_rows(block));
        let carried = rows.carried(application.carried);
        let carried_rows = solver.taps() - 1;
        let (window, sums) = (rows.window(), rows.right_hand_sides());
        rows.copy(carried, window, carried_rows);
        let mut r = 0;
        while r < padded_rows {
            // As many rows at once as exist and lie in one block.
            let m = first + solver.ahead + r;
            let available = rows.points.saturating_sub(m).clamp(1, BLOCK - m % BLOCK);
            let count = available.min(padded_rows - r);
            let to = rows.offset(window, carried_rows + r);
            self.operand(simd, application, m.cast_signed(), count, to);
            r += count;
        }
        rows.copy(rows.offset(window, padded_rows), carried, carried_rows);
        simd.vectorize(Differences { solver, rows: padded_rows, operand: window, to: sums });

        self.at_ends(simd, application, block);
        let to = rows.of_block(block).at(application.to);
        let carried = rows.offset(carried, carried_rows);
        match &solver.method {
            SolveMethod::Cyclic(cyclic) => {
                let (rows, from) = (valid_rows, sums.cast_const());
                simd.vectorize(CyclicForward { cyclic, rows, from, to, carried });
            }
            SolveMethod::Factored(factored) => {
                let (half_band, rows, from) = (solver.half_band(), valid_rows, sums.cast_const());
                simd.vectorize(Eliminate { factored, half_band, block, rows, from, to, carried });
            }
            SolveMethod::Reduced(_) => rows.copy(sums, to, valid_rows),
        }
    }

    /// B f at the rows of a block near the ends of the lines, stored among its right-hand sides.
    #[inline(always)]
    fn at_ends<S: Simd>(&self, simd: S, application: &Application<T>, block: usize) {
        let rows = self.rows;
        for end in &application.solver.ends[block] {
            let to = rows.offset(rows.right_hand_sides(), end.rows.start - block * BLOCK);
            let row = |place, m| rows.row(place, m).cast_const();
            match *application.factors {
                [a] => {
                    let factors = |m| [row(a, m)];
                    simd.vectorize(AtEnd { end, factors, columns: 1, to });
                }
                [a, b] => {
                    let factors = |m| [row(a, m), row(b, m)];
                    simd.vectorize(AtEnd { end, factors, columns: 1, to });
                }
                _ => unreachable!("one factor or two"),
            }
        }
    }

    /// One elimination in a block of lines with two ends.
    #[inline(always)]
    fn eliminate_closed<S: Simd>(&self, simd: S, application: &Application<T>, block: usize) {
        self.at_ends(simd, application, block);
        let Application { solver, factors, to, carried, .. } = application;
        let (all, first) = (self.rows, block * BLOCK);
        let rows = all.valid_rows(block);
        let inner = solver.inner();
        let start = inner.start.saturating_sub(first).min(rows);
        let inner = start..inner.end.saturating_sub(first).clamp(start, rows);
        let (here, next) = (all.of_block(block), all.of_block(block + 1));
        let (to, sums) = (here.at(*to), all.right_hand_sides().cast_const());
        let carried = all.carried(carried + solver.taps() - 1);
        macro_rules! closed {
            ($factors:expr, $k:literal, $odd:literal) => {{
                let mut before = [[std::ptr::null(); $k]; 4];
                if !inner.is_empty() {
                    for (at, before) in before.iter_mut().enumerate() {
                        let m = first + inner.start + at - 2;
                        *before = mapped($factors, |factor| all.row(factor, m).cast_const());
                    }
                }
                let block_rows =
                    |block: Blocks<T>| mapped($factors, |factor| block.at(factor).cast_const());
                simd.vectorize(Closed::<T, $k, $odd> {
                    solver,
                    block,
                    here: block_rows(here),
                    next: block_rows(next),
                    inner,
                    before,
                    rows,
                    sums,
                    to,
                    carried,
                })
            }};
        }
        match (&**factors, solver.stencil.odd) {
            (&[a], true) => closed!([a], 1, true),
            (&[a], false) => closed!([a], 1, false),
            (&[a, b], true) => closed!([a, b], 2, true),
            (&[a, b], false) => closed!([a, b], 2, false),
            _ => unreachable!("one factor or two"),
        }
    }

    /// One instruction in a block.
    #[inline(always)]
    fn run_instruction<S: Simd>(&self, simd: S, instruction: &Instruction<T>, block: usize) {
        let Self { job, tile, rows: all, .. } = *self;
        let (weights, blocks, rows) = (job.weights, all.of_block(block), all.padded_rows(block));
        let points = |field: Slot| job.points(field, tile, block * BLOCK);
        let at = |place: Place| blocks.at(place);
        match instruction {
            Instruction::Load(Loaded { field, to, is_old_sum }) => {
                if !is_old_sum || weights.beta != 0.0 {
                    let (points, field) = (points(*field), job.field(*field));
                    let (to, column_stride, prefetch_ahead) =
                        (at(*to), all.column_stride, !job.code.steps.is_empty());
                    simd.vectorize(Load { points, field, to, column_stride, prefetch_ahead });
                }
            }
            Instruction::Map { map, from, to } => self.map(map, from, to, blocks, rows),
            Instruction::Advance { from, sum, to } => {
                let (weight, from, sum) = (T::of(weights.advance), at(*from), at(*sum));
                simd.vectorize(Advance { weight, rows, from, sum, to: at(*to) });
            }
            Instruction::Let { polynomial, to } => {
                let (scale, to) = (T::ZERO, *to);
                simd.vectorize(Evaluate { polynomial, blocks, rows, scale, to });
            }
            Instruction::Add { polynomial, to } => {
                let (scale, to) = (T::of(weights.beta), *to);
                simd.vectorize(Evaluate { polynomial, blocks, rows, scale, to });
            }
            Instruction::Store { slot, from } => {
                let (field, bypass_caches) = (job.written(*slot), job.bypass_caches);
                simd.vectorize(Store {
                    points: points(Slot::Written(*slot)),
                    field,
                    from: at(*from),
                    column_stride: all.column_stride,
                    bypass_caches,
                });
            }
        }
    }

    /// Evaluates a formula on rows of a block; no location is both read and written.
    fn map(&self, map: &PointCode, from: &[Place], to: &[Place], blocks: Blocks<T>, rows: usize) {
        let values = rows * lanes::<T>();
        let at = |place: &Place| blocks.at(*place);
        let (reads, writes) = (from.len(), to.len());
        let from: [&[T]; MAX_VALUES] = array_of(|i| match from.get(i) {
            // SAFETY: a block of this thread's memory, which is not written in the meantime.
            Some(from) => unsafe { std::slice::from_raw_parts(at(from), values) },
            None => &[],
        });
        let mut to: [&mut [T]; MAX_VALUES] = array_of(|i| match to.get(i) {
            // SAFETY: a block of this thread's memory, without other references.
            Some(to) => unsafe { std::slice::from_raw_parts_mut(at(to), values) },
            None => &mut [],
        });
        map.map(self.arch, &from[..reads], &mut to[..writes], &[]);
    }

    /// Packs the values that the neighbours need of the operand of an operator.
    #[inline(always)]
    fn pack<S: Simd>(&self, simd: S, application: &Application<T>) {
        let solver = &*application.solver;
        let (Some(planes), Some(end), Some(ends), Some(coupling)) =
            (self.job.packed, self.end, &solver.operator.ends, &application.coupling)
        else {
            unreachable!("the code of a stage is run to pack it");
        };
        let rows = self.rows;
        let operand = |m: usize| {
            self.operand(simd, application, m.cast_signed(), 1, rows.window());
            rows.window().cast_const()
        };
        simd.vectorize(Pack {
            ends,
            end,
            starts: coupling.starts,
            points: rows.points,
            operand: &operand,
            sum: rows.right_hand_sides(),
            planes,
            total: self.job.program.lines(),
            lines: self.tile.lines(),
        });
    }
}
