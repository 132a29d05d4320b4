//! stub
use super::{Buffer, Device, DeviceInfo, Kernel, Scratch};
use crate::engine::LineOperator;
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Real;
use std::sync::Arc;
#[derive(Clone, Copy)]
pub enum LineSolver {
    Thomas,
    Chunked,
}
#[derive(Clone, Copy)]
pub enum Pencils {
    Strided,
    Permuted,
}
pub fn obstacle<T>(_: LineSolver, _: &LineOperator<T>, _: &DeviceInfo) -> Option<String> {
    None
}
pub struct DeviceOperator<T> {
    device: Arc<Device>,
    kernel: Kernel,
    m: Buffer<T>,
    lines: usize,
}
impl<T: Real> DeviceOperator<T> {
    pub fn new(
        device: &Arc<Device>,
        op: &LineOperator<T>,
        points: [usize; 3],
        axis: Axis,
        _: LineSolver,
        _: Pencils,
        _: &Scratch<T>,
    ) -> Result<Self> {
        let n = op.len();
        let s = &op.stencil;
        let mut m = vec![T::ZERO; n * n];
        let f64f = crate::lines::Factors::<f64>::new(&op.matrix);
        for k in 0..n {
            let f = |i: isize| if i.rem_euclid(n as isize) as usize == k { 1.0 } else { 0.0 };
            let mut b: Vec<f64> = (0..n as isize)
                .map(|i| {
                    let mut x = s.center.f64() * f(i);
                    for q in 0..s.half_width {
                        let d = q as isize + 1;
                        let sg = if s.odd { -1.0 } else { 1.0 };
                        x += s.weights[q].f64() * (f(i + d + s.up) + sg * f(i - d + s.down));
                    }
                    x
                })
                .collect();
            crate::lines::solve(&f64f, &mut b);
            for i in 0..n {
                m[i * n + k] = T::of(b[i]);
            }
        }
        let inner: usize = points[..axis.index()].iter().product();
        let lines = points.iter().product::<usize>() / n;
        let text = format!("#define N {n}\n#define INNER {inner}\n#define LINES {lines}\n");
        let file = "KERNEL void dense(GLOBAL const REAL *restrict f, GLOBAL REAL *restrict g, GLOBAL const REAL *restrict m){ int q = blockIdx.x*64+threadIdx.x; if(q<LINES){ int64 s=(int64)(q/INNER)*INNER*N+q%INNER; for(int i=0;i<N;i++){ REAL x=0; for(int k=0;k<N;k++) x+=m[i*N+k]*f[s+(int64)k*INNER]; g[s+(int64)i*INNER]=x; } } }";
        let src = super::text::source::<T>(device.info(), "dense", &text, file);
        Ok(Self {
            device: device.clone(),
            kernel: device.kernel(&src, "dense", [64, 1, 1], 0)?,
            m: Buffer::from_host(device, &m)?,
            lines,
        })
    }
    pub fn apply(&self, f: &Buffer<T>, g: &Buffer<T>) {
        self.device.launch::<T>(
            &self.kernel,
            [self.lines.div_ceil(64) as u32, 1, 1],
            &[f.arg(), g.arg(), self.m.arg()],
        );
    }
}
