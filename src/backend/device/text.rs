//! Parts of a kernel text that the host generates: numbers, parameters, and the statements at a point.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use super::Source;
use super::coefficients::Coefficients;
use crate::engine::{Monomial, Node, PointFormula, Symbol, Value};
use crate::real::Precision;

/// Definitions with which a kernel file compiles as CUDA C or OpenCL C.
const PRELUDE: &str = include_str!("../../../kernels/prelude.cu");

/// The text of a kernel under construction.
pub(super) struct Text {
    precision: Precision,
    text: String,
}

impl Text {
    /// Starts a text with the precision of its REALs and the prelude.
    pub(super) fn new(precision: Precision) -> Self {
        let define = if precision == Precision::F64 { "#define REAL_IS_DOUBLE\n" } else { "" };
        Self { precision, text: format!("{define}{PRELUDE}\n") }
    }

    pub(super) fn define(&mut self, name: &str, value: impl Display) {
        self.text += &format!("#define {name} {value}\n");
    }

    /// Defines a macro of several lines.
    pub(super) fn define_lines(&mut self, head: &str, lines: &[String]) {
        self.text += &format!("#define {head} \\\n{}\n", lines.join(" \\\n"));
    }

    /// Adds a table in constant memory; nothing if there are no values.
    pub(super) fn constants(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        let values = values.into_iter().map(|value| self.precision.literal(value)).collect();
        self.list("REAL", name, values);
    }

    /// Adds a table of integers in constant memory; nothing if there are no values.
    pub(super) fn integers(&mut self, name: &str, values: &[usize]) {
        self.list("int", name, values.iter().map(usize::to_string).collect());
    }

    fn list(&mut self, kind: &str, name: &str, values: Vec<String>) {
        if !values.is_empty() {
            let (count, list) = (values.len(), values.join(", "));
            self.text += &format!("CONSTANT {kind} {name}[{count}] = {{{list}}};\n");
        }
    }

    /// Returns a number as a literal of this text.
    pub(super) fn literal(&self, value: f64) -> String {
        self.precision.literal(value)
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Makes the text that `write` adds reusable: each of `names` gets the suffix `number`, and macros are undefined
    /// afterwards.
    pub(super) fn scoped<R>(
        &mut self,
        number: usize,
        names: &[&str],
        write: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let start = self.text.len();
        for name in names {
            self.define(name, format_args!("{name}_{number}"));
        }
        let result = write(self);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let defined = self.text[start..].lines().filter_map(|line| line.strip_prefix("#define "));
        let macros: BTreeSet<String> =
            defined.map(|rest| rest.chars().take_while(|c| is_part(*c)).collect()).collect();
        for name in macros {
            self.text += &format!("#undef {name}\n");
        }
        result
    }

    /// Adapts the text to a compiler that turns the threads of a block into loops and is slow with many loops: no loop is
    /// unrolled, and the code between barriers becomes a separate function.
    pub(super) fn make_compact(&mut self) {
        self.push("#undef UNROLL\n#undef PHASE\n");
        self.define("UNROLL", "_Pragma(\"unroll 1\")");
        self.define("PHASE", "static __attribute__((noinline))");
    }

    /// Returns the complete source; `name` is for messages of the compiler.
    pub(super) fn source(self, name: &str) -> Source {
        Source { name: name.into(), text: self.text }
    }
}

/// Returns the parameters of a kernel: `read` fields f0, f1, ... and `written` fields w0, w1, ...
pub(super) fn parameters(read: usize, written: usize) -> impl Iterator<Item = String> {
    let read = (0..read).map(|at| format!("GLOBAL const REAL *restrict f{at}"));
    let written = (0..written).map(|at| format!("GLOBAL REAL *restrict w{at}"));
    read.chain(written)
}

/// Names in the text of a traced formula.
pub(super) struct Names<'a> {
    /// Text of a field that it reads.
    pub(super) read: &'a dyn Fn(usize) -> String,
    /// Prefix of the names of its intermediate results.
    pub(super) prefix: &'a str,
    /// Whether REAL divisors are far from the limits of their range, as density is.
    pub(super) safe_divisors: bool,
}

/// Returns statements that compute a traced formula at point `at`, with the number type of its coefficients; `result`
/// converts each result to a statement.
pub(super) fn statements(
    coefficients: &mut Coefficients,
    formula: &PointFormula,
    names: &Names,
    result: impl Fn(usize, &str) -> String,
) -> Vec<String> {
    let PointFormula { nodes, results, .. } = formula;
    let (prefix, c_type) = (names.prefix, coefficients.c_type());
    let mut used = vec![false; nodes.len()];
    results.iter().for_each(|symbol| used[symbol.0] = true);
    for at in (0..nodes.len()).rev() {
        if used[at] {
            nodes[at].operands().into_iter().flatten().for_each(|symbol| used[symbol.0] = true);
        }
    }
    let mut name = |symbol: &Symbol| match nodes[symbol.0] {
        Node::Constant(x) => coefficients.text(x),
        _ => format!("{prefix}{}", symbol.0),
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
            Node::Div(a, b) if names.safe_divisors => format!("QUOTIENT({}, {})", name(a), name(b)),
            Node::Div(a, b) => format!("{} / ({})", name(a), name(b)),
            Node::Neg(a) => format!("-({})", name(a)),
            Node::Sqrt(a) => format!("sqrt(({c_type}){})", name(a)),
            Node::Abs(a) => format!("fabs(({c_type}){})", name(a)),
            Node::Pow(a, x) => format!("pow(({c_type}){}, ({c_type}){x:e})", name(a)),
        };
        lines.push(format!("const {c_type} {prefix}{at} = {expression};"));
    }
    lines.extend(results.iter().enumerate().map(|(at, symbol)| result(at, &name(symbol))));
    lines
}

/// Returns the text of a sum of products of values with these names.
pub(super) fn polynomial(
    coefficients: &mut Coefficients,
    terms: &[Monomial],
    names: &BTreeMap<Value, String>,
) -> String {
    let mut text = String::new();
    for Monomial { coefficient, factors: values } in terms {
        let mut factors: Vec<String> = Vec::new();
        if coefficient.abs() != 1.0 || values.is_empty() {
            factors.push(coefficients.text(coefficient.abs()));
        }
        factors.extend(values.iter().map(|value| names[value].clone()));
        let sign = match (*coefficient < 0.0, text.is_empty()) {
            (true, _) => "- ",
            (false, true) => "",
            (false, false) => "+ ",
        };
        text += &format!("{sign}{} ", factors.join(" * "));
    }
    if text.is_empty() { coefficients.text(0.0) } else { text.trim_end().to_string() }
}
