//! Machine code of the arithmetic of a pass, generated when a program is prepared.
//!
//! The loops in [`applied`](super::applied) and [`sums`](super::sums) know neither the operators nor the terms of a
//! sweep: every term of a sum loads its factors from memory, for eight vectors at a time. The generated code is one loop
//! over rows without any selection: solutions, sums and often used fields stay in registers (cf. the small matrix
//! products of Heinecke, Henry, Hutchinson & Pabst, "LIBXSMM", SC 2016). Results are the same bits.

mod body;
mod emit;
mod encode;
mod split;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::program::{Application, Code, Instruction, Pass};
use super::rows::{BLOCK, Place, Rows};
use super::solver::SolveMethod;
use crate::real::Real;
use crate::simd::mapped;
use body::Body;
use emit::{Variant, emit};
use encode::{Assembler, Isa};
use split::{Split, is_read};

/// The arithmetic of a pass on the rows of a block.
#[derive(Debug)]
pub(super) struct Machine {
    memory: Mmap,
    /// Start of the code of every variant: for the blocks from the first one, without and with old values of sums.
    entries: Vec<[usize; 2]>,
    /// Start of the powers in the memory.
    powers: usize,
    /// See [`Machine::substitutes`].
    substitutes: bool,
}

/// A generated function, see [`encode::Argument`].
type Function<T> = unsafe extern "sysv64" fn(
    *mut T,   // reused
    *mut T,   // stored
    *mut T,   // carried
    usize,    // rows
    *const T, // powers
    *const T, // weights
);

impl Machine {
    /// Generates code for `arithmetic`, after the substitution of `applied` if that is not empty; `read_later`: see
    /// [`Body::new`]. `None` if the system allows no generated code.
    fn new<T: Real>(
        isa: Isa,
        applied: &[Application<T>],
        arithmetic: &[Instruction<T>],
        read_later: impl Fn(Place) -> bool,
    ) -> Option<Self> {
        let body = Body::new(applied, arithmetic, read_later);
        let mut assembler = Assembler::new(isa);
        let blocks = body.matrices.iter().map(|matrix| matrix.powers.len()).max().unwrap_or(0);
        let mut powers = Vec::with_capacity(blocks * body.matrices.len() * BLOCK);
        let mut entries = Vec::with_capacity(blocks + 1);
        for block in 0..=blocks {
            entries.push(
                [false, true]
                    .map(|adds_old| emit(&mut assembler, &body, Variant { block, adds_old })),
            );
            for matrix in body.matrices.iter().filter(|_| block < blocks) {
                let rows = matrix.powers.get(block).copied().unwrap_or([[T::ZERO; 2]; BLOCK]);
                powers.extend(rows.map(|[_, power]| power));
            }
        }
        let (memory, powers) = assembler.finish(&powers)?;
        Some(Self { memory, entries, powers, substitutes: !applied.is_empty() })
    }

    /// True if it includes the back substitution of the operators of the pass.
    pub(super) fn substitutes(&self) -> bool {
        self.substitutes
    }

    /// Runs the code on the rows of block `block`; blocks from the last to the first, if it substitutes. `weights`: β
    /// and the advance of the run.
    ///
    /// # Safety
    /// `rows` is memory of the program that the code was generated for, in the same number format, and no other thread
    /// uses it; the processor has the instruction set.
    pub(super) unsafe fn run<T: Real>(&self, rows: Rows<T>, block: usize, weights: &[T; 2]) {
        let last = rows.valid_rows(block) - 1;
        let variants = &self.entries[block.min(self.entries.len() - 1)];
        let entry = self.memory[variants[usize::from(weights[0] != T::ZERO)]..].as_ptr();
        // SAFETY: the start of a function of this type.
        let function = unsafe { std::mem::transmute::<*const u8, Function<T>>(entry) };
        let powers = self.memory[self.powers..].as_ptr().cast::<T>().wrapping_add(last);
        let starts = rows.of_block(block).starts();
        let [stored, reused] = mapped(starts, |start| rows.offset(start, last));
        let carried = rows.carried(0);
        // SAFETY: guaranteed by the caller; the code accesses the rows of its locations only.
        unsafe { function(reused, stored, carried, last + 1, powers, weights.as_ptr()) };
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

/// Generates code for the passes of `code` if that is possible for the instruction set `arch`: for the arithmetic of
/// the backward pass, and for its back substitution if all operators of the pass have periodic tridiagonal matrices.
pub(super) fn generate<T: Real>(code: &mut Code<T>, arch: pulp::Arch) {
    let Some(isa) = isa(arch) else { return };
    for at in 0..code.passes.len() {
        let Pass { applied, instructions, .. } = &code.passes[at];
        let is_simple = |application: &Application<T>| {
            matches!(application.solver.method, SolveMethod::Cyclic(_))
                && application.coupling.is_none()
        };
        let applied = if applied.iter().all(is_simple) { &applied[..] } else { &[] };
        let Split { before, arithmetic, after } = Split::new(applied, instructions);
        if arithmetic.is_empty() {
            continue;
        }
        let later = &code.passes[at + 1..];
        let read_later = |place: Place| is_read(place, &after, later, &code.packed);
        if let Some(machine) = Machine::new(isa, applied, &arithmetic, read_later) {
            let pass = &mut code.passes[at];
            pass.machine = Some(Arc::new(machine));
            (pass.before, pass.instructions) = (before, after);
        }
    }
}
