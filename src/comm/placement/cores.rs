//! Cores by the system's numbers, and their topology on Linux.

use std::collections::BTreeMap;
use std::fs;

/// Returns the cores that this thread may use.
pub(super) fn allowed() -> Vec<usize> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let cores = list.map(|list| parse_list(list.trim())).unwrap_or_default();
    if cores.is_empty() {
        return (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    }
    cores
}

/// Groups `cores` by physical core; physical cores of one package come together.
pub(super) fn physical(cores: &[usize]) -> Vec<Vec<usize>> {
    let read = |core: usize, file: &str| {
        let path = format!("/sys/devices/system/cpu/cpu{core}/topology/{file}");
        parse_list(fs::read_to_string(path).unwrap_or_default().trim()).first().copied()
    };
    let mut physical = BTreeMap::<_, Vec<usize>>::new();
    for &core in cores {
        let package = read(core, "physical_package_id").unwrap_or(0);
        let first = read(core, "thread_siblings_list").unwrap_or(core);
        physical.entry((package, first)).or_default().push(core);
    }
    physical.into_values().collect()
}

/// Parses "0-3,8".
pub(super) fn parse_list(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

/// Formats numbers as "0-3,8", in their order.
pub(super) fn format_list(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run[0].to_string(),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// Pins this thread to `core`. If the system refuses, the thread stays unpinned.
pub(crate) fn pin(core: usize) {
    #[cfg(target_os = "linux")]
    {
        let bits = libc::c_ulong::BITS as usize;
        let mut mask: Vec<libc::c_ulong> = vec![0; core / bits + 1];
        mask[core / bits] = 1 << (core % bits);
        // SAFETY: the mask has that many bytes, and the system accepts masks of any length.
        unsafe { libc::sched_setaffinity(0, size_of_val(&*mask), mask.as_ptr().cast()) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = core;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_round_trip() {
        for (cores, text) in [
            (vec![0], "0"),
            (vec![0, 1, 2, 3, 8], "0-3,8"),
            (vec![0, 4, 1, 5], "0,4,1,5"),
            (vec![2, 3, 127], "2-3,127"),
        ] {
            assert_eq!(format_list(&cores), text);
            assert_eq!(parse_list(text), cores);
        }
        assert!(parse_list("").is_empty());
    }

    #[test]
    fn every_allowed_core_belongs_to_one_physical_core() {
        let allowed = allowed();
        let mut grouped = physical(&allowed).concat();
        grouped.sort_unstable();
        assert_eq!(grouped, allowed);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn pinned_thread_may_use_only_its_core() {
        let last = *allowed().last().unwrap();
        let cores = std::thread::spawn(move || {
            pin(last);
            super::allowed()
        });
        assert_eq!(cores.join().unwrap(), [last]);
    }
}
