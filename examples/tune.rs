use kolmo::{backend::cpu::*, cases::Domain, engine::*, grid::*, scheme::family};
use rayon::prelude::*;
use std::time::Instant;
fn main() {
    let n: usize = std::env::args().nth(1).map_or(256, |s| s.parse().unwrap());
    let th: usize = std::env::args().nth(2).map_or(2, |s| s.parse().unwrap());
    let pts = [n, n, n];
    let g = Grid::periodic(pts, &Domain::cube(6.28));
    let ops = LineOperators::<f64>::new(family("compact6").unwrap(), None, &g);
    let cpu = Cpu::<f64>::new(Some(th)).unwrap();
    let mut f = Field::<f64>::zeros(g.len());
    let mut d = Field::<f64>::zeros(g.len());
    for i in 0..g.len() {
        f[i] = ((i * 7919) % 1000) as f64 * 1e-3;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(th).build().unwrap();
    let mut best = [f64::MAX; 4];
    let mut all = vec![vec![]; 4];
    let progs: Vec<_> = Axis::ALL
        .iter()
        .map(|&a| {
            let s = SweepBuilder::new();
            s.store(0, s.d1(s.read(0)));
            Program::new(&s.build(), a, n, &ops)
        })
        .collect();
    for _ in 0..12 {
        let t = Instant::now();
        pool.install(|| {
            d.par_chunks_mut(1 << 16).zip(f.par_chunks(1 << 16)).for_each(|(d, f)| {
                for i in 0..d.len() {
                    d[i] = f[i] * 1.0000001
                }
            })
        });
        let s = t.elapsed().as_secs_f64();
        best[3] = best[3].min(s);
        all[3].push(s);
        for a in 0..3 {
            let t = Instant::now();
            cpu.run(&progs[a], pts, &[&f], &mut [&mut d], 0.0, 1.0);
            let s = t.elapsed().as_secs_f64();
            best[a] = best[a].min(s);
            all[a].push(s);
        }
    }
    let c = best[3];
    for (a, v) in ["x", "y", "z", "copy"].iter().zip(all.iter_mut()) {
        v.sort_by(f64::total_cmp);
        println!(
            "{a}: min {:.3} ns/pt ratio {:.2} median {:.3} ",
            v[0] * 1e9 / g.len() as f64,
            v[0] / c,
            v[6] * 1e9 / g.len() as f64
        );
    }
}
