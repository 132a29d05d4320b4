//! Running a program: tile by tile, all instructions on one tile while it stays in cache.

use aligned_vec::{AVec, ConstAlign};
use rayon::prelude::*;

use super::kernels::{Apply, Evaluate, HALO, wrap};
use super::program::{Instruction, Polynomial, Program};
use super::tile::{Group, Load, SharedField, Source, Store, Tiling};
use super::{Cpu, Field, LANES, Row};
use crate::grid::Axis;
use crate::real::Real;

/// Most fields that a program may write.
const MAX_FIELDS: usize = 24;

/// Bytes of cache that the registers of a thread may take: half of a usual second-level cache.
const CACHE: usize = 512 << 10;
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

    /// Run `work` on register `to` with all others in reach.
    fn with(&mut self, to: usize, work: impl FnOnce(&mut [Row<T>], &[Register<T>])) {
        let mut register = std::mem::replace(&mut self.registers[to], AVec::new(64));
        work(&mut register, &self.registers);
        self.registers[to] = register;
    }
}

impl<T: Real> Cpu<T> {
    /// Run `program`: what it adds to a field is multiplied by `scale`, what was in that field before by `beta` (where
    /// `beta` is 0 the old content is not read).
    ///
    /// # Panics
    /// Where the fields are fewer than the program uses or do not belong to this grid.
    pub fn run(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        beta: f64,
        scale: f64,
    ) {
        assert!(write.len() <= MAX_FIELDS, "at most {MAX_FIELDS} fields can be written");
        let len = program.grid.iter().product::<usize>();
        assert!(program.reads.iter().all(|&slot| read[slot].len() == len), "field to read");
        assert!(program.writes.iter().all(|&slot| write[slot].len() == len), "field to write");

        let mut shared = [const { None }; MAX_FIELDS];
        for (to, field) in shared.iter_mut().zip(write.iter_mut()) {
            *to = Some(SharedField::new(field));
        }
        let tiles = tiles_together::<T>(program);
        let tiling = Tiling::new(program.grid, program.axis, tiles);
        let rows = tiles * (program.points + 2 * HALO);
        let task = |index: usize| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut scratch = match self.scratch[thread].lock() {
                Ok(scratch) => scratch,
                Err(poisoned) => poisoned.into_inner(),
            };
            scratch.prepare(program.registers, rows);
            let group = tiling.group(index);
            for instruction in &program.instructions {
                self.step(program, instruction, group, read, &shared, &mut scratch, (beta, scale));
            }
        };
        self.pool.install(|| (0..tiling.len()).into_par_iter().for_each(task));
    }

    #[allow(clippy::too_many_arguments, reason = "the state of one group, passed on as it is")]
    fn step(
        &self,
        program: &Program<T>,
        instruction: &Instruction<T>,
        group: Group,
        read: &[&Field<T>],
        write: &[Option<SharedField<T>>; MAX_FIELDS],
        scratch: &mut Scratch<T>,
        (beta, scale): (f64, f64),
    ) {
        let used = group.tiles() * group.rows();
        let target = |slot: usize| write[slot].unwrap_or_else(|| unreachable!("checked by `run`"));
        match instruction {
            Instruction::Read { slot, to } => {
                let field = Source::Read(read[*slot]);
                self.arch.dispatch(Load { group, field, to: &mut scratch.registers[*to] });
            }
            Instruction::Previous { slot, to } => {
                let field = Source::Written(target(*slot));
                self.arch.dispatch(Load { group, field, to: &mut scratch.registers[*to] });
            }
            Instruction::Begin { slot, to } => {
                let register = &mut scratch.registers[*to];
                if beta == 0.0 {
                    register[..used].fill([T::ZERO; LANES]);
                    return;
                }
                let field = Source::Written(target(*slot));
                self.arch.dispatch(Load { group, field, to: &mut *register });
                if beta != 1.0 {
                    let beta = T::of(beta);
                    let points = register[..used].as_flattened_mut();
                    points.iter_mut().for_each(|x| *x = *x * beta);
                }
            }
            Instruction::Apply { operator, from, to } => {
                let operator = &program.operators[*operator];
                if operator.periodic {
                    for tile in scratch.registers[*from][..used].chunks_mut(group.rows()) {
                        wrap(tile, program.points);
                    }
                }
                scratch.with(*to, |to, registers| {
                    let from = registers[*from][..used].chunks(group.rows());
                    for (from, to) in from.zip(to.chunks_mut(group.rows())) {
                        self.arch.dispatch(Apply { operator, from, to });
                    }
                });
            }
            Instruction::Let { polynomial, to } => {
                self.evaluate(scratch, polynomial, T::of(1.0), false, *to, group);
            }
            Instruction::Add { polynomial, to } => {
                self.evaluate(scratch, polynomial, T::of(scale), true, *to, group);
            }
            Instruction::Store { slot, from } => {
                let field = target(*slot);
                self.arch.dispatch(Store { group, field, from: &scratch.registers[*from] });
            }
        }
    }

    fn evaluate(
        &self,
        scratch: &mut Scratch<T>,
        polynomial: &Polynomial<T>,
        scale: T,
        accumulate: bool,
        to: usize,
        group: Group,
    ) {
        let points = group.rows() - 2 * HALO;
        scratch.with(to, |to, registers| {
            for tile in 0..group.tiles() {
                let start = tile * group.rows() + HALO;
                let to = &mut to[start..start + points];
                self.arch.dispatch(Evaluate {
                    polynomial,
                    scale,
                    accumulate,
                    registers,
                    to,
                    start,
                });
            }
        });
    }
}

/// How many neighbouring tiles a thread works on together. Several, since memory gives long rows faster than short ones
/// when lines lie across it; no more than the second cache holds with all registers.
fn tiles_together<T>(program: &Program<T>) -> usize {
    let tile = (program.points + 2 * HALO) * LANES * size_of::<T>();
    match program.axis {
        Axis::X => 1,
        Axis::Y | Axis::Z => (CACHE / (tile * program.registers.max(1))).clamp(1, MOST_TILES),
    }
}
