//! One Runge-Kutta step.

use crate::backend::{Backend, Field, Prepared, Weights};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::physics::{AddScaled, Stage, System, add_scaled};
use crate::scheme::{Form, Tableau};

/// Advances a system with one tableau and owns the work fields: one U for 2N storage, otherwise one U for the base and one for
/// every stage. A step allocates nothing.
pub struct Stepper {
    tableau: &'static Tableau,
    /// c of the stages, and 1.
    nodes: Vec<f64>,
    rates: Vec<Vec<Field>>,
    base: Vec<Field>,
    add_scaled: Prepared,
    /// Whether the next step has been begun.
    begun: bool,
}

impl Stepper {
    /// A stepper for systems of `fields` fields of `points` points.
    ///
    /// # Errors
    /// Where memory is exhausted.
    pub fn new(
        backend: &dyn Backend,
        tableau: &'static Tableau,
        fields: usize,
        points: usize,
    ) -> Result<Self> {
        let state = || (0..fields).map(|_| backend.zeros(points)).collect::<Result<Vec<_>>>();
        let (rates, base) = match tableau.form {
            Form::LowStorage { .. } => (1, Vec::new()),
            Form::Butcher { b, .. } => (b.len(), state()?),
        };
        let rates = (0..rates).map(|_| state()).collect::<Result<_>>()?;
        Ok(Self {
            tableau,
            nodes: tableau.nodes().into_iter().chain([1.0]).collect(),
            rates,
            base,
            add_scaled: backend.prepare(PointFormula::map(AddScaled))?,
            begun: false,
        })
    }

    /// Right-hand sides per step.
    pub fn stages(&self) -> usize {
        self.tableau.stages()
    }

    /// Fields of U's size that are unused between two steps; the begun part of the next step, which they may hold, is discarded.
    pub fn scratch(&mut self) -> &mut [Field] {
        self.forget();
        &mut self.rates[0]
    }

    /// Begin the next step before its size is known. Callers that change U or fields of the system must then call
    /// [`Stepper::forget`].
    pub fn begin(&mut self, system: &mut dyn System, u: &mut [Field]) {
        if let Form::LowStorage { .. } = self.tableau.form {
            self.begun = system.begin(u, &mut self.rates[0]);
        }
    }

    /// Discard the begun part of the next step.
    pub fn forget(&mut self) {
        self.begun = false;
    }

    /// Advance U from `time` to `time` + dt.
    pub fn step(&mut self, system: &mut dyn System, u: &mut [Field], time: f64, dt: f64) {
        match self.tableau.form {
            // Williamson 1980, with G in units of dt: G ← aₛ G + R(U), U ← U + bₛ dt G.
            Form::LowStorage { a, b } => {
                for stage in 0..b.len() {
                    let weights = Weights { beta: a[stage], advance: b[stage] * dt };
                    let (first, last) = (stage == 0, stage + 1 == b.len());
                    let end = time + self.nodes[stage + 1] * dt;
                    let stage = Stage { first, last, begun: first && self.begun, end };
                    system.advance(u, &mut self.rates[0], weights, stage);
                }
                self.begun = false;
            }
            Form::Butcher { a, b } => {
                for (base, u) in self.base.iter_mut().zip(&*u) {
                    system.backend().copy(u, base);
                }
                for stage in 0..b.len() {
                    let time = time + self.nodes[stage] * dt;
                    if stage > 0 {
                        self.combine(system.backend(), u, a[stage], dt);
                        system.impose(u, time);
                    }
                    system.rhs(u, &mut self.rates[stage], time);
                }
                self.combine(system.backend(), u, b, dt);
                system.impose(u, time + dt);
            }
        }
    }

    /// U = base + dt Σ weight K.
    fn combine(&self, backend: &dyn Backend, u: &mut [Field], weights: &[f64], dt: f64) {
        for (u, base) in u.iter_mut().zip(&self.base) {
            backend.copy(base, u);
        }
        for (weight, rates) in weights.iter().zip(&self.rates) {
            if *weight != 0.0 {
                add_scaled(backend, &self.add_scaled, u, dt * weight, rates);
            }
        }
    }
}
