//! Polynomials in the values of a sweep, in which its formulas are written.

use std::ops::{Add, Mul, Neg, Sub};

/// A quantity on the lines of a sweep: a field, or the result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub(crate) usize);

/// coefficient × product of values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Monomial {
    pub(crate) coefficient: f64,
    pub(crate) factors: Vec<Value>,
}

/// A polynomial in values.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(pub(crate) Vec<Monomial>);

impl Expr {
    /// Returns the expression with its values renamed by `of`.
    pub(crate) fn renamed(&self, of: impl Fn(Value) -> Value) -> Self {
        let term = |monomial: &Monomial| Monomial {
            coefficient: monomial.coefficient,
            factors: monomial.factors.iter().map(|&value| of(value)).collect(),
        };
        Self(self.0.iter().map(term).collect())
    }

    /// The expression without terms: 0.
    pub fn zero() -> Self {
        Self(Vec::new())
    }

    /// True for the expression without terms.
    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value if the expression is a single value with coefficient 1.
    pub(crate) fn as_value(&self) -> Option<Value> {
        match self.0.as_slice() {
            [Monomial { coefficient: 1.0, factors }] if factors.len() == 1 => Some(factors[0]),
            _ => None,
        }
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Self {
        Self(vec![Monomial { coefficient: 1.0, factors: vec![value] }])
    }
}

impl From<f64> for Expr {
    fn from(coefficient: f64) -> Self {
        Self(vec![Monomial { coefficient, factors: Vec::new() }])
    }
}

fn sum(mut a: Expr, b: Expr) -> Expr {
    a.0.extend(b.0);
    a
}

fn product(a: &Expr, b: &Expr) -> Expr {
    let pair = |x: &Monomial, y: &Monomial| Monomial {
        coefficient: x.coefficient * y.coefficient,
        factors: x.factors.iter().chain(&y.factors).copied().collect(),
    };
    Expr(a.0.iter().flat_map(|x| b.0.iter().map(move |y| pair(x, y))).collect())
}

macro_rules! arithmetic {
    ($($left:ty, $right:ty);* $(;)?) => {$(
        impl Add<$right> for $left {
            type Output = Expr;
            fn add(self, other: $right) -> Expr {
                sum(self.into(), other.into())
            }
        }
        impl Sub<$right> for $left {
            type Output = Expr;
            fn sub(self, other: $right) -> Expr {
                sum(self.into(), -Expr::from(other))
            }
        }
        impl Mul<$right> for $left {
            type Output = Expr;
            fn mul(self, other: $right) -> Expr {
                product(&self.into(), &other.into())
            }
        }
    )*};
}
arithmetic! {
    Value, Value; Value, Expr; Expr, Value; Expr, Expr;
    f64, Value; f64, Expr;
}

impl Neg for Expr {
    type Output = Expr;
    fn neg(mut self) -> Expr {
        self.0.iter_mut().for_each(|monomial| monomial.coefficient = -monomial.coefficient);
        self
    }
}

impl Neg for Value {
    type Output = Expr;
    fn neg(self) -> Expr {
        -Expr::from(self)
    }
}
