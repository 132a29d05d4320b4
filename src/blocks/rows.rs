//! Solution of rows of one colour: products with the off-diagonal blocks, then two triangular solves.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::Factored;
use crate::real::Real;

/// Maximum number of registers for sums.
const REGISTERS: usize = 8;
/// Numbers per register, at most.
const LANES: usize = 8;
/// Maximum number of rows of a block that are summed at once; larger blocks are traversed several times.
const TILE: usize = REGISTERS * LANES;
/// Padding after the last block that whole registers may read; the values are not used.
pub(super) const TAIL: usize = TILE;
/// Prefetch distance in bytes.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// Unknowns that several threads access; no thread accesses an unknown that another writes.
#[derive(Clone, Copy)]
pub(super) struct Unknowns<'a>(*mut f64, PhantomData<&'a mut [f64]>);

// SAFETY: numbers may be read and written from any thread; `Rows` ensures that accesses do not conflict.
unsafe impl Send for Unknowns<'_> {}
// SAFETY: as above.
unsafe impl Sync for Unknowns<'_> {}

impl<'a> Unknowns<'a> {
    pub(super) fn new(x: &'a mut [f64]) -> Self {
        Self(x.as_mut_ptr(), PhantomData)
    }
}

/// Task to solve `rows` of one colour: they read only unknowns of other colours, and each writes its own.
pub(super) struct Rows<'a, S> {
    pub(super) matrix: &'a Factored<S>,
    pub(super) b: &'a [f64],
    pub(super) x: Unknowns<'a>,
    pub(super) rows: Range<usize>,
    pub(super) relaxation: f64,
}

impl<S: Real> WithSimd for Rows<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<A: Simd>(self, simd: A) {
        match self.matrix.nb {
            1 => simd.vectorize(OfSize::<S, 1, 1>(self)),
            2 => simd.vectorize(OfSize::<S, 2, 1>(self)),
            3 => simd.vectorize(OfSize::<S, 3, 1>(self)),
            4 => simd.vectorize(OfSize::<S, 4, 1>(self)),
            5 => simd.vectorize(OfSize::<S, 5, 1>(self)),
            6 => simd.vectorize(OfSize::<S, 6, 1>(self)),
            7 => simd.vectorize(OfSize::<S, 7, 1>(self)),
            8 => simd.vectorize(OfSize::<S, 8, 1>(self)),
            nb if nb <= 2 * A::F64_LANES => simd.vectorize(OfSize::<S, 0, 2>(self)),
            nb if nb <= 4 * A::F64_LANES => simd.vectorize(OfSize::<S, 0, 4>(self)),
            _ => simd.vectorize(OfSize::<S, 0, REGISTERS>(self)),
        }
    }
}

/// [`Rows`] for blocks of `NB` rows (0: any number), with `V` registers of rows at once.
struct OfSize<'a, S, const NB: usize, const V: usize>(Rows<'a, S>);

impl<S: Real, const NB: usize, const V: usize> WithSimd for OfSize<'_, S, NB, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<A: Simd>(self, simd: A) {
        let Rows { matrix, b, x, rows, relaxation } = self.0;
        let nb = if NB == 0 { matrix.nb } else { NB };
        let mut short = [0.0; 2 * TILE];
        let mut long =
            if nb > TILE { vec![0.0; 2 * nb.next_multiple_of(TILE)] } else { Vec::new() };
        let memory = if nb > TILE { &mut long[..] } else { &mut short[..] };
        let (sums, y) = memory.split_at_mut(memory.len() / 2);
        for row in rows {
            product::<A, S, NB, V>(simd, matrix, row, x, sums);
            let own = row * nb..(row + 1) * nb;
            let (b, pivots) = (&b[own.clone()], &matrix.pivots[own]);
            for i in 0..nb {
                let pivot = usize::from(pivots[i]);
                y[i] = b[pivot] - sums[pivot];
            }
            triangles::<A, NB>(&matrix.factors[row * nb * nb..][..nb * nb], &mut y[..nb]);
            for (i, y) in y[..nb].iter().enumerate() {
                // SAFETY: no other thread reads or writes the unknowns of this row meanwhile.
                let x = unsafe { &mut *x.0.add(row * nb + i) };
                *x = (1.0 - relaxation) * *x + relaxation * y;
            }
        }
    }
}

/// Σⱼ Oᵢⱼ xⱼ of row i, block by block, column by column. More than [`TILE`] sums are computed in several passes.
#[inline(always)]
fn product<A: Simd, S: Real, const NB: usize, const V: usize>(
    simd: A,
    matrix: &Factored<S>,
    row: usize,
    x: Unknowns<'_>,
    sums: &mut [f64],
) {
    let nb = if NB == 0 { matrix.nb } else { NB };
    let registers = if NB == 0 { V } else { NB.div_ceil(A::F64_LANES) };
    let pattern = matrix.colouring.pattern();
    let (own, columns) = (pattern.row(row), pattern.columns_of(row));
    let blocks = &matrix.off_diagonal[own.start * nb * nb..own.end * nb * nb + TAIL];
    for (tile, sums) in sums.chunks_mut(registers * A::F64_LANES).enumerate() {
        let first = tile * registers * A::F64_LANES;
        if first >= nb {
            break;
        }
        // Columns alternate between two sums to shorten the dependency chain.
        let mut sum = [[simd.splat_f64s(0.0); REGISTERS]; 2];
        for (block, &column) in columns.iter().enumerate() {
            for j in 0..nb {
                // SAFETY: columns are rows of the pattern, `x` has nb numbers for each, and no row of the colour that is written meanwhile
                // is a column of another.
                let x = simd.splat_f64s(unsafe { *x.0.add(column as usize * nb + j) });
                let column = blocks.as_ptr().wrapping_add((block * nb + j) * nb + first);
                fetch(column, registers * A::F64_LANES);
                for v in 0..registers {
                    let at = (block * nb + j) * nb + first + v * A::F64_LANES;
                    // SAFETY: within the last column, or at most TAIL after its end.
                    let own = unsafe { S::widened(simd, blocks.as_ptr().add(at)) };
                    let sum = &mut sum[if NB == 0 { 0 } else { j % 2 }][v];
                    *sum = simd.mul_add_e_f64s(own, x, *sum);
                }
            }
        }
        let (registers, _) = A::as_mut_simd_f64s(sums);
        for (v, to) in registers.iter_mut().enumerate() {
            *to = simd.add_f64s(sum[0][v], sum[1][v]);
        }
    }
}

/// Prefetch the data [`AHEAD`] of these numbers: the hardware prefetcher stops at the end of a page of 4 KiB.
#[inline(always)]
fn fetch<S>(from: *const S, count: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..(count * size_of::<S>()).div_ceil(CACHE_LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let ahead = from.cast::<i8>().wrapping_add(AHEAD + line * CACHE_LINE);
        // SAFETY: a prefetch is a hint; the address need not be valid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, count);
}

/// y ← U⁻¹ L⁻¹ y, column by column of the factors.
#[inline(always)]
fn triangles<A: Simd, const NB: usize>(factors: &[f64], y: &mut [f64]) {
    let nb = if NB == 0 { y.len() } else { NB };
    for j in 0..nb {
        fetch(&factors[j * nb], nb);
        for i in j + 1..nb {
            y[i] = minus_product::<A>(y[i], factors[i + j * nb], y[j]);
        }
    }
    for j in (0..nb).rev() {
        y[j] *= factors[j + j * nb];
        for i in 0..j {
            y[i] = minus_product::<A>(y[i], factors[i + j * nb], y[j]);
        }
    }
}

/// c − a b, with a single rounding if there is an instruction for it.
#[inline(always)]
fn minus_product<A: Simd>(c: f64, a: f64, b: f64) -> f64 {
    if A::IS_SCALAR { c - a * b } else { (-a).mul_add(b, c) }
}
