//! Sweeps over a block matrix whose rows are distributed over ranks: after each colour the new values go to the ranks
//! whose rows use them (Zubair et al. 2017, section VI).

use std::sync::Arc;

use super::messages::{self, Part, Round};
use super::{Ranks, Staging};
use crate::backend::{BlockSolver, Field, Sources, Targets};
use crate::blocks::{Colouring, Halo, Sweeps};
use crate::error::Result;

/// The rows of this rank, and the messages after each colour.
pub(super) struct SplitBlockSolver {
    inner: BlockSolver,
    rounds: Vec<Round>,
    staging: Staging,
}

impl SplitBlockSolver {
    pub(super) fn new(
        ranks: &Ranks,
        colouring: &Arc<Colouring>,
        halo: &Halo,
        nb: usize,
    ) -> Result<Self> {
        let part = |(peer, values): (Option<usize>, std::ops::Range<usize>)| {
            let peer = peer.filter(|_| !values.is_empty())?;
            Some(Part { peer, values })
        };
        let rounds = halo.0.iter().zip(halo.ranges(nb)).map(|(shifts, ranges)| {
            let (mut send, mut receive) = (Vec::new(), Vec::new());
            for (shift, [outgoing, incoming]) in shifts.iter().zip(ranges) {
                send.extend(part((shift.to, outgoing)));
                receive.extend(part((shift.from, incoming)));
            }
            Round { send, receive }
        });
        Ok(Self {
            inner: ranks.inner.block_solver(colouring, halo, nb)?,
            rounds: rounds.collect(),
            staging: ranks.staging(halo.len(nb)),
        })
    }

    pub(super) fn inner(&mut self) -> &mut BlockSolver {
        &mut self.inner
    }

    pub(super) fn sweep(&mut self, ranks: &Ranks, sweeps: Sweeps, b: Sources, x: Targets) {
        let Self { inner, rounds, staging } = self;
        let mut exchange = |colour: usize, border: &mut Field| {
            let round = &rounds[colour];
            let underway = ranks.post(messages::Peers::All, round, border, staging);
            ranks.await_round(messages::Peers::All, underway, round, border, staging);
        };
        ranks.inner.sweep_blocks_with_exchange(inner, sweeps, b, x, &mut exchange);
    }
}
