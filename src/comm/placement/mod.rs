//! Cores on which the threads of a rank run, and their description for the user.

mod cores;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Communicator, first_rank, host};
use cores::{allowed, format_list, parse_list, physical};

pub(crate) use cores::pin;

/// Largest number of ranks with one line each; for more ranks only the first and the last few are listed.
const MAX_LINES: usize = 16;
/// Number of ranks listed at each end of a long list.
const LISTED_AT_ENDS: usize = 4;

/// Where a rank runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Name of the host.
    pub host: String,
    /// Cores of this rank, by the system's numbers; shared with another rank if there are more ranks than cores.
    pub cores: Vec<usize>,
    /// Threads of this rank.
    pub threads: usize,
    /// Whether every thread is pinned to its own core.
    pub is_pinned: bool,
    /// Number of ranks, threads and cores of this host.
    host_counts: [usize; 3],
    /// Whether this is the first rank of its host.
    is_first: bool,
}

impl Placement {
    /// Finds the cores of this rank: those that the launcher bound it to, else an equal share of the host's cores.
    /// `threads` is the number requested by the user, instead of one per core. Collective.
    pub fn find(comm: &dyn Communicator, threads: Option<usize>) -> Self {
        let (allowed, host) = (allowed(), host());
        if comm.size() == 1 {
            let most = std::thread::available_parallelism().map_or(1, usize::from);
            let threads = threads.unwrap_or(most);
            let host_counts = [1, threads, allowed.len()];
            return Self {
                host,
                cores: allowed,
                threads,
                is_pinned: false,
                host_counts,
                is_first: true,
            };
        }
        let neighbours = neighbours(comm, &host);
        let allowed_by_rank = gather_on_all(&*neighbours, &allowed);
        let cores = share(&allowed_by_rank, neighbours.rank(), &physical(&allowed));
        let threads = threads.unwrap_or(cores.len());
        let total_threads = gather_on_all(&*neighbours, &[threads]).concat().iter().sum();
        let union: BTreeSet<usize> = allowed_by_rank.concat().into_iter().collect();
        // The system can move threads that share cores, which is faster than pinning them.
        let is_pinned = threads <= cores.len() && total_threads <= union.len();
        let host_counts = [neighbours.size(), total_threads, union.len()];
        Self { host, cores, threads, is_pinned, host_counts, is_first: neighbours.rank() == 0 }
    }

    /// Core of each thread, for `Cpu::pinned`; `None` if the system is to choose.
    pub fn pins(&self) -> Option<&[usize]> {
        self.is_pinned.then(|| &self.cores[..self.threads])
    }

    /// Returns on rank 0 the text printed before a run: the place of each rank (of many ranks, only of the first and the
    /// last few), and a warning if there are more threads than cores. `device` is the device of this rank's fields.
    /// Collective.
    pub fn described(&self, comm: &dyn Communicator, device: Option<&str>) -> Option<String> {
        let device = device.map_or(String::new(), |device| format!("{device}, "));
        let place = format!("{}: {device}{}", self.host, self.threads());
        let (rank, size) = (comm.rank(), comm.size());
        let has_line = size <= MAX_LINES || rank < LISTED_AT_ENDS || rank >= size - LISTED_AT_ENDS;
        let listed_ranks = comm.split(usize::from(has_line), rank);
        let places = if has_line { listed_ranks.gather(place.as_bytes()) } else { None };
        let warning = self.warning_of_any(comm);
        Some([rank_lines(&texts(places?), size), warning].concat().join("\n"))
    }

    /// Returns the warning of the first host that has one, and the number of other hosts with a warning. Collective.
    fn warning_of_any(&self, comm: &dyn Communicator) -> Vec<String> {
        let own = if self.is_first { self.warning() } else { String::new() };
        let Some(first) = first_rank(comm, !own.is_empty()) else { return Vec::new() };
        let mut hosts = [if own.is_empty() { 0.0 } else { 1.0 }];
        comm.sum(&mut hosts);
        let text = comm.broadcast(first, own.into_bytes());
        let more = hosts[0] - 1.0;
        let others = (more > 0.0).then(|| format!("warning: the same on {more} more hosts"));
        [Some(String::from_utf8_lossy(&text).into_owned()), others].into_iter().flatten().collect()
    }

    /// "2 threads on cores 0-1".
    fn threads(&self) -> String {
        let (threads, cores) = (self.threads, self.cores.len());
        let many = |count, what| format!("{what}{}", if count == 1 { "" } else { "s" });
        let (thread, core) = (many(threads, "thread"), many(cores, "core"));
        let free = if self.is_pinned { "" } else { ", not pinned" };
        format!("{threads} {thread} on {core} {}{free}", format_list(&self.cores))
    }

    fn warning(&self) -> String {
        let [ranks, threads, cores] = self.host_counts;
        if threads <= cores {
            return String::new();
        }
        format!(
            "warning: {ranks} ranks on {} have {threads} threads and {cores} cores; use fewer ranks per host, \
             or a smaller `compute.threads`",
            self.host
        )
    }
}

/// Returns the group of ranks on this host. Collective.
fn neighbours(comm: &dyn Communicator, host: &str) -> Box<dyn Communicator> {
    // Hosts whose numbers coincide (rare) are distinguished by their names.
    let alike = comm.split(color(host), comm.rank());
    let names = alike.gather(host.as_bytes()).map(|all| texts(all).join("\n"));
    let names = alike.broadcast(0, names.unwrap_or_default().into_bytes());
    let first = String::from_utf8_lossy(&names).split('\n').position(|name| name == host);
    alike.split(first.unwrap_or(0), alike.rank())
}

/// Returns a number that is equal for all ranks of one host. Another host may have the same number.
#[allow(clippy::cast_possible_truncation, reason = "31 bits of a hash do")]
fn color(host: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    host.hash(&mut hasher);
    hasher.finish() as usize & 0x7fff_ffff
}

/// Returns the numbers of all ranks. Collective.
fn gather_on_all(comm: &dyn Communicator, own: &[usize]) -> Vec<Vec<usize>> {
    let gathered = comm.gather(format_list(own).as_bytes()).map(|all| texts(all).join("\n"));
    let all = comm.broadcast(0, gathered.unwrap_or_default().into_bytes());
    String::from_utf8_lossy(&all).split('\n').map(parse_list).collect()
}

fn texts(gathered: Vec<Vec<u8>>) -> Vec<String> {
    gathered.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

/// Returns the cores of rank `rank`, given the allowed cores of all ranks: all of them if no other rank has the same set,
/// otherwise an equal part. `physical` groups the allowed cores of this rank by physical core. Physical cores are not divided
/// if there are enough of them, and hyperthreads come last.
fn share(allowed_by_rank: &[Vec<usize>], rank: usize, physical: &[Vec<usize>]) -> Vec<usize> {
    let same = |other: &usize| allowed_by_rank[*other] == allowed_by_rank[rank];
    let ranks = (0..allowed_by_rank.len()).filter(same).count();
    let before = (0..rank).filter(same).count();
    let part = |of: usize| before * (of / ranks)..(before + 1) * (of / ranks);
    if physical.len() >= ranks {
        let own = &physical[part(physical.len())];
        let most = own.iter().map(Vec::len).max().unwrap_or(0);
        return (0..most)
            .flat_map(|at| own.iter().filter_map(move |core| core.get(at)))
            .copied()
            .collect();
    }
    let all = physical.concat();
    if all.len() >= ranks { all[part(all.len())].to_vec() } else { vec![all[before % all.len()]] }
}

/// Formats one line per rank; if there are many ranks, `places` lacks those in the middle of `count`.
fn rank_lines(places: &[String], count: usize) -> Vec<String> {
    let line = |(rank, place): (usize, &String)| format!("rank {rank} on {place}");
    if count == places.len() {
        return places.iter().enumerate().map(line).collect();
    }
    let (first, last) = places.split_at(LISTED_AT_ENDS);
    let left_out = [format!("... {} ranks ...", count - places.len())];
    let last = (count - last.len()..count).zip(last).map(line);
    first.iter().enumerate().map(line).chain(left_out).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `cores` cores of `threads` hyperthreads each, numbered as Linux does on most machines.
    fn machine(cores: usize, threads: usize) -> Vec<Vec<usize>> {
        (0..cores).map(|core| (0..threads).map(|t| core + t * cores).collect()).collect()
    }

    fn shares(ranks: usize, physical: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let unbound = vec![physical.concat(); ranks];
        (0..ranks).map(|rank| share(&unbound, rank, physical)).collect()
    }

    #[test]
    fn unbound_ranks_get_equal_shares_of_physical_cores() {
        assert_eq!(shares(2, &machine(4, 1)), [[0, 1], [2, 3]]);
        assert_eq!(shares(2, &machine(4, 2)), [[0, 1, 4, 5], [2, 3, 6, 7]]);
        assert_eq!(shares(3, &machine(7, 1)), [[0, 1], [2, 3], [4, 5]]);
        // More ranks than cores, then more ranks than hyperthreads.
        assert_eq!(shares(4, &machine(2, 2)), [[0], [2], [1], [3]]);
        assert_eq!(shares(3, &machine(2, 1)), [[0], [1], [0]]);
    }

    #[test]
    fn bound_ranks_keep_or_share_their_binding() {
        let bound = [vec![0, 1], vec![2, 3], vec![2, 3]];
        assert_eq!(share(&bound, 0, &machine(2, 1)), [0, 1]);
        // Two ranks bound to one socket.
        assert_eq!(share(&bound, 1, &[vec![2], vec![3]]), [2]);
        assert_eq!(share(&bound, 2, &[vec![2], vec![3]]), [3]);
    }

    #[test]
    fn lists_of_many_ranks_show_the_first_and_the_last_few() {
        let places: Vec<String> = (0..17).map(|rank| format!("host{rank}")).collect();
        assert_eq!(rank_lines(&places[..16], 16).len(), 16);
        let lines = rank_lines(&[&places[..4], &places[13..]].concat(), 17);
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[3..6], ["rank 3 on host3", "... 9 ranks ...", "rank 13 on host13"]);
    }

    #[test]
    fn more_threads_than_cores_give_a_warning() {
        let placed = |host_counts| Placement {
            host: "here".into(),
            cores: vec![0],
            threads: 1,
            is_pinned: false,
            host_counts,
            is_first: true,
        };
        assert_eq!(placed([2, 2, 2]).warning(), "");
        let warning = placed([3, 6, 4]).warning();
        assert!(warning.contains("3 ranks on here have 6 threads and 4 cores"), "{warning}");
    }
}
