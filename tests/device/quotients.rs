//! Quotients without a branch for denormal numbers (QUOTIENT of kernels/prelude.cu), as sweeps have them on an NVIDIA GPU.

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

/// How many of the quotients of numbers over many orders of magnitude are not the nearest ones, where an instruction gives 1/b too large
/// by a factor of `1 + off`.
fn not_nearest<T: Real>(off: f64) -> usize {
    // Without the instruction, one that is as coarse.
    let seed = format!(
        "#ifndef __CUDA_ARCH__\n#define SEED(y, b) (y = (REAL)(1 + {off:e}) / (b))\n#endif\n"
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
fn quotients_are_the_nearest_numbers_however_the_coarse_reciprocal_is_off() {
    for off in [0.0, 0.5_f64.powi(20), -0.5_f64.powi(20)] {
        let not_nearest = [not_nearest::<f64>(off), not_nearest::<f32>(off)];
        assert_eq!(not_nearest, [0, 0], "of {} where it is off by {off:e}", 1 << 16);
    }
}
