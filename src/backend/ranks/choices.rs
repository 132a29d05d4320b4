//! Method chosen for the lines of each operator, and the reason: a report for the user.

use std::collections::BTreeMap;

use crate::engine::Op;
use crate::engine::distributed::Method;
use crate::grid::Axis;

/// Methods chosen, by operator and axis.
#[derive(Debug, Default)]
pub(super) struct Choices(Vec<Choice>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) op: Op,
    pub(super) axis: Axis,
    pub(super) method: Method,
    pub(super) reason: &'static str,
}

impl Choices {
    pub(super) fn add(&mut self, choice: Choice) {
        if !self.0.contains(&choice) {
            self.0.push(choice);
        }
    }

    /// Returns one sentence per method: "`neighbour` along y and z for the first derivative, as asked".
    pub(super) fn describe(&self) -> Vec<String> {
        let mut axes: BTreeMap<_, String> = BTreeMap::new();
        // Programs prepared concurrently come in any order.
        let mut choices = self.0.clone();
        choices.sort_by_key(|choice| choice.axis.index());
        for Choice { op, axis, method, reason } in &choices {
            let names = axes.entry((method.name(), *reason, op.name())).or_default();
            let name = format!("{axis:?}").to_lowercase();
            if !names.contains(&name) {
                names.push_str(if names.is_empty() { "" } else { ", " });
                names.push_str(&name);
            }
        }
        let mut ops: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for ((method, reason, op), axes) in axes {
            ops.entry((method, reason, axes)).or_default().push(op);
        }
        let sentence = |((method, reason, axes), ops): (_, Vec<&str>)| {
            format!("`{method}` along {axes} for {}: {reason}", ops.join(", "))
        };
        ops.into_iter().map(sentence).collect()
    }
}
