//! Tells if a process runs, since when, and with how much CPU time.

use std::fs;
use std::time::Duration;

/// Processes that are listed above one, at most.
const MAX_ANCESTORS: usize = 32;
/// `USER_HZ`, which Linux shows on all processors that memtrail knows.
const TICKS_PER_SECOND: u64 = 100;

/// Whether a process runs, as far as `/proc` tells: not if it has ended and nobody has waited for it
/// yet. One whose main thread has ended looks just like that, but has other threads.
pub fn is_alive(pid: u32) -> bool {
    let Some(rest) = fields(pid) else { return false };
    let threads = rest.split(' ').nth(17).and_then(|number| number.parse().ok()).unwrap_or(0);
    !rest.starts_with(['Z', 'X']) || threads > 1
}

/// True if a recording with this name of a host was made on this machine, as far as can be told.
pub fn is_this_host(host: &str) -> bool {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    name.is_ok_and(|name| name.trim() == host)
}

/// CPU time that a process has used, its ended threads included (`proc(5)`).
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let fields = fields(pid)?;
    let mut times = fields.split(' ').skip(11).map(|field| field.parse::<u64>().ok());
    let ticks = times.next()?? + times.next()??;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// Time since a process was started.
pub fn process_age(pid: u32) -> Option<Duration> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime = Duration::try_from_secs_f64(uptime.split(' ').next()?.parse().ok()?).ok()?;
    uptime.checked_sub(Duration::from_millis(started_at(pid)? * 1000 / TICKS_PER_SECOND))
}

/// When a process was started, in clock ticks since the system was (`proc(5)`).
pub fn started_at(pid: u32) -> Option<u64> {
    fields(pid)?.split(' ').nth(19)?.parse().ok()
}

/// The processes above one, the nearest first: its parent, the parent of that, up to `top`, which is not
/// among them, or to the first process of the system. A process whose parent has ended is the child of
/// another one by then.
pub fn ancestors(pid: u32, top: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut at = pid;
    while found.len() < MAX_ANCESTORS
        && let Some(parent) = parent(at)
        && parent > 1
        && parent != top
    {
        found.push(parent);
        at = parent;
    }
    found
}

fn parent(pid: u32) -> Option<u32> {
    fields(pid)?.split(' ').nth(1)?.parse().ok()
}

/// What stands behind the name: the state, seventeen fields on the number of threads, and two more
/// on the start.
fn fields(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    status.rsplit_once(") ").map(|(_, rest)| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_was_started_after_the_first_one() {
        let me = std::process::id();
        assert!(is_alive(me));
        assert!(started_at(me) >= started_at(1), "{:?} {:?}", started_at(me), started_at(1));
        assert_eq!(started_at(u32::MAX), None);
        assert!(!is_alive(u32::MAX));
        assert!(cpu_time(me).is_some_and(|used| used < Duration::from_secs(3600)));
        assert_eq!(cpu_time(u32::MAX), None);
    }

    #[test]
    fn ancestors_end_at_the_first_process_or_at_the_one_that_is_named() {
        let me = std::process::id();
        let all = ancestors(me, 0);
        assert_eq!(all.first().copied(), Some(std::os::unix::process::parent_id()));
        assert!(!all.contains(&me) && !all.contains(&1), "{all:?}");
        let some = ancestors(me, all.last().copied().unwrap_or(1));
        assert_eq!(some, all[..all.len() - 1]);
        assert!(ancestors(u32::MAX, 0).is_empty());
    }
}
