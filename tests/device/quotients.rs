//! Quotients without a branch for denormal numbers (QUOTIENT of kernels/prelude.cu), which sweeps use on an NVIDIA GPU.

use kolmo::Real;
use kolmo::backend::device::{Buffer, KernelRequest};

use super::device;
use super::runtime::source;
use crate::common::noise;

const DIVIDED: &str = "
KERNEL_OF(8) void divided(GLOBAL const REAL *restrict a, GLOBAL const REAL *restrict b, GLOBAL REAL *restrict out) {
    int i = 8 * blockIdx.x + threadIdx.x;
    out[i] = QUOTIENT(a[i], b[i]);
}
";

/// The number of quotients that are not correctly rounded, for operands over many orders of magnitude and a seed instruction that returns
/// 1/b times `1 + seed_error`.
fn misrounded<T: Real>(seed_error: f64) -> usize {
    // A substitute of the same accuracy where there is no such instruction.
    let seed = format!(
        "#ifndef __CUDA_ARCH__\n#define SEED(y, b) (y = (REAL)(1 + {seed_error:e}) / (b))\n#endif\n"
    );
    let source = source::<T>("divided", &seed, DIVIDED);
    let request = KernelRequest { source, entry: "divided".into(), threads: [8, 1, 1], on_chip: 0 };
    let (device, mut next) = (device(), noise(7));
    let mut numbers =
        || (0..1 << 16).map(|_| T::of(next() * (20.0 * next()).exp2())).collect::<Vec<_>>();
    let (a, b) = (numbers(), numbers());
    let [over, under, out] = [&a, &b, &a].map(|x| Buffer::from_host(&device, x).unwrap());
    let kernel = device.kernel(request).unwrap();
    kernel.launch([1 << 13, 1, 1], [over.arg(), under.arg(), out.arg()]);
    let quotients = out.download::<T>().unwrap();
    let found = a.iter().zip(&b).zip(&quotients);
    found.filter(|((a, b), quotient)| **quotient != **a / **b).count()
}

#[test]
fn quotients_are_correctly_rounded_with_inexact_reciprocal_seeds() {
    for seed_error in [0.0, 0.5_f64.powi(20), -0.5_f64.powi(20)] {
        let misrounded = [misrounded::<f64>(seed_error), misrounded::<f32>(seed_error)];
        assert_eq!(misrounded, [0, 0], "of {} quotients, seed error {seed_error:e}", 1 << 16);
    }
}
