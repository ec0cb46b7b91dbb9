//! Stands before libc's functions that become, or start, another program.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use memtrail_agent::exec::{Strings, become_program, start_program};

use crate::own_calls::own_syscall;

#[path = "exec_list.rs"]
mod list;

unsafe extern "C" {
    static environ: Strings;
}

/// A function of libc's.
struct Own {
    name: &'static CStr,
    address: AtomicUsize,
}

static EXECVE: Own = Own::of(c"execve");
static EXECVPE: Own = Own::of(c"execvpe");
static FEXECVE: Own = Own::of(c"fexecve");
static POSIX_SPAWN: Own = Own::of(c"posix_spawn");
static POSIX_SPAWNP: Own = Own::of(c"posix_spawnp");

impl Own {
    const fn of(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    /// Its address, looked up once.
    fn address(&self) -> usize {
        let mut address = self.address.load(Relaxed);
        if address == 0 {
            // SAFETY: a C string; finds the definition after ours.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
            self.address.store(address, Relaxed);
        }
        address
    }
}

/// Finds them: in a forked child, another thread's lock on the dynamic linker may be held for ever.
pub(crate) fn find() {
    for own in [&EXECVE, &EXECVPE, &FEXECVE, &POSIX_SPAWN, &POSIX_SPAWNP] {
        own.address();
    }
}

macro_rules! own {
    ($own:ident, $type:ty) => {{
        let address = $own.address();
        // SAFETY: libc's function of this name has this type.
        (address != 0).then(|| unsafe { std::mem::transmute::<usize, $type>(address) })
    }};
}

type Exec = unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int;

fn absent() -> c_int {
    // SAFETY: this thread's errno.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(path: *const c_char, arguments: Strings, vars: Strings) -> c_int {
    let Some(own) = own!(EXECVE, Exec) else { return absent() };
    // SAFETY: the caller's arguments.
    unsafe { become_program(path, vars, |vars| own(path, arguments, vars)) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvpe(file: *const c_char, arguments: Strings, vars: Strings) -> c_int {
    let Some(own) = own!(EXECVPE, Exec) else { return absent() };
    // SAFETY: the caller's arguments.
    unsafe { become_program(file, vars, |vars| own(file, arguments, vars)) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execv(path: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller's arguments; libc's own does the same.
    unsafe { execve(path, arguments, environ) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvp(file: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: as above.
    unsafe { execvpe(file, arguments, environ) }
}

type ExecFile = unsafe extern "C" fn(c_int, Strings, Strings) -> c_int;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fexecve(file: c_int, arguments: Strings, vars: Strings) -> c_int {
    let Some(own) = own!(FEXECVE, ExecFile) else { return absent() };
    let mut path = [0; 32];
    // Any path is long enough for a number; on failure it is empty, a program that does not exist.
    let _ = write!(&mut path[..31], "/proc/self/fd/{file}");
    // SAFETY: the caller's arguments, and a string that ends with null.
    unsafe { become_program(path.as_ptr().cast(), vars, |vars| own(file, arguments, vars)) }
}

/// Longest path of a program that is looked at before it starts, where the path begins in an open folder: it is on the
/// program's stack.
const MAX_LENGTH: usize = 512;

/// # Safety
/// As libc's, which older ones do not have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execveat(
    folder: c_int,
    path: *const c_char,
    arguments: Strings,
    vars: Strings,
    flags: c_int,
) -> c_int {
    let mut joined = [0; MAX_LENGTH];
    // SAFETY: the caller's arguments, and a string that ends with null.
    unsafe {
        let seen = path_in(folder, path, &mut joined);
        become_program(seen, vars, |vars| {
            let (path, arguments, vars) = (path as c_long, arguments as c_long, vars as c_long);
            let flags = c_long::from(flags);
            own_syscall(libc::SYS_execveat, folder.into(), path, arguments, vars, flags, 0) as c_int
        })
    }
}

/// A path by which this process reaches what `path` is in an open folder; an empty one if it is too long.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn path_in(
    folder: c_int,
    path: *const c_char,
    joined: &mut [u8; MAX_LENGTH],
) -> *const c_char {
    if path.is_null() {
        return path;
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(path) }.to_bytes();
    if folder == libc::AT_FDCWD || text.starts_with(b"/") {
        return path;
    }
    let separator = if text.is_empty() { "" } else { "/" };
    let mut rest = &mut joined[..MAX_LENGTH - 1];
    let written =
        write!(rest, "/proc/self/fd/{folder}{separator}").and_then(|()| rest.write_all(text));
    if written.is_err() {
        joined[0] = 0;
    }
    joined.as_ptr().cast()
}

type Spawn = unsafe extern "C" fn(
    *mut libc::pid_t,
    *const c_char,
    *const c_void,
    *const c_void,
    Strings,
    Strings,
) -> c_int;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawn(
    pid: *mut libc::pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    vars: Strings,
) -> c_int {
    let Some(own) = own!(POSIX_SPAWN, Spawn) else { return libc::ENOSYS };
    // SAFETY: the caller's arguments.
    unsafe {
        start_program(path, vars, |vars| own(pid, path, actions, attributes, arguments, vars))
    }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawnp(
    pid: *mut libc::pid_t,
    file: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    vars: Strings,
) -> c_int {
    let Some(own) = own!(POSIX_SPAWNP, Spawn) else { return libc::ENOSYS };
    // SAFETY: the caller's arguments.
    unsafe {
        start_program(file, vars, |vars| own(pid, file, actions, attributes, arguments, vars))
    }
}
