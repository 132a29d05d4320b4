//! Eight by eight numbers turned about their diagonal: how lines along x come into SIMD lanes and back.

use pulp::Simd;

use crate::real::Real;

/// Side of the block: a cache line of f64.
pub(super) const SIDE: usize = 8;

/// Eight rows of eight.
pub(super) type Block<T> = [[T; SIDE]; SIDE];

/// `result[i][j] = block[j][i]`.
#[inline(always)]
pub(super) fn transposed<S: Simd, T: Real>(block: &Block<T>) -> Block<T> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::any::TypeId;
        let is_f64 = TypeId::of::<T>() == TypeId::of::<f64>();
        let from = std::ptr::from_ref(block).cast::<Block<f64>>();
        let mut result = [[T::ZERO; SIDE]; SIDE];
        let to = std::ptr::from_mut(&mut result).cast::<Block<f64>>();
        if is_f64 && TypeId::of::<S>() == TypeId::of::<pulp::x86::V4>() {
            // SAFETY: T is f64, and S = V4 stands for a machine with AVX-512.
            unsafe { x86::avx512(&*from, &mut *to) };
            return result;
        }
        if is_f64 && TypeId::of::<S>() == TypeId::of::<pulp::x86::V3>() {
            // SAFETY: T is f64, and S = V3 stands for a machine with AVX.
            unsafe { x86::avx(&*from, &mut *to) };
            return result;
        }
    }
    let mut result = [[T::ZERO; SIDE]; SIDE];
    for i in 0..SIDE {
        for j in 0..SIDE {
            result[i][j] = block[j][i];
        }
    }
    result
}

/// The compiler turns a transposition into one move a number; these take three shuffles for eight (four for four).
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256d, __m512d, _mm256_loadu_pd, _mm256_permute2f128_pd, _mm256_storeu_pd,
        _mm256_unpackhi_pd, _mm256_unpacklo_pd, _mm512_loadu_pd, _mm512_shuffle_f64x2,
        _mm512_storeu_pd, _mm512_unpackhi_pd, _mm512_unpacklo_pd,
    };

    use super::Block;

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512(from: &Block<f64>, to: &mut Block<f64>) {
        // SAFETY: every row is eight numbers long.
        let r: [__m512d; 8] = std::array::from_fn(|i| unsafe { _mm512_loadu_pd(from[i].as_ptr()) });
        // Columns 0, 2, 4, 6 from the low halves of pairs of rows, 1, 3, 5, 7 from the high ones.
        let low = [(0, 1), (2, 3), (4, 5), (6, 7)].map(|(a, b)| _mm512_unpacklo_pd(r[a], r[b]));
        let high = [(0, 1), (2, 3), (4, 5), (6, 7)].map(|(a, b)| _mm512_unpackhi_pd(r[a], r[b]));
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
                // SAFETY: every row is eight numbers long.
                unsafe { _mm512_storeu_pd(to[column].as_mut_ptr(), values) };
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx")]
    pub(super) fn avx(from: &Block<f64>, to: &mut Block<f64>) {
        for (i, j) in [(0, 0), (0, 4), (4, 0), (4, 4)] {
            // SAFETY: columns j to j + 3 of rows of eight.
            let r: [__m256d; 4] =
                std::array::from_fn(|k| unsafe { _mm256_loadu_pd(from[i + k][j..].as_ptr()) });
            let (p, q) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpacklo_pd(r[2], r[3]));
            let (s, t) = (_mm256_unpackhi_pd(r[0], r[1]), _mm256_unpackhi_pd(r[2], r[3]));
            let columns = [
                _mm256_permute2f128_pd::<0x20>(p, q),
                _mm256_permute2f128_pd::<0x20>(s, t),
                _mm256_permute2f128_pd::<0x31>(p, q),
                _mm256_permute2f128_pd::<0x31>(s, t),
            ];
            for (k, values) in columns.into_iter().enumerate() {
                // SAFETY: columns i to i + 3 of rows of eight.
                unsafe { _mm256_storeu_pd(to[j + k][i..].as_mut_ptr(), values) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Both<T>(Block<T>);

    impl<T: Real> pulp::WithSimd for Both<T> {
        type Output = Block<T>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> Block<T> {
            transposed::<S, T>(&self.0)
        }
    }

    fn check<T: Real>() {
        let number = |i: usize, j: usize| T::of(f64::from(u8::try_from(8 * i + j).unwrap()));
        let block: Block<T> = std::array::from_fn(|i| std::array::from_fn(|j| number(i, j)));
        let expected: Block<T> = std::array::from_fn(|i| std::array::from_fn(|j| number(j, i)));
        assert_eq!(pulp::Arch::new().dispatch(Both(block)), expected);
        assert_eq!(pulp::Arch::Scalar.dispatch(Both(block)), expected);
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            assert_eq!(pulp::Arch::V3(v3).dispatch(Both(block)), expected);
        }
    }

    #[test]
    fn a_block_is_turned_about_its_diagonal_on_every_instruction_set() {
        check::<f64>();
        check::<f32>();
    }
}
