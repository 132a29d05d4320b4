//! The hot paths on the host: one derivative along each axis at 256^3 beside a copy of the same bytes, and one step of the
//! Taylor-Green vortex.
//!
//! ```text
//! cargo bench                        # everything
//! cargo bench -- derivative          # the copy and the derivatives
//! ```
//! Machines are noisy: compare a derivative with the copy of the same run, not with yesterday's.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kolmo::backend::Weights;
use kolmo::backend::cpu::{Cpu, Field, Program};
use kolmo::cases::Domain;
use kolmo::config::parse;
use kolmo::engine::{Formula, LineOperators, Number, PointFormula, SweepBuilder};
use kolmo::grid::{Axis, Grid};
use kolmo::scheme::family;
use kolmo::time::Simulation;

const POINTS: [usize; 3] = [256; 3];

/// A copy that the compiler does not make a call to the system's own copy of.
struct Negated;

impl Formula<1, 1> for Negated {
    #[inline(always)]
    fn at<N: Number>(&self, [f]: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [-f]
    }
}

/// Time of ∂f/∂x, ∂f/∂y, ∂f/∂z (compact6, f64, all cores) and of a copy with ordinary stores: 16 bytes a point each.
fn derivative(criterion: &mut Criterion) {
    let grid = Grid::periodic(POINTS, &Domain::cube(std::f64::consts::TAU));
    let Some(family) = family("compact6") else { unreachable!("a built-in scheme") };
    let operators = LineOperators::new(family, None, &grid, kolmo::Precision::F64);
    let Ok(cpu) = Cpu::new(None) else { unreachable!("threads") };
    let mut f = Field::zeros(grid.len());
    let mut state = 1_u64;
    for value in f.iter_mut() {
        // A linear congruential generator (Knuth 1981): data that no branch or cache can learn.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[allow(clippy::cast_precision_loss, reason = "noise")]
        let noise = (state >> 11) as f64 / (1_u64 << 53) as f64;
        *value = noise;
    }
    let mut derivative = Field::zeros(grid.len());

    let negated = PointFormula::map(Negated);
    let mut group = criterion.benchmark_group("derivative");
    group.throughput(Throughput::Bytes(16 * grid.len() as u64)).sample_size(10);
    group.bench_function("copy", |bench| {
        bench.iter(|| {
            cpu.map(&negated, &[&f], &mut [&mut derivative], &[]);
        });
    });
    for axis in Axis::ALL {
        let s = SweepBuilder::new();
        s.store(0, s.d1(s.read(0)));
        let program = Program::new(&s.build(), axis, POINTS, &operators);
        group.bench_function(format!("{axis:?}").to_lowercase(), |bench| {
            bench.iter(|| cpu.run(&program, &[&f], &mut [&mut derivative], Weights::SET));
        });
    }
    group.finish();
}

/// One step of the vortex at 64^3: six stages with hale64. Elements are points times stages.
fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step");
    group.throughput(Throughput::Elements(6 * 64_u64.pow(3))).sample_size(10);
    for (name, forms) in [
        ("kennedy-gruber, split-pressure", ""),
        ("feiereisen, split-enthalpy", "convection = 'feiereisen'\nenergy = 'split-enthalpy'\n"),
    ] {
        let input = format!(
            "[case]\nname = 'taylor-green'\n[grid]\npoints = [64, 64, 64]\n[scheme]\n{forms}[time]\nmax_steps = 1\n[compute]\nbackend = 'cpu'\n"
        );
        let Ok(config) = parse(&input, "bench", &[]) else { unreachable!("a good input") };
        let Ok(mut simulation) = Simulation::new(&config) else { unreachable!("fits") };
        group.bench_function(name, |bench| {
            bench.iter(|| simulation.step(None).is_ok());
        });
    }
    group.finish();
}

criterion_group!(benches, derivative, step);
criterion_main!(benches);
