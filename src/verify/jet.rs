//! Automatic differentiation: a function of (x, y, z, t) at a point with its derivatives.

use std::ops::{Add, Mul, Sub};

/// A function of (x, y, z, t) at a point: value, first and second derivatives.
#[derive(Clone, Copy)]
pub(super) struct Jet {
    pub(super) f: f64,
    pub(super) d: [f64; 4],
    dd: [[f64; 4]; 4],
}

impl Jet {
    pub(super) fn variable(axis: usize, value: f64) -> Jet {
        let mut jet = Jet { f: value, d: [0.0; 4], dd: [[0.0; 4]; 4] };
        jet.d[axis] = 1.0;
        jet
    }

    /// ∂/∂x of `axis`. Its second derivatives are not available.
    pub(super) fn along(self, axis: usize) -> Jet {
        Jet { f: self.d[axis], d: self.dd[axis], dd: [[f64::NAN; 4]; 4] }
    }

    /// The composition of a function with this one, from its value and first two derivatives.
    fn chain(self, [f, f1, f2]: [f64; 3]) -> Jet {
        let dd = |i: usize, j: usize| f2 * self.d[i] * self.d[j] + f1 * self.dd[i][j];
        let all = [0, 1, 2, 3];
        Jet { f, d: self.d.map(|d| f1 * d), dd: all.map(|i| all.map(|j| dd(i, j))) }
    }

    pub(super) fn sin(self) -> Jet {
        self.chain([self.f.sin(), self.f.cos(), -self.f.sin()])
    }

    pub(super) fn cos(self) -> Jet {
        self.chain([self.f.cos(), -self.f.sin(), -self.f.cos()])
    }

    pub(super) fn power(self, n: f64) -> Jet {
        let f = |m: f64| self.f.powf(m);
        self.chain([f(n), n * f(n - 1.0), n * (n - 1.0) * f(n - 2.0)])
    }
}

impl Add for Jet {
    type Output = Jet;
    fn add(self, b: Jet) -> Jet {
        let all = [0, 1, 2, 3];
        Jet {
            f: self.f + b.f,
            d: all.map(|i| self.d[i] + b.d[i]),
            dd: all.map(|i| all.map(|j| self.dd[i][j] + b.dd[i][j])),
        }
    }
}

impl Add<Jet> for f64 {
    type Output = Jet;
    fn add(self, b: Jet) -> Jet {
        Jet { f: self + b.f, ..b }
    }
}

impl Sub for Jet {
    type Output = Jet;
    fn sub(self, b: Jet) -> Jet {
        self + -1.0 * b
    }
}

impl Mul for Jet {
    type Output = Jet;
    #[allow(clippy::suspicious_arithmetic_impl, reason = "the product rule adds")]
    fn mul(self, b: Jet) -> Jet {
        let dd = |i: usize, j: usize| {
            self.dd[i][j] * b.f + self.d[i] * b.d[j] + self.d[j] * b.d[i] + self.f * b.dd[i][j]
        };
        let all = [0, 1, 2, 3];
        Jet {
            f: self.f * b.f,
            d: all.map(|i| self.d[i] * b.f + self.f * b.d[i]),
            dd: all.map(|i| all.map(|j| dd(i, j))),
        }
    }
}

impl Mul<Jet> for f64 {
    type Output = Jet;
    fn mul(self, b: Jet) -> Jet {
        let constant = Jet { f: self, d: [0.0; 4], dd: [[0.0; 4]; 4] };
        constant * b
    }
}
