//! Products that appear several times or are too long, as separate values.

use std::collections::HashMap;

use crate::engine::{Expr, Monomial, Operation, Value};

/// Maximum number of factors of an operand that an operator multiplies on the fly, and of a term of a sum.
const MAX_OPERAND_FACTORS: usize = 2;
const MAX_TERM_FACTORS: usize = 3;

/// Returns equivalent operations in which operands are products of at most two values and terms of at most three. Pairs
/// of values shared by longer products are multiplied once.
pub(super) fn shorten_products(operations: &[Operation], values: usize) -> Vec<Operation> {
    let mut operations = operations.to_vec();
    let mut next = values;
    while let Some(pair) = most_frequent_pair(&operations) {
        define(&mut operations, Monomial { coefficient: 1.0, factors: pair.to_vec() }, next);
        next += 1;
    }
    let mut done = Vec::with_capacity(operations.len());
    for mut operation in operations {
        let formed = match &mut operation {
            Operation::Apply { operand, .. } if !is_product(operand) => Some(operand),
            Operation::Store { expr, .. } if expr.as_value().is_none() => Some(expr),
            _ => None,
        };
        if let Some(formed) = formed {
            let result = Value(next);
            next += 1;
            let expr = std::mem::replace(formed, result.into());
            done.push(Operation::Let { expr, result });
        }
        done.push(operation);
    }
    done
}

/// True if an operator can compute it on the fly.
fn is_product(operand: &Expr) -> bool {
    matches!(operand.0.as_slice(), [term] if term.coefficient == 1.0
        && (1..=MAX_OPERAND_FACTORS).contains(&term.factors.len()))
}

/// The pair of factors that is most frequent in long products, if it occurs twice or a product is too long.
fn most_frequent_pair(operations: &[Operation]) -> Option<[Value; 2]> {
    let mut counts: HashMap<[Value; 2], usize> = HashMap::new();
    let mut too_long = false;
    for operation in operations {
        let Some(expr) = operation.expr() else { continue };
        let max_factors = match operation.applies() && expr.0.len() == 1 {
            true => MAX_OPERAND_FACTORS,
            false => MAX_TERM_FACTORS,
        };
        for Monomial { factors, .. } in &expr.0 {
            too_long |= factors.len() > max_factors;
            if factors.len() < MAX_TERM_FACTORS {
                continue;
            }
            let mut pairs: Vec<_> = (0..factors.len())
                .flat_map(|b| (0..b).map(move |a| (a, b)))
                .map(|(a, b)| ordered([factors[a], factors[b]]))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            for pair in pairs {
                *counts.entry(pair).or_default() += 1;
            }
        }
    }
    let best = counts.into_iter().max_by_key(|(pair, count)| (*count, std::cmp::Reverse(*pair)));
    best.filter(|(_, count)| *count > 1 || too_long).map(|(pair, _)| pair)
}

fn ordered([a, b]: [Value; 2]) -> [Value; 2] {
    [a.min(b), a.max(b)]
}

/// Assigns `product` to `value`, and replaces it in all longer products.
fn define(operations: &mut Vec<Operation>, product: Monomial, value: usize) {
    let pair = [product.factors[0], product.factors[1]];
    let result = Value(value);
    let mut first = None;
    for (at, operation) in operations.iter_mut().enumerate() {
        for Monomial { factors, .. } in operation.expr_mut().into_iter().flat_map(|e| &mut e.0) {
            if factors.len() < MAX_TERM_FACTORS {
                continue;
            }
            let Some(a) = factors.iter().position(|factor| *factor == pair[0]) else { continue };
            let later = factors.iter().enumerate().position(|(b, f)| b != a && *f == pair[1]);
            let Some(b) = later else { continue };
            factors.remove(a.max(b));
            factors.remove(a.min(b));
            factors.push(result);
            first.get_or_insert(at);
        }
    }
    if let Some(first) = first {
        operations.insert(first, Operation::Let { expr: Expr(vec![product]), result });
    }
}
