//! The system of the separators that `pcr` reduces: one row per block.

use std::collections::HashMap;
use std::ptr::from_ref;
use std::rc::Rc;

use super::block::{Line, once};
use super::matrix::Matrix;
use super::pcr::Phase;
use super::two_port::Coupling;

/// L x(left) + D x + U x(right) = right-hand side.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) lower: Matrix,
    pub(super) diagonal: Matrix,
    pub(super) upper: Matrix,
}

/// T and F of a block.
pub(super) struct Tails {
    pub(super) of_head: Matrix,
    of_right: Matrix,
}

/// The columns that belong to the interface values of the first p rows.
pub(super) fn near(response: &Matrix, p: usize) -> Matrix {
    response.part([0, 0], p, p)
}

/// T and F of block k.
pub(super) fn tails(line: &Line, k: usize) -> Result<Tails, String> {
    let p = line.half_band();
    let port = line.port(k);
    let Coupling { b, d, .. } = port.coupling();
    if line.left_of(k).is_none() {
        return Ok(Tails { of_head: Matrix::zeros(p, p), of_right: d });
    }
    let inverse = near(&port.head_left, p).inverse()?;
    let of_head = near(&port.tail_left, p).times(&inverse);
    let of_right = d.minus(&of_head.times(&b));
    Ok(Tails { of_head, of_right })
}

/// Builds the system of the separators. Equal rows share storage.
pub(super) fn separators(line: &Line) -> Result<Vec<Rc<Row>>, String> {
    let p = line.half_band();
    let one = Matrix::identity(p);
    let row = |k: usize| {
        let Coupling { a, b, .. } = line.port(k).coupling();
        let Some(left) = line.left_of(k) else {
            return Ok(Row { lower: Matrix::zeros(p, p), diagonal: one.clone(), upper: b });
        };
        let tail = tails(line, left)?;
        let diagonal = one.minus(&a.times(&tail.of_right));
        Ok(Row { lower: a.times(&tail.of_head), diagonal, upper: b })
    };
    let mut known = HashMap::new();
    let blocks = 0..line.blocks();
    let port = |k: usize| from_ref(line.port(k));
    blocks.map(|k| once(&mut known, (line.left_of(k).map(port), port(k)), || row(k))).collect()
}

/// Coupling of row k to the row of `peer`; the sum of both sides where a subsystem has two rows.
pub(super) fn coupling(
    rows: &[Rc<Row>],
    k: usize,
    peer: usize,
    stride: usize,
    attached: usize,
    phase: Phase,
) -> Matrix {
    let Row { lower, upper, .. } = &*rows[k];
    match phase {
        Phase::Reduce if attached == 2 * stride => lower.plus(upper),
        Phase::Reduce if peer == (k + stride) % attached => upper.clone(),
        Phase::Detach if peer == k + stride => upper.clone(),
        _ => lower.clone(),
    }
}

/// Algorithm 2: eliminate the last row of every subsystem (`stride` rows starting at `attached`) from its neighbours.
pub(super) fn detach(rows: &mut [Rc<Row>], stride: usize, attached: usize) -> Result<(), String> {
    for last in attached..attached + stride {
        let row = rows[last].clone();
        let Row { lower, diagonal, upper } = &*row;
        let inverse = diagonal.inverse()?;
        let before = Rc::make_mut(&mut rows[last - stride]);
        let factor = before.upper.times(&inverse);
        before.diagonal = before.diagonal.minus(&factor.times(lower));
        before.upper = factor.times(upper).negated();
        let first = Rc::make_mut(&mut rows[last - attached]);
        let factor = first.lower.times(&inverse);
        first.diagonal = first.diagonal.minus(&factor.times(upper));
        first.lower = factor.times(lower).negated();
    }
    Ok(())
}

/// Algorithm 3: eliminate the neighbours of every row. Where a subsystem has two rows, both neighbours of a row are the
/// other one, and the rows are decoupled afterwards. Equal rows with equal neighbours stay equal.
pub(super) fn reduce(rows: &mut [Rc<Row>], stride: usize, attached: usize) -> Result<(), String> {
    let before = rows[..attached].to_vec();
    let mut known = HashMap::new();
    for (k, row) in rows[..attached].iter_mut().enumerate() {
        let at = [k + attached - stride, k, k + stride].map(|k| k % attached);
        let triple = at.map(|k| &*before[k]);
        let alone = at[0] == at[2];
        *row = once(&mut known, triple.map(from_ref), || eliminated(triple, alone))?;
    }
    Ok(())
}

/// Eliminates both neighbours from a row; `alone` where they are the same row of the subsystem.
fn eliminated([left, row, right]: [&Row; 3], alone: bool) -> Result<Row, String> {
    let [from_left, from_right] = [left.diagonal.inverse()?, right.diagonal.inverse()?];
    if alone {
        let factor = row.lower.plus(&row.upper).times(&from_left);
        let other = left.lower.plus(&left.upper);
        let nothing = Matrix::zeros(row.lower.rows, row.lower.columns);
        let diagonal = row.diagonal.minus(&factor.times(&other));
        return Ok(Row { lower: nothing.clone(), diagonal, upper: nothing });
    }
    let lower = row.lower.times(&from_left);
    let upper = row.upper.times(&from_right);
    let sum = lower.times(&left.upper).plus(&upper.times(&right.lower));
    Ok(Row {
        lower: lower.times(&left.lower).negated(),
        diagonal: row.diagonal.minus(&sum),
        upper: upper.times(&right.upper).negated(),
    })
}
