//! The plans of several operands carried out together: all planes for a rank in one message.

use super::Sums;
use super::messages::{Part, Round};
use crate::engine::distributed::{Layout, Message, Plan, Step};

/// One step of the plans of all operands of a stage.
pub(crate) enum Joined {
    /// Sums of planes.
    Combine(Sums),
    /// Messages, counted in planes. Those without planes are not sent.
    Exchange(Round),
}

impl Joined {
    /// Step `at` of `plans`, whose planes lie as `layout` says.
    pub(crate) fn new(plans: &[&Plan], layout: &Layout, at: usize) -> Self {
        if let Step::Exchange { send, receive } = &plans[0].steps[at] {
            let part = |message: &Message| Part {
                peer: message.peer,
                values: layout.slots[message.slots.start]..layout.slots[message.slots.end],
            };
            let parts = |messages: &[Message]| -> Vec<Part> {
                messages.iter().map(part).filter(|part| !part.values.is_empty()).collect()
            };
            return Self::Exchange(Round { send: parts(send), receive: parts(receive) });
        }
        let mut sums = Sums::new();
        for (operand, plan) in plans.iter().enumerate() {
            let Step::Combine { to, terms } = &plan.steps[at] else {
                unreachable!("plans of one method have the same steps");
            };
            for row in 0..plan.widths[*to] {
                let mut sum = Vec::new();
                for (slot, matrix) in terms {
                    let first = layout.starts[operand][*slot];
                    let entries =
                        matrix[row].iter().enumerate().filter(|(_, entry)| **entry != 0.0);
                    sum.extend(entries.map(|(column, entry)| (first + column, *entry)));
                }
                sums.push((layout.starts[operand][*to] + row, sum));
            }
        }
        Self::Combine(sums)
    }
}
