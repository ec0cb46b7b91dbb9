//! Counts how often a process that waits is woken up.

use std::fs;

/// Counts how often the threads of a process have gone to sleep.
pub fn sleeps(pid: &str) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").flatten();
    let of = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    threads.map(of).sum()
}
