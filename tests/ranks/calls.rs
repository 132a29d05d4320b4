//! Tests of every call of a communicator, on several numbers of ranks.

use super::mpirun;

/// Numbers of ranks tested.
const RANKS: [usize; 6] = [1, 2, 3, 5, 8, 16];

/// Messages arrive complete and in order and are counted; all-to-all delivers every block and writes nothing else; sums are bitwise
/// identical on all ranks; rank 0 gathers; any rank broadcasts; groups have the ranks of one colour in the order of their keys.
#[test]
fn every_call_is_correct_on_1_to_16_ranks() {
    RANKS.into_iter().for_each(|ranks| mpirun(ranks, "ranks::calls::worker::every_call"));
}

#[test]
fn messages_and_all_to_all_blocks_over_2_gib_arrive() {
    mpirun(2, "ranks::calls::worker::long");
}

#[test]
fn ranks_on_one_host_share_its_cores() {
    [2, 3].into_iter().for_each(|ranks| mpirun(ranks, "ranks::calls::worker::placement"));
}

#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
mod worker {
    use kolmo::comm::placement::Placement;
    use kolmo::comm::{Communicator, Request, Sent};

    use crate::ranks::world;

    /// Byte `at` of message number `message` from one rank to another; never 255, the byte of a poisoned buffer.
    fn byte(from: usize, to: usize, message: usize, at: usize) -> u8 {
        ((7 * from + 13 * to + 31 * message + at) % 251) as u8
    }

    fn text(from: usize, to: usize, message: usize) -> Vec<u8> {
        let length = [from * to + 1, 0, 40_001 + from][message];
        (0..length).map(|at| byte(from, to, message, at)).collect()
    }

    /// Sends three messages from every rank to every rank, all in flight at once: two with the same tag, one of them empty, and a
    /// longer one with another tag.
    fn exchange(comm: &dyn Communicator) {
        let (me, size) = (comm.rank(), comm.size());
        let all = || (0..size).flat_map(|other| (0..3).map(move |message| (other, message)));
        let out: Vec<Vec<u8>> = all().map(|(to, message)| text(me, to, message)).collect();
        let mut back: Vec<Vec<u8>> =
            all().map(|(from, message)| vec![255; text(from, me, message).len()]).collect();
        let mut requests: Vec<Request> = vec![];
        for ((from, message), data) in all().zip(&mut back) {
            let tag = [5, 5, 32766][message];
            // SAFETY: the buffers live until all requests have been waited for.
            requests.push(unsafe { comm.receive(data.as_mut_ptr(), data.len(), from, tag) });
        }
        // Long messages first: messages are matched by tag, not by time.
        for ((to, message), data) in all().zip(&out).collect::<Vec<_>>().into_iter().rev() {
            let tag = [5, 5, 32766][message];
            // SAFETY: as above.
            requests.push(unsafe { comm.send(data.as_ptr(), data.len(), to, tag) });
        }
        comm.wait(requests);
        for ((from, message), data) in all().zip(&back) {
            assert!(*data == text(from, me, message), "message {message} from {from}");
        }
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn every_call() {
        let comm = world();
        messages(&*comm);
        blocks(&*comm);
        reductions(&*comm);
        gathered(&*comm);
        groups(&*comm);
    }

    fn messages(comm: &dyn Communicator) {
        if comm.size() == 1 {
            return;
        }
        exchange(comm);
        let (me, size) = (comm.rank(), comm.size());
        let others = || (0..size).filter(|&to| to != me);
        let bytes: usize = others().flat_map(|to| [0, 2].map(|m| text(me, to, m).len())).sum();
        let sent = Sent { messages: 2 * (size - 1) as u64, bytes: bytes as u64 };
        assert_eq!(comm.sent(), sent);
        // Messages with the same tag arrive in the order of the sends.
        let (to, from) = ((me + 1) % size, (me + size - 1) % size);
        let out: Vec<[u8; 2]> = (0..50).map(|at| [at, me as u8]).collect();
        let mut back = [[255; 2]; 50];
        let receive = |data: &mut [u8; 2]| {
            // SAFETY: the buffers live until all requests have been waited for.
            unsafe { comm.receive(data.as_mut_ptr(), 2, from, 0) }
        };
        let mut requests: Vec<Request> = back.iter_mut().map(receive).collect();
        // SAFETY: as above.
        requests.extend(out.iter().map(|data| unsafe { comm.send(data.as_ptr(), 2, to, 0) }));
        comm.wait(requests);
        assert!(back.iter().enumerate().all(|(at, data)| *data == [at as u8, from as u8]));
        comm.wait(vec![]);
        comm.barrier();
    }

    fn blocks(comm: &dyn Communicator) {
        let before = comm.sent();
        let (me, size) = (comm.rank(), comm.size());
        // Rank r sends (r + 2 s) % 4 blocks of 3 bytes to rank s, in reverse order, with gaps.
        let length = |from: usize, to: usize| (from + 2 * to) % 4 * 3;
        let out: Vec<u8> = (0..size).rev().flat_map(|to| vec![byte(me, to, 0, 0); 12]).collect();
        let send: Vec<_> = (0..size).map(|to| ((size - 1 - to) * 12, length(me, to))).collect();
        let receive: Vec<_> = (0..size).map(|from| (from * 12 + 1, length(from, me))).collect();
        let mut back = vec![255_u8; 12 * size + 1];
        // SAFETY: both buffers contain all the ranges.
        unsafe { comm.all_to_all(out.as_ptr(), &send, back.as_mut_ptr(), &receive) };
        for from in 0..size {
            let (block, gap) = back[from * 12 + 1..(from + 1) * 12 + 1].split_at(length(from, me));
            assert!(block.iter().all(|&found| found == byte(from, me, 0, 0)), "from {from}");
            assert!(gap.iter().all(|&found| found == 255), "after the block of {from}");
        }
        assert_eq!(back[0], 255);
        let (none, mut nowhere) = (vec![(0, 0); size], Vec::new());
        // SAFETY: nothing is read or written.
        unsafe { comm.all_to_all(nowhere.as_ptr(), &none, nowhere.as_mut_ptr(), &none) };
        if size > 1 {
            let others = (0..size).filter(|&to| to != me && length(me, to) > 0);
            let Sent { messages, bytes } = comm.sent();
            assert_eq!(messages - before.messages, others.clone().count() as u64);
            assert_eq!(bytes - before.bytes, others.map(|to| length(me, to) as u64).sum::<u64>());
        }
    }

    fn reductions(comm: &dyn Communicator) {
        let (me, size) = (comm.rank() as f64, comm.size() as f64);
        let mut values = [1.0, me, -0.5 * me];
        comm.sum(&mut values);
        assert_eq!(values, [size, size * (size - 1.0) / 2.0, -0.25 * size * (size - 1.0)]);
        let mut values = [me, -me, if me == 0.0 { f64::INFINITY } else { 0.0 }];
        comm.max(&mut values);
        assert_eq!(values, [size - 1.0, 0.0, f64::INFINITY]);
        comm.sum(&mut []);
        // The sum of these values depends on the order of summation.
        let mut values: Vec<f64> = (0..1001).map(|at| (at as f64 + 0.1 * me).sin() / 3.0).collect();
        comm.sum(&mut values);
        let bits: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        if let Some(all) = comm.gather(&bits) {
            assert!(all.iter().all(|one| *one == bits));
        }
    }

    fn gathered(comm: &dyn Communicator) {
        let (me, size) = (comm.rank(), comm.size());
        // Ranks 1, 4, 7 and so on contribute no bytes.
        let part = |from: usize| (0..(from + 2) % 3 * 1001).map(move |at| byte(from, 0, 0, at));
        let all = comm.gather(&part(me).collect::<Vec<_>>());
        assert_eq!(all.is_some(), me == 0);
        for (from, found) in all.into_iter().flatten().enumerate() {
            assert!(part(from).eq(found), "from {from}");
        }
        for root in 0..size {
            let expected: Vec<u8> = (0..1000 * root).map(|at| byte(root, 1, 1, at)).collect();
            let mine = if me == root { expected.clone() } else { vec![255; me] };
            assert!(comm.broadcast(root, mine) == expected, "from {root}");
        }
    }

    fn groups(comm: &dyn Communicator) {
        let (me, size) = (comm.rank(), comm.size());
        if size == 1 {
            assert_eq!(comm.split(3, 0).size(), 1);
            return;
        }
        let before = comm.sent();
        let group = comm.split(me % 3, size - me);
        let members: Vec<usize> = (0..size).rev().filter(|other| other % 3 == me % 3).collect();
        assert_eq!(group.size(), members.len());
        assert_eq!(members[group.rank()], me);
        assert_eq!(group.sent(), Sent::default());
        let mut values = [me as f64];
        group.sum(&mut values);
        assert_eq!(values[0], members.iter().sum::<usize>() as f64);
        if group.size() > 1 {
            exchange(&*group);
            assert!(group.sent().messages > 0 && comm.sent() == before);
        }
        // A group of a group, while the other groups continue.
        assert_eq!(group.split(group.rank(), 0).size(), 1);
        let (local_rank, local_size) = comm.local();
        assert_eq!((local_rank, local_size), (me, size));
        assert_eq!(group.local(), (group.rank(), group.size()));
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn long() {
        const LONG: usize = (1 << 31) + 12_345;
        let marks = [0, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 31, LONG - 1];
        let comm = world();
        let other = 1 - comm.rank();
        let mut out = vec![0_u8; if comm.rank() == 0 { LONG } else { 7 }];
        let mut back = vec![0_u8; if comm.rank() == 0 { 7 } else { LONG }];
        let marked =
            |data: &[u8]| marks.into_iter().enumerate().all(|(n, at)| data[at] == n as u8 + 1);
        if comm.rank() == 0 {
            marks.into_iter().enumerate().for_each(|(n, at)| out[at] = n as u8 + 1);
        }
        // SAFETY: the buffers live until both requests have been waited for.
        let requests = unsafe {
            vec![
                comm.receive(back.as_mut_ptr(), back.len(), other, 1),
                comm.send(out.as_ptr(), out.len(), other, 1),
            ]
        };
        comm.wait(requests);
        assert!(comm.rank() == 0 || marked(&back));
        // A block at an offset beyond 2 GiB in both buffers, then a block longer than 2 GiB.
        let last = |data: &[u8]| data.len() - 5;
        let mine = |data: &[u8]| if comm.rank() == 0 { (last(data), 5) } else { (0, 0) };
        let (mut send, mut receive) = ([(0, 0); 2], [(0, 0); 2]);
        send[other] = mine(&out);
        receive[other] = if comm.rank() == 0 { (0, 0) } else { (last(&back), 5) };
        back.fill(0);
        // SAFETY: both buffers contain all the ranges.
        unsafe { comm.all_to_all(out.as_ptr(), &send, back.as_mut_ptr(), &receive) };
        assert!(comm.rank() == 0 || back[LONG - 1] == marks.len() as u8 && back[0] == 0);
        if comm.rank() == 0 {
            (send[other], receive[other]) = ((0, LONG), (0, 0));
        } else {
            (send[other], receive[other]) = ((0, 0), (0, LONG));
        }
        // SAFETY: as above.
        unsafe { comm.all_to_all(out.as_ptr(), &send, back.as_mut_ptr(), &receive) };
        assert!(comm.rank() == 0 || marked(&back));
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn placement() {
        let comm = world();
        let place = Placement::find(&*comm, None);
        let cores = std::thread::available_parallelism().unwrap().get();
        assert_eq!(place.threads, (cores / comm.size()).max(1));
        assert_eq!(place.is_pinned, comm.size() <= cores);
        let mut own = vec![0.0; 4096];
        place.cores.iter().for_each(|&core| own[core] = 1.0);
        comm.sum(&mut own);
        assert!(comm.size() > cores || own.iter().all(|&ranks| ranks <= 1.0));
        let description = place.described(&*comm, Some("a device"));
        assert_eq!(description.is_some(), comm.rank() == 0);
        if let Some(description) = description {
            let lines: Vec<&str> = description.lines().collect();
            let first = format!("rank 0 on {}: a device, {} thread", place.host, place.threads);
            assert!(lines[0].starts_with(&first), "{description}");
            assert_eq!(lines.len(), comm.size() + usize::from(comm.size() > cores));
            assert_eq!(description.contains("warning: "), comm.size() > cores, "{description}");
        }
        // With more threads requested than cores, threads are not pinned.
        let many = Placement::find(&*comm, Some(cores + 1));
        assert_eq!((many.threads, many.pins()), (cores + 1, None));
    }
}
