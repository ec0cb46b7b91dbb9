//! Hides frozen copies from a program that waits for children of every kind (`__WALL`, `__WCLONE`).

use std::ffi::c_int;
use std::fs;

use crate::os::clock::pause;
use crate::os::copies;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::guarded;

/// A child that a wait has returned.
pub struct Waited {
    /// Process id; 0 if there is none that has ended.
    pub pid: libc::pid_t,
    /// Its status, as `waitpid` gives it.
    pub status: c_int,
    /// True if the process was left to be waited for once more.
    pub is_left: bool,
}

/// True if a wait with these options sees copies of ours.
pub fn sees_copies(options: c_int) -> bool {
    options & (libc::__WALL | libc::__WCLONE) != 0
}

/// True if the process has no children but copies of ours: a wait fails then. False if that is not known.
pub fn has_only_copies() -> bool {
    /// Looks for the number of a copy that is being made, and nanoseconds between them.
    const LOOKS: u32 = 1000;
    const PAUSE: u32 = 50_000;
    let all_are = || {
        let mut looks = 0;
        while copies::is_one_begun() && looks < LOOKS {
            pause(PAUSE);
            looks += 1;
        }
        children().is_some_and(|all| all.iter().all(|&child| copies::is_copy(child)))
    };
    let may_be = copies::are_under_way() || copies::is_one_begun();
    may_be && guarded(false, || keeping_errno(all_are))
}

/// Children of all threads; nothing if the kernel does not list them.
fn children() -> Option<Vec<libc::pid_t>> {
    let mut found = Vec::new();
    for thread in fs::read_dir("/proc/self/task").ok()? {
        // A thread that has ended meanwhile has passed its children on.
        let Ok(text) = fs::read_to_string(thread.ok()?.path().join("children")) else {
            fs::metadata("/proc/thread-self/children").ok()?;
            continue;
        };
        found.extend(
            text.split_ascii_whitespace().filter_map(|child| child.parse::<libc::pid_t>().ok()),
        );
    }
    Some(found)
}

/// Keeps what a wait has returned if it is a copy of ours: true, and the program waits once more.
pub fn is_hidden(waited: &Waited) -> bool {
    if !copies::is_copy(waited.pid) {
        return false;
    }
    let mut status = waited.status;
    if waited.is_left {
        // SAFETY: a valid out-pointer, and a copy of ours, which has ended.
        let again = keeping_errno(|| unsafe {
            libc::waitpid(waited.pid, &raw mut status, libc::__WALL | libc::WNOHANG)
        });
        if again != waited.pid {
            // Our own wait came first.
            return true;
        }
    }
    copies::was_waited_for(waited.pid, status);
    true
}
