//! The compressible Navier-Stokes equations, composed operator by operator.
//!
//! ```text
//! dU/dt = − ∂Fⱼ/∂xⱼ + ∂Gⱼ/∂xⱼ,   U = (ρ, ρu, ρv, ρw, ρE)
//! ```
//! A right-hand side is: the primitive variables from U; the velocity gradients, where there is viscosity; then one
//! sweep along each axis that adds all terms with a derivative along it. The terms stand in `convection.rs` and
//! `viscosity.rs`.

use std::sync::Arc;

use super::convection::{Lines, convection, pressure_gradient};
use super::discretisation::Discretisation;
use super::slots::{conserved, read};
use super::stability::Limits;
use super::viscosity::viscosity;
use super::{Gas, Viscosity};
use crate::backend::cpu::{Cpu, Field, Program};
use crate::cases::{Case, Domain};
use crate::config::{Config, SchemeConfig};
use crate::engine::{Op, Sweep, SweepBuilder};
use crate::grid::{Axis, Grid};
use crate::real::Real;

/// The terms of the right-hand side, together or one kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    All,
    /// Transport of mass and momentum.
    Convection,
    /// The pressure gradient.
    Pressure,
    /// The viscous force.
    Viscous,
}

impl Part {
    /// In the order of the variants.
    const ALL: [Part; 4] = [Part::All, Part::Convection, Part::Pressure, Part::Viscous];
}

/// The equations on one grid, with the fields they need.
pub struct NavierStokes<T> {
    pub(super) cpu: Arc<Cpu<T>>,
    pub(super) grid: Grid,
    pub(super) gas: Gas,
    pub(super) case: Case,
    pub(super) domain: Domain,
    pub(super) limits: Limits,
    /// u, v, w, p, T, μ, dμ/dT: slots `read::U` and on. The last two are empty where μ is constant.
    pub(super) primitives: Vec<Field<T>>,
    /// ∂uᵢ/∂xⱼ at 3 i + j.
    pub(super) gradients: Vec<Field<T>>,
    gradient_sweeps: Vec<Program<T>>,
    /// For every [`Part`], one sweep an active axis.
    sweeps: [Vec<Program<T>>; 4],
    filter_sweeps: Vec<Program<T>>,
    viscous: bool,
}

impl<T: Real> NavierStokes<T> {
    /// The equations of `config` on `cpu`.
    pub fn new(config: &Config, cpu: Arc<Cpu<T>>) -> Self {
        let discretisation = Discretisation::new(config);
        let grid = discretisation.grid;
        let scheme = &config.scheme;
        let viscous = !config.gas.is_inviscid();
        let fields = |count: usize| vec![Field::zeros(grid.len()); count];
        let primitives = if config.gas.viscosity == Viscosity::Constant { 5 } else { 7 };
        Self {
            limits: Limits::flow(scheme, config.time.integrator, &grid),
            primitives: fields(primitives),
            gradients: fields(9),
            gradient_sweeps: discretisation.programs(gradient_sweep),
            sweeps: Part::ALL.map(|part| {
                discretisation.programs(|axis| rhs_sweep(axis, part, scheme, &config.gas))
            }),
            filter_sweeps: discretisation.filter_programs(conserved::COUNT),
            cpu,
            grid,
            gas: config.gas,
            case: config.case.clone(),
            domain: config.grid.domain,
            viscous,
        }
    }

    /// `rate` = beta × `rate` + scale × the terms `part` of dU/dt.
    pub fn rhs_part(
        &mut self,
        part: Part,
        u: &[Field<T>],
        rate: &mut [Field<T>],
        beta: f64,
        scale: f64,
    ) {
        self.update_primitives(u);
        if self.viscous {
            self.update_gradients();
        }
        if matches!(part, Part::Convection | Part::Pressure | Part::Viscous) && beta == 0.0 {
            rate.iter_mut().for_each(|field| field.fill(T::ZERO));
        }
        let empty = Field::zeros(0);
        let fields = self.read_fields(u, &empty);
        let mut rate: [&mut Field<T>; conserved::COUNT] = exactly(rate.iter_mut());
        for (at, sweep) in self.sweeps[part as usize].iter().enumerate() {
            // The first sweep over a field takes in what was there, the others add to that.
            let beta = if at == 0 && part == Part::All { beta } else { 1.0 };
            self.cpu.run(sweep, self.grid.points, &fields, &mut rate, beta, scale);
        }
    }

    /// (u, v, w, p, T), and μ and dμ/dT where they vary, from U.
    pub(super) fn update_primitives(&mut self, u: &[Field<T>]) {
        let gas = self.gas;
        let (gamma_1, temperature) = (T::of(gas.gamma - 1.0), T::of(gas.temperature(1.0, 1.0)));
        let (one, half) = (T::of(1.0), T::of(0.5));
        let (first, rest) = self.primitives.split_at_mut(5);
        let from: [&[T]; 5] = exactly(u.iter().map(|field| &**field));
        self.cpu.pointwise(from, exactly(first.iter_mut()), |from, to| {
            let [rho, m0, m1, m2, e] = from;
            let [u, v, w, p, t] = to;
            let n = rho.len();
            let (m0, m1, m2, e) = (&m0[..n], &m1[..n], &m2[..n], &e[..n]);
            let (u, v, w) = (&mut u[..n], &mut v[..n], &mut w[..n]);
            let (p, t) = (&mut p[..n], &mut t[..n]);
            for i in 0..n {
                let volume = one / rho[i];
                u[i] = m0[i] * volume;
                v[i] = m1[i] * volume;
                w[i] = m2[i] * volume;
                p[i] = gamma_1 * (e[i] - half * (u[i] * m0[i] + v[i] * m1[i] + w[i] * m2[i]));
                t[i] = temperature * p[i] * volume;
            }
        });
        if let [mu, dmu_dt] = rest {
            self.cpu.pointwise([&first[4]], [mu, dmu_dt], |[t], [mu, dmu_dt]| {
                for (i, t) in t.iter().enumerate() {
                    mu[i] = T::of(gas.mu(t.f64()));
                    dmu_dt[i] = T::of(gas.dmu_dt(t.f64()));
                }
            });
        }
    }

    /// ∂uᵢ/∂xⱼ from the velocity.
    pub(super) fn update_gradients(&mut self) {
        let velocity = [&self.primitives[0], &self.primitives[1], &self.primitives[2]];
        let mut gradients: [&mut Field<T>; 9] = exactly(self.gradients.iter_mut());
        for sweep in &self.gradient_sweeps {
            self.cpu.run(sweep, self.grid.points, &velocity, &mut gradients, 0.0, 1.0);
        }
    }

    pub(super) fn filter_state(&self, u: &mut [Field<T>]) {
        let mut u: [&mut Field<T>; conserved::COUNT] = exactly(u.iter_mut());
        for sweep in &self.filter_sweeps {
            self.cpu.run(sweep, self.grid.points, &[], &mut u, 1.0, 1.0);
        }
    }

    fn read_fields<'a>(
        &'a self,
        u: &'a [Field<T>],
        empty: &'a Field<T>,
    ) -> [&'a Field<T>; read::COUNT] {
        std::array::from_fn(|slot| match slot {
            read::RHO => &u[conserved::MASS],
            read::RHO_E => &u[conserved::ENERGY],
            read::GRADIENT.. => &self.gradients[slot - read::GRADIENT],
            _ => self.primitives.get(slot - read::U).unwrap_or(empty),
        })
    }
}

/// All terms of `part` with a derivative along `axis`.
fn rhs_sweep(axis: Axis, part: Part, scheme: &SchemeConfig, gas: &Gas) -> Sweep {
    let s = SweepBuilder::new();
    let viscous = !gas.is_inviscid();
    let q = Lines { s: &s, axis, gradients_stored: viscous };
    let all = part == Part::All;
    if all || part == Part::Convection {
        convection(&q, scheme.convection, all.then_some(scheme.energy), gas);
    }
    if all || part == Part::Pressure {
        pressure_gradient(&q, scheme.convection);
    }
    if viscous && (all || part == Part::Viscous) {
        viscosity(&q, scheme.viscous, gas, all);
    }
    s.build()
}

/// ∂u/∂x, ∂v/∂x, ∂w/∂x along `axis` = x, and so on.
fn gradient_sweep(axis: Axis) -> Sweep {
    let s = SweepBuilder::new();
    for i in 0..3 {
        s.store(3 * i + axis.index(), s.d1(s.read(i)));
    }
    s.build()
}

/// Line solves of a right-hand side with all axes active, gradients included.
pub fn line_solves(scheme: &SchemeConfig, gas: &Gas) -> usize {
    let solves = |sweep: &Sweep| {
        use Op::{D1, D2, DerivativeToMidpoints, DerivativeToPoints, InterpolateToMidpoints};
        [D1, D2, DerivativeToMidpoints, DerivativeToPoints, InterpolateToMidpoints]
            .map(|op| sweep.count(op))
            .iter()
            .sum::<usize>()
    };
    let rhs = |axis| solves(&rhs_sweep(axis, Part::All, scheme, gas));
    let gradients = |axis| if gas.is_inviscid() { 0 } else { solves(&gradient_sweep(axis)) };
    Axis::ALL.into_iter().map(|axis| rhs(axis) + gradients(axis)).sum()
}

/// The items of an iterator of known length.
pub(super) fn exactly<I, const N: usize>(mut items: impl Iterator<Item = I>) -> [I; N] {
    std::array::from_fn(|at| {
        items.next().unwrap_or_else(|| unreachable!("{N} items expected, found {at}"))
    })
}
