//! Running a program: tile by tile, all instructions on one tile while it stays in cache.

use std::ops::Range;

use aligned_vec::{AVec, ConstAlign};
use rayon::prelude::*;
use smallvec::SmallVec;

use super::direct::Direct;
use super::ends::{Correct, Pack};
use super::kernels::{Advance, Apply, Evaluate, HALO, Tile, wrap};
use super::prefetch::Prefetch;
use super::program::{Code, Instruction, Polynomial, Program};
use super::tile::{Group, Load, SharedField, Source, Store, Tiling};
use super::{Cpu, Field, LANES, MAX_FIELDS, Row};
use crate::backend::Weights;
use crate::engine::PointFormula;
use crate::engine::distributed::slot;
use crate::grid::Axis;
use crate::real::{Concrete, Family, Real};

/// Most values that a formula takes or makes.
const MOST_VALUES: usize = 8;

/// Most tiles that a thread works on together.
const MOST_TILES: usize = 4;

/// Some tiles of lines, each with its halo rows.
pub(super) type Register<T> = AVec<Row<T>, ConstAlign<64>>;

/// The registers of one thread. They grow when a larger program is first run and are kept.
#[derive(Default)]
pub(super) struct Scratch<T> {
    registers: Vec<Register<T>>,
}

impl<T: Real> Scratch<T> {
    fn prepare(&mut self, registers: usize, rows: usize) {
        if self.registers.len() < registers {
            self.registers.resize_with(registers, || AVec::new(64));
        }
        for register in &mut self.registers[..registers] {
            if register.len() < rows {
                register.resize(rows, [T::ZERO; LANES]);
            }
        }
    }

    /// Evaluate a formula on these rows of the registers `from`; no register is both read and made.
    fn map(
        &mut self,
        map: &PointFormula,
        from: &[usize],
        to: &[usize],
        rows: Range<usize>,
        arch: pulp::Arch,
    ) {
        let mut made: [Register<T>; MOST_VALUES] = std::array::from_fn(|at| match to.get(at) {
            Some(&to) => std::mem::replace(&mut self.registers[to], AVec::new(64)),
            None => AVec::new(64),
        });
        let read: [&[T]; MOST_VALUES] = std::array::from_fn(|at| match from.get(at) {
            Some(&from) => self.registers[from][rows.clone()].as_flattened(),
            None => &[],
        });
        let mut write = made.each_mut().map(|made| match made.is_empty() {
            true => &mut [],
            false => made[rows.clone()].as_flattened_mut(),
        });
        map.evaluate(arch, &read[..from.len()], &mut write[..to.len()], &[]);
        for (&to, made) in to.iter().zip(made) {
            self.registers[to] = made;
        }
    }

    /// Run `work` on register `to` with all others in reach.
    fn with(&mut self, to: usize, work: impl FnOnce(&mut [Row<T>], &[Register<T>])) {
        let mut register = std::mem::replace(&mut self.registers[to], AVec::new(64));
        work(&mut register, &self.registers);
        self.registers[to] = register;
    }
}

/// What a group of tiles is worked on with.
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

/// Which end of a line is packed.
#[derive(Clone, Copy)]
enum End {
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
        self.for_each_group(&job, |group, next, scratch| {
            let ahead = next
                .map_or_else(Prefetch::nothing, |next| Prefetch::new(code, read, &job.write, next));
            run(Work { arch: self.arch, job: &job, group, end: None, scratch, ahead });
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
        let ends = program.operators.iter().filter_map(|operator| operator.ends.as_ref());
        let reach = ends.flat_map(|ends| ends.sources.iter().flatten().map(Vec::len)).max();
        let window = if stage == 0 { reach.unwrap_or(0) } else { program.points };
        self.for_each_group(&job, |group, _, scratch| {
            for (end, first) in [(End::First, 0), (End::Last, program.points - window)] {
                let ahead = Prefetch::nothing();
                let (group, end) = (group.window(first, window), Some(end));
                run(Work { arch: self.arch, job: &job, group, end, scratch, ahead });
            }
        });
    }

    fn for_each_group(
        &self,
        job: &Job<'_, T>,
        work: impl Fn(Group, Option<Group>, &mut Scratch<T>) + Sync,
    ) {
        let Job { program, code, .. } = job;
        let tiles = tiles_together::<T>(program, code, self.shape.cache);
        let tiling = Tiling::new(program.grid, program.axis, tiles);
        let rows = tiles * (program.points + 2 * HALO);
        let task = |index: usize| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut scratch = match self.scratch[thread].lock() {
                Ok(scratch) => scratch,
                Err(poisoned) => poisoned.into_inner(),
            };
            scratch.prepare(code.registers, rows);
            let follows = self.shape.ahead && index + 1 < tiling.len();
            let next = follows.then(|| tiling.group(index + 1));
            work(tiling.group(index), next, &mut scratch);
        };
        self.pool.install(|| (0..tiling.len()).into_par_iter().for_each(task));
    }
}

/// What one thread does with one group of tiles.
struct Work<'a, T> {
    arch: pulp::Arch,
    job: &'a Job<'a, T>,
    group: Group,
    /// While packing: which end of the lines.
    end: Option<End>,
    scratch: &'a mut Scratch<T>,
    ahead: Prefetch<'a, T>,
}

impl<'a> Family for Work<'a, ()> {
    type Of<T: Real> = Work<'a, T>;
}

/// All instructions of the code. What it calls is not generic, so that it is compiled once and not where it is used.
fn run<T: Real>(work: Work<'_, T>) {
    fn in_f32(work: Work<'_, f32>) {
        work.run();
    }
    fn in_f64(work: Work<'_, f64>) {
        work.run();
    }
    match T::concrete::<Work<()>>(work) {
        Concrete::F32(work) => in_f32(work),
        Concrete::F64(work) => in_f64(work),
    }
}

impl<T: Real> Work<'_, T> {
    fn run(mut self) {
        let code = self.job.code;
        code.instructions.iter().for_each(|instruction| self.step(instruction));
    }

    fn step(&mut self, instruction: &Instruction<T>) {
        let Self { arch, job, group, end, scratch, ahead } = self;
        let (arch, job, group, end) = (*arch, *job, *group, *end);
        let used = group.tiles() * group.rows();
        let program = job.program;
        let target = |slot: usize| job.write[slot].unwrap_or_else(|| unreachable!("as counted"));
        match instruction {
            Instruction::Read { slot, to } => {
                let field = Source::Read(job.read[*slot]);
                arch.dispatch(Load { group, field, to: &mut scratch.registers[*to] });
            }
            Instruction::Previous { slot, to } => {
                let field = Source::Written(target(*slot));
                arch.dispatch(Load { group, field, to: &mut scratch.registers[*to] });
            }
            Instruction::Begin { slot, to } => {
                let register = &mut scratch.registers[*to];
                if job.weights.beta == 0.0 {
                    register[..used].fill([T::ZERO; LANES]);
                    return;
                }
                let field = Source::Written(target(*slot));
                arch.dispatch(Load { group, field, to: &mut *register });
                if job.weights.beta != 1.0 {
                    let beta = T::of(job.weights.beta);
                    let points = register[..used].as_flattened_mut();
                    points.iter_mut().for_each(|x| *x = *x * beta);
                }
            }
            Instruction::Apply { operator, from, to, coupling } => {
                let operator = &program.operators[*operator];
                if operator.periodic {
                    for tile in scratch.registers[*from][..used].chunks_mut(group.rows()) {
                        wrap(tile, program.points);
                    }
                }
                scratch.with(*to, |to, registers| {
                    let from = registers[*from][..used].chunks(group.rows());
                    for (tile, (from, to)) in from.zip(to.chunks_mut(group.rows())).enumerate() {
                        let x = &mut to[HALO..HALO + program.points];
                        let lines = Tile { rows: from, ahead };
                        arch.dispatch(Apply { operator, lines, x });
                        if let (Some(coupling), Some(ends)) = (coupling, &operator.ends) {
                            let planes = &job.inflow[coupling.stage];
                            let lines = group.tile_lines(tile);
                            let starts = coupling.starts;
                            let total = program.lines();
                            arch.dispatch(Correct { ends, planes, starts, total, lines, to });
                        }
                    }
                });
            }
            Instruction::Pack { operator, from, coupling } => {
                let (Some(planes), Some(end), Some(ends)) =
                    (job.packed, end, &program.operators[*operator].ends)
                else {
                    unreachable!("the code of a stage is run to pack it");
                };
                let slots = match end {
                    End::First => [slot::TO_LEFT, slot::HEAD],
                    End::Last => [slot::TO_RIGHT, slot::TAIL],
                };
                let total = program.lines();
                for (tile, from) in
                    scratch.registers[*from][..used].chunks(group.rows()).enumerate()
                {
                    let lines = group.tile_lines(tile);
                    for at in slots {
                        let first = coupling.starts[at];
                        let (weights, from_end) = (&ends.sources[at], matches!(end, End::Last));
                        arch.dispatch(Pack {
                            weights,
                            from_end,
                            points: group.points(),
                            from,
                            planes,
                            first,
                            total,
                            lines: lines.clone(),
                        });
                    }
                }
            }
            Instruction::Map { map, from, to } => {
                for tile in 0..group.tiles() {
                    let start = tile * group.rows() + HALO;
                    scratch.map(map, from, to, start..start + group.points(), arch);
                }
            }
            Instruction::Advance { from, sum, to } => {
                let weight = T::of(job.weights.advance);
                scratch.with(*to, |to, registers| {
                    let (from, sum) = (&registers[*from][..used], &registers[*sum][..used]);
                    arch.dispatch(Advance { weight, from, sum, to: &mut to[..used] });
                });
            }
            Instruction::Let { polynomial, to } => {
                self.evaluate(polynomial, false, *to);
            }
            Instruction::Add { polynomial, to } => {
                self.evaluate(polynomial, true, *to);
            }
            Instruction::Store { slot, from } => {
                let field = target(*slot);
                arch.dispatch(Store { group, field, from: &scratch.registers[*from] });
            }
            Instruction::Direct(steps) => {
                let [
                    load,
                    Instruction::Apply { operator, to, .. },
                    Instruction::Store { slot, .. },
                ] = steps.as_ref()
                else {
                    unreachable!("as compiled")
                };
                let from = match load {
                    Instruction::Read { slot, .. } => Source::Read(job.read[*slot]),
                    _ => Source::Written(target(*slot)),
                };
                let operator = &program.operators[*operator];
                let between = &mut scratch.registers[*to][..];
                let to = target(*slot);
                if !arch.dispatch(Direct { operator, group, from, to, between }) {
                    steps.iter().for_each(|step| self.step(step));
                }
            }
        }
    }

    /// `to` = polynomial, or the polynomial added to it.
    fn evaluate(&mut self, polynomial: &Polynomial<T>, accumulate: bool, to: usize) {
        let (arch, group) = (self.arch, self.group);
        self.scratch.with(to, |to, registers| {
            for tile in 0..group.tiles() {
                let start = tile * group.rows() + HALO;
                let to = &mut to[start..start + group.points()];
                arch.dispatch(Evaluate { polynomial, accumulate, registers, to, start });
            }
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

/// How many neighbouring tiles a thread works on together. Several, since memory gives long rows faster than short ones
/// when lines lie across it; no more than `cache` bytes hold with all registers.
fn tiles_together<T>(program: &Program<T>, code: &Code<T>, cache: usize) -> usize {
    let tile = (program.points + 2 * HALO) * LANES * size_of::<T>();
    match program.axis {
        Axis::X => 1,
        Axis::Y | Axis::Z => (cache / (tile * code.busy_registers().max(1))).clamp(1, MOST_TILES),
    }
}
