//! Formulas that look at one point at a time, written once for every backend.
//!
//! A [`Formula`] is generic over its [`Number`]s: with f32 and f64 the compiler makes a loop of it, with [`Symbol`]s it
//! writes itself down ([`trace`]) and becomes the text of a kernel.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// What formulas compute with.
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The nearest number of this format.
    fn of(x: f64) -> Self;
    /// √self.
    fn sqrt(self) -> Self;
    /// |self|.
    fn abs(self) -> Self;
    /// self to a constant power.
    fn powf(self, exponent: f64) -> Self;
}

macro_rules! number {
    ($t:ty) => {
        impl Number for $t {
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn powf(self, exponent: f64) -> Self {
                self.powf(Number::of(exponent))
            }
        }
    };
}
number!(f32);
number!(f64);

/// W results from R fields, the W fields that the results replace, and P numbers that may differ from call to call.
pub trait Formula<const R: usize, const W: usize, const P: usize = 0>:
    Send + Sync + 'static
{
    /// The results at a point. `before` is what stands where the results go; a sum or a maximum has no such thing, and a
    /// formula for one must not look at it.
    fn at<N: Number>(&self, read: [N; R], before: [N; W], parameters: [N; P]) -> [N; W];
}

/// One operation of a traced formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    Read(usize),
    Before(usize),
    Parameter(usize),
    Constant(f64),
    Add(Symbol, Symbol),
    Sub(Symbol, Symbol),
    Mul(Symbol, Symbol),
    Div(Symbol, Symbol),
    Neg(Symbol),
    Sqrt(Symbol),
    Abs(Symbol),
    Pow(Symbol, f64),
}

/// The result of an operation, by its number in the list of operations of the formula that is being traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol(pub(crate) usize);

thread_local! {
    static NODES: RefCell<Vec<Node>> = const { RefCell::new(Vec::new()) };
}

/// The operations of a formula in order, and which of them are its results. The same operation is listed once.
pub(crate) fn trace<const R: usize, const W: usize, const P: usize>(
    formula: &impl Formula<R, W, P>,
) -> (Vec<Node>, [Symbol; W]) {
    NODES.with_borrow_mut(Vec::clear);
    let results = formula.at::<Symbol>(
        std::array::from_fn(|at| record(Node::Read(at))),
        std::array::from_fn(|at| record(Node::Before(at))),
        std::array::from_fn(|at| record(Node::Parameter(at))),
    );
    (NODES.with_borrow_mut(std::mem::take), results)
}

fn record(node: Node) -> Symbol {
    NODES.with_borrow_mut(|nodes| {
        let known = nodes.iter().position(|old| *old == node);
        Symbol(known.unwrap_or_else(|| {
            nodes.push(node);
            nodes.len() - 1
        }))
    })
}

impl Number for Symbol {
    fn of(x: f64) -> Self {
        record(Node::Constant(x))
    }
    fn sqrt(self) -> Self {
        record(Node::Sqrt(self))
    }
    fn abs(self) -> Self {
        record(Node::Abs(self))
    }
    fn powf(self, exponent: f64) -> Self {
        record(Node::Pow(self, exponent))
    }
}

impl Neg for Symbol {
    type Output = Symbol;
    fn neg(self) -> Symbol {
        record(Node::Neg(self))
    }
}

macro_rules! operation {
    ($($of:ident $by:ident),*) => {$(
        impl $of for Symbol {
            type Output = Symbol;
            fn $by(self, other: Symbol) -> Symbol {
                record(Node::$of(self, other))
            }
        }
    )*};
}
operation!(Add add, Sub sub, Mul mul, Div div);

#[cfg(test)]
mod tests {
    use super::*;

    struct Sample;

    impl Formula<1, 1, 1> for Sample {
        fn at<N: Number>(&self, [x]: [N; 1], [y]: [N; 1], [p]: [N; 1]) -> [N; 1] {
            [(x * p).sqrt() - N::of(2.0) * y / (x * p).abs() + (-x).powf(2.0)]
        }
    }

    #[test]
    fn a_traced_formula_computes_what_the_formula_does() {
        let (nodes, [result]) = trace(&Sample);
        let mut values: Vec<f64> = Vec::new();
        for node in &nodes {
            let v = |s: &Symbol| values[s.0];
            values.push(match node {
                Node::Read(_) => 3.0,
                Node::Before(_) => 5.0,
                Node::Parameter(_) => 0.75,
                Node::Constant(x) => *x,
                Node::Add(a, b) => v(a) + v(b),
                Node::Sub(a, b) => v(a) - v(b),
                Node::Mul(a, b) => v(a) * v(b),
                Node::Div(a, b) => v(a) / v(b),
                Node::Neg(a) => -v(a),
                Node::Sqrt(a) => v(a).sqrt(),
                Node::Abs(a) => v(a).abs(),
                Node::Pow(a, x) => v(a).powf(*x),
            });
        }
        let [expected] = Sample.at([3.0], [5.0], [0.75]);
        assert_eq!(values[result.0], expected);
        let products = nodes.iter().filter(|node| matches!(node, Node::Mul(..)));
        assert_eq!(products.count(), 2, "x p appears twice and is computed once");
    }
}
