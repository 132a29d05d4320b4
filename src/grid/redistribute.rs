//! Redistribution of values from one set of boxes over the ranks to another.

use super::{Block, Boxes};
use crate::comm::Communicator;
use crate::real::Plain;

/// Message tag.
const TAG: i32 = 4;

/// The values at the points of this rank's box of `target`, from the `values` that each rank has at the points of its box of `source`, with
/// `components` per point, i fastest. Boxes of `source` must be disjoint; boxes of `target` may overlap and extend beyond the grid. Points
/// in no box of `source` are set to `missing`. Ranks whose boxes overlap exchange one message; other ranks do not communicate. All ranks
/// must pass the same boxes. Collective.
pub fn redistribute<T: Plain>(
    comm: &dyn Communicator,
    source: &Boxes,
    target: &Boxes,
    components: usize,
    values: &[T],
    missing: T,
) -> Vec<T> {
    let target_block = target.of(comm.rank());
    let mut result = vec![missing; target_block.len() * components];
    redistribute_into(comm, source, target, components, values, (&mut result, &target_block));
    result
}

/// [`redistribute`] into the array of a box that contains this rank's box of `target`; points in no box of `source` keep their values.
/// Collective.
pub(crate) fn redistribute_into<T: Plain>(
    comm: &dyn Communicator,
    source: &Boxes,
    target: &Boxes,
    components: usize,
    values: &[T],
    (result, result_block): (&mut [T], &Block),
) {
    let rank = comm.rank();
    let (source_block, target_block) = (source.of(rank), target.of(rank));
    assert_eq!(values.len(), source_block.len() * components, "the box has that many values");
    let mut unpack = |part: &Block, from: &[T]| {
        let mut first = 0;
        rows(result_block, part, components, |at, length| {
            result[at..at + length].copy_from_slice(&from[first..first + length]);
            first += length;
        });
    };
    let sends: Vec<_> = target.intersecting(&source_block).filter(|(to, _)| *to != rank).collect();
    let receives: Vec<_> =
        source.intersecting(&target_block).filter(|(from, _)| *from != rank).collect();
    let count = |part: &Block| part.len() * components;
    let all = |parts: &[(usize, Block)]| parts.iter().map(|(_, part)| count(part)).sum::<usize>();
    let pack = |part: &Block, to: &mut Vec<T>| {
        rows(&source_block, part, components, |at, length| {
            to.extend_from_slice(&values[at..at + length]);
        });
    };
    let mut incoming = Vec::<T>::with_capacity(all(&receives));
    let mut out = Vec::with_capacity(all(&sends));
    let mut requests = Vec::with_capacity(receives.len() + sends.len());
    let mut first = 0;
    for (from, part) in &receives {
        let bytes = count(part) * size_of::<T>();
        // SAFETY: the parts lie in the buffer one after another; the buffer stays in place until they have arrived.
        requests.push(unsafe {
            comm.receive(incoming.as_mut_ptr().add(first).cast(), bytes, *from, TAG)
        });
        first += count(part);
    }
    sends.iter().for_each(|(_, part)| pack(part, &mut out));
    first = 0;
    for (to, part) in &sends {
        let bytes = count(part) * size_of::<T>();
        // SAFETY: as above; the buffer is not written any more.
        requests.push(unsafe { comm.send(out.as_ptr().add(first).cast(), bytes, *to, TAG) });
        first += count(part);
    }
    // Local values are copied while the messages are in transit.
    let own = source_block.common(&target_block);
    if own == source_block {
        unpack(&own, values);
    } else if !own.is_empty() {
        let mut kept = Vec::with_capacity(count(&own));
        pack(&own, &mut kept);
        unpack(&own, &kept);
    }
    comm.wait(requests);
    // SAFETY: all these values have arrived, with the bytes that were sent.
    unsafe { incoming.set_len(all(&receives)) };
    let mut from = &incoming[..];
    for (_, part) in &receives {
        let (these, rest) = from.split_at(count(part));
        unpack(part, these);
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
