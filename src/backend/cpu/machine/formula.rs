//! Formulas at points as steps of generated code.

use super::super::point_code::{PointCode, Step, StepOp};
use super::body::Value;
use super::frame::MAX_TEMPORARIES;
use crate::engine::Node;
use crate::real::Real;

/// An operand of a step of a formula.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input<T> {
    Constant(T),
    Value(Value),
}

impl<T> Input<T> {
    pub(super) fn value(&self) -> Option<Value> {
        match self {
            Input::Value(value) => Some(*value),
            Input::Constant(_) => None,
        }
    }
}

/// True if code can be generated for a formula: it is short, without parameters and without powers.
pub(super) fn is_supported(map: &PointCode) -> bool {
    let steps = || map.steps.iter().chain(&map.uniform_steps);
    map.steps.len() <= MAX_TEMPORARIES
        && !steps().any(|step| matches!(step.op, StepOp::Pow(_)))
        && !map.inputs.iter().any(|input| matches!(input, Node::Parameter(_)))
}

/// Rows of the operands of a step.
pub(super) fn operands(step: &Step) -> impl Iterator<Item = usize> {
    let count = match step.op {
        StepOp::Copy | StepOp::Neg | StepOp::Sqrt | StepOp::Abs | StepOp::Pow(_) => 1,
        StepOp::Add | StepOp::Sub | StepOp::Mul | StepOp::Div => 2,
        StepOp::MulAdd | StepOp::MulSub | StepOp::SubMul => 3,
    };
    step.from.into_iter().take(count)
}

/// The rows of a formula that are the same at all points.
pub(super) fn constants<T: Real>(map: &PointCode) -> Vec<Input<T>> {
    let mut numbers: Vec<T> = map
        .inputs
        .iter()
        .map(|input| match input {
            Node::Constant(x) => T::of(*x),
            _ => unreachable!("a formula without parameters"),
        })
        .collect();
    for step in &map.uniform_steps {
        let [a, b, c] = step.from.map(|row| numbers[row]);
        numbers.push(match step.op {
            StepOp::Copy => a,
            StepOp::Add => a + b,
            StepOp::Sub => a - b,
            StepOp::Mul => a * b,
            StepOp::Div => a / b,
            StepOp::Neg => -a,
            StepOp::Sqrt => a.sqrt(),
            StepOp::Abs => a.abs(),
            StepOp::MulAdd => a * b + c,
            StepOp::MulSub => a * b - c,
            StepOp::SubMul => c - a * b,
            StepOp::Pow(_) => unreachable!("a formula without powers"),
        });
    }
    numbers.into_iter().map(Input::Constant).collect()
}
