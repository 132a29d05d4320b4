//! Values that ranks hold in one set of boxes, held in another.

use super::Block;
use crate::comm::Communicator;
use crate::real::Plain;

/// The values at the points of this rank's box `want(rank)`, from those that each rank has at the points of its box
/// `have(rank)`: `values`, `components` at every point, i fastest. No two boxes of `have` may share a point; those of `want`
/// may, and may reach beyond the grid. A point that nobody has is `missing`. All ranks must know the same boxes. Collective.
pub fn redistribute<T: Plain>(
    comm: &dyn Communicator,
    have: impl Fn(usize) -> Block,
    want: impl Fn(usize) -> Block,
    components: usize,
    values: &[T],
    missing: T,
) -> Vec<T> {
    let wanted = want(comm.rank());
    if (0..comm.size()).all(|rank| have(rank) == want(rank)) {
        assert_eq!(values.len(), wanted.len() * components, "the box has that many values");
        return values.to_vec();
    }
    let mut result = vec![missing; wanted.len() * components];
    redistribute_into(comm, have, want, components, values, missing, (&mut result, &wanted));
    result
}

/// The same, put into the array of a box that holds `want(rank)`; what nobody has is left as it is. Collective.
pub(crate) fn redistribute_into<T: Plain>(
    comm: &dyn Communicator,
    have: impl Fn(usize) -> Block,
    want: impl Fn(usize) -> Block,
    components: usize,
    values: &[T],
    missing: T,
    (result, of): (&mut [T], &Block),
) {
    let (mine, wanted) = (have(comm.rank()), want(comm.rank()));
    assert_eq!(values.len(), mine.len() * components, "the box has that many values");
    let mut put = |part: &Block, from: &[T]| {
        let mut first = 0;
        rows(of, part, components, |at, length| {
            result[at..at + length].copy_from_slice(&from[first..first + length]);
            first += length;
        });
    };
    if (0..comm.size()).all(|rank| have(rank) == want(rank)) {
        put(&mine, values);
        return;
    }
    let given: Vec<Block> = (0..comm.size()).map(|rank| mine.common(&want(rank))).collect();
    let taken: Vec<Block> = (0..comm.size()).map(|rank| have(rank).common(&wanted)).collect();
    let ranges = |parts: &[Block]| {
        let mut end = 0;
        let range = |part: &Block| {
            let bytes = part.len() * components * size_of::<T>();
            end += bytes;
            (end - bytes, bytes)
        };
        parts.iter().map(range).collect::<Vec<_>>()
    };
    let mut out = Vec::with_capacity(given.iter().map(Block::len).sum::<usize>() * components);
    for part in &given {
        rows(&mine, part, components, |at, length| out.extend_from_slice(&values[at..at + length]));
    }
    let arrivals = taken.iter().map(Block::len).sum::<usize>() * components;
    let mut inwards = vec![missing; arrivals];
    // SAFETY: the ranges lie within the arrays, one behind the other; what is sent as bytes comes as the same type.
    unsafe {
        comm.all_to_all(
            out.as_ptr().cast(),
            &ranges(&given),
            inwards.as_mut_ptr().cast(),
            &ranges(&taken),
        );
    }
    drop(out);
    let mut from = 0;
    for part in &taken {
        put(part, &inwards[from..]);
        from += part.len() * components;
    }
}

/// Tell where in the array of a box the rows of a part of it begin, and how long they are.
fn rows(of: &Block, part: &Block, components: usize, mut row: impl FnMut(usize, usize)) {
    let [nx, ny, _] = of.points;
    let [i, j0, k0]: [usize; 3] =
        std::array::from_fn(|a| part.start[a].saturating_sub(of.start[a]));
    let [length, rows, layers] = part.points;
    for k in k0..k0 + layers {
        for j in j0..j0 + rows {
            row((i + nx * (j + ny * k)) * components, length * components);
        }
    }
}
