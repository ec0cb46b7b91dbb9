//! A frozen copy of the process, which the process goes on beside.
//!
//! The copy is a child by the raw system call: libc's `fork` would run the program's handlers, and
//! systhreads' forgets the other threads' stacks. Its end sends no signal, and no `wait` of the
//! program's sees it. It has none of the program's descriptors, takes no signals, dumps no core, and
//! is the first to go if memory runs out. The kernel ends one that works without end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::os::clock::pause;
use crate::os::{copies, escape, heap};

/// The copy's exit code should it panic.
const PANICKED: i32 = 101;
/// The copy's exit code should it get no memory.
const NO_MEMORY: i32 = 102;
/// Within so many milliseconds a wait of the program's notes a copy's status.
const NOTED_WITHIN: u32 = 100;
/// In nanoseconds.
const MILLISECOND: u32 = 1_000_000;
/// The most CPU time of a copy, in seconds. Heaps of 400 GB are written in less.
const CPU_TIME: u64 = 600;

/// Runs `work` in a copy of this process, and gives the copy's pid. The copy ends with `work`'s
/// result as exit code.
///
/// The program must be paused as far as `work` looks at it.
pub(crate) fn fork_snapshot(work: impl FnOnce() -> i32) -> io::Result<libc::pid_t> {
    fork_for(CPU_TIME, work)
}

/// The same with so many seconds of CPU time.
fn fork_for(cpu_time: u64, work: impl FnOnce() -> i32) -> io::Result<libc::pid_t> {
    // SAFETY: plain system calls. The copy runs on its copy of this stack.
    unsafe {
        let (all, mut before) = (!0u64, 0u64);
        let size = size_of::<u64>();
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const all,
            &raw mut before,
            size,
        );
        // The kernel writes the copy's number before anybody can wait for it.
        let number = copies::reserve();
        let flags = if number.is_null() { 0 } else { libc::CLONE_PARENT_SETTID };
        let pid = libc::syscall(libc::SYS_clone, flags, 0, number, 0, 0);
        if pid == 0 {
            heap::lock_for_fork();
            leave_the_program();
            limit(libc::RLIMIT_CPU, cpu_time);
            let code = escape::catch(|| catch_unwind(AssertUnwindSafe(work)).unwrap_or(PANICKED));
            let code = code.unwrap_or(NO_MEMORY);
            libc::syscall(libc::SYS_exit_group, code);
        }
        let error = io::Error::last_os_error();
        let none = std::ptr::null_mut::<u64>();
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const before, none, size);
        if pid < 0 {
            copies::free(number);
            return Err(error);
        }
        Ok(pid as libc::pid_t)
    }
}

/// Lets go of what the copy shares with the program.
fn leave_the_program() {
    close_everything();
    // SAFETY: plain system calls with valid arguments; they concern only this process.
    unsafe {
        for fault in [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE] {
            // Should we fail, no handler of the program's is to run here.
            let mut default: libc::sigaction = std::mem::zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(fault, &raw const default, std::ptr::null_mut());
        }
        libc::prctl(libc::PR_SET_NAME, c"memtrail".as_ptr());
        limit(libc::RLIMIT_CORE, 0);
        let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY);
        if file >= 0 {
            libc::write(file, b"1000".as_ptr().cast(), 4);
            libc::close(file);
        }
    }
}

/// Sets a limit of this process, unless it has a lower one.
fn limit(resource: libc::__rlimit_resource_t, most: u64) {
    // SAFETY: plain system calls with valid arguments; they concern only this process.
    unsafe {
        let mut now: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(resource, &raw mut now);
        let most = most.min(now.rlim_max);
        libc::setrlimit(resource, &libc::rlimit { rlim_cur: most, rlim_max: most });
    }
}

/// Closes all descriptors: whoever reads from the program must see its end when it comes.
fn close_everything() {
    // SAFETY: the descriptors are this copy's; nothing here uses one.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0) == 0 {
            return;
        }
        // Before Linux 5.9.
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        for descriptor in 0..limit.rlim_cur.min(1 << 16) as i32 {
            libc::close(descriptor);
        }
    }
}

/// How a copy ended: its exit code, or the signal that killed it.
pub(crate) enum End {
    Code(i32),
    Signal(i32),
}

/// Whether a copy has ended.
pub(crate) fn ended(pid: libc::pid_t) -> Option<End> {
    let mut status = 0;
    let flags = libc::__WALL | libc::WNOHANG;
    loop {
        if let Some(known) = copies::take_status(pid) {
            status = known;
            break;
        }
        // SAFETY: a valid out-pointer.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, flags) };
        if waited == pid {
            copies::forget(pid);
            break;
        }
        if waited == 0 {
            return None;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            // The program waited for it, and may be about to note its status.
            let known = (0..NOTED_WITHIN).find_map(|_| {
                copies::take_status(pid).or_else(|| {
                    pause(MILLISECOND);
                    None
                })
            });
            copies::forget(pid);
            status = known.unwrap_or(0);
            break;
        }
    }
    Some(if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        End::Code(libc::WEXITSTATUS(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy waited for a lock that its process had held, for hours after that process was killed.
    #[test]
    fn a_copy_without_end_is_ended() {
        let pid = fork_for(1, || {
            loop {
                // It is ended by its CPU time, which it must not leave to others.
                std::hint::spin_loop();
            }
        })
        .unwrap();
        let end = (0..60_000).find_map(|_| {
            pause(1_000_000);
            ended(pid)
        });
        assert!(matches!(end, Some(End::Signal(libc::SIGKILL))));
    }
}
