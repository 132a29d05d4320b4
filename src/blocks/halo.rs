//! Unknowns of other ranks that rows here know.

use std::ops::Range;

use crate::comm::Communicator;
use crate::real::{bytes_of, bytes_of_mut};

/// What travels between ranks when the rows of each colour are solved, so that sweeps are those of the whole matrix (Zubair et al. 2017,
/// section VI). Every rank lists the shifts of a colour in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halo(pub Vec<Vec<Shift>>);

/// Unknowns that all ranks hand on in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    /// The rank that gets them, and the rows here that they are of.
    pub to: Option<usize>,
    /// As above.
    pub rows: Vec<u32>,
    /// The rank that they come from, and the columns beyond the rows here that they are.
    pub from: Option<usize>,
    /// As above.
    pub columns: Vec<u32>,
}

impl Halo {
    /// Where the numbers of each shift of each colour lie in an array, `nb` for each unknown: those that go and those that come. All that
    /// go of a colour are neighbours, and all that come.
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

    /// Numbers of such an array.
    pub(crate) fn len(&self, nb: usize) -> usize {
        let shifts = self.0.iter().flatten();
        shifts.map(|shift| nb * (shift.rows.len() + shift.columns.len())).sum()
    }

    /// Give every column beyond the rows of this rank the numbers that its own rank has for it: `nb` an unknown. Collective.
    pub fn fill(&self, comm: &dyn Communicator, nb: usize, values: &mut [f64]) {
        for shift in self.0.iter().flatten() {
            let rows = shift.rows.iter().flat_map(|&row| &values[nb * row as usize..][..nb]);
            let go: Vec<f64> = rows.copied().collect();
            let mut come = vec![0.0; nb * shift.columns.len()];
            let mut requests = Vec::new();
            // SAFETY: both arrays stay until the messages were waited for.
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
