//! The parts of a kernel's text that the host writes: numbers, parameters, and what is done at a point.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{DeviceInfo, PRELUDE, Source};
use crate::engine::{Expr, Node, Operation, Symbol, Value};
use crate::real::Real;

/// The whole text of a kernel: precision, prelude, specialisation, file.
pub(super) fn source<T: Real>(
    info: &DeviceInfo,
    name: &str,
    specialisation: &str,
    file: &str,
) -> Source {
    let real = if is_double::<T>() { "#define REAL_IS_DOUBLE\n" } else { "" };
    let wide = if info.has_f64 { "#define WIDE_IS_DOUBLE\n" } else { "" };
    let text = format!("{real}{wide}{PRELUDE}\n{specialisation}\n{file}");
    Source { name: name.to_string(), text }
}

pub(super) fn is_double<T: Real>() -> bool {
    size_of::<T>() == size_of::<f64>()
}

/// A number as C reads it, in the precision of the fields or, where `wide`, in f64.
pub(super) fn literal(x: f64, double: bool) -> String {
    match double {
        true => format!("{x:e}"),
        #[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
        false => format!("{:e}f", x as f32),
    }
}

/// Parameters of a kernel: `read` fields f0, f1, ... and `written` fields w0, w1, ...
pub(super) fn parameters(read: usize, written: usize) -> String {
    let read = (0..read).map(|at| format!("GLOBAL const REAL *restrict f{at}"));
    let written = (0..written).map(|at| format!("GLOBAL REAL *restrict w{at}"));
    read.chain(written).collect::<Vec<_>>().join(", ")
}

/// A macro of several lines.
pub(super) fn multiline(head: &str, lines: &[String]) -> String {
    format!("#define {head} \\\n{}\n", lines.join(" \\\n"))
}

/// Statements that compute a traced formula at point `at`, each result handed to `result`.
pub(super) fn formula(
    nodes: &[Node],
    results: &[Symbol],
    number: &str,
    double: bool,
    result: impl Fn(usize, &str) -> String,
) -> Vec<String> {
    let mut used = vec![false; nodes.len()];
    results.iter().for_each(|symbol| used[symbol.0] = true);
    for at in (0..nodes.len()).rev() {
        if used[at] {
            operands(&nodes[at]).into_iter().flatten().for_each(|symbol| used[symbol.0] = true);
        }
    }
    let name = |symbol: &Symbol| match nodes[symbol.0] {
        Node::Constant(x) => literal(x, double),
        _ => format!("t{}", symbol.0),
    };
    let mut lines = Vec::new();
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| used[*at]) {
        let expression = match node {
            Node::Constant(_) => continue,
            Node::Read(field) => format!("f{field}[at]"),
            Node::Before(field) => format!("w{field}[at]"),
            Node::Parameter(index) => format!("scalars[first + {index}]"),
            Node::Add(a, b) => format!("{} + {}", name(a), name(b)),
            Node::Sub(a, b) => format!("{} - ({})", name(a), name(b)),
            Node::Mul(a, b) => format!("{} * {}", name(a), name(b)),
            Node::Div(a, b) => format!("{} / ({})", name(a), name(b)),
            Node::Neg(a) => format!("-({})", name(a)),
            Node::Sqrt(a) => format!("sqrt(({number}){})", name(a)),
            Node::Abs(a) => format!("fabs(({number}){})", name(a)),
            Node::Pow(a, x) => format!("pow(({number}){}, {})", name(a), literal(*x, double)),
        };
        lines.push(format!("const {number} t{at} = {expression};"));
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
pub(super) struct Forming<'a> {
    operations: &'a [Operation],
    /// Where the results of the operators lie.
    made: &'a BTreeMap<Value, usize>,
    /// The fields, in the order of the kernel's parameters.
    pub(super) places: Vec<Place>,
    pub(super) lines: Vec<String>,
    known: Vec<Value>,
    double: bool,
    /// Slots of fields that the kernel writes and so finds under another name.
    written: Vec<usize>,
}

impl<'a> Forming<'a> {
    pub(super) fn new(
        operations: &'a [Operation],
        made: &'a BTreeMap<Value, usize>,
        double: bool,
        written: Vec<usize>,
    ) -> Self {
        let (places, lines, known) = (Vec::new(), Vec::new(), Vec::new());
        Self { operations, made, places, lines, known, double, written }
    }

    /// The text of an expression, once everything that it is made of has been formed.
    pub(super) fn expression(&mut self, expr: &Expr) -> String {
        let mut text = String::new();
        for monomial in &expr.0 {
            let mut factors: Vec<String> = Vec::new();
            let coefficient = monomial.coefficient;
            if coefficient.abs() != 1.0 || monomial.factors.is_empty() {
                factors.push(literal(coefficient.abs(), self.double));
            }
            factors.extend(monomial.factors.iter().map(|&value| self.value(value)));
            let sign = match (coefficient < 0.0, text.is_empty()) {
                (true, _) => "- ",
                (false, true) => "",
                (false, false) => "+ ",
            };
            let _ = write!(text, "{sign}{} ", factors.join(" * "));
        }
        if text.is_empty() { literal(0.0, self.double) } else { text.trim_end().to_string() }
    }

    fn value(&mut self, value: Value) -> String {
        let name = format!("v{}", value.0);
        if self.known.contains(&value) {
            return name;
        }
        let text = match self.place(value) {
            Some(place) => format!("{}[at]", self.field(place)),
            None => {
                let defined = self.operations.iter().find_map(|operation| match operation {
                    Operation::Let { expr, result } if *result == value => Some(expr),
                    _ => None,
                });
                let expr = defined.unwrap_or_else(|| unreachable!("a value without origin"));
                self.expression(expr)
            }
        };
        self.lines.push(format!("const REAL {name} = {text};"));
        self.known.push(value);
        name
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
