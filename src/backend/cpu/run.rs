//! Running a program: tile by tile, in passes down and up its lines, block of rows by block of rows.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use smallvec::SmallVec;

use super::copy::{Load, Points, Store};
use super::eliminate::{
    AtEnd, CyclicDown, CyclicTurn, Differences, Eliminate, FivePoints, Product, SolveBorder, clear,
};
use super::memory::Fetch;
use super::ends::{Correct, Pack};
use super::program::{Application, Code, Instruction, Loaded, Pass, Program, Slot, Staged};
use super::rows::{BLOCK, Blocks, Place, Rows, Scratch, values};
use super::solver::{Solver, Way};
use super::substitute::Substitute;
use super::sums::{Advance, Evaluate};
use super::tile::{Group, SharedField, Tiling};
use super::{Cpu, Field, MAX_FIELDS};
use crate::backend::Weights;
use crate::engine::PointFormula;
use crate::real::Real;

/// Blocks in which an operator is eliminated at once.
const TOGETHER: usize = 1;

/// Blocks of rows that are fetched before they are loaded.
const AHEAD: usize = 3;

/// Tasks for each thread: those that are done early take over what others have left.
const TASKS: usize = 16;

/// Most values that a formula takes or makes.
const MOST_VALUES: usize = 8;

/// What tiles are worked on with.
struct Job<'a, T> {
    program: &'a Program<T>,
    code: &'a Code<T>,
    read: &'a [&'a Field<T>],
    write: [Option<SharedField<T>>; MAX_FIELDS],
    /// Planes of the stages whose inflow is known.
    inflow: &'a [&'a Field<T>],
    /// Planes of the stage that is packed.
    packed: Option<SharedField<T>>,
    weights: Weights,
}

impl<T: Real> Job<'_, T> {
    fn written(&self, slot: usize) -> *mut T {
        self.write[slot].unwrap_or_else(|| unreachable!("as counted")).parts().0
    }

    fn field(&self, field: Slot) -> *const T {
        match field {
            Slot::Read(slot) => self.read[slot].as_ptr(),
            Slot::Written(slot) => self.written(slot),
        }
    }
}

/// Which end of a line is packed.
#[derive(Clone, Copy)]
pub(super) enum End {
    First,
    Last,
}

impl<T: Real> Cpu<T> {
    /// Run `program`.
    ///
    /// # Panics
    /// Where the fields are fewer than the program uses or do not belong to this grid.
    pub fn run(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        weights: Weights,
    ) {
        self.complete(program, read, write, &[], weights);
    }

    /// [`Cpu::run`] where lines may be blocks of longer ones: `inflow` holds for every stage the planes from the
    /// neighbours.
    pub(super) fn complete(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        inflow: &[&Field<T>],
        weights: Weights,
    ) {
        assert!(inflow.len() >= program.packs.len(), "planes of every stage");
        let write = shared(program, &program.whole, read, write, false);
        self.sweep(program, read, write, inflow, weights);
    }

    /// [`Cpu::run`] of a program without blocks on fields that begin with the values of its grid.
    pub(super) fn run_on_beginnings(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
    ) {
        assert!(program.packs.is_empty(), "lines are whole");
        let write = shared(program, &program.whole, read, write, true);
        self.sweep(program, read, write, &[], Weights::SET);
    }

    fn sweep(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: [Option<SharedField<T>>; MAX_FIELDS],
        inflow: &[&Field<T>],
        weights: Weights,
    ) {
        let code = &program.whole;
        let job = Job { program, code, read, write, inflow, packed: None, weights };
        self.for_each_tile(&job, |tile, begins, next, rows| {
            let (arch, job) = (self.arch, &job);
            arch.dispatch(Tile { arch, job, tile, begins, next, end: None, rows });
        });
    }

    /// Fill the slots of `planes[stage]` that are made from the operands of that stage. The planes of earlier stages
    /// hold their inflow.
    pub(super) fn pack(
        &self,
        program: &Program<T>,
        stage: usize,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        planes: &mut [&mut Field<T>],
    ) {
        let code = &program.packs[stage];
        let write = shared(program, code, read, write, false);
        let (inflow, rest) = planes.split_at_mut(stage);
        let inflow: SmallVec<[&Field<T>; 4]> = inflow.iter().map(|planes| &**planes).collect();
        let packed = Some(SharedField::new(rest[0]));
        let weights = Weights::SET;
        let job = Job { program, code, read, write, inflow: &inflow, packed, weights };
        // Where no operator comes before, only the points at the ends are needed.
        let ends = program.solvers.iter().filter_map(|solver| solver.operator.ends.as_ref());
        let reach = ends.flat_map(|ends| ends.sources.iter().flatten().map(Vec::len)).max();
        let window = if stage == 0 { reach.unwrap_or(0) } else { program.points };
        self.for_each_tile(&job, |tile, _, _, rows| {
            for (end, first) in [(End::First, 0), (End::Last, program.points - window)] {
                let (tile, end) = (tile.window(first, window), Some(end));
                let rows = rows.of_lines(window);
                let (arch, job) = (self.arch, &job);
                arch.dispatch(Tile { arch, job, tile, begins: true, next: None, end, rows });
            }
        });
    }

    fn for_each_tile(
        &self,
        job: &Job<'_, T>,
        work: impl Fn(Group, bool, Option<Group>, Rows<T>) + Sync,
    ) {
        let Job { program, code, .. } = job;
        let tiling = Tiling::new(program.grid, program.axis, super::rows::lanes::<T>());
        let tasks = tiling.len().min(TASKS * self.pool.current_num_threads());
        let share = |task: usize| task * tiling.len() / tasks;
        let task = |index: usize| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut scratch: std::sync::MutexGuard<'_, Scratch<T>> =
                match self.scratch[thread].lock() {
                    Ok(scratch) => scratch,
                    Err(poisoned) => poisoned.into_inner(),
                };
            let rows = scratch.rows(code.needs, program.points);
            let tiles = share(index)..share(index + 1);
            for at in tiles.clone() {
                let next = (at + 1 < tiles.end).then(|| tiling.group(at + 1));
                work(tiling.group(at), at == tiles.start, next, rows);
            }
        };
        self.pool.install(|| (0..tasks).into_par_iter().for_each(task));
    }
}

/// What one thread does with one tile.
struct Tile<'a, T> {
    arch: pulp::Arch,
    job: &'a Job<'a, T>,
    tile: Group,
    /// Whether nothing was loaded for it while another tile was worked on.
    begins: bool,
    /// The tile that comes next.
    next: Option<Group>,
    /// While packing: which end of the lines.
    end: Option<End>,
    rows: Rows<T>,
}

/// Loading blocks of a tile one by one, after they were fetched.
struct Stager<'a, T> {
    tile: Group,
    loads: SmallVec<[&'a Loaded; MAX_FIELDS]>,
    rows: Rows<T>,
    /// Whether the last block comes first.
    up: bool,
    fetched: usize,
    done: usize,
}

impl<'a, T: Real> Stager<'a, T> {
    fn new(job: &Job<'_, T>, tile: Group, loads: &'a [Loaded], rows: Rows<T>, up: bool) -> Self {
        let needed = |loaded: &&Loaded| !loaded.begins || job.weights.beta != 0.0;
        let loads = loads.iter().filter(needed).collect();
        Self { tile, loads, rows, up, fetched: 0, done: 0 }
    }

    /// Blocks of all fields.
    fn len(&self) -> usize {
        self.loads.len() * self.rows.blocks()
    }

    /// Load all up to number `to`.
    #[inline(always)]
    fn advance<S: Simd>(&mut self, simd: S, job: &Job<'_, T>, to: usize) {
        while self.done < to {
            let ahead = self.len().min(self.done + AHEAD);
            while self.fetched < ahead {
                let (points, loaded, _) = self.block(self.fetched);
                points.fetch(job.field(loaded.field), Fetch::Near);
                self.fetched += 1;
            }
            let (points, loaded, block) = self.block(self.done);
            let to = self.rows.of_block(block).at(loaded.to);
            simd.vectorize(Load { points, field: job.field(loaded.field), to });
            self.done += 1;
        }
    }

    fn block(&self, index: usize) -> (Points, &'a Loaded, usize) {
        let (block, load) = (index / self.loads.len(), index % self.loads.len());
        let block = if self.up { self.rows.blocks() - 1 - block } else { block };
        (Points { tile: self.tile, first: block * BLOCK }, self.loads[load], block)
    }
}

impl<T: Real> WithSimd for Tile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (job, rows) = (self.job, self.rows);
        let Staged { pass: main, early, late } = &job.code.staged;
        if self.begins {
            let mut all = Stager::new(job, self.tile, early, rows, false);
            all.advance(simd, job, all.len());
        }
        for (at, pass) in job.code.passes.iter().enumerate() {
            let own = (at == *main).then(|| Stager::new(job, self.tile, late, rows, false));
            self.down(simd, pass, own);
            let next = self.next.filter(|_| at == *main && !early.is_empty());
            let mut next = next.map(|tile| Stager::new(job, tile, early, rows, true));
            let blocks = rows.blocks();
            for done in 0..blocks {
                // What no operator comes before is worked on in the order that memory is made for.
                let block = if at == 0 { done } else { blocks - 1 - done };
                self.up(simd, pass, block);
                for (step, instruction) in pass.instructions.iter().enumerate() {
                    self.step(simd, instruction, block);
                    if let Some(next) = &mut next {
                        // Only blocks that this tile no longer needs.
                        let share = next.loads.len() * (step + 1) / pass.instructions.len();
                        next.advance(simd, job, done.saturating_sub(1) * next.loads.len() + if done > 0 { share } else { 0 });
                    }
                }
            }
            if let Some(next) = &mut next {
                next.advance(simd, job, next.len());
            }
        }
        for application in &self.job.code.packed {
            self.pack(simd, application);
        }
    }
}

impl<T: Real> Tile<'_, T> {
    fn solver(&self, application: &Application) -> &Solver<T> {
        &self.job.program.solvers[application.solver]
    }

    /// All eliminations of a pass.
    #[inline(always)]
    fn down<S: Simd>(&self, simd: S, pass: &Pass<T>, mut own: Option<Stager<'_, T>>) {
        for application in &pass.applied {
            self.begin(simd, application);
        }
        let (blocks, count) = (self.rows.blocks(), pass.applied.len());
        for first in (0..blocks).step_by(TOGETHER) {
            let together = first..blocks.min(first + TOGETHER);
            for (at, application) in pass.applied.iter().enumerate() {
                self.eliminate(simd, application, together.clone());
                if let Some(own) = &mut own {
                    let share = own.loads.len() * together.len() * (at + 1) / count;
                    own.advance(simd, self.job, first * own.loads.len() + share);
                }
            }
        }
        if let Some(own) = &mut own {
            own.advance(simd, self.job, own.len());
        }
        for application in &pass.applied {
            self.turn(simd, application);
        }
    }

    /// Carry what the first row needs.
    #[inline(always)]
    fn begin<S: Simd>(&self, simd: S, application: &Application) {
        let solver = self.solver(application);
        let taps = solver.taps();
        let carried = self.rows.carried(application.carried);
        let row = |place, r: usize| {
            self.operand_row(solver, place, r.cast_signed() - solver.back.cast_signed())
        };
        let factors = &application.factors[..];
        simd.vectorize(Product { factors, row: &row, rows: taps - 1, to: carried });
        clear(self.rows.carried(application.carried + taps - 1), 3 * solver.half_band());
    }

    /// Row m of a quantity: of a periodic line that of the other end where it lies outside, else any.
    #[inline(always)]
    fn operand_row(&self, solver: &Solver<T>, place: Place, m: isize) -> *const T {
        let n = self.rows.points.cast_signed();
        let m = match solver.operator.periodic {
            true if m >= 0 && m < n => m,
            true => m.rem_euclid(n),
            false => m.clamp(0, n - 1),
        };
        self.rows.row(place, m.cast_unsigned())
    }

    #[inline(always)]
    fn eliminate<S: Simd>(&self, simd: S, application: &Application, together: Range<usize>) {
        let (solver, rows) = (self.solver(application), self.rows);
        let Application { factors, down, carried, .. } = application;
        let carried = rows.carried(*carried);
        let (stencil, all) = (&solver.stencil, rows.blocks());
        for block in together {
            let next = match block + 1 {
                next if next == all && rows.points.is_multiple_of(BLOCK) => 0,
                next if application.five_points && next * BLOCK + 2 <= rows.points => next,
                _ => all,
            };
            let Way::Cyclic(cyclic) = &solver.way else {
                self.eliminate_any(simd, application, block);
                continue;
            };
            if next == all || !application.five_points {
                self.eliminate_any(simd, application, block);
                continue;
            }
            let (here, next) = (rows.of_block(block), rows.of_block(next));
            let to = here.at(*down);
            macro_rules! five_points {
                ($factors:expr, $k:literal, $odd:literal) => {{
                    let (here, next) = ($factors.map(|f| here.at(f)), $factors.map(|f| next.at(f)));
                    let (here, next) = (here.map(|p| p.cast_const()), next.map(|p| p.cast_const()));
                    let work = FivePoints::<T, $k, $odd> {
                        stencil,
                        cyclic,
                        block,
                        here,
                        next,
                        to,
                        carried,
                    };
                    simd.vectorize(work)
                }};
            }
            match (&factors[..], stencil.odd) {
                (&[a], true) => five_points!([a], 1, true),
                (&[a], false) => five_points!([a], 1, false),
                (&[a, b], true) => five_points!([a, b], 2, true),
                (&[a, b], false) => five_points!([a, b], 2, false),
                _ => unreachable!("one factor or two"),
            }
        }
    }

    /// The same for every operator and block.
    #[inline(always)]
    fn eliminate_any<S: Simd>(&self, simd: S, application: &Application, block: usize) {
        let (solver, rows) = (self.solver(application), self.rows);
        let first = block * BLOCK;
        let carried = rows.carried(application.carried);
        let kept = solver.taps() - 1;
        let (window, sums) = (rows.window(), rows.right_hand_sides());
        let ahead = first.cast_signed() + solver.ahead.cast_signed();
        let row = |place, r: usize| self.operand_row(solver, place, ahead + r.cast_signed());
        let factors = &application.factors[..];
        rows.copy(carried, window, kept);
        let to = rows.after(window, kept);
        simd.vectorize(Product { factors, row: &row, rows: BLOCK, to });
        rows.copy(rows.after(window, BLOCK), carried, kept);
        simd.vectorize(Differences { solver, operand: window, to: sums });

        let operator = &solver.operator;
        let first_right = rows.points - operator.right.len();
        for m in first..rows.points.min(first + BLOCK) {
            let row = match m {
                _ if m < operator.left.len() => &operator.left[m],
                _ if m >= first_right => &operator.right[m - first_right],
                _ => continue,
            };
            let operand = |m: usize| {
                let one = rows.window();
                let row = |place, _: usize| rows.row(place, m).cast_const();
                simd.vectorize(Product { factors, row: &row, rows: 1, to: one });
                one.cast_const()
            };
            simd.vectorize(AtEnd { row, operand: &operand, to: rows.after(sums, m - first) });
        }
        let to = rows.of_block(block).at(application.down);
        let carried = rows.after(carried, kept);
        match &solver.way {
            Way::Cyclic(cyclic) => {
                let rows = BLOCK.min(rows.points - first);
                simd.vectorize(CyclicDown { cyclic, block, rows, from: sums, to, carried });
            }
            Way::Factored(factored) => {
                let half_band = solver.half_band();
                simd.vectorize(Eliminate { factored, half_band, block, from: sums, to, carried });
            }
        }
    }

    /// Between elimination and substitution: the border of periodic lines.
    #[inline(always)]
    fn turn<S: Simd>(&self, simd: S, application: &Application) {
        let solver = self.solver(application);
        let carried = self.rows.carried(application.carried + solver.taps() - 1);
        if let Way::Cyclic(cyclic) = &solver.way {
            return simd.vectorize(CyclicTurn { cyclic, carried });
        }
        if solver.operator.periodic && solver.half_band() > 0 {
            let row = |m| self.rows.row(application.down, m);
            let gathered = self.rows.after(carried, solver.half_band());
            simd.vectorize(SolveBorder { solver, row: &row, gathered });
        }
    }

    /// All substitutions of a pass in one block.
    #[inline(always)]
    fn up<S: Simd>(&self, simd: S, pass: &Pass<T>, block: usize) {
        for application in &pass.applied {
            let solver = self.solver(application);
            let p = solver.half_band();
            let blocks = self.rows.of_block(block);
            let (from, to) = (blocks.at(application.down).cast_const(), blocks.at(application.to));
            let carried = self.rows.carried(application.carried + solver.taps() - 1 + p);
            let rows = BLOCK.min(self.rows.points - block * BLOCK);
            simd.vectorize(Substitute { solver, block, rows, from, to, carried });
            if let (Some(coupling), Some(ends)) = (&application.coupling, &solver.operator.ends) {
                simd.vectorize(Correct {
                    ends,
                    planes: self.job.inflow[coupling.stage],
                    starts: coupling.starts,
                    total: self.job.program.lines(),
                    lines: self.tile.lines(),
                    first: block * BLOCK,
                    points: self.rows.points,
                    at: to,
                });
            }
        }
    }

    #[inline(always)]
    fn step<S: Simd>(&self, simd: S, instruction: &Instruction<T>, block: usize) {
        let Self { job, tile, rows, .. } = *self;
        let weights = job.weights;
        let points = Points { tile, first: block * BLOCK };
        let blocks = rows.of_block(block);
        let at = |place: Place| blocks.at(place);
        match instruction {
            Instruction::Load(Loaded { field, to, begins }) => {
                if !begins || weights.beta != 0.0 {
                    simd.vectorize(Load { points, field: job.field(*field), to: at(*to) });
                }
            }
            Instruction::Map { map, from, to } => self.map(map, from, to, blocks),
            Instruction::Advance { from, sum, to } => {
                let (weight, from, sum) = (T::of(weights.advance), at(*from), at(*sum));
                simd.vectorize(Advance { weight, from, sum, to: at(*to) });
            }
            Instruction::Let { polynomial, to } => {
                let (scale, to) = (T::ZERO, *to);
                simd.vectorize(Evaluate { polynomial, blocks, scale, to });
            }
            Instruction::Add { polynomial, to } => {
                let (scale, to) = (T::of(weights.beta), *to);
                simd.vectorize(Evaluate { polynomial, blocks, scale, to });
            }
            Instruction::Store { slot, from } => {
                simd.vectorize(Store { points, field: job.written(*slot), from: at(*from) });
            }
        }
    }

    /// Evaluate a formula on a block; no place is both read and written.
    fn map(&self, map: &PointFormula, from: &[Place], to: &[Place], blocks: Blocks<T>) {
        let at = |place: &Place| blocks.at(*place);
        let from: [&[T]; MOST_VALUES] = std::array::from_fn(|i| match from.get(i) {
            // SAFETY: a block of this thread's memory, which is not written meanwhile.
            Some(from) => unsafe { std::slice::from_raw_parts(at(from), values::<T>()) },
            None => &[],
        });
        let (reads, writes) = (map.reads, to.len());
        let mut to: [&mut [T]; MOST_VALUES] = std::array::from_fn(|i| match to.get(i) {
            // SAFETY: a block of this thread's memory, which nobody else uses.
            Some(to) => unsafe { std::slice::from_raw_parts_mut(at(to), values::<T>()) },
            None => &mut [],
        });
        map.evaluate(self.arch, &from[..reads], &mut to[..writes], &[]);
    }

    /// What the neighbours have to know of the operand of an operator.
    #[inline(always)]
    fn pack<S: Simd>(&self, simd: S, application: &Application) {
        let solver = self.solver(application);
        let (Some(planes), Some(end), Some(ends), Some(coupling)) =
            (self.job.packed, self.end, &solver.operator.ends, &application.coupling)
        else {
            unreachable!("the code of a stage is run to pack it");
        };
        let rows = self.rows;
        let operand = |m: usize| {
            let row = |place, _: usize| rows.row(place, m).cast_const();
            let factors = &application.factors[..];
            simd.vectorize(Product { factors, row: &row, rows: 1, to: rows.window() });
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

/// The fields that are written, to be used by all threads at once. `longer`: values may follow those of the grid.
fn shared<T: Real>(
    program: &Program<T>,
    code: &Code<T>,
    read: &[&Field<T>],
    write: &mut [&mut Field<T>],
    longer: bool,
) -> [Option<SharedField<T>>; MAX_FIELDS] {
    assert!(write.len() <= MAX_FIELDS, "at most {MAX_FIELDS} fields can be written");
    let len = program.grid.iter().product::<usize>();
    let fits = |field: usize| if longer { field >= len } else { field == len };
    assert!(code.reads.iter().all(|&slot| fits(read[slot].len())), "field to read");
    assert!(code.writes.iter().all(|&slot| fits(write[slot].len())), "field to write");
    let mut shared = [const { None }; MAX_FIELDS];
    for (to, field) in shared.iter_mut().zip(write.iter_mut()) {
        *to = Some(SharedField::new(field));
    }
    shared
}
