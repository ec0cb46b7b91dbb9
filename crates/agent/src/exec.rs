//! Stands before libc's ways to become, or start, another program.
//!
//! A recorded process that becomes another program is flushed first, and the new program is
//! followed into; started children are, too, when the user asked for children.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

use crate::entry::injected;
use crate::environment::Injected;
use crate::{ffi_guard, forked, recorder, thread};

type Strings = *const *const c_char;

unsafe extern "C" {
    static environ: Strings;
}

/// Address of libc's own function, looked up once.
fn libc_own(name: &CStr, known: &AtomicUsize) -> usize {
    let mut address = known.load(Relaxed);
    if address == 0 {
        // SAFETY: a C string; finds the definition after ours.
        address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
        known.store(address, Relaxed);
    }
    address
}

/// Whether the program that comes next is to be given the launcher's variables.
fn follow() -> bool {
    recorder::follows_children() || (recorder::is_recorded() && forked::is_owner_itself())
}

/// Calls `with` with the environment that the next program gets.
///
/// # Safety
/// `environment` is a null-terminated array of strings (or null), `path` a string (or null).
unsafe fn environment_for_next<T>(
    path: *const c_char,
    environment: Strings,
    with: impl FnOnce(Strings) -> T,
) -> T {
    let Some(injected) = injected() else { return with(environment) };
    let follow = follow();
    // SAFETY: as the caller promises.
    if !follow && !unsafe { Injected::is_in(environment) } {
        return with(environment);
    }
    // The dynamic linker would complain to the program's standard error.
    if let Err(reason) = ffi_guard::keeping_errno(|| injected.can_be_loaded()) {
        // SAFETY: as the caller promises.
        let program = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
        ffi_guard::keeping_errno(|| injected.report(program.unwrap_or_default(), reason));
        // SAFETY: as the caller promises.
        return with_array(|all| unsafe { injected.taken_out(environment, all) }, with);
    }
    if !follow {
        return with(environment);
    }
    // SAFETY: as the caller promises.
    with_array(|all| unsafe { injected.put_back(environment, all) }, with)
}

/// Calls `with` with the array that `fill` makes. A child of `vfork` that becomes another program never
/// comes back, and its memory is its parent's: so each thread uses the same array again.
fn with_array<T>(fill: impl FnOnce(&mut Vec<*const c_char>), with: impl FnOnce(Strings) -> T) -> T {
    // SAFETY: cannot fail. The raw call, because libcs have been known to cache the answer.
    let me = unsafe { libc::syscall(libc::SYS_getpid) as u32 };
    let reused = &mut thread::current().environment;
    if reused.user == me {
        // A signal handler interrupts the one that uses it.
        let mut own = Vec::new();
        fill(&mut own);
        return with(own.as_ptr());
    }
    // Or it is free, or its user was a child that is gone.
    reused.user = me;
    compiler_fence(SeqCst);
    reused.all.clear();
    fill(&mut reused.all);
    let result = with(reused.all.as_ptr());
    compiler_fence(SeqCst);
    thread::current().environment.user = 0;
    result
}

/// Becomes another program by `call`, with what has to happen before and, if it fails, after.
///
/// # Safety
/// As `environment_for_next`.
unsafe fn becoming(
    path: *const c_char,
    environment: Strings,
    call: impl FnOnce(Strings) -> c_int,
) -> c_int {
    let recorded = recorder::is_recorded();
    if recorded {
        ffi_guard::guarded((), recorder::before_exec);
    }
    // SAFETY: as the caller promises.
    let failed = unsafe { environment_for_next(path, environment, call) };
    if recorded {
        ffi_guard::guarded((), recorder::after_failed_exec);
    }
    failed
}

macro_rules! own {
    ($name:literal, $type:ty) => {{
        static KNOWN: AtomicUsize = AtomicUsize::new(0);
        let address = libc_own($name, &KNOWN);
        // SAFETY: libc's function of this name has this type.
        (address != 0).then(|| unsafe { std::mem::transmute::<usize, $type>(address) })
    }};
}

fn absent() -> c_int {
    // SAFETY: this thread's errno.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(path: *const c_char, arguments: Strings, vars: Strings) -> c_int {
    type Own = unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int;
    let Some(own) = own!(c"execve", Own) else { return absent() };
    // SAFETY: the caller's arguments.
    unsafe { becoming(path, vars, |vars| own(path, arguments, vars)) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvpe(file: *const c_char, arguments: Strings, vars: Strings) -> c_int {
    type Own = unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int;
    let Some(own) = own!(c"execvpe", Own) else { return absent() };
    // SAFETY: the caller's arguments.
    unsafe { becoming(file, vars, |vars| own(file, arguments, vars)) }
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
    let Some(own) = own!(c"posix_spawn", Spawn) else { return libc::ENOSYS };
    // SAFETY: the caller's arguments.
    unsafe { for_child(path, vars, |vars| own(pid, path, actions, attributes, arguments, vars)) }
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
    let Some(own) = own!(c"posix_spawnp", Spawn) else { return libc::ENOSYS };
    // SAFETY: the caller's arguments.
    unsafe { for_child(file, vars, |vars| own(pid, file, actions, attributes, arguments, vars)) }
}

/// Starts a child by `call`: followed only if children are.
///
/// # Safety
/// As `environment_for_next`.
unsafe fn for_child(
    path: *const c_char,
    environment: Strings,
    call: impl FnOnce(Strings) -> c_int,
) -> c_int {
    if recorder::follows_children() || !recorder::is_recorded() {
        // SAFETY: as the caller promises.
        unsafe { environment_for_next(path, environment, call) }
    } else {
        call(environment)
    }
}
