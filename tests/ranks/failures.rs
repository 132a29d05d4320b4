//! A failure on one rank ends all ranks, with a message and without waiting.

use super::{mpirun, work};

#[test]
fn all_ranks_report_the_error_of_the_first_failing_rank() {
    [2, 5].into_iter().for_each(|ranks| mpirun(ranks, "ranks::failures::worker::agreed"));
}

#[test]
fn panic_on_one_rank_ends_all_ranks() {
    let job = work(3, "ranks::failures::worker::panics");
    assert_eq!(job.code, Some(101), "{}", job.err);
    assert!(job.err.contains("rank 1 on ") && job.err.contains("on purpose"), "{}", job.err);
}

#[test]
fn abort_of_one_rank_ends_all_ranks_with_its_exit_status() {
    let job = work(3, "ranks::failures::worker::aborts");
    assert_eq!(job.code, Some(7), "{}", job.err);
}

#[test]
fn killed_rank_ends_all_ranks() {
    let job = work(3, "ranks::failures::worker::is_killed");
    assert_ne!(job.code, Some(0), "{}", job.out);
}

#[test]
fn failure_in_a_trial_group_does_not_end_the_program() {
    mpirun(3, "ranks::failures::worker::tries");
}

mod worker {
    use kolmo::Error;
    use kolmo::comm::all_or_error;

    use crate::ranks::world;

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agreed() {
        let comm = world();
        let me = comm.rank();
        assert_eq!(all_or_error(&*comm, Ok(me)).unwrap(), me);
        let last = comm.size() - 1;
        // All ranks but rank 0 fail, rank 1 with another error than the rest.
        let result = match me {
            0 => Ok(()),
            1 => Err(Error::Device("no memory".into())),
            _ => Err(Error::Config(vec!["error: not this".into()])),
        };
        let error = all_or_error(&*comm, result).unwrap_err();
        assert!(error.is_everywhere());
        assert_eq!(error.exit_code(), 1);
        let report = error.report();
        assert!(report.starts_with("rank 1 on ") && report.ends_with(": error: no memory"));
        let result =
            if me == last { Err(Error::Config(vec!["error: a key".into()])) } else { Ok(()) };
        assert_eq!(all_or_error(&*comm, result).unwrap_err().exit_code(), 2);
        // An error that all ranks find is reported once, without a rank.
        let result = Err::<(), _>(Error::Config(vec!["error: a key".into()]));
        assert_eq!(all_or_error(&*comm, result).unwrap_err().report(), "error: a key");
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn tries() {
        let comm = world();
        let group = comm.trial(2);
        assert_eq!((group.rank(), group.size()), (comm.rank() % 2, [2, 2, 1][comm.rank()]));
        let mut ones = [1.0];
        group.sum(&mut ones);
        assert_eq!((ones[0] > 1.5, group.failure()), (group.size() == 2, None));
        // SAFETY: the bytes outlive the message, which has no receiver.
        let lost = unsafe { group.send([1, 2].as_ptr(), 2, 99, 0) };
        group.wait(vec![lost]);
        assert!(group.failure().unwrap().to_lowercase().contains("rank"));
        comm.barrier();
        assert_eq!(comm.failure(), None);
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn panics() {
        let comm = world();
        assert_ne!(comm.rank(), 1, "on purpose");
        comm.barrier();
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn aborts() {
        let comm = world();
        if comm.rank() == 2 {
            comm.abort(7);
        }
        comm.barrier();
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn is_killed() {
        let comm = world();
        if comm.rank() == 1 {
            // SAFETY: ends this process.
            unsafe { libc::raise(libc::SIGKILL) };
        }
        comm.barrier();
    }
}
