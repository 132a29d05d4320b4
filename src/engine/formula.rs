//! Formulas evaluated point by point, written once for every backend.
//!
//! A [`Formula`] is generic over its [`Number`]s: with f32 and f64 the compiler turns it into a loop; with [`Symbol`]s
//! it records its operations ([`trace`]), from which the text of a kernel is generated.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

use pulp::{Simd, WithSimd};

use super::packed::Packed;
use super::reduction::{Max, Reduced, Sum};
use crate::real::{Concrete, Family, Number, Real};
use crate::simd::{array_of, mapped};

/// W results from R fields, the W fields that the results replace, and P numbers that may differ from call to call.
pub trait Formula<const R: usize, const W: usize, const P: usize = 0>:
    Send + Sync + 'static
{
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

/// A formula of any type: as a list of operations for devices, and as code for the host.
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
    pub(crate) code: Code,
}

/// Fields stored as one x-y plane of values, which hold at every z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planes {
    /// Index of the first plane; all fields after it are planes too.
    pub(crate) first: usize,
    /// Number of points of a plane.
    pub(crate) points: usize,
}

/// Use of the results, and the code for the host.
#[derive(Clone)]
pub(crate) enum Code {
    /// Results replace fields.
    Map(Arc<dyn OnRows>),
    /// Results are summed over all points, in f64.
    Sum(Arc<dyn OverPoints>),
    /// The maximum over all points, in f64; NaN counts as +∞.
    Max(Arc<dyn OverPoints>),
}

impl PointFormula {
    /// Creates a formula that computes fields from fields, in their precision.
    pub fn map<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        formula: F,
    ) -> Self {
        let (nodes, results) = trace(&formula);
        Self::new::<F>(nodes, &results, R, Code::Map(Arc::new(Coded::<F, R, W, P>(formula))))
    }

    /// Creates a formula whose results are summed over all points.
    pub fn sum<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        formula: F,
    ) -> Self {
        let (nodes, results) = trace(&formula);
        let code = Reduced::<F, Sum, R, W, P>(formula, PhantomData);
        Self::new::<F>(nodes, &results, R, Code::Sum(Arc::new(code)))
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
        let (nodes, results) = trace(&formula);
        let code = Reduced::<F, Max, R, W, P>(formula, PhantomData);
        Self::new::<F>(nodes, &results, R, Code::Max(Arc::new(code)))
    }

    /// Declares that the fields read from index `first` on are planes of `points` points.
    #[must_use]
    pub fn with_planes(self, first: usize, points: usize) -> Self {
        Self { planes: Some(Planes { first, points }), ..self }
    }

    fn new<F>(nodes: Vec<Node>, results: &[Symbol], reads: usize, code: Code) -> Self {
        let name = std::any::type_name::<F>();
        Self { name, nodes, results: results.to_vec(), reads, planes: None, code }
    }

    /// Number of arithmetic operations.
    pub(crate) fn flops(&self) -> usize {
        use Node::{Before, Constant, Parameter, Read};
        let given = |node: &&Node| matches!(node, Read(_) | Before(_) | Parameter(_) | Constant(_));
        self.nodes.len() - self.nodes.iter().filter(given).count()
    }

    /// Evaluates a map on rows of numbers: one row per field read and per result, all of equal length.
    pub(crate) fn evaluate<'a, 'b, T: Real>(
        &self,
        arch: pulp::Arch,
        from: &'a [&'b [T]],
        to: &'a mut [&'b mut [T]],
        parameters: &[f64],
    ) {
        let Code::Map(code) = &self.code else { unreachable!("made for a map") };
        match T::concrete::<Rows>((from, to)) {
            Concrete::F32((from, to)) => code.f32(arch, from, to, parameters),
            Concrete::F64((from, to)) => code.f64(arch, from, to, parameters),
        }
    }
}

/// Rows that are read, and rows that are written.
struct Rows<'a, 'b>(PhantomData<&'a &'b ()>);

impl<'a, 'b> Family for Rows<'a, 'b> {
    type Of<T: Real> = (&'a [&'b [T]], &'a mut [&'b mut [T]]);
}

/// Rows that are reduced.
struct Points<'a, 'b>(PhantomData<&'a &'b ()>);

impl<'a, 'b> Family for Points<'a, 'b> {
    type Of<T: Real> = &'a [&'b [T]];
}

impl dyn OverPoints + '_ {
    /// Returns the sums or the maxima over the points of the rows.
    pub(crate) fn reduce<T: Real>(
        &self,
        arch: pulp::Arch,
        from: &[&[T]],
        to: &mut [f64],
        parameters: &[f64],
    ) {
        match T::concrete::<Points>(from) {
            Concrete::F32(from) => self.f32(arch, from, to, parameters),
            Concrete::F64(from) => self.f64(arch, from, to, parameters),
        }
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

/// The code of a map.
pub(crate) trait OnRows: Send + Sync {
    fn f32(&self, arch: pulp::Arch, from: &[&[f32]], to: &mut [&mut [f32]], parameters: &[f64]);
    fn f64(&self, arch: pulp::Arch, from: &[&[f64]], to: &mut [&mut [f64]], parameters: &[f64]);
}

/// The code of a sum or a maximum over points.
pub(crate) trait OverPoints: Send + Sync {
    fn f32(&self, arch: pulp::Arch, from: &[&[f32]], to: &mut [f64], parameters: &[f64]);
    fn f64(&self, arch: pulp::Arch, from: &[&[f64]], to: &mut [f64], parameters: &[f64]);
}

struct Coded<F, const R: usize, const W: usize, const P: usize>(F);

impl<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize> Coded<F, R, W, P> {
    fn evaluate<T: Real>(
        &self,
        arch: pulp::Arch,
        from: &[&[T]],
        to: &mut [&mut [T]],
        parameters: &[f64],
    ) {
        let (from, parameters) = (array(from), array(parameters));
        let Ok(to) = <&mut [&mut [T]; W]>::try_from(to) else { unreachable!("{W} rows") };
        let to = to.each_mut().map(|row| &mut **row);
        arch.dispatch(AtPoints { formula: &self.0, from, to, parameters });
    }
}

/// A formula at the points of rows, one register of points at a time.
struct AtPoints<'a, F, T, const R: usize, const W: usize, const P: usize> {
    formula: &'a F,
    from: [&'a [T]; R],
    to: [&'a mut [T]; W],
    parameters: [f64; P],
}

impl<T, F, const R: usize, const W: usize, const P: usize> WithSimd for AtPoints<'_, F, T, R, W, P>
where
    T: Real,
    F: Formula<R, W, P>,
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { formula, from, mut to, parameters } = self;
        let zero = Packed::<S, T>::of(0.0);
        let (mut read, mut before, mut given) = ([zero; R], [zero; W], [zero; P]);
        for p in 0..P {
            given[p] = Packed::of(parameters[p]);
        }
        let from = mapped(from, |row| T::split::<S>(row));
        let to: [_; W] = array_of(|w| T::split_mut::<S>(std::mem::take(&mut to[w])));
        for i in 0..to[0].0.len() {
            for r in 0..R {
                read[r].1 = from[r].0[i];
            }
            for w in 0..W {
                before[w].1 = to[w].0[i];
            }
            let after = formula.at(read, before, given);
            for w in 0..W {
                to[w].0[i] = after[w].1;
            }
        }
        if to[0].1.is_empty() {
            return;
        }
        for r in 0..R {
            read[r].1 = T::load(simd, from[r].1);
        }
        for w in 0..W {
            before[w].1 = T::load(simd, to[w].1);
        }
        let after = formula.at(read, before, given);
        for w in 0..W {
            T::store(simd, to[w].1, after[w].1);
        }
    }
}

/// Converts a slice to an array of the formula's number of items.
pub(super) fn array<A: Copy, const N: usize>(items: &[A]) -> [A; N] {
    let count = items.len();
    items.try_into().unwrap_or_else(|_| unreachable!("{N} of a formula, {count} given"))
}

impl<F, const R: usize, const W: usize, const P: usize> OnRows for Coded<F, R, W, P>
where
    F: Formula<R, W, P>,
{
    fn f32(&self, arch: pulp::Arch, from: &[&[f32]], to: &mut [&mut [f32]], parameters: &[f64]) {
        self.evaluate(arch, from, to, parameters);
    }
    fn f64(&self, arch: pulp::Arch, from: &[&[f64]], to: &mut [&mut [f64]], parameters: &[f64]) {
        self.evaluate(arch, from, to, parameters);
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
