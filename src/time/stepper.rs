//! One Runge-Kutta step.

use crate::backend::cpu::{Cpu, Field};
use crate::physics::System;
use crate::real::Real;
use crate::scheme::{Form, Tableau};

/// Steps a system with one tableau and owns the fields that this takes: one U for 2N storage, one U for the base and
/// one for every stage otherwise. A step allocates nothing.
pub struct Stepper<T> {
    tableau: &'static Tableau,
    rates: Vec<Vec<Field<T>>>,
    base: Vec<Field<T>>,
}

impl<T: Real> Stepper<T> {
    /// A stepper for systems of `fields` fields of `points` points.
    pub fn new(tableau: &'static Tableau, fields: usize, points: usize) -> Self {
        let state = || vec![Field::zeros(points); fields];
        let (rates, base) = match tableau.form {
            Form::LowStorage { .. } => (1, Vec::new()),
            Form::Butcher { b, .. } => (b.len(), state()),
        };
        Self { tableau, rates: (0..rates).map(|_| state()).collect(), base }
    }

    /// Fields of U's size that hold nothing between two steps.
    pub fn scratch(&mut self) -> &mut [Field<T>] {
        &mut self.rates[0]
    }

    /// U at t + dt from U at t.
    pub fn step(&mut self, system: &mut dyn System<T>, u: &mut [Field<T>], dt: f64) {
        match self.tableau.form {
            // Williamson 1980: G ← aₛ G + dt R(U), U ← U + bₛ G.
            Form::LowStorage { a, b } => {
                let g = &mut self.rates[0];
                for (a, b) in a.iter().zip(b) {
                    system.rhs(u, g, *a, dt);
                    for (u, g) in u.iter_mut().zip(&*g) {
                        add_scaled(system.backend(), u, *b, g);
                    }
                }
            }
            Form::Butcher { a, b } => {
                for (base, u) in self.base.iter_mut().zip(&*u) {
                    base.copy_from_slice(u);
                }
                for stage in 0..b.len() {
                    if stage > 0 {
                        self.combine(system.backend(), u, a[stage], dt);
                    }
                    system.rhs(u, &mut self.rates[stage], 0.0, 1.0);
                }
                self.combine(system.backend(), u, b, dt);
            }
        }
    }

    /// U = base + dt Σ weight K.
    fn combine(&self, cpu: &Cpu<T>, u: &mut [Field<T>], weights: &[f64], dt: f64) {
        for (at, u) in u.iter_mut().enumerate() {
            u.copy_from_slice(&self.base[at]);
            for (weight, rate) in weights.iter().zip(&self.rates) {
                if *weight != 0.0 {
                    add_scaled(cpu, u, dt * weight, &rate[at]);
                }
            }
        }
    }
}

fn add_scaled<T: Real>(cpu: &Cpu<T>, u: &mut Field<T>, scale: f64, rate: &[T]) {
    let scale = T::of(scale);
    cpu.pointwise([rate], [u], |[rate], [u]| {
        for (u, rate) in u.iter_mut().zip(rate) {
            *u += scale * *rate;
        }
    });
}
