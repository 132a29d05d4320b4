//! Merging of operators in a sweep by linearity: a D f + b D g = D (a f + b g).

use super::{Expr, Op, Operation, Sweep, Value};

/// Accumulator of a sum of terms.
#[derive(Clone, Copy, PartialEq)]
enum Sum {
    /// A written field: several operations may add to it.
    Field(usize),
    /// The operation with this index.
    Of(usize),
}

/// A value that is used once, as a term of a sum.
struct Term {
    value: Value,
    coefficient: f64,
    /// The index of the operation that has the term, and the index of the term in it.
    at: (usize, usize),
}

impl Sweep {
    /// Returns an equivalent sweep with fewer operators: an expression that is used once, as a term of a sum, is
    /// inlined into that sum; several applications of one operator in a sum, whose results are used nowhere else,
    /// become one application.
    pub fn merged(mut self) -> Self {
        self.inline();
        while let Some((first, second)) = self.mergeable() {
            self.merge(&first, &second);
        }
        self
    }

    fn inline(&mut self) {
        let mut at = 0;
        while at < self.operations.len() {
            let defined = match &self.operations[at] {
                Operation::Let { expr, result } => self.term(*result).zip(Some(expr.clone())),
                _ => None,
            };
            let Some((Term { coefficient, at: (sum, place), .. }, expr)) = defined else {
                at += 1;
                continue;
            };
            if let Some(sum) = self.operations[sum].expr_mut() {
                sum.0.splice(place..=place, (coefficient * expr).0);
            }
            self.operations.remove(at);
        }
    }

    /// Returns the use of a value if it is used exactly once, as a term of a sum.
    fn term(&self, value: Value) -> Option<Term> {
        let uses = self.operations.iter().flat_map(Operation::used);
        if uses.filter(|used| *used == value).count() != 1 {
            return None;
        }
        self.operations.iter().enumerate().find_map(|(at, operation)| {
            let terms = &operation.expr().filter(|_| !operation.applies())?.0;
            let place = terms.iter().position(|term| term.factors == [value])?;
            Some(Term { value, coefficient: terms[place].coefficient, at: (at, place) })
        })
    }

    /// Finds two results of one operator that are terms of one sum, in their order.
    fn mergeable(&self) -> Option<(Term, Term)> {
        let mut earlier: Vec<(Op, Sum, Term)> = Vec::new();
        for operation in &self.operations {
            let Operation::Apply { op, result, .. } = operation else { continue };
            let Some(term) = self.term(*result) else { continue };
            let sum = self.operations[term.at.0].adds_to().map_or(Sum::Of(term.at.0), Sum::Field);
            match earlier.iter().position(|(other, of, _)| (other, *of) == (op, sum)) {
                Some(first) => return Some((earlier.swap_remove(first).2, term)),
                None => earlier.push((*op, sum, term)),
            }
        }
        None
    }

    /// Applies the operator of both terms to the sum of their operands, at the place of the second application.
    fn merge(&mut self, first: &Term, second: &Term) {
        let operand = |term: &Term| {
            let mut applied = self.operations.iter().filter_map(|operation| match operation {
                Operation::Apply { operand, result, .. } if *result == term.value => Some(operand),
                _ => None,
            });
            applied.next().map_or_else(Expr::zero, |operand| term.coefficient * operand.clone())
        };
        let both = operand(first) + operand(second);
        self.operations.retain_mut(|operation| {
            if let Operation::Apply { operand, result, .. } = operation {
                if *result == second.value {
                    *operand = both.clone();
                }
            } else if let Some(sum) = operation.expr_mut() {
                sum.0.retain(|term| term.factors != [first.value]);
                let second = sum.0.iter_mut().find(|term| term.factors == [second.value]);
                second.into_iter().for_each(|term| term.coefficient = 1.0);
            }
            match operation {
                Operation::Add { expr, .. } => !expr.is_zero(),
                other => other.results() != [first.value],
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Op, SweepBuilder};
    use super::*;

    /// The operators in a merged sweep built by `add`, with their operands.
    fn operands(add: impl Fn(&SweepBuilder, [Value; 3])) -> Vec<(Op, Expr)> {
        let s = SweepBuilder::new();
        let fields = [0, 1, 2].map(|slot| s.read(slot));
        add(&s, fields);
        let operations = s.build().merged().operations.into_iter();
        let applied = operations.filter_map(|operation| match operation {
            Operation::Apply { op, operand, .. } => Some((op, operand)),
            _ => None,
        });
        applied.collect()
    }

    #[test]
    fn terms_of_one_sum_share_an_operator() {
        let found = operands(|s, [a, b, c]| {
            s.add(0, 2.0 * s.d1(a * b));
            s.subtract(0, s.d1(b) + 0.5 * s.d2(c));
            s.subtract(0, s.define(s.d1(c) + a));
        });
        let [a, b, c] = [0, 1, 2].map(Value);
        let sum = 2.0 * (a * b) - Expr::from(b) - Expr::from(c);
        assert_eq!(found, [(Op::D2, c.into()), (Op::D1, sum)]);
    }

    #[test]
    fn shared_nested_and_multiplied_derivatives_are_not_merged() {
        let unmerged = operands(|s, [a, b, c]| {
            s.add(0, s.d1(a) + s.d1(b));
            s.store(1, s.d1(a));
            s.add(2, s.d1(c));
            s.add(3, a * s.d1(b * c) + s.d1(a * b));
            s.add(4, s.d1(s.d1(a * c)));
        });
        let [a, b, c] = [0, 1, 2].map(Value);
        let applied = [a.into(), b.into(), c.into(), b * c, a * b, a * c];
        assert_eq!(unmerged.len(), 7, "{unmerged:?}");
        for operand in applied {
            assert!(unmerged.contains(&(Op::D1, operand)), "{unmerged:?}");
        }
    }
}
