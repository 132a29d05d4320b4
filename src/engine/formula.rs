//! Formulas evaluated point by point, written once for every backend.
//!
//! A [`Formula`] is generic over its [`Number`]s: with [`Symbol`]s it records its operations ([`trace`]), which the host
//! carries out on strips of points, and from which the text of a kernel is generated.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::real::Number;

/// W results from R fields, the W fields that the results replace, and P numbers that may differ from call to call.
pub trait Formula<const R: usize, const W: usize, const P: usize = 0> {
    /// The results at a point. `before` holds the previous values of the fields that the results replace. Sums and
    /// maxima have no such fields: their formulas must not use it.
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

impl Node {
    /// Whether both are the same operation: 0 and −0 are two constants.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Node::Constant(a), Node::Constant(b)) => a.to_bits() == b.to_bits(),
            _ => self == other,
        }
    }

    /// The values that it is computed from.
    pub(crate) fn operands(&self) -> [Option<Symbol>; 2] {
        use Node::{Abs, Add, Before, Constant, Div, Mul, Neg, Parameter, Pow, Read, Sqrt, Sub};
        match *self {
            Read(_) | Before(_) | Parameter(_) | Constant(_) => [None, None],
            Add(a, b) | Sub(a, b) | Mul(a, b) | Div(a, b) => [Some(a), Some(b)],
            Neg(a) | Sqrt(a) | Abs(a) | Pow(a, _) => [Some(a), None],
        }
    }
}

/// The result of an operation, by its index in the list of operations of the formula being traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol(pub(crate) usize);

thread_local! {
    static NODES: RefCell<Vec<Node>> = const { RefCell::new(Vec::new()) };
}

/// Records the operations of a formula in order, and which of them are its results. Equal operations are listed once.
fn trace<const R: usize, const W: usize, const P: usize>(
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
        let known = nodes.iter().position(|old| old.same(&node));
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

/// The recorded operations of a formula of any type.
#[derive(Clone)]
pub struct PointFormula {
    /// Name of its type.
    pub(crate) name: &'static str,
    pub(crate) nodes: Vec<Node>,
    pub(crate) results: Vec<Symbol>,
    /// Number of fields that it reads.
    pub(crate) reads: usize,
    /// Which of these fields are planes.
    pub(crate) planes: Option<Planes>,
    pub(crate) of: Use,
}

/// Fields stored as one x-y plane of values, which hold at every z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planes {
    /// Index of the first plane; all fields after it are planes too.
    pub(crate) first: usize,
    /// Number of points of a plane.
    pub(crate) points: usize,
}

/// Use of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Results replace fields.
    Map,
    /// Results are summed over all points, in f64.
    Sum,
    /// The maximum over all points, in f64; NaN counts as +∞.
    Max,
}

impl PointFormula {
    /// Creates a formula that computes fields from fields, in their precision.
    pub fn map<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        formula: F,
    ) -> Self {
        Self::new(&formula, Use::Map)
    }

    /// Creates a formula whose results are summed over all points.
    pub fn sum<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        formula: F,
    ) -> Self {
        Self::new(&formula, Use::Sum)
    }

    /// Returns the weighted sum: it reads one more field, the last, whose value multiplies the results of each point.
    #[must_use]
    pub fn weighted(mut self) -> Self {
        let weight = Symbol(self.nodes.len());
        self.nodes.push(Node::Read(self.reads));
        self.reads += 1;
        for result in &mut self.results {
            self.nodes.push(Node::Mul(weight, *result));
            *result = Symbol(self.nodes.len() - 1);
        }
        self
    }

    /// Creates a formula whose maxima over all points are sought.
    pub fn max<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        formula: F,
    ) -> Self {
        Self::new(&formula, Use::Max)
    }

    /// Declares that the fields read from index `first` on are planes of `points` points.
    #[must_use]
    pub fn with_planes(self, first: usize, points: usize) -> Self {
        Self { planes: Some(Planes { first, points }), ..self }
    }

    fn new<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        formula: &F,
        of: Use,
    ) -> Self {
        let ((nodes, results), name) = (trace(formula), std::any::type_name::<F>());
        Self { name, nodes, results: results.to_vec(), reads: R, planes: None, of }
    }

    /// Number of arithmetic operations.
    pub(crate) fn flops(&self) -> usize {
        self.nodes.iter().filter(|node| node.operands()[0].is_some()).count()
    }
}

impl PartialEq for PointFormula {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes && self.results == other.results
    }
}

impl fmt::Debug for PointFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name)
            .field("nodes", &self.nodes)
            .field("results", &self.results)
            .finish()
    }
}

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
    fn traced_formula_has_the_same_value_as_the_formula() {
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
