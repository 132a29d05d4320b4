//! Machine code of the arithmetic of a pass, generated when a program is prepared.
//!
//! The loops in [`applied`](super::applied) and [`sums`](super::sums) know neither the operators nor the terms of a
//! sweep: every term of a sum loads its factors from memory, for eight vectors at a time. The generated code is one loop
//! over rows without any selection: solutions, sums and often used fields stay in registers (cf. the small matrix
//! products of Heinecke, Henry, Hutchinson & Pabst, "LIBXSMM", SC 2016). Results are the same bits.

mod body;
mod emit;
mod encode;
mod formula;
mod frame;
mod split;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::program::{Application, Code, Instruction, Pass, Slot};
use super::rows::{BLOCK, Place, Rows};
use super::run::Job;
use super::solver::SolveMethod;
use super::tile::Group;
use crate::real::Real;
use crate::simd::mapped;
use body::Body;
use emit::{Variant, emit};
use encode::{Assembler, Isa};
use frame::{Frame, MAX_POINTERS};
use split::{Split, is_read};

/// The arithmetic of a pass on the rows of a block.
#[derive(Debug)]
pub(super) struct Machine {
    memory: Mmap,
    /// Start of the code of every variant: for the blocks from the first one; without and with old values of sums;
    /// with stores to the caches and past them.
    entries: Vec<[[usize; 2]; 2]>,
    /// Start of the powers in the memory.
    powers: usize,
    /// See [`Machine::substitutes`].
    substitutes: bool,
    /// Fields that it reads or writes.
    fields: Vec<Slot>,
}

/// A generated function, see [`encode::Argument`].
type Function<T> = unsafe extern "sysv64" fn(
    *mut T,        // reused
    *mut T,        // stored
    *mut T,        // carried
    usize,         // rows
    *const T,      // powers
    *mut Frame<T>, // frame
);

impl Machine {
    /// Generates code for `body`. `None` if the system allows no generated code.
    fn new<T: Real>(isa: Isa, body: Body<'_, T>) -> Option<Self> {
        let mut assembler = Assembler::new(isa);
        let blocks = body.matrices.iter().map(|matrix| matrix.powers.len()).max().unwrap_or(0);
        let mut powers = Vec::with_capacity(blocks * body.matrices.len() * BLOCK);
        let mut entries = Vec::with_capacity(blocks + 1);
        for block in 0..=blocks {
            let mut variant = |adds_old, bypasses_caches| {
                emit(&mut assembler, &body, Variant { block, adds_old, bypasses_caches })
            };
            entries.push([false, true].map(|adds_old| {
                let cached = variant(adds_old, false);
                match body.fields.is_empty() {
                    true => [cached; 2],
                    false => [cached, variant(adds_old, true)],
                }
            }));
            for matrix in body.matrices.iter().filter(|_| block < blocks) {
                let rows = matrix.powers.get(block).copied().unwrap_or([[T::ZERO; 2]; BLOCK]);
                powers.extend(rows.map(|[_, power]| power));
            }
        }
        let (memory, powers) = assembler.finish(&powers)?;
        let substitutes = !body.systems.is_empty();
        Some(Self { memory, entries, powers, substitutes, fields: body.fields })
    }

    /// True if it includes the back substitution of the operators of the pass.
    pub(super) fn substitutes(&self) -> bool {
        self.substitutes
    }

    /// Runs the code on block `block` of a tile, which is complete if the code loads or stores fields; blocks from the
    /// last to the first, if it substitutes.
    ///
    /// # Safety
    /// `rows` is memory of the program that the code was generated for, in the same number format, and no other thread
    /// uses it or the points of the tile in written fields; the processor has the instruction set.
    pub(super) unsafe fn run<T: Real>(
        &self,
        job: &Job<'_, T>,
        tile: Group,
        rows: Rows<T>,
        block: usize,
    ) {
        let last = block * BLOCK + rows.valid_rows(block) - 1;
        let weights = mapped([job.weights.beta, job.weights.advance], T::of);
        let fields = self.fields.iter().map(|field| tile.row(job.field(*field), last));
        let mut frame = Frame::new(weights, tile.stride, fields);
        // SAFETY: guaranteed by the caller.
        unsafe { self.call(&mut frame, rows, block, job.bypass_caches) };
    }

    /// Runs the code on block `block` of `rows`.
    ///
    /// # Safety
    /// As for [`Machine::run`]; all fields are in the frame.
    unsafe fn call<T: Real>(
        &self,
        frame: &mut Frame<T>,
        rows: Rows<T>,
        block: usize,
        bypass_caches: bool,
    ) {
        let last = rows.valid_rows(block) - 1;
        let variants = &self.entries[block.min(self.entries.len() - 1)];
        let variants = variants[usize::from(frame.weights[0] != T::ZERO)];
        let entry = self.memory[variants[usize::from(bypass_caches)]..].as_ptr();
        // SAFETY: the start of a function of this type.
        let function = unsafe { std::mem::transmute::<*const u8, Function<T>>(entry) };
        let powers = self.memory[self.powers..].as_ptr().cast::<T>().wrapping_add(last);
        let starts = rows.of_block(block).starts();
        let [stored, reused] = mapped(starts, |start| rows.offset(start, last));
        let carried = rows.carried(0);
        // SAFETY: guaranteed by the caller; the code accesses the rows of its locations and of its fields only.
        unsafe { function(reused, stored, carried, last + 1, powers, frame) };
    }
}

/// Whether code can be generated for an instruction set, and the system allows it.
pub(super) fn is_available(arch: pulp::Arch) -> bool {
    let memory = || MmapMut::map_anon(1)?.make_exec();
    isa(arch).is_some() && memory().is_ok()
}

fn isa(arch: pulp::Arch) -> Option<Isa> {
    match arch {
        pulp::Arch::V4(_) => Some(Isa::Avx512),
        pulp::Arch::V3(_) => Some(Isa::Avx2),
        _ => None,
    }
}

/// Whether the code generated for all passes of `code` can load and store the fields itself.
pub(super) fn can_transfer<T: Real>(code: &Code<T>) -> bool {
    let instructions = || code.passes.iter().flat_map(|pass| &pass.instructions);
    let is_supported = |instruction: &Instruction<T>| match instruction {
        Instruction::Map { map, .. } => formula::is_supported(map),
        _ => true,
    };
    let transfer = |instruction: &&Instruction<T>| {
        matches!(instruction, Instruction::Load(_) | Instruction::Store { .. })
    };
    code.steps.is_empty()
        && code.planes.is_empty()
        && instructions().all(is_supported)
        && instructions().filter(transfer).count() <= MAX_POINTERS
}

/// Generates code for the passes of `code` if that is possible for the instruction set `arch`: for the arithmetic of
/// the backward pass, for its back substitution if all operators of the pass have periodic tridiagonal matrices, and
/// with `transfers` for its loads and stores, see [`can_transfer`].
pub(super) fn generate<T: Real>(code: &mut Code<T>, arch: pulp::Arch, transfers: bool) {
    let Some(isa) = isa(arch) else { return };
    code.transfers = transfers;
    for at in 0..code.passes.len() {
        let Pass { applied, instructions, .. } = &code.passes[at];
        let is_simple = |application: &Application<T>| {
            matches!(application.solver.method, SolveMethod::Cyclic(_))
                && application.coupling.is_none()
        };
        let applied = if applied.iter().all(is_simple) { &applied[..] } else { &[] };
        let Split { before, arithmetic, after } = Split::new(applied, instructions, transfers);
        if arithmetic.is_empty() {
            continue;
        }
        let later = &code.passes[at + 1..];
        let read_later = |place: Place| is_read(place, &after, later, &code.packed);
        let body = Body::new(applied, &arithmetic, read_later);
        if let Some(machine) = Machine::new(isa, body) {
            let pass = &mut code.passes[at];
            pass.machine = Some(Arc::new(machine));
            (pass.before, pass.instructions) = (before, after);
        }
    }
}
