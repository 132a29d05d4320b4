//! Explicit Runge-Kutta tableaux and their limits of linear stability.
//!
//! On dU/dt = λU one step multiplies U by the stability polynomial R(z) = Σₖ γₖ zᵏ, z = λ dt, with γ₀ = 1 and
//! γₖ = bᵀ Aᵏ⁻¹ 1 (Hairer and Wanner 1996, §IV.2). It is stable where |R| ≤ 1. All properties that follow from the
//! coefficients are computed from them.

use num_complex::Complex;

use super::spectral::largest_within;

/// Form in which a tableau is stored and stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Williamson's 2N storage: G ← aₛ G + R(U), U ← U + bₛ dt G. `a[0]` is 0.
    LowStorage {
        /// a₁ ... aₛ.
        a: &'static [f64],
        /// b₁ ... bₛ.
        b: &'static [f64],
    },
    /// Butcher's form: rows of A below the diagonal (row s has s entries) and the weights b.
    Butcher {
        /// Rows of A.
        a: &'static [&'static [f64]],
        /// Weights.
        b: &'static [f64],
    },
}

/// An explicit Runge-Kutta method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tableau {
    /// Name in an input file, e.g. `hale64`.
    pub name: &'static str,
    /// Order of accuracy on nonlinear problems.
    pub order: u32,
    /// Coefficients.
    pub form: Form,
    /// Author and year.
    pub source: &'static str,
}

/// |R| may exceed 1 by this much: published decimals do not satisfy the order conditions exactly (1e-10 for `ssprk54`),
/// and a wave that grows by this factor needs 1e9 steps to grow e-fold.
const GROWTH: f64 = 1e-9;

/// Step in z of the scan along an axis: much finer than any feature of |R|, a polynomial of degree 6 at most.
const SCAN_STEP: f64 = 1e-3;

impl Tableau {
    /// Number of stages: right-hand sides per step.
    pub fn stages(&self) -> usize {
        match self.form {
            Form::LowStorage { b, .. } | Form::Butcher { b, .. } => b.len(),
        }
    }

    /// Butcher's form (A, b, c): full square A, weights b, nodes c = A 1.
    pub fn butcher(&self) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
        let stages = self.stages();
        let (rows, weights) = match self.form {
            Form::Butcher { a, b } => {
                let padded =
                    |row: &&[f64]| [row, vec![0.0; stages - row.len()].as_slice()].concat();
                (a.iter().map(padded).collect(), b.to_vec())
            }
            Form::LowStorage { a, b } => {
                // G and U as combinations of the stages' right-hand sides (times dt).
                let (mut g, mut u) = (vec![0.0; stages], vec![0.0; stages]);
                let mut rows = Vec::with_capacity(stages);
                for s in 0..stages {
                    rows.push(u.clone());
                    g.iter_mut().for_each(|weight| *weight *= a[s]);
                    g[s] += 1.0;
                    u.iter_mut().zip(&g).for_each(|(u, g)| *u += b[s] * g);
                }
                (rows, u)
            }
        };
        let nodes = rows.iter().map(|row: &Vec<f64>| row.iter().sum()).collect();
        (rows, weights, nodes)
    }

    /// Nodes c: stage s is at time t + cₛ dt.
    pub fn nodes(&self) -> Vec<f64> {
        self.butcher().2
    }

    /// γ₀, γ₁, ... of the stability polynomial.
    pub fn stability_polynomial(&self) -> Vec<f64> {
        let (a, b, _) = self.butcher();
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let mut power = vec![1.0; self.stages()]; // Aᵏ⁻¹ 1
        let mut gamma = vec![1.0];
        for _ in 0..self.stages() {
            gamma.push(dot(&b, &power));
            power = a.iter().map(|row| dot(row, &power)).collect();
        }
        gamma
    }

    /// R(z), the factor of one step on dU/dt = λU, z = λ dt.
    pub fn amplification(&self, z: Complex<f64>) -> Complex<f64> {
        evaluate(&self.stability_polynomial(), z)
    }

    /// Largest y such that the step is stable on the imaginary axis from 0 to iy: |λ| dt of a convected wave.
    pub fn imaginary_limit(&self) -> f64 {
        self.limit_along(Complex::I)
    }

    /// Largest x such that the step is stable on the real axis from 0 to −x: |λ| dt of a diffused wave.
    pub fn negative_real_limit(&self) -> f64 {
        self.limit_along(Complex::new(-1.0, 0.0))
    }

    fn limit_along(&self, direction: Complex<f64>) -> f64 {
        let gamma = self.stability_polynomial();
        let stable = |t: f64| evaluate(&gamma, direction * t).norm() <= 1.0 + GROWTH;
        largest_within(&stable, SCAN_STEP, f64::INFINITY)
    }
}

fn evaluate(gamma: &[f64], z: Complex<f64>) -> Complex<f64> {
    gamma.iter().rev().fold(Complex::ZERO, |sum, &g| sum * z + g)
}
