//! Memory available on this machine, by limit: of the machine itself, of the control groups of this process (batch systems and
//! containers), and of the process (`ulimit`).

use std::fs;
use std::path::{Component, Path};

/// Address space that a process needs in addition to its fields: code, stacks and heaps of threads.
#[cfg(unix)]
const PROCESS_OVERHEAD: f64 = 64.0 * (1 << 20) as f64;

/// Bytes available to `processes` such as this one together on this machine, where the system reports it (Linux).
pub(crate) fn available_memory(processes: usize) -> Option<f64> {
    let root = Path::new("/");
    let by_process = process_remainder(root).map(|bytes| bytes * processes as f64);
    [system_memory(root), cgroup_memory(root), by_process].into_iter().flatten().reduce(f64::min)
}

/// Memory available on the machine. System files are looked up below `root`.
fn system_memory(root: &Path) -> Option<f64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

/// File names of a version of control groups.
struct CgroupVersion {
    /// Mount point of its tree.
    mount_point: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// Key in `memory.stat` of the file pages that are reclaimed before an allocation fails.
    reclaimable: &'static str,
}

const CGROUP_V1: CgroupVersion = CgroupVersion {
    mount_point: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

const CGROUP_V2: CgroupVersion = CgroupVersion {
    mount_point: "sys/fs/cgroup",
    limit: "memory.max",
    usage: "memory.current",
    reclaimable: "inactive_file",
};

/// The smallest remainder of the limits of this process's control groups and their parents.
fn cgroup_memory(root: &Path) -> Option<f64> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    // "0::/user.slice" of version 2, "4:cpu,memory:/docker/1f" of version 1.
    let group = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?.to_string());
        match controllers {
            "" => Some((CGROUP_V2, path)),
            list => list.split(',').any(|one| one == "memory").then_some((CGROUP_V1, path)),
        }
    };
    let left = text.lines().filter_map(group).filter_map(|(version, path)| {
        // In a container the path may not be mounted: the limits are then at the top.
        let names = Path::new(&path).components().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        });
        let mut folder = root.join(version.mount_point);
        let at_top = cgroup_remainder(&folder, &version);
        let below = names.filter_map(|name| {
            folder.push(name);
            cgroup_remainder(&folder, &version)
        });
        at_top.into_iter().chain(below).reduce(f64::min)
    });
    left.reduce(f64::min)
}

/// Remaining memory of a control group, where it has a limit.
fn cgroup_remainder(folder: &Path, version: &CgroupVersion) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<f64>().ok();
    let limit = number(version.limit)?;
    let stat = read("memory.stat").unwrap_or_default();
    let reclaimable = stat.lines().find_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        (name == version.reclaimable).then(|| bytes.trim().parse::<f64>().ok())?
    });
    let used = number(version.usage).unwrap_or(0.0) - reclaimable.unwrap_or(0.0);
    Some((limit - used.max(0.0)).max(0.0))
}

/// Remainder of the limits on the address space and the data of this process.
#[cfg(unix)]
fn process_remainder(root: &Path) -> Option<f64> {
    let pages = fs::read_to_string(root.join("proc/self/statm")).unwrap_or_default();
    let pages: Vec<f64> = pages.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    // SAFETY: does not access memory.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64;
    let left = |resource, used: usize| {
        // SAFETY: an all-zero limit is valid, and the call fills it.
        let limit = unsafe {
            let mut limit: libc::rlimit = std::mem::zeroed();
            (libc::getrlimit(resource, &raw mut limit) == 0).then_some(limit.rlim_cur)?
        };
        let used = pages.get(used).unwrap_or(&0.0) * page;
        (limit != libc::RLIM_INFINITY).then(|| (limit as f64 - used - PROCESS_OVERHEAD).max(0.0))
    };
    // In statm: all pages first, those of data and stack sixth.
    [left(libc::RLIMIT_AS, 0), left(libc::RLIMIT_DATA, 5)].into_iter().flatten().reduce(f64::min)
}

#[cfg(not(unix))]
fn process_remainder(_: &Path) -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = (1 << 20) as f64;

    /// A file system root with these files.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn available_memory_is_used_instead_of_free_memory() {
        let text = "MemTotal: 9000 kB\nMemFree: 1000 kB\nMemAvailable:    2048 kB\n";
        let root = system(&[("proc/meminfo", text)]);
        assert_eq!(system_memory(root.path()), Some(2.0 * MIB));
        assert_eq!(system_memory(Path::new("/nowhere")), None);
    }

    #[test]
    fn tightest_parent_cgroup_limits_the_available_memory() {
        let job = "sys/fs/cgroup/slurm/job_7";
        let root = system(&[
            ("proc/self/cgroup", "0::/slurm/job_7/step_0\n"),
            (&format!("{job}/step_0/memory.max"), "max\n"),
            (&format!("{job}/step_0/memory.current"), "7\n"),
            (&format!("{job}/memory.max"), "104857600\n"),
            (&format!("{job}/memory.current"), "62914560\n"),
            (&format!("{job}/memory.stat"), "anon 1\ninactive_file 10485760\nactive_file 5\n"),
            ("sys/fs/cgroup/slurm/memory.max", "1048576000\n"),
            ("sys/fs/cgroup/slurm/memory.current", "62914560\n"),
        ]);
        assert_eq!(cgroup_memory(root.path()), Some(50.0 * MIB));
    }

    #[test]
    fn cgroup_v1_limits_are_found_even_if_a_container_hides_their_path() {
        let line = "12:cpu,cpuacct:/a\n4:hugetlb,memory:/docker/1f\n1:name=systemd:/b\n";
        for folder in ["sys/fs/cgroup/memory", "sys/fs/cgroup/memory/docker/1f"] {
            let root = system(&[
                ("proc/self/cgroup", line),
                (&format!("{folder}/memory.limit_in_bytes"), "31457280"),
                (&format!("{folder}/memory.usage_in_bytes"), "20971520"),
                (
                    &format!("{folder}/memory.stat"),
                    "inactive_file 1\ntotal_inactive_file 1048576\n",
                ),
            ]);
            assert_eq!(cgroup_memory(root.path()), Some(11.0 * MIB), "{folder}");
        }
    }

    #[test]
    fn cgroups_without_limits_give_no_limit() {
        assert_eq!(cgroup_memory(system(&[("proc/self/cgroup", "0::/\n")]).path()), None);
        assert_eq!(cgroup_memory(Path::new("/nowhere")), None);
    }
}
