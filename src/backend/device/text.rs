//! The parts of a kernel's text that the host writes: numbers, parameters, and what is done at a point.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::marker::PhantomData;

use super::{PRELUDE, Source};
use crate::engine::{Expr, Monomial, Node, Operation, PointFormula, Symbol, Value};
use crate::real::Real;

/// The text of a kernel as it grows.
pub(super) struct Text(String);

impl Text {
    /// The precision and the prelude.
    pub(super) fn new<T: Real>() -> Self {
        let define = if is_double::<T>() { "#define REAL_IS_DOUBLE\n" } else { "" };
        Self(format!("{define}{PRELUDE}\n"))
    }

    /// `#define name value`
    pub(super) fn define(&mut self, name: &str, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "#define {name} {value}");
    }

    /// A macro of several lines.
    pub(super) fn define_lines(&mut self, head: &str, lines: &[String]) {
        let _ = writeln!(self.0, "#define {head} \\\n{}", lines.join(" \\\n"));
    }

    /// A table in constant memory; none where there are no values.
    pub(super) fn constants<T: Real>(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        let values: Vec<_> = values.into_iter().map(literal::<T>).collect();
        if !values.is_empty() {
            let (count, list) = (values.len(), values.join(", "));
            let _ = writeln!(self.0, "CONSTANT REAL {name}[{count}] = {{{list}}};");
        }
    }

    /// A table of whole numbers in constant memory; none where there are none.
    pub(super) fn integers(&mut self, name: &str, values: &[usize]) {
        if !values.is_empty() {
            let list: Vec<_> = values.iter().map(usize::to_string).collect();
            let _ = writeln!(
                self.0,
                "CONSTANT int {name}[{}] = {{{}}};",
                values.len(),
                list.join(", ")
            );
        }
    }

    /// More text.
    pub(super) fn push(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// What `write` adds, so that it can be added again for something else: `names` get the number `number`, and macros are
    /// forgotten.
    pub(super) fn scoped<R>(
        &mut self,
        number: usize,
        names: &[&str],
        write: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let start = self.0.len();
        for name in names {
            self.define(name, format_args!("{name}_{number}"));
        }
        let result = write(self);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let defined = self.0[start..].lines().filter_map(|line| line.strip_prefix("#define "));
        let macros: BTreeSet<String> =
            defined.map(|rest| rest.chars().take_while(|c| is_part(*c)).collect()).collect();
        for name in macros {
            let _ = writeln!(self.0, "#undef {name}");
        }
        result
    }

    /// The whole, to be compiled; `name` is for the compiler's messages.
    pub(super) fn source(self, name: &str) -> Source {
        Source { name: name.into(), text: self.0 }
    }
}

fn is_double<T: Real>() -> bool {
    size_of::<T>() == size_of::<f64>()
}

/// A number as C writes it, rounded to the precision. What is no number any more, as 1/Re of a tiny Re, is written so that
/// the kernel finds it too: the state that it makes is then refused, as on the host.
pub(super) fn literal<T: Real>(value: f64) -> String {
    let value = T::of(value).f64();
    if !value.is_finite() {
        let above = if value.is_nan() {
            "0"
        } else if value > 0.0 {
            "1"
        } else {
            "-1"
        };
        return format!("((REAL){above} / (REAL)0)");
    }
    // 1e0 is a C literal of type double, and with the suffix of type float.
    let suffix = if is_double::<T>() { "" } else { "f" };
    if value < 0.0 { format!("({value:e}{suffix})") } else { format!("{value:e}{suffix}") }
}

/// Parameters of a kernel: `read` fields f0, f1, ... and `written` fields w0, w1, ...
pub(super) fn parameters(read: usize, written: usize) -> String {
    let read = (0..read).map(|at| format!("GLOBAL const REAL *restrict f{at}"));
    let written = (0..written).map(|at| format!("GLOBAL REAL *restrict w{at}"));
    read.chain(written).collect::<Vec<_>>().join(", ")
}

/// Statements that compute a traced formula at point `at` in the C type `number`, the literals of which are those of `T`;
/// each result is handed to `result`.
pub(super) fn formula<T: Real>(
    nodes: &[Node],
    results: &[Symbol],
    number: &str,
    result: impl Fn(usize, &str) -> String,
) -> Vec<String> {
    let names = Names { read: &|field| format!("f{field}[at]"), made: "t" };
    statements::<T>(nodes, results, number, &names, result)
}

/// What a traced formula finds and makes is called.
pub(super) struct Names<'a> {
    /// The name of what it reads.
    pub(super) read: &'a dyn Fn(usize) -> String,
    /// What the names of its operations begin with.
    pub(super) made: &'a str,
}

/// [`formula`] with names of one's own.
pub(super) fn statements<T: Real>(
    nodes: &[Node],
    results: &[Symbol],
    number: &str,
    names: &Names,
    result: impl Fn(usize, &str) -> String,
) -> Vec<String> {
    let made = names.made;
    let mut used = vec![false; nodes.len()];
    results.iter().for_each(|symbol| used[symbol.0] = true);
    for at in (0..nodes.len()).rev() {
        if used[at] {
            operands(&nodes[at]).into_iter().flatten().for_each(|symbol| used[symbol.0] = true);
        }
    }
    let name = |symbol: &Symbol| match nodes[symbol.0] {
        Node::Constant(x) => literal::<T>(x),
        _ => format!("{made}{}", symbol.0),
    };
    let mut lines = Vec::new();
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| used[*at]) {
        let expression = match node {
            Node::Constant(_) => continue,
            Node::Read(field) => (names.read)(*field),
            Node::Before(field) => format!("w{field}[at]"),
            Node::Parameter(index) => format!("scalars[first + {index}]"),
            Node::Add(a, b) => format!("{} + {}", name(a), name(b)),
            Node::Sub(a, b) => format!("{} - ({})", name(a), name(b)),
            Node::Mul(a, b) => format!("{} * {}", name(a), name(b)),
            Node::Div(a, b) => format!("{} / ({})", name(a), name(b)),
            Node::Neg(a) => format!("-({})", name(a)),
            Node::Sqrt(a) => format!("sqrt(({number}){})", name(a)),
            Node::Abs(a) => format!("fabs(({number}){})", name(a)),
            Node::Pow(a, x) => format!("pow(({number}){}, {})", name(a), literal::<T>(*x)),
        };
        lines.push(format!("const {number} {made}{at} = {expression};"));
    }
    lines.extend(results.iter().enumerate().map(|(at, symbol)| result(at, &name(symbol))));
    lines
}

fn operands(node: &Node) -> [Option<Symbol>; 2] {
    match *node {
        Node::Read(_) | Node::Before(_) | Node::Parameter(_) | Node::Constant(_) => [None, None],
        Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) | Node::Div(a, b) => [Some(a), Some(b)],
        Node::Neg(a) | Node::Sqrt(a) | Node::Abs(a) | Node::Pow(a, _) => [Some(a), None],
    }
}

/// A sum of products of values with these names.
pub(super) fn polynomial<T: Real>(
    terms: &[Monomial],
    mut name: impl FnMut(Value) -> String,
) -> String {
    let mut text = String::new();
    for Monomial { coefficient, factors: values } in terms {
        let mut factors: Vec<String> = Vec::new();
        if coefficient.abs() != 1.0 || values.is_empty() {
            factors.push(literal::<T>(coefficient.abs()));
        }
        factors.extend(values.iter().map(|&value| name(value)));
        let sign = match (*coefficient < 0.0, text.is_empty()) {
            (true, _) => "- ",
            (false, true) => "",
            (false, false) => "+ ",
        };
        let _ = write!(text, "{sign}{} ", factors.join(" * "));
    }
    if text.is_empty() { literal::<T>(0.0) } else { text.trim_end().to_string() }
}

/// Where a value of a sweep is found by the kernels of this sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A field that the sweep reads.
    Read(usize),
    /// A field that the sweep writes, as it was before.
    Written(usize),
    /// What an operator made.
    Made(usize),
}

/// Statements that form expressions of a sweep at a point, and the fields that they need.
pub(super) struct Forming<'a, T> {
    operations: &'a [Operation],
    /// Where the results of the operators lie.
    made: &'a BTreeMap<Value, usize>,
    /// The fields, in the order of the kernel's parameters.
    pub(super) places: Vec<Place>,
    pub(super) lines: Vec<String>,
    known: Vec<Value>,
    /// Names of the sums that are complete, by the slots of their fields.
    pub(super) sums: BTreeMap<usize, String>,
    /// Slots of fields that the kernel writes and so finds under another name.
    written: Vec<usize>,
    precision: PhantomData<T>,
}

impl<'a, T: Real> Forming<'a, T> {
    pub(super) fn new(
        operations: &'a [Operation],
        made: &'a BTreeMap<Value, usize>,
        written: Vec<usize>,
    ) -> Self {
        let (places, lines, known) = (Vec::new(), Vec::new(), Vec::new());
        let sums = BTreeMap::new();
        Self { operations, made, places, lines, known, sums, written, precision: PhantomData }
    }

    /// The text of an expression, once everything that it is made of has been formed.
    pub(super) fn expression(&mut self, expr: &Expr) -> String {
        polynomial::<T>(&expr.0, |value| self.value(value))
    }

    fn value(&mut self, value: Value) -> String {
        let name = format!("v{}", value.0);
        if self.known.contains(&value) {
            return name;
        }
        let text = match self.place(value) {
            Some(place) => format!("{}[at]", self.field(place)),
            None => {
                let made = |operation: &&Operation| operation.results().contains(&value);
                match self.operations.iter().find(made) {
                    Some(Operation::Let { expr, .. }) => self.expression(expr),
                    Some(Operation::Map { map, operands, results }) => {
                        self.map(map, operands, results);
                        return name;
                    }
                    Some(Operation::Advance { value, slot, .. }) => {
                        let sum = self.sums.get(slot).cloned();
                        let sum =
                            sum.unwrap_or_else(|| unreachable!("advanced before it is known"));
                        format!("{} + scalars[first + 1] * {sum}", self.value(*value))
                    }
                    _ => unreachable!("a value without origin"),
                }
            }
        };
        self.lines.push(format!("const REAL {name} = {text};"));
        self.known.push(value);
        name
    }

    /// Name what a formula makes.
    fn map(&mut self, map: &PointFormula, operands: &[Value], results: &[Value]) {
        let operands: Vec<String> = operands.iter().map(|value| self.value(*value)).collect();
        let prefix = format!("v{}_", results[0].0);
        let names = Names { read: &|at| operands[at].clone(), made: &prefix };
        let lines = statements::<T>(&map.nodes, &map.results, "REAL", &names, |at, result| {
            format!("const REAL v{} = {result};", results[at].0)
        });
        self.lines.extend(lines);
        self.known.extend(results);
    }

    /// Where a value lies as a whole field.
    pub(super) fn place(&self, value: Value) -> Option<Place> {
        self.operations.iter().find_map(|operation| match operation {
            Operation::Read { slot, result } if *result == value => Some(Place::Read(*slot)),
            Operation::Previous { slot, result } if *result == value => Some(Place::Written(*slot)),
            Operation::Apply { result, .. } if *result == value => {
                Some(Place::Made(self.made[&value]))
            }
            _ => None,
        })
    }

    /// The name among the kernel's parameters of the field at `place`.
    fn field(&mut self, place: Place) -> String {
        if let Place::Written(slot) = place
            && let Some(at) = self.written.iter().position(|written| *written == slot)
        {
            return format!("w{at}");
        }
        let known = self.places.iter().position(|old| *old == place);
        let at = known.unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        });
        format!("f{at}")
    }
}
