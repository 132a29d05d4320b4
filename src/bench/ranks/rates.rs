//! The rates that a model predicts with, measured where it is to predict.

use super::messages::Messages;
use super::parts::{Bench, Parts, Problem};
use crate::backend::ranks::Route;
use crate::bench::place::Place;
use crate::comm::host;
use crate::error::Result;
use crate::grid::Axis;
use crate::model::Rates;

impl<P: Place> Bench<'_, P> {
    /// What the ranks do in a second when all of them work, for `problem` with lines along `axes` cut into blocks. One rank exchanges nothing: its rates say so with a bandwidth that nothing uses. Collective.
    pub(super) fn rates(
        &self,
        problem: &Problem<'_>,
        axes: &[Axis],
        route: Route,
    ) -> Result<Rates> {
        let parts = self.parts(problem, axes, route)?;
        let Parts { copy, sweep, correct, pack, combine, deal, launch, .. } = parts;
        let none = Messages {
            latency: 0.0,
            overhead: 0.0,
            bandwidth: copy,
            again: copy,
            one_way: copy,
            all_to_all: copy,
            staging: None,
            reduction: 0.0,
            progress: 0.0,
        };
        let messages = self.messages(&parts, route)?.unwrap_or(none);
        let [x, y, z] = self.points;
        let ranks = self.comm.size();
        let here =
            self.place.device_name().unwrap_or_else(|| format!("{} threads", self.place.threads()));
        let mut source = format!(
            "measured with {ranks} ranks, {here} each, {x} x {y} x {z} points a rank, rank 0 on {}",
            host()
        );
        if !parts.joined && ranks > 1 {
            source += "; blocks are too short for any method but `transpose`: `correct`, `pack` and `combine` are those of a copy";
        }
        Ok(Rates {
            source,
            latency: messages.latency,
            overhead: messages.overhead,
            bandwidth: messages.bandwidth,
            again: messages.again,
            one_way: messages.one_way,
            all_to_all: messages.all_to_all,
            staging: messages.staging,
            copy,
            sweep,
            correct,
            pack,
            combine,
            deal,
            launch,
            reduction: messages.reduction,
            progress: messages.progress,
        })
    }
}
