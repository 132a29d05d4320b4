//! Machine code of the arithmetic of a pass, and along y and z of its loads and stores, generated when a program is
//! prepared.
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
mod registers;
mod split;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::program::{Application, Code, Instruction, Pass, Slot};
use super::rows::{BLOCK, Place, Rows, lanes};
use super::run::Job;
use super::solver::SolveMethod;
use super::tile::Group;
use crate::real::Real;
use crate::simd::mapped;
use body::Body;
use emit::{Variant, emit};
use encode::{Assembler, Isa};
use frame::{Frame, MAX_FIELDS_OF_PASS, ROWS_AHEAD};
use split::{Split, is_read};

/// The generated code of a pass for the rows of a block.
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
    /// Generates code for `body`. `may_bypass_caches`: its stores may, in some runs. `None` if the system allows no
    /// generated code.
    fn new<T: Real>(isa: Isa, body: Body<'_, T>, may_bypass_caches: bool) -> Option<Self> {
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
                [cached, if may_bypass_caches { variant(adds_old, true) } else { cached }]
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

    /// Runs the code on block `block` of a tile; blocks from the last to the first, if it substitutes.
    ///
    /// # Safety
    /// `rows` is memory of the program that the code was generated for, in the same number format, and no other thread
    /// uses it. If the code loads or stores fields, each row of the tile is as long as a cache line, the fields have all
    /// its points, and no other thread writes those that are read or uses those that are written; where stores bypass
    /// the caches, rows of written fields are cache lines. The processor has the instruction set.
    pub(super) unsafe fn run<T: Real>(
        &self,
        job: &Job<'_, T>,
        tile: Group,
        rows: Rows<T>,
        block: usize,
    ) {
        let weights = mapped([job.weights.beta, job.weights.advance], T::of);
        let run = |range: Range<usize>, ahead: isize| {
            let last = block * BLOCK + range.end - 1;
            let fields = self.fields.iter().map(|field| {
                job.field(*field).wrapping_add(job.points(*field, tile, last).start())
            });
            let mut frame = Frame::new(weights, [tile.stride.cast_signed(), ahead], fields);
            // SAFETY: guaranteed by the caller.
            unsafe { self.call(&mut frame, rows, block, range, job.bypass_caches) };
        };
        let (count, ahead) = (rows.valid_rows(block), ROWS_AHEAD * tile.stride);
        let in_tile = -ahead.cast_signed();
        if block > 0 || self.fields.is_empty() || count <= ROWS_AHEAD {
            return run(0..count, in_tile);
        }
        // The first rows of the tile prefetch the last rows of the next one, with which that begins.
        run(ROWS_AHEAD..count, in_tile);
        run(0..ROWS_AHEAD, (lanes::<T>() + tile.n * tile.stride - ahead).cast_signed());
    }

    /// Runs the code on the rows `range` of block `block` of `rows`.
    ///
    /// # Safety
    /// As for [`Machine::run`]; the frame has the last row of the range in all fields.
    unsafe fn call<T: Real>(
        &self,
        frame: &mut Frame<T>,
        rows: Rows<T>,
        block: usize,
        range: Range<usize>,
        bypass_caches: bool,
    ) {
        let last = range.end - 1;
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
        unsafe { function(reused, stored, carried, range.len(), powers, frame) };
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
    code.steps.is_empty()
        && code.planes.is_empty()
        && code.passes.iter().flat_map(|pass| &pass.instructions).all(is_supported)
        && code.reads.len() + code.writes.len() <= MAX_FIELDS_OF_PASS
}

fn is_supported<T>(instruction: &Instruction<T>) -> bool {
    match instruction {
        Instruction::Map { map, .. } => formula::is_supported(map),
        _ => true,
    }
}

/// Generates code for the passes of `code` if that is possible for the instruction set `arch`: for the arithmetic of
/// the backward pass, for its back substitution if all operators of the pass have periodic tridiagonal matrices, and for
/// its loads and stores where `code` states that.
pub(super) fn generate<T: Real>(code: &mut Code<T>, arch: pulp::Arch) {
    let Some(isa) = isa(arch) else { return };
    for at in 0..code.passes.len() {
        let Pass { applied, instructions, .. } = &code.passes[at];
        let is_simple = |application: &Application<T>| {
            matches!(application.solver.method, SolveMethod::Cyclic(_))
                && application.coupling.is_none()
        };
        let applied = if applied.iter().all(is_simple) { &applied[..] } else { &[] };
        let formulas = instructions.iter().all(is_supported);
        let is_generated = |instruction: &Instruction<T>| match instruction {
            Instruction::Map { .. } => formulas,
            Instruction::Load(_) | Instruction::Store { .. } => code.transfers,
            Instruction::Let { .. } | Instruction::Add { .. } | Instruction::Advance { .. } => true,
        };
        let Split { before, generated, after } = Split::new(applied, instructions, is_generated);
        if generated.is_empty() {
            continue;
        }
        let stores =
            |instruction: &Instruction<T>| matches!(instruction, Instruction::Store { .. });
        let may_bypass_caches = !code.updates && generated.iter().any(stores);
        let later = &code.passes[at + 1..];
        let read_later = |place: Place| is_read(place, &after, later, &code.packed);
        let body = Body::new(applied, &generated, read_later);
        if let Some(machine) = Machine::new(isa, body, may_bypass_caches) {
            let pass = &mut code.passes[at];
            pass.machine = Some(Arc::new(machine));
            (pass.before, pass.instructions) = (before, after);
        }
    }
}
