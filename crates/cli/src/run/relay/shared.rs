//! The memory that agents and the launcher share, and how to sleep on it.

#![expect(unsafe_code, reason = "a shared mapping, and futexes on it")]

use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::atomic::AtomicU32;

use memtrail_recording::relay::{Host, RELAY_FILE, Relay};

/// Makes the file in a session and maps it, for as long as this process lives.
pub(super) fn make(session: &Path) -> io::Result<&'static Relay> {
    let file = fs::File::create(session.join(RELAY_FILE))?;
    // Allocated, not only made that long: where memory is short, this fails, not an access later.
    // SAFETY: an open file.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, size_of::<Relay>() as libc::off_t) } {
        0 => open(session),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Maps the file that another launcher made.
pub(super) fn open(session: &Path) -> io::Result<&'static Relay> {
    let path = session.join(RELAY_FILE);
    let size = size_of::<Relay>();
    if fs::metadata(&path)?.len() != size as u64 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let file = fs::OpenOptions::new().read(true).write(true).open(&path)?;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping of a file as long as that, which nobody shortens; zeros are a valid
    // relay, and it holds atomics only.
    unsafe {
        let at =
            libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(&*at.cast()) }
    }
}

/// Futexes, and the clock that agents use.
pub(super) struct Kernel;

impl Host for Kernel {
    fn wait(word: &AtomicU32, value: u32, milliseconds: u32) {
        let time = libc::timespec {
            tv_sec: i64::from(milliseconds / 1000),
            tv_nsec: i64::from(milliseconds % 1000 * 1_000_000),
        };
        let wait = libc::FUTEX_WAIT;
        // SAFETY: a mapped word and a valid duration.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), wait, value, &raw const time) };
    }

    fn wake(word: &AtomicU32) {
        // SAFETY: a mapped word.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    fn now() -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a valid out-pointer.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
        time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
    }
}
