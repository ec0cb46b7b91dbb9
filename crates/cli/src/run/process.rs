//! The target as a child process: started as a shell would, watched, and imitated at the end.
//!
//! With `signals.rs` and `relay/shared.rs` the only file of this crate with `unsafe`: the standard library changes the signal mask and
//! `SIGPIPE` of its children and opens standard streams that were closed; a recorder must not.

#![expect(unsafe_code, reason = "signal masks and dispositions, see above")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{group_signals, signals, stops};

/// The standard streams that were closed when this process started, a bit each.
static CLOSED: AtomicU32 = AtomicU32::new(0);

#[used]
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note_what_was_inherited;

extern "C" fn note_what_was_inherited() {
    signals::note_what_was_inherited();
    for stream in 0..3 {
        // SAFETY: only asks.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } < 0 {
            CLOSED.fetch_or(1 << stream, Relaxed);
        }
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    Killed(i32),
}

/// Effective user id.
pub(crate) fn user_id() -> u32 {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() }
}

/// Gives `command` what this process was given: signal mask, ignored signals, closed streams.
fn as_inherited(command: &mut Command) {
    let closed = CLOSED.load(Relaxed);
    // SAFETY: the closure makes async-signal-safe calls.
    unsafe {
        command.pre_exec(move || {
            signals::restore_what_was_inherited();
            for stream in (0..3).filter(|stream| closed & 1 << stream != 0) {
                libc::close(stream);
            }
            Ok(())
        });
    }
}

unsafe extern "C" {
    static mut environ: *const *const libc::c_char;
}

/// The environment of this process, entry by entry.
pub(super) fn environment() -> Vec<CString> {
    let mut all = Vec::new();
    // SAFETY: an array of strings that ends with null; nothing in this process changes it.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            all.push(CStr::from_ptr(*next).to_owned());
            next = next.add(1);
        }
    }
    all
}

/// Gives `command` these entries as its environment, as they are.
pub(super) fn set_environment(command: &mut Command, entries: Vec<CString>) {
    // Once a run; the child needs them until it is another program.
    let entries = entries.into_iter().map(|entry| entry.into_raw().cast_const());
    let array: Vec<_> = entries.chain([std::ptr::null()]).collect();
    let address = Vec::leak(array).as_ptr() as usize;
    // SAFETY: the closure sets a variable, in the child: where nothing is said of the environment, the standard
    // library does not touch it.
    unsafe {
        command.pre_exec(move || {
            environ = address as *const _;
            Ok(())
        });
    }
}

/// Becomes the program, as if memtrail had not been there. Returns only on failure.
pub(super) fn become_program(mut command: Command) -> io::Error {
    as_inherited(&mut command);
    command.exec()
}

/// Whether starting a program failed for want of what memtrail needs beside it.
pub(super) fn is_ours(error: &io::Error) -> bool {
    let short = [libc::EMFILE, libc::ENFILE, libc::EAGAIN, libc::ENOMEM];
    error.raw_os_error().is_some_and(|errno| short.contains(&errno))
}

/// Has `command` killed when this process dies. The kernel means the thread that starts it, which is
/// the main one: it waits for the program's end.
fn kill_with_parent(command: &mut Command) {
    let parent = std::process::id() as i32;
    // SAFETY: the closure makes async-signal-safe calls.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // It may have died before that was said.
            if libc::getppid() != parent {
                libc::raise(libc::SIGKILL);
            }
            Ok(())
        });
    }
}

/// Has `command` live on its own: in a session of its own, without the descriptors that this process
/// was given.
pub(super) fn detach(command: &mut Command) {
    // SAFETY: the closure makes async-signal-safe calls.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 {
                return Err(io::Error::last_os_error());
            }
            // The standard library's own pipe is open until the program is there.
            let flag = libc::CLOSE_RANGE_CLOEXEC;
            if libc::syscall(libc::SYS_close_range, 3, u32::MAX, flag) != 0 {
                // Before Linux 5.11.
                for descriptor in 3..1024 {
                    libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
                }
            }
            Ok(())
        });
    }
}

/// Starts a command that lives on its own, and is no child of this process: the only child of a launcher is its program.
pub(super) fn start_alone(command: &mut Command) -> io::Result<()> {
    detach(command);
    // SAFETY: the closure makes async-signal-safe calls.
    unsafe {
        command.pre_exec(|| match libc::fork() {
            0 => Ok(()),
            -1 => Err(io::Error::last_os_error()),
            _ => libc::_exit(0),
        });
    }
    command.spawn()?.wait().map(drop)
}

/// Whether the dynamic linker can map a library: its file system may forbid that.
pub(super) fn can_be_loaded(library: &std::path::Path) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let file = std::fs::File::open(library)?;
    let access = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: a fresh private mapping of one page, which is removed again.
    unsafe {
        let flags = libc::MAP_PRIVATE;
        let at = libc::mmap(std::ptr::null_mut(), 4096, access, flags, file.as_raw_fd(), 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        libc::munmap(at, 4096);
    }
    Ok(())
}

/// `fcntl(2)`; libc has no name for it.
const F_SETSIG: libc::c_int = 10;

/// True if no other process has a file open or mapped. Nothing is known of a file outside of memory: others may keep
/// the file behind it open in its place (`overlayfs`).
pub(super) fn nobody_else_has(file: &std::fs::File) -> Option<bool> {
    use std::os::fd::AsRawFd as _;
    let descriptor = file.as_raw_fd();
    // SAFETY: valid arguments; an all-zero statfs is valid, and fstatfs fills it.
    unsafe {
        let mut system: libc::statfs = std::mem::zeroed();
        if libc::fstatfs(descriptor, &raw mut system) != 0
            // The types of both depend on the C library.
            || u64::try_from(system.f_type).ok() != u64::try_from(libc::TMPFS_MAGIC).ok()
            // By this signal the kernel tells that somebody opens the file meanwhile. It does nothing unless it is handled.
            || libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) != 0
        {
            return None;
        }
        // A lease for writing is given to the only one who has the file (`fcntl(2)`).
        if libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_WRLCK) == 0 {
            libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK);
            return Some(true);
        }
        (io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock).then_some(false)
    }
}

/// Bytes that the file system of a folder has left for this user.
pub(super) fn free_space(folder: &std::path::Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: a C string; an all-zero statvfs is valid, and statvfs fills it.
    unsafe {
        let mut system: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(folder.as_ptr(), &raw mut system) == 0)
            .then(|| system.f_bavail.saturating_mul(system.f_frsize))
    }
}

/// True if the main thread's stack has room for the command line's parser and all that follows.
pub(crate) fn has_stack() -> bool {
    const ENOUGH: u64 = 2 << 20;
    // SAFETY: an all-zero rlimit is valid, and getrlimit fills it.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit);
        limit.rlim_cur
    };
    limit >= ENOUGH
}

/// The most address space that this process may have, in bytes, if there is a limit.
pub(crate) fn address_space() -> Option<u64> {
    // SAFETY: an all-zero rlimit is valid, and getrlimit fills it.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_AS, &raw mut limit);
        limit.rlim_cur
    };
    (limit != libc::RLIM_INFINITY).then_some(limit)
}

/// Starts the program, waits for its end, and passes signals on to it meanwhile.
pub(super) fn run(
    mut command: Command,
    killed_with_us: bool,
    started: impl FnOnce(u32),
) -> io::Result<End> {
    as_inherited(&mut command);
    if killed_with_us {
        kill_with_parent(&mut command);
    }
    signals::block();
    // It waits for the child: should there be no thread to be had, nothing has been started yet.
    let (begin, begun) = std::sync::mpsc::channel::<()>();
    signals::start(begun, group_signals::is_for_all)?;
    let child = command.spawn()?;
    let pid = child.id() as i32;
    signals::pass_on_to(pid);
    // It fails only if the thread is gone.
    let _ = begin.send(());
    group_signals::begin();
    started(child.id());
    let end = wait(pid);
    group_signals::end();
    end
}

fn wait(pid: i32) -> io::Result<End> {
    loop {
        let mut status = 0;
        // WNOWAIT leaves the child a zombie, so that its number stays its own as long as signals go to it.
        // SAFETY: a valid out-pointer; an all-zero siginfo is valid.
        let (waited, what) = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let what = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT;
            let waited = libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut info, what);
            (waited, info.si_code)
        };
        if waited < 0 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        }
        if what != libc::CLD_STOPPED {
            signals::pass_on_to(0);
        }
        // SAFETY: a valid out-pointer; the child has something to report.
        let reaped = unsafe { libc::waitpid(pid, &raw mut status, libc::WUNTRACED) };
        if reaped != pid {
            continue;
        }
        if libc::WIFSTOPPED(status) {
            stops::stop_with(pid as u32, libc::WSTOPSIG(status));
            continue;
        }
        return Ok(if libc::WIFSIGNALED(status) {
            End::Killed(libc::WTERMSIG(status))
        } else {
            End::Exited(libc::WEXITSTATUS(status))
        });
    }
}

/// Dies of `signal`, without a second core dump.
pub(super) fn die_of(signal: i32) -> ! {
    // SAFETY: plain system calls with valid arguments.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        libc::raise(signal);
    }
    std::process::exit(128 + signal)
}
