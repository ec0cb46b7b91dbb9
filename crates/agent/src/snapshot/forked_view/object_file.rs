//! Files of the program and its libraries, mapped to be read.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;

const EXECUTABLE: &str = "/proc/self/exe";

/// A file's bytes. They stay mapped: this process ends soon.
pub(super) fn map(path: &[u8]) -> Option<&'static [u8]> {
    // The program itself is there whatever became of its path.
    let own = std::fs::read_link(EXECUTABLE).is_ok_and(|own| own.as_os_str().as_bytes() == path);
    let path = if own { OsStr::new(EXECUTABLE) } else { OsStr::from_bytes(path) };
    let file = File::open(path).ok()?;
    let length = usize::try_from(file.metadata().ok()?.len()).ok().filter(|length| *length > 0)?;
    // SAFETY: a new mapping that can only be read.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_PRIVATE,
            file.as_raw_fd(),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: so many bytes were mapped, and stay so. Should the file be cut short, reading them ends
    // this copy with a signal: the snapshot is missing, the program goes on.
    Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) })
}
