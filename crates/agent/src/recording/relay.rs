//! The launcher writes for us where the program has made it impossible for ourselves: it gave up its
//! privileges, changed its root folder, or closed our descriptors.
//!
//! The memory is mapped before the program's own code runs, and is there in forked copies, too.

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Acquire, Release},
};

use memtrail_recording::relay::{Host, Operation, RELAY_FILE, Refused, Relay, Sender};
use memtrail_recording::session::OPTIONS_FILE;

static RELAY: AtomicPtr<Relay> = AtomicPtr::new(std::ptr::null_mut());
/// The page of the options.
static KNOWN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Maps the memory of a session. Without it, or with the launcher gone, every call is refused.
pub(crate) fn map(session: &Path) {
    let Ok(file) = CString::new(session.join(RELAY_FILE).as_os_str().as_bytes()) else { return };
    // SAFETY: a C string; the descriptor is closed again; a fresh mapping overlaps nothing. The file
    // is checked to be as long as the mapping, and the launcher never shortens it.
    unsafe {
        let descriptor = libc::open(file.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if descriptor < 0 {
            return;
        }
        let mut status: libc::stat = std::mem::zeroed();
        let size = size_of::<Relay>();
        if libc::fstat(descriptor, &raw mut status) == 0 && status.st_size as usize == size {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let shared = libc::MAP_SHARED;
            let at = libc::mmap(std::ptr::null_mut(), size, access, shared, descriptor, 0);
            if at != libc::MAP_FAILED {
                RELAY.store(at.cast(), Release);
            }
        }
        libc::close(descriptor);
    }
}

/// Maps a page of the options, never read: forks of this process have it too, other programs do not.
/// So the launcher knows who is left of a session.
pub(crate) fn stay_known(session: &Path) {
    let Ok(file) = CString::new(session.join(OPTIONS_FILE).as_os_str().as_bytes()) else { return };
    // SAFETY: a C string; the descriptor is closed again; a fresh mapping overlaps nothing.
    unsafe {
        let descriptor = libc::open(file.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if descriptor >= 0 {
            let (access, flags) = (libc::PROT_READ, libc::MAP_SHARED);
            let page = libc::mmap(std::ptr::null_mut(), 1, access, flags, descriptor, 0);
            libc::close(descriptor);
            if page != libc::MAP_FAILED {
                KNOWN.store(page, Release);
            }
        }
    }
}

/// Unmaps what was mapped of a session: this process is none of its any more. No thread of ours calls the launcher now.
pub(crate) fn unmap() {
    let relay = RELAY.swap(std::ptr::null_mut(), AcqRel);
    let page = KNOWN.swap(std::ptr::null_mut(), AcqRel);
    // SAFETY: mappings of ours, which nobody uses any more.
    unsafe {
        if !relay.is_null() {
            libc::munmap(relay.cast(), size_of::<Relay>());
        }
        if !page.is_null() {
            libc::munmap(page, 1);
        }
    }
}

fn relay() -> Option<&'static Relay> {
    // SAFETY: null, or mapped for as long as the process lives; it holds atomics only.
    unsafe { RELAY.load(Acquire).as_ref() }
}

/// Has the launcher do something for the recording of process `pid`, and waits for it.
pub(crate) fn call(
    pid: u32,
    image: u32,
    operation: Operation,
    payload: &[u8],
) -> Result<(), Refused> {
    request(pid, image, operation, payload, &mut []).map(|_| ())
}

/// The same, with the length of the answer.
pub(crate) fn request(
    pid: u32,
    image: u32,
    operation: Operation,
    payload: &[u8],
    answer: &mut [u8],
) -> Result<usize, Refused> {
    // SAFETY: cannot fail. The raw call, for it is made in forked copies, too.
    let sender_pid = unsafe { libc::syscall(libc::SYS_getpid) as u32 };
    let relay = relay().ok_or(Refused::Gone)?;
    relay.call::<Kernel>(Sender { pid, image, sender_pid }, operation, payload, answer)
}

/// Whether an error says that the program is no longer in a position to do it: the launcher may be.
pub(crate) fn may_help(errno: i32) -> bool {
    matches!(
        errno,
        libc::EACCES
            | libc::EPERM
            | libc::ENOENT
            | libc::ENOTDIR
            | libc::ELOOP
            | libc::EROFS
            | libc::EBADF
            | libc::EMFILE
            | libc::ENFILE
    )
}

struct Kernel;

impl Host for Kernel {
    fn wait(word: &AtomicU32, value: u32, milliseconds: u32) {
        let time = libc::timespec {
            tv_sec: i64::from(milliseconds / 1000),
            tv_nsec: i64::from(milliseconds % 1000 * 1_000_000),
        };
        // SAFETY: a mapped word and a valid duration.
        unsafe {
            libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const time);
        }
    }

    fn wake(word: &AtomicU32) {
        // SAFETY: a mapped word.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    fn now() -> u64 {
        crate::os::clock::monotonic() / 1_000_000
    }
}
