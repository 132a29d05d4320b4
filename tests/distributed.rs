//! Lines split into blocks: every method compared with the solve of the full line, simulated without communication and backend.

mod accuracy;
mod messages;
mod rejections;
mod rows;

pub(crate) use messages::SONG;

use std::collections::{HashMap, VecDeque};

use kolmo::Real;
use kolmo::engine::distributed::{BlockCoupling, Method, Plan, Step, distribute, slot};
use kolmo::engine::{LineOperator, Shift, closed_min_points};
use kolmo::lines::solve;
use kolmo::scheme::*;

/// B f, with f periodic if the operator reads beyond the ends.
fn right_hand_side<T: Real>(operator: &LineOperator, f: &[T]) -> Vec<T> {
    let n = f.len();
    let row = |m: usize| {
        let at = |offset: isize| f[(m + n).wrapping_add_signed(offset) % n];
        let terms = operator.row(m).into_iter().map(|(offset, weight)| T::of(weight) * at(offset));
        terms.fold(T::ZERO, |sum, term| sum + term)
    };
    (0..n).map(row).collect()
}

/// A⁻¹ B f.
fn result<T: Real>(operator: &LineOperator, f: &[T]) -> Vec<T> {
    let mut x = right_hand_side(operator, f);
    solve(&operator.factors().rounded(), &mut x);
    x
}

/// The state of one rank that executes its plan.
struct Rank {
    operator: LineOperator,
    plan: Plan,
    next: usize,
    /// Values of every plane of every slot on one line, NaN until they are computed.
    slots: Vec<Vec<f64>>,
}

/// Planes of the predefined slots, computed from the operand.
fn sources<T: Real>(ends: &BlockCoupling, f: &[T]) -> [Vec<f64>; 4] {
    let ends = ends.rounded();
    let dot = |weights: &[T], f: &[T]| weights.iter().zip(f).map(|(w, f)| w.f64() * f.f64()).sum();
    std::array::from_fn(|source| {
        let plane = |weights: &Vec<T>| match source {
            slot::TO_LEFT | slot::HEAD => dot(weights, &f[..weights.len()]),
            _ => dot(weights, &f[f.len() - weights.len()..]),
        };
        ends.sources[source].iter().map(plane).collect()
    })
}

impl Rank {
    fn new<T: Real>(operator: LineOperator, plan: Plan, f: &[T]) -> Self {
        let ends = operator.ends().unwrap();
        assert_eq!(plan.widths[..slot::FREE], ends.widths());
        let mut slots: Vec<_> = plan.widths.iter().map(|width| vec![f64::NAN; *width]).collect();
        for (source, values) in sources(ends, f).into_iter().enumerate() {
            slots[source] = values;
        }
        Self { operator, plan, next: 0, slots }
    }

    /// A_k⁻¹ B_k f plus the corrections.
    fn result<T: Real>(&self, f: &[T]) -> Vec<T> {
        let mut x = result(&self.operator, f);
        let ends = self.operator.ends().unwrap().rounded::<T>();
        for (column, z) in ends.left.iter().zip(&self.slots[slot::LEFT]) {
            for (x, c) in x.iter_mut().zip(column) {
                *x += *c * T::of(*z);
            }
        }
        let n = x.len();
        for (column, z) in ends.right.iter().zip(&self.slots[slot::RIGHT]) {
            for (x, c) in x[n - column.len()..].iter_mut().zip(column) {
                *x += *c * T::of(*z);
            }
        }
        x
    }
}

/// Executes all plans. Returns the number of messages that every rank sends after its first exchange, the halo exchange.
fn execute(ranks: &mut [Rank]) -> Vec<usize> {
    let mut mail: HashMap<(usize, usize), VecDeque<Vec<f64>>> = HashMap::new();
    let mut sent = vec![0; ranks.len()];
    let mut exchanges = vec![0; ranks.len()];
    let mut posted = vec![false; ranks.len()];
    loop {
        let mut progress = false;
        for (me, rank) in ranks.iter_mut().enumerate() {
            while let Some(step) = rank.plan.steps.get(rank.next) {
                match step {
                    Step::Combine { to, terms } => {
                        assert!(terms.iter().all(|(from, _)| from != to));
                        let mut sums = vec![0.0; rank.plan.widths[*to]];
                        for (from, matrix) in terms {
                            assert_eq!(matrix.len(), sums.len());
                            for (sum, row) in sums.iter_mut().zip(matrix) {
                                assert_eq!(row.len(), rank.slots[*from].len());
                                let products =
                                    row.iter().zip(&rank.slots[*from]).map(|(m, p)| m * p);
                                *sum += products.sum::<f64>();
                            }
                        }
                        rank.slots[*to] = sums;
                    }
                    Step::Exchange { send, receive } => {
                        if !posted[me] {
                            for message in send {
                                assert_ne!(message.peer, me);
                                let planes = rank.slots[message.slots.clone()].concat();
                                mail.entry((me, message.peer)).or_default().push_back(planes);
                                sent[me] += usize::from(exchanges[me] > 0);
                            }
                            exchanges[me] += 1;
                            posted[me] = true;
                            progress = true;
                        }
                        let arrived =
                            |peer: usize| mail.get(&(peer, me)).is_some_and(|m| !m.is_empty());
                        if !receive.iter().all(|message| arrived(message.peer)) {
                            break;
                        }
                        for message in receive {
                            let mut planes =
                                mail.get_mut(&(message.peer, me)).unwrap().pop_front().unwrap();
                            for slot in message.slots.clone().rev() {
                                let first = planes.len() - rank.plan.widths[slot];
                                rank.slots[slot] = planes.split_off(first);
                            }
                            assert!(
                                planes.is_empty(),
                                "the message has more planes than its slots"
                            );
                        }
                        posted[me] = false;
                    }
                }
                rank.next += 1;
                progress = true;
            }
        }
        if ranks.iter().all(|rank| rank.next == rank.plan.steps.len()) {
            assert!(mail.values().all(VecDeque::is_empty), "a message was not received");
            return sent;
        }
        assert!(progress, "deadlock: all ranks wait");
    }
}

/// Random values on a line.
fn operand<T: Real>(n: usize) -> Vec<T> {
    let mut noise = crate::common::noise(17);
    (0..n).map(|_| T::of(noise())).collect()
}

/// The result on a line split into blocks, and the number of messages that every rank sends after its first exchange.
fn distributed<T: Real>(
    operator: &LineOperator,
    lengths: &[usize],
    method: Method,
    f: &[T],
) -> Result<(Vec<T>, Vec<usize>), String> {
    let mut at = 0;
    let mut blocks = Vec::new();
    let mut ranks = Vec::new();
    for (position, points) in lengths.iter().enumerate() {
        let block = &f[at..at + points];
        let (local, plan) = distribute(operator, lengths, position, method)?;
        assert_eq!(local.len(), *points);
        ranks.push(Rank::new(local, plan, block));
        blocks.push(block);
        at += points;
    }
    let sent = execute(&mut ranks);
    Ok((ranks.iter().zip(blocks).flat_map(|(rank, f)| rank.result(f)).collect(), sent))
}

/// Largest difference from the solve of the full line in f64, relative to its largest value.
fn error<T: Real>(
    formula: &Formula,
    periodic: bool,
    lengths: &[usize],
    method: Method,
) -> Result<f64, String> {
    let n = lengths.iter().sum();
    let f = operand::<T>(n);
    let exact: Vec<f64> = f.iter().map(|f| f.f64()).collect();
    let exact = result(&formula.operator::<f64>(n, periodic), &exact);
    let (found, _) = distributed(&formula.operator::<T>(n, periodic), lengths, method, &f)?;
    let largest = exact.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let differences = found.iter().zip(&exact).map(|(a, b)| (a.f64() - b).abs());
    Ok(differences.fold(0.0, |worst: f64, d| if d.is_nan() { d } else { worst.max(d) }) / largest)
}

/// A scheme and the positions of its operand and result.
#[derive(Clone, Copy, Debug)]
struct Formula {
    scheme: Scheme,
    shift: Shift,
}

impl Formula {
    /// The operator on a line of n points with spacing 0.3.
    fn operator<T: Real>(&self, n: usize, periodic: bool) -> LineOperator {
        if periodic {
            let operator = LineOperator::periodic(&self.scheme, self.shift, n, 0.3);
            return operator.with_precision(T::PRECISION);
        }
        let closure = default_closure(&self.scheme).unwrap();
        LineOperator::closed(&self.scheme, &closure, n, 0.3).with_precision(T::PRECISION)
    }

    /// Minimum number of points of a line.
    fn least(&self, periodic: bool) -> usize {
        if periodic {
            return self.scheme.min_points();
        }
        closed_min_points(&self.scheme, &default_closure(&self.scheme).unwrap())
    }

    /// Minimum number of points of a block, at an end of the line or inside.
    fn shortest(&self, periodic: bool) -> usize {
        let inner = self.scheme.half_width().max(self.scheme.half_band()).max(1);
        let Some(closure) = default_closure(&self.scheme).filter(|_| !periodic) else {
            return inner;
        };
        let widest = closure.rows.iter().map(|row| row.rhs.len()).max().unwrap_or(0);
        inner.max(closure.rows.len()).max(widest)
    }

    /// Condition number of A on a periodic line.
    fn condition(&self) -> f64 {
        let w = (0..=64).map(|i| f64::from(i) * std::f64::consts::PI / 64.0);
        let symbols = w.map(|w| self.scheme.left_symbol(w));
        let (least, most) =
            symbols.fold((f64::INFINITY, 0.0_f64), |(least, most), s| (least.min(s), most.max(s)));
        most / least
    }
}

/// All schemes on periodic lines, or all schemes with closures.
fn formulas(periodic: bool) -> Vec<Formula> {
    let mut all = Vec::new();
    for family in families() {
        all.push((family.first, Shift::None));
        all.push((family.second, Shift::None));
        if periodic {
            for shift in [Shift::ToMidpoints, Shift::ToPoints] {
                all.push((family.midpoint_derivative, shift));
                all.push((family.midpoint_interpolation, shift));
            }
        }
    }
    for order in [2, 4, 6, 8, 10] {
        for alpha in [0.3, 0.45, 0.49, 0.499] {
            all.push((compact_filter(order, alpha), Shift::None));
        }
    }
    if periodic {
        all.extend([(CF90, Shift::None), (LELE_CUTOFF, Shift::None)]);
    }
    all.into_iter().map(|(scheme, shift)| Formula { scheme, shift }).collect()
}
