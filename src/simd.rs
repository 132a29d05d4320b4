//! Vector registers of an instruction set, for both number formats. Without them the compiler splits the lanes of a
//! recurrence into registers of every width.

#[cfg(target_arch = "x86_64")]
use std::any::TypeId;
use std::mem::MaybeUninit;

use pulp::Simd;

/// The array [f(0), f(1), ..., f(N − 1)]. Use it, and [`mapped`], for registers and in loops that must be fast:
/// `array::from_fn` and `array::map` are compiled separately from their callers and are not inlined.
#[inline(always)]
pub(crate) fn array_of<A, const N: usize>(mut f: impl FnMut(usize) -> A) -> [A; N] {
    let mut items = [const { MaybeUninit::<A>::uninit() }; N];
    for at in 0..N {
        items[at].write(f(at));
    }
    // SAFETY: an array of the same size, and every item was written.
    unsafe { (&raw const items).cast::<[A; N]>().read() }
}

/// The array of the values of `f` at every item.
#[inline(always)]
pub(crate) fn mapped<A: Copy, B, const N: usize>(
    items: [A; N],
    mut f: impl FnMut(A) -> B,
) -> [B; N] {
    array_of(|at| f(items[at]))
}

/// Number types with several numbers per vector register.
pub trait Vectors: Copy {
    /// A register of the instruction set `S`.
    type Vector<S: Simd>: Copy;

    /// Loads these numbers, fewer than a register holds, to the start of a register.
    fn load<S: Simd>(simd: S, part: &[Self]) -> Self::Vector<S>;
    /// Stores the first numbers of a register.
    fn store<S: Simd>(simd: S, part: &mut [Self], vector: Self::Vector<S>);

    /// Broadcasts a number.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// a + b.
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a − b.
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a b.
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a b + c by the cheapest instructions of `S`: rounded once if a fused instruction exists.
    fn fma<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// a / b.
    fn over<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// −a.
    fn negative<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// |a|.
    fn magnitude<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// √a.
    fn root<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;

    /// Loads as many of these numbers as a register has 64-bit lanes, converted to 64 bit.
    ///
    /// # Safety
    /// That many numbers must be readable from address `from`.
    unsafe fn widened<S: Simd>(simd: S, from: *const Self) -> S::f64s;
}

macro_rules! vectors {
    ($t:ident $s:ident $load:ident $store:ident
     $splat:ident $add:ident $sub:ident $mul:ident $fma:ident
     $div:ident $neg:ident $and:ident $sqrt:ident $widened:ident) => {
        impl Vectors for $t {
            type Vector<S: Simd> = S::$s;

            #[inline(always)]
            fn load<S: Simd>(simd: S, part: &[$t]) -> S::$s {
                simd.$load(part)
            }
            #[inline(always)]
            fn store<S: Simd>(simd: S, part: &mut [$t], vector: S::$s) {
                simd.$store(part, vector);
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: $t) -> S::$s {
                simd.$splat(x)
            }
            #[inline(always)]
            fn plus<S: Simd>(simd: S, a: S::$s, b: S::$s) -> S::$s {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn minus<S: Simd>(simd: S, a: S::$s, b: S::$s) -> S::$s {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn times<S: Simd>(simd: S, a: S::$s, b: S::$s) -> S::$s {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn fma<S: Simd>(simd: S, a: S::$s, b: S::$s, c: S::$s) -> S::$s {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            fn over<S: Simd>(simd: S, a: S::$s, b: S::$s) -> S::$s {
                simd.$div(a, b)
            }
            #[inline(always)]
            fn negative<S: Simd>(simd: S, a: S::$s) -> S::$s {
                simd.$neg(a)
            }
            #[inline(always)]
            fn magnitude<S: Simd>(simd: S, a: S::$s) -> S::$s {
                // Not `abs` of pulp, whose mask is computed by a call.
                simd.$and(simd.$splat($t::from_bits(!(-0.0 as $t).to_bits())), a)
            }
            #[inline(always)]
            fn root<S: Simd>(simd: S, a: S::$s) -> S::$s {
                simd.$sqrt(a)
            }
            #[inline(always)]
            unsafe fn widened<S: Simd>(simd: S, from: *const $t) -> S::f64s {
                // SAFETY: guaranteed by the caller.
                unsafe { $widened(simd, from) }
            }
        }
    };
}
vectors!(f32 f32s partial_load_f32s partial_store_f32s
         splat_f32s add_f32s sub_f32s mul_f32s mul_add_e_f32s
         div_f32s neg_f32s and_f32s sqrt_f32s widened_f32s);
vectors!(f64 f64s partial_load_f64s partial_store_f64s
         splat_f64s add_f64s sub_f64s mul_f64s mul_add_e_f64s
         div_f64s neg_f64s and_f64s sqrt_f64s widened_f64s);

/// [`Vectors::widened`]: the instruction where it exists, which the compiler does not always find.
#[inline(always)]
unsafe fn widened_f32s<S: Simd>(simd: S, from: *const f32) -> S::f64s {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_ps, _mm256_cvtps_pd, _mm256_loadu_ps, _mm512_cvtps_pd};
        if TypeId::of::<S>() == TypeId::of::<pulp::x86::V4>() {
            // SAFETY: the processor has the instructions that V4 represents, whose register of 64-bit numbers this is;
            // the caller guarantees `from`.
            return unsafe { std::mem::transmute_copy(&_mm512_cvtps_pd(_mm256_loadu_ps(from))) };
        }
        if TypeId::of::<S>() == TypeId::of::<pulp::x86::V3>() {
            // SAFETY: as above.
            return unsafe { std::mem::transmute_copy(&_mm256_cvtps_pd(_mm_loadu_ps(from))) };
        }
    }
    let mut wide = [0.0; 8];
    for (lane, to) in wide[..S::F64_LANES].iter_mut().enumerate() {
        // SAFETY: guaranteed by the caller.
        *to = f64::from(unsafe { *from.add(lane) });
    }
    simd.partial_load_f64s(&wide[..S::F64_LANES])
}

/// [`Vectors::widened`] for 64-bit numbers.
#[inline(always)]
unsafe fn widened_f64s<S: Simd>(_: S, from: *const f64) -> S::f64s {
    // SAFETY: guaranteed by the caller; any bytes are valid numbers.
    unsafe { from.cast::<S::f64s>().read_unaligned() }
}
