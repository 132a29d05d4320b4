//! Line systems reduced level by level: cyclic reduction, its parallel form, and the form with one separator per rank.

use kolmo::engine::distributed::{Method, Plan, Step, distribute, pcr, shortest};
use kolmo::lines::{BandedPcr, Border, CyclicReduction, NearToeplitz};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::operators::Line;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    line: Line,
    /// Couplings smaller than this, relative to the diagonal, are neglected.
    tolerance: f64,
}

impl Request {
    pub(crate) fn answer(self) -> Result<Value, String> {
        let operator = self.line.operator()?;
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err(format!("a tolerance of {}; from 0 to less than 1", self.tolerance));
        }
        let border = Border::new(operator.matrix(), self.tolerance);
        let core = &border.core;
        let parallel = BandedPcr::new(core, self.tolerance);
        let cyclic = (core.half_band() == 1).then(|| CyclicReduction::new(core));
        let near = cyclic.as_ref().and_then(NearToeplitz::new);
        let levels = cyclic.as_ref().map(|cyclic| {
            let of = |level: &kolmo::lines::Level| {
                json!({ "rows": level.rows, "forward": level.forward, "backward": level.backward })
            };
            cyclic.levels.iter().map(of).collect::<Vec<_>>()
        });
        let row = |m: usize| [-2, -1, 0, 1, 2].map(|d| core.entry(m, d));
        Ok(json!({
            "rows": core.len(),
            "border": border.width,
            "half_band": core.half_band(),
            "matrix": (0..core.len()).map(row).collect::<Vec<_>>(),
            "cyclic": levels,
            "last": cyclic.map(|cyclic| cyclic.last),
            "special": near.map(|near| near.ends),
            "parallel": parallel.levels,
            "inverse": parallel.inverse,
        }))
    }
}

/// A line split evenly across ranks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RankRequest {
    scheme: String,
    closure: Option<String>,
    ranks: usize,
    points: usize,
}

impl RankRequest {
    pub(crate) fn answer(self) -> Result<Value, String> {
        let Self { scheme, closure, ranks, points } = self;
        if !(2..=16).contains(&ranks) {
            return Err(format!("{ranks} ranks; from 2 to 16"));
        }
        let line = Line::named(scheme, closure, ranks.saturating_mul(points));
        let (operator, cyclic) = (line.operator()?, line.is_periodic());
        let lengths = vec![points; ranks];
        let of_rank = |rank: usize| -> Result<Value, String> {
            let plan = distribute(&operator, &lengths, rank, Method::Pcr)?.1;
            let rounds = pcr::schedule(ranks, rank, cyclic);
            let rounds = rounds.into_iter().map(|round| {
                json!({
                    "phase": format!("{:?}", round.phase).to_lowercase(),
                    "stride": round.stride,
                    "attached": round.attached,
                    "sends": round.sends,
                    "receives": round.receives,
                })
            });
            Ok(json!({ "rounds": rounds.collect::<Vec<_>>(), "steps": steps(&plan) }))
        };
        Ok(json!({
            "ranks": (0..ranks).map(of_rank).collect::<Result<Vec<_>, _>>()?,
            "neighbour": shortest(&operator, Method::Neighbour),
        }))
    }
}

/// Steps of a rank: messages, and between them sums of small matrices times slots.
fn steps(plan: &Plan) -> Vec<Value> {
    let step = |step: &Step| match step {
        Step::Combine { to, terms } => json!({ "to": to, "terms": terms }),
        Step::Exchange { send, receive } => {
            let peers = |messages: &[kolmo::engine::distributed::Message]| -> Vec<Value> {
                let of = |message: &kolmo::engine::distributed::Message| json!({ "peer": message.peer, "slots": [message.slots.start, message.slots.end] });
                messages.iter().map(of).collect()
            };
            json!({ "send": peers(send), "receive": peers(receive) })
        }
    };
    plan.steps.iter().map(step).collect()
}
