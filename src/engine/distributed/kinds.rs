//! Groups of blocks of a line with identical plans.

use std::collections::HashMap;

use super::Method;
use super::pcr::schedule;

/// Blocks grouped by the work of their ranks.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    /// The kind of each block.
    pub(crate) of: Vec<usize>,
    /// The first block of each kind.
    pub(crate) first: Vec<usize>,
}

/// Groups the blocks of `lengths` points of a line: two blocks are of one kind if they and their neighbours have the
/// same lengths, and they exchange the same number of messages in the same rounds with ranks at the same distances.
/// Their plans have the same steps and planes; where all blocks of the line are equally long, the same coefficients
/// too. On a line with ends every block is a kind of its own.
pub(crate) fn kinds(cyclic: bool, lengths: &[usize], method: Method) -> Kinds {
    let blocks = lengths.len();
    if !cyclic {
        // The distance to the ends shows in the coefficients that are zero.
        return Kinds { of: (0..blocks).collect(), first: (0..blocks).collect() };
    }
    // All ranks do the same work in every round.
    let in_step = blocks.is_power_of_two();
    let rounds = |k: usize| -> Vec<(bool, [Vec<usize>; 2])> {
        if method != Method::Pcr || in_step {
            return Vec::new();
        }
        let away =
            |peers: Vec<usize>| peers.iter().map(|peer| (peer + blocks - k) % blocks).collect();
        let all = schedule(blocks, k, cyclic).into_iter();
        all.map(|round| (k < round.attached, [round.sends, round.receives].map(away))).collect()
    };
    let end = |k: usize| match method {
        Method::Gather => [k == 0, false],
        Method::Chain => [k == 0, k + 1 == blocks],
        Method::Neighbour | Method::Pcr | Method::Transpose => [false, false],
    };
    let mut known = HashMap::new();
    let mut first = Vec::new();
    let of = (0..blocks).map(|k| {
        let around = [blocks - 1, 0, 1].map(|away| lengths[(k + away) % blocks]);
        *known.entry((around, end(k), rounds(k))).or_insert_with(|| {
            first.push(k);
            first.len() - 1
        })
    });
    Kinds { of: of.collect(), first }
}
