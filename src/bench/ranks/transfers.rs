//! Transposition of split lines to whole lines, and copies of fields.

use super::messages::address;
use super::{Probe, by_phase};
use crate::backend::Weights;
use crate::backend::ranks::{Route, TransposeLayout};
use crate::bench::pool::noise;
use crate::engine::{LineOperators, SweepBuilder};
use crate::error::Result;
use crate::grid::Axis;

/// Fields that are sent and copied together: as many as the flow has.
const FIELDS: usize = 5;

/// Bytes per second of lines dealt out and collected, and of fields copied; all-to-alls with the bytes sent by a rank and their
/// seconds.
pub(super) struct Transfers {
    pub(super) deal: f64,
    pub(super) copy: f64,
    pub(super) count: usize,
    pub(super) bytes_sent: usize,
    pub(super) seconds: f64,
}

impl Probe<'_> {
    /// Lines along `axes` are dealt out, exchanged, collected and then copied. Collective.
    pub(super) fn transfers(&self, axes: &[Axis], route: Route) -> Result<Transfers> {
        let Self { place, points, comm, .. } = *self;
        let len: usize = points.iter().product();
        let (ranks, precision) = (comm.size(), place.precision());
        let size = precision.bytes();
        let deal = |axis: &Axis| TransposeLayout {
            points,
            axis: *axis,
            parts: ranks.max(2),
            fields: FIELDS,
        };
        let deals: Vec<TransposeLayout> = axes.iter().map(deal).collect();
        let field = |seed| place.field(&noise(precision, len, seed));
        let mut fields = (0..FIELDS).map(field).collect::<Result<Vec<_>>>()?;
        let values = |deal: &TransposeLayout| FIELDS * deal.points[deal.axis.index()];
        let max_values = deals.iter().map(|deal| ranks * deal.share(0).len() * values(deal)).max();
        let mut arrays = [place.planes(FIELDS * len)?, place.planes(max_values.unwrap_or(1))?];
        let s = SweepBuilder::new();
        (0..FIELDS).for_each(|slot| s.store(slot, s.read(slot)));
        let copy = s.build();
        let none = LineOperators::along(Axis::X, Vec::new());
        let program = place.program(&copy, (Axis::X, points, &none))?;
        let mut copies = (0..FIELDS).map(|_| place.zeros(len)).collect::<Result<Vec<_>>>()?;
        let staged = |array: usize| if route == Route::Staged { array } else { 0 };
        let mut staging =
            [FIELDS * len, max_values.unwrap_or(1)].map(|len| place.staging(staged(len)));
        let mut bytes_sent = 0;
        let times = by_phase(comm, self.repeats, || {
            let mut spent = [0.0; 3];
            bytes_sent = 0;
            for deal in &deals {
                let [shares, lines] = &mut arrays;
                comm.barrier();
                spent[0] += self.seconds(|| {
                    for (at, field) in fields.iter().enumerate() {
                        place.deal(deal, at, field, shares);
                    }
                })?;
                if ranks > 1 {
                    let [outgoing, incoming] = &mut staging;
                    let from = address(place, route, shares, outgoing);
                    let to = address(place, route, lines, incoming);
                    // SAFETY: shares of a whole block, with enough memory to receive them.
                    let (bytes, seconds) = unsafe { self.all_to_all(deal, from, to)? };
                    bytes_sent += bytes;
                    spent[1] += seconds;
                }
                spent[0] += self.seconds(|| {
                    for (at, field) in fields.iter_mut().enumerate() {
                        place.collect(deal, at, shares, field);
                    }
                })?;
            }
            let read: Vec<_> = fields.iter().collect();
            let mut write: Vec<_> = copies.iter_mut().collect();
            comm.barrier();
            spent[2] += self.seconds(|| place.run(&program, &read, &mut write, Weights::SET))?;
            Ok(spent)
        })?;
        let [dealt, sent, copied] = times.map(|times| times.median());
        let copy = (copy.words(1) * len * size) as f64 / copied;
        Ok(Transfers {
            deal: match deals.len() {
                0 => copy,
                count => (4 * FIELDS * len * count * size) as f64 / dealt,
            },
            copy,
            count: deals.len(),
            bytes_sent,
            seconds: sent,
        })
    }

    /// Bytes sent by this rank in an all-to-all of shares as dealt by `deal`, and its seconds. Collective.
    ///
    /// # Safety
    /// `from` must point to the values of all fields of the block, and `to` to memory for all values received.
    unsafe fn all_to_all(
        &self,
        deal: &TransposeLayout,
        from: *mut u8,
        to: *mut u8,
    ) -> Result<(usize, f64)> {
        let comm = self.comm;
        let line_bytes =
            deal.points[deal.axis.index()] * deal.fields * self.place.precision().bytes();
        let share = |part| deal.share(part);
        let send =
            (0..comm.size()).map(|to| (share(to).start * line_bytes, share(to).len() * line_bytes));
        let send: Vec<_> = send.collect();
        let own_bytes = send[comm.rank()].1;
        let receive: Vec<_> = (0..comm.size()).map(|from| (from * own_bytes, own_bytes)).collect();
        let all: usize = send.iter().map(|(_, bytes)| bytes).sum();
        comm.barrier();
        // SAFETY: as the caller promises.
        let seconds = self.seconds(|| unsafe { comm.all_to_all(from, &send, to, &receive) })?;
        Ok((all - own_bytes, seconds))
    }
}
