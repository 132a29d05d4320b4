//! Recorded formulas as steps on rows of points.

use std::collections::HashSet;

use crate::engine::{Node, PointFormula, Symbol, Use};

/// An operation on the values of rows, given by their indices: of one, two or three.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) op: StepOp,
    pub(super) from: [usize; 3],
    pub(super) to: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum StepOp {
    Copy,
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Sqrt,
    Abs,
    Pow(f64),
    /// a b + c, rounded twice.
    MulAdd,
    /// a b − c, rounded twice.
    MulSub,
    /// c − a b, rounded twice.
    SubMul,
}

/// A formula prepared for rows. They are numbered: its constants and parameters, other numbers that are the same at all
/// points, the rows that it reads, those that it writes, and rows for other values, each used again after the last use
/// of its value.
#[derive(Clone, Debug)]
pub struct PointCode {
    pub(super) formula: PointFormula,
    /// Constants and parameters.
    pub(super) inputs: Vec<Node>,
    /// Steps for the other numbers that are the same at all points.
    pub(super) uniform_steps: Vec<Step>,
    pub(super) steps: Vec<Step>,
    /// Index of the first row that is read.
    pub(super) first_read: usize,
    /// Index of the first row that is written.
    pub(super) first_written: usize,
    /// Number of all rows.
    pub(super) rows: usize,
    /// Rows of the results.
    pub(super) results: Vec<usize>,
}

impl PointCode {
    /// Prepares a recorded formula.
    pub fn new(formula: PointFormula) -> Self {
        let PointFormula { nodes, results, reads, .. } = &formula;
        let writes = if formula.of == Use::Map { results.len() } else { 0 };
        let uniform = uniform_nodes(nodes);
        let products = products(nodes, results, &uniform);
        let last = last_uses(nodes, results, &products);

        // The row of every node, first those of numbers that are the same at all points.
        let mut rows = vec![0; nodes.len()];
        let mut inputs = Vec::new();
        for (row, node) in rows.iter_mut().zip(nodes) {
            if matches!(node, Node::Constant(_) | Node::Parameter(_)) {
                *row = inputs.len();
                inputs.push(*node);
            }
        }
        let first_read = uniform.iter().filter(|uniform| **uniform).count();
        let first_written = first_read + reads;
        let first = first_written + writes;
        // A result is computed where it replaces a field, if the previous values are not needed any more.
        let replaced = |at: usize| {
            let to = (0..writes).find(|w| results[*w].0 == at)?;
            let before = nodes.iter().position(|node| *node == Node::Before(to))?;
            last[before].is_none_or(|last| last <= at).then_some(first_written + to)
        };
        let mut pool = RowPool { rows: first, free: Vec::new() };
        let (mut uniform_steps, mut steps) = (Vec::new(), Vec::new());
        for (at, node) in nodes.iter().enumerate() {
            match node {
                Node::Constant(_) | Node::Parameter(_) => continue,
                Node::Read(field) => rows[at] = first_read + field,
                Node::Before(field) => {
                    assert!(writes > 0 || last[at].is_none(), "a sum replaces no field");
                    rows[at] = first_written + field;
                }
                _ if products.contains(&at) || last[at].is_none() && !uniform[at] => continue,
                _ => {
                    let (op, operands) = operation(nodes, *node, &products, &uniform);
                    let from = operands.map(|of| of.map_or(0, |of| rows[of.0]));
                    if uniform[at] {
                        rows[at] = inputs.len() + uniform_steps.len();
                        uniform_steps.push(Step { op, from, to: rows[at] });
                        continue;
                    }
                    for of in operands.into_iter().flatten() {
                        let row = rows[of.0];
                        if row >= first && last[of.0] == Some(at) && !pool.free.contains(&row) {
                            pool.free.push(row);
                        }
                    }
                    rows[at] = replaced(at).unwrap_or_else(|| pool.row());
                    steps.push(Step { op, from, to: rows[at] });
                }
            }
        }

        let mut results: Vec<usize> = results.iter().map(|result| rows[result.0]).collect();
        let mut copy = |result: &mut usize, to: usize| {
            steps.push(Step { op: StepOp::Copy, from: [*result; 3], to });
            *result = to;
        };
        // Other results are copied at the end; previous values, and numbers that are summed, are copied to separate rows before.
        for (at, result) in results.iter_mut().enumerate() {
            let previous = (first_written..first).contains(result) && *result != first_written + at;
            if previous || writes == 0 && *result < first_read {
                copy(result, pool.row());
            }
        }
        for (at, result) in results.iter_mut().enumerate().take(writes) {
            if *result != first_written + at {
                copy(result, first_written + at);
            }
        }
        let rows = pool.rows;
        Self { formula, inputs, uniform_steps, steps, first_read, first_written, rows, results }
    }
}

/// The rows for values.
struct RowPool {
    /// Number of rows, with those before them.
    rows: usize,
    free: Vec<usize>,
}

impl RowPool {
    fn row(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.rows += 1;
            self.rows - 1
        })
    }
}

/// Which of the nodes have the same value at all points.
fn uniform_nodes(nodes: &[Node]) -> Vec<bool> {
    let mut uniform = Vec::with_capacity(nodes.len());
    for node in nodes {
        uniform.push(match node {
            Node::Constant(_) | Node::Parameter(_) => true,
            Node::Read(_) | Node::Before(_) => false,
            _ => node.operands().into_iter().flatten().all(|of| uniform[of.0]),
        });
    }
    uniform
}

/// The products that are formed together with the only sum or difference that uses them, whose other term varies.
fn products(nodes: &[Node], results: &[Symbol], uniform: &[bool]) -> HashSet<usize> {
    let mut uses = vec![0; nodes.len()];
    let operands = nodes.iter().flat_map(Node::operands).flatten();
    operands.chain(results.iter().copied()).for_each(|of| uses[of.0] += 1);
    let product = |of: Symbol| matches!(nodes[of.0], Node::Mul(..)) && uses[of.0] == 1;
    let mut products = HashSet::new();
    for (at, node) in nodes.iter().enumerate() {
        if let Node::Add(a, b) | Node::Sub(a, b) = *node
            && ![at, a.0, b.0].iter().any(|at| uniform[*at])
        {
            products.extend([b, a].into_iter().find(|of| product(*of)).map(|of| of.0));
        }
    }
    products
}

/// For every node the last one that uses it, or the number of nodes for results; `None` where a value is not needed.
fn last_uses(nodes: &[Node], results: &[Symbol], products: &HashSet<usize>) -> Vec<Option<usize>> {
    let mut last = vec![None; nodes.len()];
    results.iter().for_each(|result| last[result.0] = Some(nodes.len()));
    for at in (0..nodes.len()).rev() {
        let user = if products.contains(&at) { last[at] } else { last[at].and(Some(at)) };
        for of in nodes[at].operands().into_iter().flatten() {
            last[of.0] = last[of.0].max(user);
        }
    }
    last
}

/// The operation of a node and its operands, with those of a product that is formed together with it.
fn operation(
    nodes: &[Node],
    node: Node,
    products: &HashSet<usize>,
    uniform: &[bool],
) -> (StepOp, [Option<Symbol>; 3]) {
    // A number that is the same everywhere is the first factor.
    let factors = |of: Symbol| match nodes[of.0] {
        Node::Mul(a, b) if products.contains(&of.0) && uniform[b.0] => Some((b, a)),
        Node::Mul(a, b) if products.contains(&of.0) => Some((a, b)),
        _ => None,
    };
    let sum = |a: Symbol, b: Symbol, [plain, first, second]: [StepOp; 3]| match (
        factors(a),
        factors(b),
    ) {
        (_, Some((c, d))) => (second, [Some(c), Some(d), Some(a)]),
        (Some((c, d)), None) => (first, [Some(c), Some(d), Some(b)]),
        (None, None) => (plain, [Some(a), Some(b), None]),
    };
    match node {
        Node::Add(a, b) => sum(a, b, [StepOp::Add, StepOp::MulAdd, StepOp::MulAdd]),
        Node::Sub(a, b) => sum(a, b, [StepOp::Sub, StepOp::MulSub, StepOp::SubMul]),
        Node::Mul(a, b) => (StepOp::Mul, [Some(a), Some(b), None]),
        Node::Div(a, b) => (StepOp::Div, [Some(a), Some(b), None]),
        Node::Neg(a) => (StepOp::Neg, [Some(a), None, None]),
        Node::Sqrt(a) => (StepOp::Sqrt, [Some(a), None, None]),
        Node::Abs(a) => (StepOp::Abs, [Some(a), None, None]),
        Node::Pow(a, exponent) => (StepOp::Pow(exponent), [Some(a), None, None]),
        Node::Read(_) | Node::Before(_) | Node::Parameter(_) | Node::Constant(_) => {
            unreachable!("a value that is given")
        }
    }
}
