//! Transposition of eight by eight numbers: moves lines along x into SIMD lanes and back.

use pulp::Simd;

use crate::real::Real;

/// Size of the square: a cache line of f64.
pub(super) const SIDE: usize = 8;

/// Writes number i of row j of `from` to number j of row i of `to`; the row strides are `from_stride` and `to_stride`.
///
/// # Safety
/// Eight rows of eight numbers in both, without overlap.
#[inline(always)]
pub(super) unsafe fn transpose<S: Simd, T: Real>(
    from: *const T,
    from_stride: usize,
    to: *mut T,
    to_stride: usize,
) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::any::TypeId;
        let is_f64 = TypeId::of::<T>() == TypeId::of::<f64>();
        let is_v4 = TypeId::of::<S>() == TypeId::of::<pulp::x86::V4>();
        let is_v3 = TypeId::of::<S>() == TypeId::of::<pulp::x86::V3>();
        // SAFETY: T is f64 or f32, S represents a machine with these instructions, and the rows are as the caller
        // promises.
        unsafe {
            match (is_f64, is_v4, is_v3) {
                (true, true, _) => {
                    return x86::of_f64_avx512(from.cast(), from_stride, to.cast(), to_stride);
                }
                (true, _, true) => {
                    return x86::of_f64_avx(from.cast(), from_stride, to.cast(), to_stride);
                }
                (false, true, _) | (false, _, true) => {
                    return x86::of_f32_avx(from.cast(), from_stride, to.cast(), to_stride);
                }
                _ => {}
            }
        }
    }
    for i in 0..SIDE {
        for j in 0..SIDE {
            // SAFETY: as the caller promises.
            unsafe { *to.add(i * to_stride + j) = *from.add(j * from_stride + i) };
        }
    }
}

/// The compiler generates one move per number for a transposition; these take three shuffles per eight numbers (four
/// with registers of four numbers).
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256, __m256d, __m512d, _mm256_loadu_pd, _mm256_loadu_ps, _mm256_permute2f128_pd,
        _mm256_permute2f128_ps, _mm256_shuffle_ps, _mm256_storeu_pd, _mm256_storeu_ps,
        _mm256_unpackhi_pd, _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps,
        _mm512_loadu_pd, _mm512_shuffle_f64x2, _mm512_storeu_pd, _mm512_unpackhi_pd,
        _mm512_unpacklo_pd,
    };

    use super::SIDE;
    use crate::simd::{array_of, mapped};

    /// As [`transpose`](super::transpose).
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn of_f64_avx512(
        from: *const f64,
        from_stride: usize,
        to: *mut f64,
        to_stride: usize,
    ) {
        let row = |i: usize| {
            // SAFETY: as the caller promises.
            unsafe { _mm512_loadu_pd(from.add(i * from_stride)) }
        };
        let r: [__m512d; SIDE] = array_of(row);
        // Columns 0, 2, 4, 6 from the low halves of pairs of rows, 1, 3, 5, 7 from the high ones.
        let low = array_of::<_, 4>(|k| _mm512_unpacklo_pd(r[2 * k], r[2 * k + 1]));
        let high = array_of::<_, 4>(|k| _mm512_unpackhi_pd(r[2 * k], r[2 * k + 1]));
        for (first, [p, q, s, t]) in [(0, low), (1, high)] {
            // Lanes of two numbers: 0 and 2 of both operands by 0x88, 1 and 3 by 0xdd.
            let (even, odd) =
                (_mm512_shuffle_f64x2::<0x88>(p, q), _mm512_shuffle_f64x2::<0xdd>(p, q));
            let (even2, odd2) =
                (_mm512_shuffle_f64x2::<0x88>(s, t), _mm512_shuffle_f64x2::<0xdd>(s, t));
            let columns = [
                (first, _mm512_shuffle_f64x2::<0x88>(even, even2)),
                (first + 2, _mm512_shuffle_f64x2::<0x88>(odd, odd2)),
                (first + 4, _mm512_shuffle_f64x2::<0xdd>(even, even2)),
                (first + 6, _mm512_shuffle_f64x2::<0xdd>(odd, odd2)),
            ];
            for (column, values) in columns {
                // SAFETY: as the caller promises.
                unsafe { _mm512_storeu_pd(to.add(column * to_stride), values) };
            }
        }
    }

    /// As [`transpose`](super::transpose).
    #[inline]
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn of_f64_avx(
        from: *const f64,
        from_stride: usize,
        to: *mut f64,
        to_stride: usize,
    ) {
        for (i, j) in [(0, 0), (0, 4), (4, 0), (4, 4)] {
            let row = |k: usize| {
                // SAFETY: columns j to j + 3, as the caller promises.
                unsafe { _mm256_loadu_pd(from.add((i + k) * from_stride + j)) }
            };
            let r: [__m256d; 4] = array_of(row);
            let (p, q) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpacklo_pd(r[2], r[3]));
            let (s, t) = (_mm256_unpackhi_pd(r[0], r[1]), _mm256_unpackhi_pd(r[2], r[3]));
            let columns = [
                _mm256_permute2f128_pd::<0x20>(p, q),
                _mm256_permute2f128_pd::<0x20>(s, t),
                _mm256_permute2f128_pd::<0x31>(p, q),
                _mm256_permute2f128_pd::<0x31>(s, t),
            ];
            for (k, values) in columns.into_iter().enumerate() {
                // SAFETY: columns i to i + 3, as the caller promises.
                unsafe { _mm256_storeu_pd(to.add((j + k) * to_stride + i), values) };
            }
        }
    }

    /// As [`transpose`](super::transpose).
    #[inline]
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn of_f32_avx(
        from: *const f32,
        from_stride: usize,
        to: *mut f32,
        to_stride: usize,
    ) {
        let row = |i: usize| {
            // SAFETY: as the caller promises.
            unsafe { _mm256_loadu_ps(from.add(i * from_stride)) }
        };
        let r: [__m256; SIDE] = array_of(row);
        // From rows 0 to 3, and from rows 4 to 7: columns k in the low half of a register and k + 4 in the high one.
        let [above, below] = mapped([0, 4], |i: usize| {
            let (p, q) =
                (_mm256_unpacklo_ps(r[i], r[i + 1]), _mm256_unpacklo_ps(r[i + 2], r[i + 3]));
            let (s, t) =
                (_mm256_unpackhi_ps(r[i], r[i + 1]), _mm256_unpackhi_ps(r[i + 2], r[i + 3]));
            [
                _mm256_shuffle_ps::<0x44>(p, q),
                _mm256_shuffle_ps::<0xee>(p, q),
                _mm256_shuffle_ps::<0x44>(s, t),
                _mm256_shuffle_ps::<0xee>(s, t),
            ]
        });
        for k in 0..4 {
            let low = _mm256_permute2f128_ps::<0x20>(above[k], below[k]);
            let high = _mm256_permute2f128_ps::<0x31>(above[k], below[k]);
            // SAFETY: as the caller promises.
            unsafe {
                _mm256_storeu_ps(to.add(k * to_stride), low);
                _mm256_storeu_ps(to.add((k + 4) * to_stride), high);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row strides of the source and of the destination.
    const STRIDES: [usize; 2] = [SIDE + 3, SIDE + 5];

    struct Transposed<T>(Vec<T>);

    impl<T: Real> pulp::WithSimd for Transposed<T> {
        type Output = Vec<T>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> Vec<T> {
            let mut to = vec![T::ZERO; SIDE * STRIDES[1]];
            // SAFETY: both have `SIDE` rows of at least `SIDE` values.
            unsafe { transpose::<S, T>(self.0.as_ptr(), STRIDES[0], to.as_mut_ptr(), STRIDES[1]) };
            to
        }
    }

    fn check<T: Real>() {
        let number = |at: usize| T::of(f64::from(u8::try_from(at).unwrap()));
        let from: Vec<T> = (1..=SIDE * STRIDES[0]).map(number).collect();
        let expected: Vec<T> = (0..SIDE * STRIDES[1])
            .map(|at| match (at / STRIDES[1], at % STRIDES[1]) {
                (i, j) if j < SIDE => from[j * STRIDES[0] + i],
                _ => T::ZERO,
            })
            .collect();
        assert_eq!(pulp::Arch::new().dispatch(Transposed(from.clone())), expected);
        assert_eq!(pulp::Arch::Scalar.dispatch(Transposed(from.clone())), expected);
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            assert_eq!(pulp::Arch::V3(v3).dispatch(Transposed(from)), expected);
        }
    }

    #[test]
    fn blocks_are_transposed_on_every_instruction_set() {
        check::<f64>();
        check::<f32>();
    }
}
