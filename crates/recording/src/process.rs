//! Whether a process runs.

use std::fs;

/// Whether a process runs, as far as `/proc` tells: not if it has ended and nobody has waited for it
/// yet. One whose main thread has ended looks just like that, but has other threads.
pub fn is_alive(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name come the state and, seventeen fields on, the number of threads.
    let Some((_, rest)) = status.rsplit_once(") ") else { return false };
    let threads = rest.split(' ').nth(17).and_then(|number| number.parse().ok()).unwrap_or(0);
    !rest.starts_with(['Z', 'X']) || threads > 1
}
