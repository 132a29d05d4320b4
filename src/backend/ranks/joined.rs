//! Joint execution of the plans of several operands: all planes for a rank go in one message.

use super::messages::{Part, Round};
use super::{Sum, Sums};
use crate::engine::distributed::{Layout, Message, Plan, Step};

/// The work between two waits for messages, or one round of messages, for the plans of all operands of a stage.
pub(crate) enum Joined {
    /// Sums of planes.
    Combine(Sums),
    /// Messages, counted in planes. Messages without planes are not sent.
    Exchange(Round),
}

impl Joined {
    /// Returns the steps of `plans`, whose planes lie as in `layout`. Sums with no message between them are computed
    /// together.
    pub(crate) fn steps(plans: &[&Plan], layout: &Layout) -> Vec<Self> {
        let mut joined = Vec::new();
        for at in 0..plans[0].steps.len() {
            if let Step::Exchange { send, receive } = &plans[0].steps[at] {
                joined.push(Self::Exchange(round(send, receive, layout)));
                continue;
            }
            if !matches!(joined.last(), Some(Self::Combine(_))) {
                joined.push(Self::Combine(vec![Vec::new(); plans.len()]));
            }
            let Some(Self::Combine(lists)) = joined.last_mut() else { unreachable!("pushed") };
            for (operand, (plan, list)) in plans.iter().zip(lists).enumerate() {
                list.extend(sums(plan, at, &layout.starts[operand]));
            }
        }
        joined
    }
}

fn round(send: &[Message], receive: &[Message], layout: &Layout) -> Round {
    let part = |message: &Message| Part {
        peer: message.peer,
        values: layout.slots[message.slots.start]..layout.slots[message.slots.end],
    };
    let parts = |messages: &[Message]| -> Vec<Part> {
        messages.iter().map(part).filter(|part| !part.values.is_empty()).collect()
    };
    Round { send: parts(send), receive: parts(receive) }
}

/// Returns the sums of step `at`, in planes; `starts` holds the first plane of each slot.
fn sums<'a>(plan: &'a Plan, at: usize, starts: &'a [usize]) -> impl Iterator<Item = Sum> + 'a {
    let Step::Combine { to, terms } = &plan.steps[at] else {
        unreachable!("plans of one method have the same steps");
    };
    (0..plan.widths[*to]).map(move |row| {
        let mut sum = Vec::new();
        for (slot, matrix) in terms {
            let entries = matrix[row].iter().enumerate().filter(|(_, entry)| **entry != 0.0);
            sum.extend(entries.map(|(column, entry)| (starts[*slot] + column, *entry)));
        }
        (starts[*to] + row, sum)
    })
}
