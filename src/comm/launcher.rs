//! How this process was started: launchers of parallel programs set environment variables.

use std::env;

/// Library families with their own launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
}

/// Variables with the rank and the number of ranks, and the family of the launcher that sets them: Open MPI; MPICH, Intel
/// MPI and others with its launcher; MVAPICH2; Flux; Slurm, which sets the second variable only in job steps, not in the
/// job script; any launcher with PMIx.
const LAUNCHERS: [(&str, &str, Option<Family>); 6] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", Some(Family::OpenMpi)),
    ("PMI_RANK", "PMI_SIZE", Some(Family::Mpich)),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", Some(Family::Mpich)),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", None),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", None),
    ("PMIX_RANK", "", None),
];

/// Family of the launcher that started this process, if known.
pub(super) fn family() -> Option<Family> {
    LAUNCHERS.iter().find(|(rank, ..)| env::var_os(rank).is_some())?.2
}

/// Position of this process among the processes started together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launched {
    /// Rank of this process.
    pub(super) rank: usize,
    /// Number of processes, if the launcher reports it.
    pub(super) size: Option<usize>,
}

impl Launched {
    /// Returns `None` if this process was started alone.
    pub(super) fn detect() -> Option<Self> {
        Self::from_variables(|name| env::var(name).ok()?.parse().ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<usize>) -> Option<Self> {
        let launched = LAUNCHERS.iter().find_map(|(rank, size, _)| {
            let (rank, sets_size) = (variable(rank)?, !size.is_empty());
            match variable(size) {
                None if sets_size => None,
                size => Some(Self { rank, size }),
            }
        })?;
        // A single process needs no MPI library, and in an interactive job step the library may not even start.
        (launched.size != Some(1)).then_some(launched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(set: &[(&str, usize)]) -> Option<Launched> {
        Launched::from_variables(|name| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        })
    }

    #[test]
    fn every_launcher_is_recognised() {
        for (rank, size, _) in &LAUNCHERS[..5] {
            let three_of_four = Launched { rank: 3, size: Some(4) };
            assert_eq!(detected(&[(rank, 3), (size, 4)]), Some(three_of_four), "{rank}");
        }
        assert_eq!(detected(&[("PMIX_RANK", 3)]), Some(Launched { rank: 3, size: None }));
    }

    #[test]
    fn single_processes_do_not_count_as_launched() {
        assert_eq!(detected(&[]), None);
        assert_eq!(detected(&[("OMPI_COMM_WORLD_RANK", 0), ("OMPI_COMM_WORLD_SIZE", 1)]), None);
        // The script of a job of four tasks.
        assert_eq!(detected(&[("SLURM_PROCID", 0), ("SLURM_NTASKS", 4)]), None);
        // An interactive step; the MPI library sees these variables too.
        let step = [("SLURM_PROCID", 0), ("SLURM_STEP_NUM_TASKS", 1), ("PMIX_RANK", 0)];
        assert_eq!(detected(&step), None);
    }
}
