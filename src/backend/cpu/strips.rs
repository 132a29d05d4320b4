//! Formulas at the points of rows: their steps, one after another, each on a strip of points that stays in the first-level
//! cache.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ptr;

use pulp::{NullaryFnOnce, Simd, WithSimd};
use smallvec::{SmallVec, smallvec};

use super::memory::CACHE_LINE;
use super::point_code::{PointCode, Step, StepOp};
use super::rows::BLOCK;
use crate::backend::Reduction;
use crate::engine::{Node, Use};
use crate::real::Real;
use crate::simd::mapped;

/// Bytes of a strip of one value: those of a block of a sweep.
const STRIP_BYTES: usize = BLOCK * CACHE_LINE;
/// Number of partial results of a sum or a maximum.
const PARTIALS: usize = 16;

/// Combination of the results of two points into one.
pub(super) trait Combine {
    const IDENTITY: f64;
    fn combine(a: f64, b: f64) -> f64;
}

pub(super) struct Sum;
impl Combine for Sum {
    const IDENTITY: f64 = 0.0;
    #[inline(always)]
    fn combine(a: f64, b: f64) -> f64 {
        a + b
    }
}

pub(super) struct Max;
impl Combine for Max {
    const IDENTITY: f64 = f64::NEG_INFINITY;
    #[inline(always)]
    fn combine(a: f64, b: f64) -> f64 {
        a.max(if b.is_nan() { f64::INFINITY } else { b })
    }
}

impl PointCode {
    /// Evaluates a map on rows of numbers: one row per field read and per result, all of equal length.
    ///
    /// # Panics
    /// If their number or lengths differ, or the formula is no map.
    pub(super) fn map<'a, 'b, T: Real>(
        &self,
        arch: pulp::Arch,
        from: &'a [&'b [T]],
        to: &'a mut [&'b mut [T]],
        parameters: &[f64],
    ) {
        assert_eq!(self.formula.of, Use::Map);
        let len = to[0].len();
        assert!(from.iter().all(|row| row.len() == len) && to.iter().all(|row| row.len() == len));
        assert!(from.len() == self.formula.reads && to.len() == self.results.len());
        MEMORY.with_borrow_mut(|memory| {
            arch.dispatch(Map { code: self, from, to, parameters, memory });
        });
    }

    /// Returns the combined results at the points of rows, in f64.
    ///
    /// # Panics
    /// If their number or lengths differ.
    pub(super) fn reduce<C: Combine, T: Real>(
        &self,
        arch: pulp::Arch,
        from: &[&[T]],
        parameters: &[f64],
    ) -> SmallVec<[f64; Reduction::MAX]> {
        assert!(from.iter().all(|row| row.len() == from[0].len()));
        assert!(from.len() == self.formula.reads);
        let partial = MEMORY.with_borrow_mut(|memory| {
            let how = PhantomData::<C>;
            arch.dispatch(Reduce { code: self, from, parameters, memory, how })
        });
        partial.into_iter().map(|lanes| lanes.into_iter().fold(C::IDENTITY, C::combine)).collect()
    }
}

/// A cache line of a thread's memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "accessed by pointers")] [u8; CACHE_LINE]);

/// The memory of a thread: the values of rows, where each row begins, and steps on them.
struct Memory {
    lines: Vec<Line>,
    rows: Vec<*mut Line>,
    steps: Vec<PlacedStep>,
}

thread_local! {
    static MEMORY: RefCell<Memory> =
        const { RefCell::new(Memory { lines: Vec::new(), rows: Vec::new(), steps: Vec::new() }) };
}

/// A step and where its rows begin.
#[derive(Clone, Copy)]
struct PlacedStep {
    op: StepOp,
    from: [Source; 3],
    to: *mut Line,
}

/// The values of an operand.
#[derive(Clone, Copy)]
struct Source {
    first: *mut Line,
    /// False for a number that is the same at all points.
    varies: bool,
}

/// The rows of a formula in memory.
struct Table<'a, S, T> {
    simd: S,
    code: &'a PointCode,
    rows: &'a mut [*mut Line],
    steps: &'a mut Vec<PlacedStep>,
    of: PhantomData<T>,
}

impl<'a, S: Simd, T: Real> Table<'a, S, T> {
    /// Numbers of a vector.
    const LANES: usize = size_of::<T::Vector<S>>() / size_of::<T>();

    /// Places all rows in `memory`, a strip for each, and evaluates the numbers that are the same at all points.
    #[inline(always)]
    fn new(simd: S, code: &'a PointCode, parameters: &[f64], memory: &'a mut Memory) -> Self {
        // A line for a number that is the same at all points, a strip for others.
        let line =
            |row: usize| row + row.saturating_sub(code.first_read) * (STRIP_BYTES / CACHE_LINE - 1);
        if memory.lines.len() < line(code.rows) {
            memory.lines.resize(line(code.rows), Line([0; CACHE_LINE]));
        }
        if memory.rows.len() < code.rows {
            memory.rows.resize(code.rows, ptr::null_mut());
        }
        let start = memory.lines.as_mut_ptr();
        let Memory { rows, steps, .. } = memory;
        let mut table = Self { simd, code, rows, steps, of: PhantomData };
        for row in 0..code.rows {
            table.rows[row] = start.wrapping_add(line(row));
        }
        for (row, node) in code.inputs.iter().enumerate() {
            let x = match *node {
                Node::Constant(x) => x,
                Node::Parameter(at) => parameters[at],
                _ => unreachable!("computed by a step"),
            };
            // SAFETY: a row in `memory`.
            unsafe { *table.row(row) = T::splat(simd, T::of(x)) };
        }
        // SAFETY: all rows are in `memory`.
        unsafe { table.run(&code.uniform_steps, 1) };
        table
    }

    /// The first vector of a row.
    #[inline(always)]
    fn row(&self, row: usize) -> *mut T::Vector<S> {
        self.rows[row].cast()
    }

    /// Executes steps on `n` vectors of every row that varies.
    ///
    /// # Safety
    /// Each of them has `n` vectors, and those that are written have no other users.
    #[inline(always)]
    unsafe fn run(&mut self, steps: &[Step], n: usize) {
        self.steps.clear();
        for &Step { op, from, to } in steps {
            let source =
                |row: usize| Source { first: self.rows[row], varies: row >= self.code.first_read };
            let placed = PlacedStep { op, from: mapped(from, source), to: self.rows[to] };
            self.steps.push(placed);
        }
        self.simd.vectorize(Run::<S, T> { simd: self.simd, steps: self.steps, n, of: PhantomData });
    }
}

/// Bytes of the vectors on which a step is executed before the next step. They are few, so that the processor can do
/// the following steps while it still divides for this one.
const GROUP_BYTES: usize = 8 * CACHE_LINE;

/// Steps on n vectors of every row.
struct Run<'a, S, T> {
    simd: S,
    steps: &'a [PlacedStep],
    n: usize,
    of: PhantomData<T>,
}

impl<S: Simd, T: Real> NullaryFnOnce for Run<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { simd, steps, n, .. } = self;
        let group = Group::<S, T, true>::N;
        let full = n - n % group;
        // SAFETY: as the caller of `Table::run` promises.
        unsafe {
            for start in (0..full).step_by(group) {
                for step in steps {
                    Group::<S, T, true> { simd, start, of: PhantomData }.execute(step);
                }
            }
            for start in full..n {
                for step in steps {
                    Group::<S, T, false> { simd, start, of: PhantomData }.execute(step);
                }
            }
        }
    }
}

/// The vectors of rows from `start` on: a complete group, or only one.
struct Group<S, T, const FULL: bool> {
    simd: S,
    start: usize,
    of: PhantomData<T>,
}

impl<S: Simd, T: Real, const FULL: bool> Group<S, T, FULL> {
    /// Number of vectors.
    const N: usize = if FULL { GROUP_BYTES / size_of::<T::Vector<S>>() } else { 1 };

    /// # Safety
    /// Every row has these vectors.
    #[inline(always)]
    unsafe fn execute(&self, &PlacedStep { op, from: [a, b, c], to }: &PlacedStep) {
        let simd = self.simd;
        // SAFETY: as the caller promises.
        unsafe {
            match op {
                StepOp::Copy => self.one(to, a, |a| a),
                StepOp::Neg => self.one(to, a, |a| T::negative(simd, a)),
                StepOp::Sqrt => self.one(to, a, |a| T::root(simd, a)),
                StepOp::Abs => self.one(to, a, |a| T::magnitude(simd, a)),
                StepOp::Pow(exponent) => self.one(to, a, |mut a| {
                    let numbers = (&raw mut a).cast::<T>();
                    for at in 0..Table::<S, T>::LANES {
                        *numbers.add(at) = (*numbers.add(at)).powf(exponent);
                    }
                    a
                }),
                StepOp::Add => self.two(to, a, b, |a, b| T::plus(simd, a, b)),
                StepOp::Sub => self.two(to, a, b, |a, b| T::minus(simd, a, b)),
                StepOp::Mul => self.two(to, a, b, |a, b| T::times(simd, a, b)),
                StepOp::Div => self.two(to, a, b, |a, b| T::over(simd, a, b)),
                StepOp::MulAdd => {
                    self.three(to, [a, b, c], |a, b, c| T::plus(simd, T::times(simd, a, b), c));
                }
                StepOp::MulSub => {
                    self.three(to, [a, b, c], |a, b, c| T::minus(simd, T::times(simd, a, b), c));
                }
                StepOp::SubMul => {
                    self.three(to, [a, b, c], |a, b, c| T::minus(simd, c, T::times(simd, a, b)));
                }
            }
        }
    }

    /// The first vector of an operand that varies.
    ///
    /// # Safety
    /// As for [`Group::execute`].
    #[inline(always)]
    unsafe fn varying(&self, of: Source) -> *const T::Vector<S> {
        // SAFETY: as the caller promises.
        unsafe { of.first.cast::<T::Vector<S>>().add(self.start) }
    }

    /// # Safety
    /// As for [`Group::execute`], here and in the following functions.
    #[inline(always)]
    unsafe fn write(&self, to: *mut Line, f: impl Fn(usize) -> T::Vector<S>) {
        // SAFETY: as the caller promises.
        unsafe {
            let to = to.cast::<T::Vector<S>>().add(self.start);
            for at in 0..Self::N {
                *to.add(at) = f(at);
            }
        }
    }

    #[inline(always)]
    unsafe fn one(&self, to: *mut Line, a: Source, f: impl Fn(T::Vector<S>) -> T::Vector<S>) {
        // SAFETY: as the caller promises.
        unsafe {
            if a.varies {
                let a = self.varying(a);
                self.write(to, |at| f(*a.add(at)));
            } else {
                let x = f(*a.first.cast());
                self.write(to, |_| x);
            }
        }
    }

    #[inline(always)]
    unsafe fn two(
        &self,
        to: *mut Line,
        a: Source,
        b: Source,
        f: impl Fn(T::Vector<S>, T::Vector<S>) -> T::Vector<S>,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            if !a.varies {
                let a = *a.first.cast();
                self.one(to, b, |b| f(a, b));
            } else if b.varies {
                let (a, b) = (self.varying(a), self.varying(b));
                self.write(to, |at| f(*a.add(at), *b.add(at)));
            } else {
                let (a, b) = (self.varying(a), *b.first.cast());
                self.write(to, |at| f(*a.add(at), b));
            }
        }
    }

    /// All but the first vary.
    #[inline(always)]
    unsafe fn three(
        &self,
        to: *mut Line,
        [a, b, c]: [Source; 3],
        f: impl Fn(T::Vector<S>, T::Vector<S>, T::Vector<S>) -> T::Vector<S>,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            if a.varies {
                let [a, b, c] = mapped([a, b, c], |of| self.varying(of));
                self.write(to, |at| f(*a.add(at), *b.add(at), *c.add(at)));
            } else {
                let a = *a.first.cast();
                self.two(to, b, c, |b, c| f(a, b, c));
            }
        }
    }
}

/// A map of rows.
struct Map<'a, 'b, T> {
    code: &'a PointCode,
    from: &'a [&'b [T]],
    to: &'a mut [&'b mut [T]],
    parameters: &'a [f64],
    memory: &'a mut Memory,
}

impl<T: Real> WithSimd for Map<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { code, from, to, parameters, memory } = self;
        let mut table = Table::<S, T>::new(simd, code, parameters, memory);
        let (len, strip) = (to[0].len(), STRIP_BYTES / size_of::<T>());
        let full = len - len % Table::<S, T>::LANES;
        // The last points do not fill a vector.
        if full < len {
            // SAFETY: rows in `memory`, of a strip each.
            unsafe {
                for (at, from) in from.iter().enumerate() {
                    *table.row(code.first_read + at) = T::load(simd, &from[full..]);
                }
                for (at, to) in to.iter().enumerate() {
                    *table.row(code.first_written + at) = T::load(simd, &to[full..]);
                }
                table.run(&code.steps, 1);
                for (at, to) in to.iter_mut().enumerate() {
                    T::store(simd, &mut to[full..], *table.row(code.first_written + at));
                }
            }
        }
        for start in (0..full).step_by(strip) {
            for (at, from) in from.iter().enumerate() {
                table.rows[code.first_read + at] = from[start..].as_ptr().cast_mut().cast();
            }
            for (at, to) in to.iter_mut().enumerate() {
                table.rows[code.first_written + at] = to[start..].as_mut_ptr().cast();
            }
            // SAFETY: so many numbers follow in every row.
            unsafe { table.run(&code.steps, strip.min(full - start) / Table::<S, T>::LANES) };
        }
    }
}

/// A reduction of rows.
struct Reduce<'a, 'b, C, T> {
    code: &'a PointCode,
    from: &'a [&'b [T]],
    parameters: &'a [f64],
    memory: &'a mut Memory,
    how: PhantomData<C>,
}

impl<C: Combine, T: Real> WithSimd for Reduce<'_, '_, C, T> {
    /// Partial result l of each result is that of points l, l + 16, ...
    type Output = SmallVec<[[f64; PARTIALS]; Reduction::MAX]>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { code, from, parameters, memory, .. } = self;
        let mut table = Table::<S, f64>::new(simd, code, parameters, memory);
        let mut partial: Self::Output = smallvec![[C::IDENTITY; PARTIALS]; code.results.len()];
        let (strip, len) = (STRIP_BYTES / size_of::<f64>(), from[0].len());
        for start in (0..len).step_by(strip) {
            let n = strip.min(len - start);
            // SAFETY: rows in `memory`, of a strip each.
            let values = |row: *mut S::f64s| unsafe {
                std::slice::from_raw_parts_mut(row.cast::<f64>(), strip)
            };
            for (at, from) in from.iter().enumerate() {
                let to = values(table.row(code.first_read + at));
                for (to, x) in to.iter_mut().zip(&from[start..start + n]) {
                    *to = x.f64();
                }
            }
            // SAFETY: as above.
            unsafe { table.run(&code.steps, n.div_ceil(Table::<S, f64>::LANES)) };
            for (partial, at) in partial.iter_mut().zip(&code.results) {
                for values in values(table.row(*at))[..n].chunks(PARTIALS) {
                    for (partial, value) in partial.iter_mut().zip(values) {
                        *partial = C::combine(*partial, *value);
                    }
                }
            }
        }
        partial
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Formula, Number, PointFormula};

    /// Results that need each other's previous values, a factor that is equal at all points, and products in sums.
    struct Tangled;

    impl Formula<2, 4, 1> for Tangled {
        fn at<N: Number>(&self, [x, y]: [N; 2], [a, b, c, d]: [N; 4], [p]: [N; 1]) -> [N; 4] {
            let (factor, t) = (N::of(3.0) * p, x - y);
            let (square, product, moved) = (t * t, b * x, b + x);
            let fourth = square - t.abs().sqrt() + (product - moved.abs()) - (d * factor - y);
            [c, moved, a + c * factor, fourth / (x * x + d * d)]
        }
    }

    fn compare<T: Real>() {
        let code = PointCode::new(PointFormula::map(Tangled));
        for len in (1..40).chain([255, 256, 257, 700]) {
            let value = |seed: usize, at: usize| T::of(((7 * at + seed) as f64).sin());
            let row = |seed: usize| -> Vec<T> { (0..len).map(|at| value(seed, at)).collect() };
            let (read, mut write) = ([row(1), row(2)], [3, 4, 5, 6].map(row));
            let from = read.each_ref().map(|row| &row[..]);
            let mut to = write.each_mut().map(|row| &mut row[..]);
            code.map(pulp::Arch::new(), &from, &mut to, &[0.7]);
            for at in 0..len {
                let [x, y] = [1, 2].map(|seed| value(seed, at));
                let before = [3, 4, 5, 6].map(|seed| value(seed, at));
                let expected = Tangled.at([x, y], before, [T::of(0.7)]);
                assert_eq!(write.each_ref().map(|row| row[at]), expected, "{at} of {len}");
            }
        }
    }

    /// Detects a previous value that is overwritten before its last use, and a row that is reused too early.
    #[test]
    fn strips_equal_the_formula_at_every_point() {
        compare::<f64>();
        compare::<f32>();
    }
}
