//! Every form of every term on noise, checked against its published formula evaluated with dense matrices. On fields that no
//! scheme resolves, the forms differ at leading order, so that the test distinguishes them.

use std::f64::consts::{PI, TAU};
use std::ops::{Add, Mul, Neg, Sub};

use kolmo::physics::Gas;
use kolmo::scheme::{Scheme, SchemeFamily};
use kolmo::time::Simulation;
use num_complex::Complex;

use crate::common::{
    CONVECTION, ENERGY, LAWS, VISCOUS, config, float, max_difference, noise, on_host, rate,
    set_flow,
};

/// Values at the points of the grid.
#[derive(Clone)]
struct Values(Vec<f64>);

impl Values {
    fn map(&self, f: impl Fn(f64) -> f64) -> Values {
        Values(self.0.iter().map(|x| f(*x)).collect())
    }

    fn with(&self, other: &Values, f: impl Fn(f64, f64) -> f64) -> Values {
        Values(self.0.iter().zip(&other.0).map(|(a, b)| f(*a, *b)).collect())
    }
}

impl Add for Values {
    type Output = Values;
    fn add(self, b: Values) -> Values {
        self.with(&b, |a, b| a + b)
    }
}

impl Sub for Values {
    type Output = Values;
    fn sub(self, b: Values) -> Values {
        self.with(&b, |a, b| a - b)
    }
}

impl Neg for Values {
    type Output = Values;
    fn neg(self) -> Values {
        self.map(|a| -a)
    }
}

impl Mul for &Values {
    type Output = Values;
    fn mul(self, b: &Values) -> Values {
        self.with(b, |a, b| a * b)
    }
}

impl Mul<Values> for &Values {
    type Output = Values;
    fn mul(self, b: Values) -> Values {
        self * &b
    }
}

impl Mul<Values> for f64 {
    type Output = Values;
    fn mul(self, b: Values) -> Values {
        b.map(|b| self * b)
    }
}

/// One circulant matrix per axis, from the symbol of a formula.
struct Dense {
    points: [usize; 3],
    /// Weight of the value m points ahead.
    weights: [Vec<f64>; 3],
}

impl Dense {
    /// `factor` converts the symbol at w > 0 to the multiplier of exp(iw).
    fn new(
        scheme: &Scheme,
        points: [usize; 3],
        spacing: [f64; 3],
        power: i32,
        factor: impl Fn(f64) -> Complex<f64>,
    ) -> Self {
        let weights = [0, 1, 2].map(|axis| {
            let n = points[axis];
            let weight = |m: usize| {
                let wave = |k: usize| {
                    let w = TAU * float(k) / float(n);
                    let phase = Complex::cis(-w * float(m));
                    let w = if w > PI { w - TAU } else { w };
                    let multiplier = factor(w.abs()) * scheme.symbol(w.abs());
                    (if w < 0.0 { multiplier.conj() } else { multiplier } * phase).re
                };
                (0..n).map(wave).sum::<f64>() / float(n) / spacing[axis].powi(power)
            };
            (0..n).map(weight).collect()
        });
        Self { points, weights }
    }

    fn apply(&self, axis: usize, f: &Values) -> Values {
        let [nx, ny, nz] = self.points;
        let at = |[i, j, k]: [usize; 3]| i + nx * (j + ny * k);
        let mut result = Vec::with_capacity(f.0.len());
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let ahead = |(m, weight): (usize, &f64)| {
                        let mut index = [i, j, k];
                        index[axis] = (index[axis] + m) % self.points[axis];
                        weight * f.0[at(index)]
                    };
                    result.push(self.weights[axis].iter().enumerate().map(ahead).sum());
                }
            }
        }
        Values(result)
    }
}

/// The operators of a family.
struct Operators {
    d1: Dense,
    d2: Dense,
    to_midpoints: Dense,
    to_points: Dense,
    interpolate: Dense,
}

impl Operators {
    fn new(family: &SchemeFamily, points: [usize; 3], spacing: [f64; 3]) -> Self {
        let make = |scheme: &Scheme, power: i32, factor: &dyn Fn(f64) -> Complex<f64>| {
            Dense::new(scheme, points, spacing, power, factor)
        };
        let staggered = &family.midpoint_derivative;
        Self {
            d1: make(&family.first, 1, &|_| Complex::<f64>::I),
            d2: make(&family.second, 2, &|_| -Complex::<f64>::ONE),
            to_midpoints: make(staggered, 1, &|w| Complex::<f64>::I * Complex::cis(0.5 * w)),
            to_points: make(staggered, 1, &|w| Complex::<f64>::I * Complex::cis(-0.5 * w)),
            interpolate: make(&family.midpoint_interpolation, 0, &|w| Complex::cis(0.5 * w)),
        }
    }
}

/// The operators, the gas and the flow variables of the equations.
struct Flow {
    op: Operators,
    gas: Gas,
    rho: Values,
    u: [Values; 3],
    p: Values,
    t: Values,
    mu: Values,
}

impl Flow {
    fn d(&self, j: usize, f: &Values) -> Values {
        self.op.d1.apply(j, f)
    }

    /// Derivative at the points of a flux at the midpoints.
    fn back(&self, j: usize, f: &Values) -> Values {
        self.op.to_points.apply(j, f)
    }

    fn at_midpoints(&self, j: usize, f: &Values) -> Values {
        self.op.interpolate.apply(j, f)
    }

    /// C_ρ of axis j (table of forms: Coppola et al. 2019).
    fn mass(&self, form: &str, j: usize) -> Values {
        let (rho, u_j) = (&self.rho, &self.u[j]);
        match form {
            "kennedy-gruber" => {
                0.5 * (self.d(j, &(rho * u_j)) + u_j * self.d(j, rho) + rho * self.d(j, u_j))
            }
            "staggered" => self.back(j, &(&self.at_midpoints(j, rho) * self.at_midpoints(j, u_j))),
            _ => self.d(j, &(rho * u_j)),
        }
    }

    /// Cᵢ of axis j.
    fn momentum(&self, form: &str, i: usize, j: usize) -> Values {
        let (rho, u_i, u_j) = (&self.rho, &self.u[i], &self.u[j]);
        let all = &(rho * u_j) * u_i;
        match form {
            "divergence" => self.d(j, &all),
            "feiereisen" => {
                let flux = rho * u_j;
                0.5 * (self.d(j, &all) + &flux * self.d(j, u_i) + u_i * self.d(j, &flux))
            }
            "kennedy-gruber" => {
                let pairs = u_j * self.d(j, &(rho * u_i))
                    + rho * self.d(j, &(u_j * u_i))
                    + u_i * self.d(j, &(rho * u_j));
                let singles = &(rho * u_j) * self.d(j, u_i)
                    + &(rho * u_i) * self.d(j, u_j)
                    + &(u_i * u_j) * self.d(j, rho);
                0.25 * (self.d(j, &all) + pairs + singles)
            }
            _ => {
                let [rho, u_i, u_j] = [rho, u_i, u_j].map(|value| self.at_midpoints(j, value));
                self.back(j, &(&rho * &(&u_j * &u_i)))
            }
        }
    }

    fn half_u_u(u: &[Values; 3]) -> Values {
        0.5 * (&u[0] * &u[0] + &u[1] * &u[1] + &u[2] * &u[2])
    }

    /// C_E of axis j.
    fn energy(&self, form: &str, energy: &str, j: usize) -> Values {
        let (rho, u_j, p) = (&self.rho, &self.u[j], &self.p);
        let internal = 1.0 / (self.gas.gamma - 1.0);
        let half = Self::half_u_u(&self.u);
        let total = internal * p.clone() + rho * &half;
        match (energy, form) {
            ("divergence", "staggered") => {
                let u = [0, 1, 2].map(|i| self.at_midpoints(j, &self.u[i]));
                let (rho, p) = (self.at_midpoints(j, rho), self.at_midpoints(j, p));
                let flux = (internal + 1.0) * p + &rho * Self::half_u_u(&u);
                self.back(j, &(&u[j] * &flux))
            }
            ("divergence", _) => self.d(j, &(&(total + p.clone()) * u_j)),
            ("split-enthalpy", _) => {
                let h = (total + p.clone()).with(rho, |a, b| a / b);
                let flux = rho * u_j;
                0.5 * (self.d(j, &(&flux * &h)) + &flux * self.d(j, &h) + &h * self.d(j, &flux))
            }
            _ => {
                let (u_dp, p_du) = (u_j * self.d(j, p), p * self.d(j, u_j));
                let split = self.d(j, &(p * u_j)) + u_dp.clone() + p_du.clone();
                let transport = [0, 1, 2].map(|i| &self.u[i] * self.momentum(form, i, j));
                let [x, y, z] = transport;
                0.5 * internal * split + u_dp + p_du + x + y + z - &half * self.mass(form, j)
            }
        }
    }

    fn gradient_p(&self, form: &str, j: usize) -> Values {
        match form {
            "staggered" => self.back(j, &self.at_midpoints(j, &self.p)),
            _ => self.d(j, &self.p),
        }
    }

    /// ∂ⱼuᵢ + ∂ᵢuⱼ − ⅔ δᵢⱼ div u.
    fn strain(&self, i: usize, j: usize) -> Values {
        let both = self.d(j, &self.u[i]) + self.d(i, &self.u[j]);
        if i == j { both - 2.0 / 3.0 * self.divergence() } else { both }
    }

    fn divergence(&self) -> Values {
        self.d(0, &self.u[0]) + self.d(1, &self.u[1]) + self.d(2, &self.u[2])
    }

    /// Viscous contribution of axis j to the rate of momentum i.
    fn force(&self, form: &str, i: usize, j: usize) -> Values {
        let force = match form {
            "laplacian" => {
                let mut force = &self.mu * self.op.d2.apply(j, &self.u[i]);
                if i == j {
                    force = force + 1.0 / 3.0 * (&self.mu * self.d(i, &self.divergence()));
                }
                let d_mu = self.t.map(|t| self.gas.dmu_dt(t));
                force + &(&d_mu * self.d(j, &self.t)) * self.strain(i, j)
            }
            "conservative" => self.d(j, &(&self.mu * self.strain(i, j))),
            _ => {
                let slope = self.op.to_midpoints.apply(j, &self.u[i]);
                let normal = self.back(j, &(&self.at_midpoints(j, &self.mu) * slope));
                let rest = if i == j {
                    -2.0 / 3.0 * (self.divergence() - self.d(j, &self.u[j]))
                } else {
                    self.d(i, &self.u[j])
                };
                let factor = if i == j { 4.0 / 3.0 } else { 1.0 };
                factor * normal + self.d(j, &(&self.mu * rest))
            }
        };
        1.0 / self.gas.reynolds * force
    }

    /// Contribution of axis j to the rate of energy by viscosity and conduction.
    fn heating(&self, form: &str, j: usize) -> Values {
        let gas = &self.gas;
        let work = [0, 1, 2].map(|i| &self.u[i] * (&self.mu * self.strain(i, j)));
        let [x, y, z] = work;
        let work = 1.0 / gas.reynolds * self.d(j, &(x + y + z));
        let d_t = self.d(j, &self.t);
        let heat = match form {
            "laplacian" => {
                let d_mu = self.t.map(|t| gas.dmu_dt(t));
                &self.mu * self.op.d2.apply(j, &self.t) + &d_mu * (&d_t * &d_t)
            }
            "conservative" => self.d(j, &(&self.mu * d_t)),
            _ => {
                let slope = self.op.to_midpoints.apply(j, &self.t);
                self.back(j, &(&self.at_midpoints(j, &self.mu) * slope))
            }
        };
        let k = 1.0 / ((gas.gamma - 1.0) * gas.mach * gas.mach * gas.prandtl * gas.reynolds);
        work + k * heat
    }

    /// dU/dt.
    fn rate(&self, convection: &str, energy: &str, viscous: &str) -> [Values; 5] {
        let along = |j: usize| {
            let momentum = |i: usize| {
                let rate = self.force(viscous, i, j) - self.momentum(convection, i, j);
                if i == j { rate - self.gradient_p(convection, j) } else { rate }
            };
            [
                -self.mass(convection, j),
                momentum(0),
                momentum(1),
                momentum(2),
                self.heating(viscous, j) - self.energy(convection, energy, j),
            ]
        };
        let add = |a: [Values; 5], b: [Values; 5]| {
            let mut b = b.into_iter();
            a.map(|a| a + b.next().unwrap())
        };
        add(add(along(0), along(1)), along(2))
    }
}

/// A run with noise in (ρ, u, v, w, p), the same for every form, and the reference equations for this state.
fn noisy(derivative: &str, forms: [&str; 3], law: &str) -> (Simulation, Flow) {
    let [convection, energy, viscous] = forms;
    let set = [
        "case.mach=0.6".to_string(),
        "case.reynolds=3.0".to_string(),
        "gas.gamma=1.3".to_string(),
        "gas.prandtl=0.8".to_string(),
        "grid.length=[6.0, 5.0, 8.0]".to_string(),
        format!("gas.viscosity={law}"),
        format!("scheme.derivative={derivative}"),
        format!("scheme.convection={convection}"),
        format!("scheme.energy={energy}"),
        format!("scheme.viscous={viscous}"),
    ];
    let config = config("taylor-green", [10, 11, 9], &set.each_ref().map(String::as_str));
    let (gas, family) = (config.gas, config.scheme.derivative);
    let mut run = on_host(&config);
    let grid = run.grid().clone();
    let mut next = noise(11);
    let mut draw =
        |mean: f64, spread: f64| Values((0..grid.len()).map(|_| mean + spread * next()).collect());
    let rho = draw(1.0, 0.3);
    let u = [draw(0.4, 0.8), draw(-0.3, 0.8), draw(0.2, 0.8)];
    let p = draw(2.0, 0.5);
    set_flow(&mut run, gas.gamma, |[i, j, k], _| {
        let at = i + grid.points[0] * (j + grid.points[1] * k);
        [rho.0[at], u[0].0[at], u[1].0[at], u[2].0[at], p.0[at]]
    });
    let t = p.with(&rho, |p, rho| gas.temperature(rho, p));
    let mu = t.map(|t| gas.mu(t));
    let op = Operators::new(&family, grid.points, grid.spacing);
    (run, Flow { op, gas, rho, u, p, t, mu })
}

/// Largest difference between program and formula, relative to the largest rate of each variable.
fn difference(derivative: &str, forms: [&str; 3], law: &str) -> f64 {
    let (mut run, flow) = noisy(derivative, forms, law);
    let expected = flow.rate(forms[0], forms[1], forms[2]);
    let relative = |(found, expected): (&Vec<f64>, &Values)| {
        let largest = expected.0.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
        max_difference(found, &expected.0) / largest
    };
    rate(&mut run).iter().zip(&expected).map(relative).fold(0.0, f64::max)
}

#[test]
fn every_form_matches_its_formula_to_round_off_on_noise() {
    for (convection, energy) in CONVECTION.iter().flat_map(|c| ENERGY.map(|e| (*c, e))) {
        for (viscous, law) in VISCOUS.iter().flat_map(|v| LAWS.map(|law| (*v, law))) {
            let forms = [convection, energy, viscous];
            let error = difference("compact6", forms, law);
            assert!(error < 1e-13, "{forms:?} {law}: {error:.1e}");
        }
    }
}

#[test]
fn forms_match_their_formulas_with_every_scheme() {
    for derivative in ["explicit4", "compact4", "compact8", "compact8-penta", "compact10-penta"] {
        for forms in [
            ["kennedy-gruber", "split-pressure", "laplacian"],
            ["staggered", "divergence", "midpoint"],
        ] {
            let error = difference(derivative, forms, "sutherland");
            assert!(error < 1e-13, "{derivative} {forms:?}: {error:.1e}");
        }
    }
}
