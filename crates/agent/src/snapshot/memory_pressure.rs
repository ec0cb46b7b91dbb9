//! Memory is about to run out: how near the process is to what it may have.
//!
//! When it has run out it is too late for most programs: the runtime gives up in the midst of a minor
//! collection, or the kernel ends the process. So the limits are watched: that of the process's
//! address space, those of its control groups (`cgroups(7)`), and the machine's own memory.

use std::path::{Path, PathBuf};

/// Shares of what there is at which a snapshot is worth taking. A copy that writes takes as much as
/// the program changes meanwhile, which is all of the heap while a major collection marks it: if there
/// is too little for that, the copy is what the kernel ends. So the first comes early.
const LEVELS: [f64; 3] = [0.45, 0.75, 0.9];
/// The machine's memory is mostly used for others: it is short when less than this is left.
const LEFT_TO_THE_MACHINE: f64 = 0.05;

/// Watches the limits of this process.
#[derive(Default)]
pub(super) struct Watch {
    /// How many of the levels were passed, the last time that one more was.
    passed: usize,
}

impl Watch {
    /// Whether one more level has been passed. Below all of them it begins again.
    pub(super) fn is_worse(&mut self) -> bool {
        self.passes(share())
    }

    fn passes(&mut self, share: f64) -> bool {
        let passed = LEVELS.iter().filter(|level| share >= **level).count();
        let worse = passed > self.passed;
        if worse || passed == 0 {
            self.passed = passed;
        }
        worse
    }
}

/// How much is used of what there is least of, 1 for all.
fn share() -> f64 {
    [of_address_space(), of_control_groups(), of_machine()]
        .into_iter()
        .flatten()
        .fold(0.0, f64::max)
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn ratio(used: u64, limit: u64) -> Option<f64> {
    (limit > 0).then(|| used as f64 / limit as f64)
}

/// Bytes that the process may take before a limit of its control groups, or the machine's memory, is reached.
pub(crate) fn available() -> Option<u64> {
    let groups = left_to_control_groups();
    let machine = read("/proc/meminfo").and_then(|text| bytes_of(&text, "MemAvailable"));
    [groups, machine].into_iter().flatten().min()
}

/// Bytes of resident memory.
pub(crate) fn resident() -> Option<u64> {
    let pages: u64 = read("/proc/self/statm")?.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: plain call.
    Some(pages.saturating_mul(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(0) as u64))
}

fn of_address_space() -> Option<f64> {
    // SAFETY: a valid out-pointer; all-zero is a valid limit.
    let (limit, page) = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) != 0 {
            return None;
        }
        (limit.rlim_cur, libc::sysconf(libc::_SC_PAGESIZE))
    };
    if limit == libc::RLIM_INFINITY {
        return None;
    }
    let pages: u64 = read("/proc/self/statm")?.split(' ').next()?.parse().ok()?;
    ratio(pages.saturating_mul(page.max(0) as u64), limit)
}

/// How a version of control groups calls things.
struct Version {
    /// How the process's group begins in `/proc/self/cgroup`, behind the hierarchy's number.
    line: &'static str,
    root: &'static str,
    limit: &'static str,
    used: &'static str,
    /// Of files nobody uses, in `memory.stat`.
    idle: &'static str,
}

const VERSIONS: [Version; 2] = [
    Version {
        line: ":",
        root: "/sys/fs/cgroup",
        limit: "memory.max",
        used: "memory.current",
        idle: "inactive_file ",
    },
    Version {
        line: "memory:",
        root: "/sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        used: "memory.usage_in_bytes",
        idle: "total_inactive_file ",
    },
];

/// Of the group that the process is in and of those that it is part of, the fullest.
fn of_control_groups() -> Option<f64> {
    let share = |(used, limit): (u64, u64)| ratio(used, limit);
    control_groups().into_iter().filter_map(share).reduce(f64::max)
}

/// The least that is left of any of their limits, in bytes.
fn left_to_control_groups() -> Option<u64> {
    control_groups().into_iter().map(|(used, limit)| limit.saturating_sub(used)).min()
}

/// Bytes used, and the limit, of the group that the process is in and of those that it is part of.
fn control_groups() -> Vec<(u64, u64)> {
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let all = VERSIONS.iter().filter_map(|version| {
        let group = version.group(&groups)?;
        let inside = group.ancestors().take_while(|group| group.starts_with(version.root));
        Some(inside.filter_map(|group| of_control_group(version, group)).collect::<Vec<_>>())
    });
    all.flatten().collect()
}

impl Version {
    /// The folder of the process's group, as `/proc/self/cgroup` tells.
    fn group(&self, groups: &str) -> Option<PathBuf> {
        let path = groups.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            rest.strip_prefix(self.line)?.strip_prefix('/')
        });
        path.map(|path| Path::new(self.root).join(path))
    }

    /// Bytes that a group uses, and its limit: what its files say. No limit is `max`, or a number beyond all memory.
    fn usage(&self, limit: &str, used: &str, statistics: &str) -> Option<(u64, u64)> {
        let limit: u64 = limit.trim().parse().ok()?;
        let used: u64 = used.trim().parse().ok()?;
        // These the kernel lets go before it ends processes.
        let idle = statistics.lines().find_map(|line| line.strip_prefix(self.idle));
        let idle: u64 = idle.and_then(|number| number.trim().parse().ok()).unwrap_or(0);
        (limit > 0).then(|| (used.saturating_sub(idle), limit))
    }
}

fn of_control_group(version: &Version, group: &Path) -> Option<(u64, u64)> {
    let limit = read(group.join(version.limit))?;
    let used = read(group.join(version.used))?;
    version.usage(&limit, &used, &read(group.join("memory.stat")).unwrap_or_default())
}

/// All of it, once too little is left.
fn of_machine() -> Option<f64> {
    left_to_the_machine(&read("/proc/meminfo")?)
}

fn left_to_the_machine(text: &str) -> Option<f64> {
    let bytes = |name: &str| bytes_of(text, name);
    let left = bytes("MemAvailable")?.saturating_add(bytes("SwapFree").unwrap_or(0));
    let all = bytes("MemTotal")?.saturating_add(bytes("SwapTotal").unwrap_or(0));
    ratio(left, all).filter(|left| *left < LEFT_TO_THE_MACHINE).map(|left| 1.0 - left)
}

/// A figure of `/proc/meminfo`.
fn bytes_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 =
        line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &Version = &VERSIONS[0];
    const V1: &Version = &VERSIONS[1];

    #[test]
    fn the_group_is_found_in_either_version() {
        let unified = "0::/user.slice/run-r1.scope\n";
        let found = V2.group(unified);
        assert_eq!(found.as_deref(), Some(Path::new("/sys/fs/cgroup/user.slice/run-r1.scope")));
        assert_eq!(V1.group(unified), None);
        let hybrid = "12:memory:/docker/ab:c\n3:cpu,cpuacct:/docker/x\n0::/\n";
        let found = V1.group(hybrid);
        assert_eq!(found.as_deref(), Some(Path::new("/sys/fs/cgroup/memory/docker/ab:c")));
        assert_eq!(V2.group(hybrid).as_deref(), Some(Path::new("/sys/fs/cgroup/")));
        for odd in ["", "\n", "0", "0:", "0::relative", "memory"] {
            assert_eq!((V1.group(odd), V2.group(odd)), (None, None), "{odd:?}");
        }
    }

    #[test]
    fn files_nobody_uses_are_not_counted() {
        let statistics = "anon 100\ninactive_file 30\nactive_file 9\n";
        assert_eq!(V2.usage("200\n", "130\n", statistics), Some((100, 200)));
        assert_eq!(V2.usage("200\n", "20\n", statistics), Some((0, 200)));
        assert_eq!(V1.usage("200\n", "130\n", statistics), Some((130, 200)), "another name there");
        assert_eq!(V1.usage("200\n", "130\n", "total_inactive_file 30\n"), Some((100, 200)));
        assert_eq!(V2.usage("max\n", "130\n", statistics), None);
        assert_eq!(V2.usage("0\n", "0\n", ""), None);
        assert_eq!(V2.usage("", "", ""), None);
    }

    #[test]
    fn the_machine_counts_only_when_little_is_left() {
        let text = |available| {
            format!(
                "MemTotal: 1000 kB\nMemAvailable: {available} kB\nSwapTotal: 1000 kB\nSwapFree: 0 kB\n"
            )
        };
        assert_eq!(left_to_the_machine(&text(100)), None);
        assert_eq!(left_to_the_machine(&text(20)), Some(0.99));
        assert_eq!(left_to_the_machine("MemTotal: 1000 kB\n"), None);
    }

    #[test]
    fn each_level_is_passed_once() {
        let mut watch = Watch::default();
        let shares = [0.1, 0.5, 0.6, 0.8, 0.5, 0.8, 0.95, 0.2, 0.5];
        let worse = shares.map(|share| watch.passes(share));
        assert_eq!(worse, [false, true, false, true, false, false, true, false, true]);
    }
}
