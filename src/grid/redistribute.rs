//! Redistribution of values from one set of boxes over the ranks to another.

use super::{Block, Boxes};
use crate::comm::Communicator;
use crate::real::Plain;

/// Message tag.
const TAG: i32 = 4;

/// The values at the points of this rank's box of `want`, from the `values` that each rank has at the points of its box of `have`, with
/// `components` per point, i fastest. Boxes of `have` must be disjoint; boxes of `want` may overlap and extend beyond the grid. Points in
/// no box of `have` are set to `missing`. Ranks whose boxes overlap exchange one message; other ranks do not communicate. All ranks must
/// pass the same boxes. Collective.
pub fn redistribute<T: Plain>(
    comm: &dyn Communicator,
    have: &Boxes,
    want: &Boxes,
    components: usize,
    values: &[T],
    missing: T,
) -> Vec<T> {
    let wanted = want.of(comm.rank());
    let mut result = vec![missing; wanted.len() * components];
    redistribute_into(comm, have, want, components, values, (&mut result, &wanted));
    result
}

/// [`redistribute`] into the array of a box that contains this rank's box of `want`; points in no box of `have` keep their values.
/// Collective.
pub(crate) fn redistribute_into<T: Plain>(
    comm: &dyn Communicator,
    have: &Boxes,
    want: &Boxes,
    components: usize,
    values: &[T],
    (result, of): (&mut [T], &Block),
) {
    let rank = comm.rank();
    let (mine, wanted) = (have.of(rank), want.of(rank));
    assert_eq!(values.len(), mine.len() * components, "the box has that many values");
    let mut put = |part: &Block, from: &[T]| {
        let mut first = 0;
        rows(of, part, components, |at, length| {
            result[at..at + length].copy_from_slice(&from[first..first + length]);
            first += length;
        });
    };
    let given: Vec<_> = want.meeting(&mine).filter(|(to, _)| *to != rank).collect();
    let taken: Vec<_> = have.meeting(&wanted).filter(|(from, _)| *from != rank).collect();
    let count = |part: &Block| part.len() * components;
    let all = |parts: &[(usize, Block)]| parts.iter().map(|(_, part)| count(part)).sum::<usize>();
    let picked = |part: &Block, to: &mut Vec<T>| {
        rows(&mine, part, components, |at, length| to.extend_from_slice(&values[at..at + length]));
    };
    let mut inwards = Vec::<T>::with_capacity(all(&taken));
    let mut out = Vec::with_capacity(all(&given));
    let mut requests = Vec::with_capacity(taken.len() + given.len());
    let mut first = 0;
    for (from, part) in &taken {
        let bytes = count(part) * size_of::<T>();
        // SAFETY: the parts lie in the buffer one after another; the buffer stays in place until they have arrived.
        requests.push(unsafe {
            comm.receive(inwards.as_mut_ptr().add(first).cast(), bytes, *from, TAG)
        });
        first += count(part);
    }
    given.iter().for_each(|(_, part)| picked(part, &mut out));
    first = 0;
    for (to, part) in &given {
        let bytes = count(part) * size_of::<T>();
        // SAFETY: as above; the buffer is not written any more.
        requests.push(unsafe { comm.send(out.as_ptr().add(first).cast(), bytes, *to, TAG) });
        first += count(part);
    }
    // Local values are copied while the messages are in transit.
    let own = mine.common(&wanted);
    if own == mine {
        put(&own, values);
    } else if !own.is_empty() {
        let mut kept = Vec::with_capacity(count(&own));
        picked(&own, &mut kept);
        put(&own, &kept);
    }
    comm.wait(requests);
    // SAFETY: all these values have arrived, with the bytes that were sent.
    unsafe { inwards.set_len(all(&taken)) };
    let mut from = &inwards[..];
    for (_, part) in &taken {
        let (these, rest) = from.split_at(count(part));
        put(part, these);
        from = rest;
    }
}

/// Call `row` with the start and the length of each row of `part` in the array of the box `of`.
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
