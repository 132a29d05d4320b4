//! Unknowns of other ranks that are coupled to rows of this rank.

use std::ops::Range;

use crate::comm::Communicator;
use crate::real::{bytes_of, bytes_of_mut};

/// The exchange between ranks after the rows of each colour are solved, so that sweeps are those of the whole matrix (Zubair et al. 2017,
/// section VI). Every rank lists the shifts of a colour in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halo(pub Vec<Vec<Shift>>);

/// An exchange of unknowns of all ranks in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    /// The receiving rank, and the rows of this rank to send.
    pub to: Option<usize>,
    /// See `to`.
    pub rows: Vec<u32>,
    /// The sending rank, and the columns beyond the rows of this rank to receive.
    pub from: Option<usize>,
    /// See `from`.
    pub columns: Vec<u32>,
}

impl Halo {
    /// Ranges of each shift of each colour in a buffer with `nb` numbers per unknown: those to send and those to receive. All sent ranges
    /// of a colour are contiguous, and so are all received ones.
    pub(crate) fn ranges(&self, nb: usize) -> Vec<Vec<[Range<usize>; 2]>> {
        let mut end = 0;
        let mut next = |unknowns: &[u32]| {
            let start = end;
            end += nb * unknowns.len();
            start..end
        };
        let of_colour = |shifts: &Vec<Shift>| {
            let go: Vec<_> = shifts.iter().map(|shift| next(&shift.rows)).collect();
            let come = shifts.iter().map(|shift| next(&shift.columns));
            go.into_iter().zip(come).map(|(go, come)| [go, come]).collect()
        };
        self.0.iter().map(of_colour).collect()
    }

    /// Length of the buffer of [`Self::ranges`].
    pub(crate) fn len(&self, nb: usize) -> usize {
        let shifts = self.0.iter().flatten();
        shifts.map(|shift| nb * (shift.rows.len() + shift.columns.len())).sum()
    }

    /// Fill the columns beyond the rows of this rank with the values of their owners, `nb` per unknown. Collective.
    pub fn fill(&self, comm: &dyn Communicator, nb: usize, values: &mut [f64]) {
        for shift in self.0.iter().flatten() {
            let rows = shift.rows.iter().flat_map(|&row| &values[nb * row as usize..][..nb]);
            let go: Vec<f64> = rows.copied().collect();
            let mut come = vec![0.0; nb * shift.columns.len()];
            let mut requests = Vec::new();
            // SAFETY: both arrays live until the messages are complete.
            unsafe {
                if let Some(from) = shift.from {
                    let memory = bytes_of_mut(&mut come);
                    requests.push(comm.receive(memory.as_mut_ptr(), memory.len(), from, 0));
                }
                if let Some(to) = shift.to {
                    let memory = bytes_of(&go);
                    requests.push(comm.send(memory.as_ptr(), memory.len(), to, 0));
                }
            }
            comm.wait(requests);
            for (column, come) in shift.columns.iter().zip(come.chunks_exact(nb)) {
                values[nb * *column as usize..][..nb].copy_from_slice(come);
            }
        }
    }
}
