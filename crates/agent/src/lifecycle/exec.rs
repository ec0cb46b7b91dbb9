//! What happens when a process becomes, or starts, another program.
//!
//! A recorded process that becomes another program is flushed first, and the new program is
//! followed into; started children are, too, when the user asked for children.

use std::ffi::{CStr, c_char, c_int};

use memtrail_recording::preload;

use crate::lifecycle::environment::{Injected, sanitizer_in};
use crate::lifecycle::environment_array::with_array;
use crate::lifecycle::injected::injected;
use crate::lifecycle::next_program::{Loaded, loads_agent};
use crate::lifecycle::recorded::{follows_children, is_recorded, recorded};
use crate::os::cancellation::without_cancellation;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::{guarded, is_stopped};
use crate::os::forked;

/// A null-terminated array of C strings.
pub type Strings = *const *const c_char;

/// Whether the program that comes next is to be given the launcher's variables.
fn follow() -> bool {
    follows_children() || (is_recorded() && forked::is_owner_itself())
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
    if is_stopped() {
        // SAFETY: as the caller promises.
        return with_array(|next| unsafe { injected.taken_out(environment, next) }, with);
    }
    let follow = follow();
    // SAFETY: as the caller promises.
    let program = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
    // SAFETY: as the caller promises.
    if !follow && !unsafe { Injected::is_in(environment) } {
        if let Some(program) = program.filter(|_| !is_recorded()) {
            let report = || injected.report_without_agent(program);
            without_cancellation(|| keeping_errno(report));
        }
        return with(environment);
    }
    // The dynamic linker would complain to the program's standard error, or end it.
    let can_be_loaded = || {
        keeping_errno(|| {
            // SAFETY: as the caller promises.
            let sanitizer = unsafe { sanitizer_in(environment) };
            let loaded = program.map_or(Ok(Loaded::WithAgent), |path| loads_agent(path, sanitizer));
            // It may start a program that is to be recorded.
            if loaded? == Loaded::Statically && follows_children() {
                injected.report(program.unwrap_or_default(), preload::STATIC.into());
            }
            injected.can_be_loaded()
        })
    };
    if let Err(reason) = without_cancellation(can_be_loaded) {
        let report = || injected.report(program.unwrap_or_default(), reason);
        without_cancellation(|| keeping_errno(report));
        // SAFETY: as the caller promises.
        return with_array(|next| unsafe { injected.taken_out(environment, next) }, with);
    }
    // The program may have replaced the value of `LD_PRELOAD`.
    // SAFETY: as the caller promises.
    if !follow && unsafe { injected.is_loaded_by(environment) } {
        return with(environment);
    }
    // SAFETY: as the caller promises.
    with_array(|next| unsafe { injected.put_back(environment, next) }, with)
}

/// Becomes another program by `call`, with what has to happen before and, if it fails, after.
///
/// # Safety
/// As `environment_for_next`.
pub unsafe fn become_program(
    path: *const c_char,
    environment: Strings,
    call: impl FnOnce(Strings) -> c_int,
) -> c_int {
    let recording = recorded();
    if let Some(recording) = recording {
        guarded((), recording.before_exec);
    }
    // SAFETY: as the caller promises.
    let failed = unsafe { environment_for_next(path, environment, call) };
    if let Some(recording) = recording {
        guarded((), recording.after_failed_exec);
    }
    failed
}

/// Starts a child by `call`: followed only if children are.
///
/// # Safety
/// As `environment_for_next`.
pub unsafe fn start_program(
    path: *const c_char,
    environment: Strings,
    call: impl FnOnce(Strings) -> c_int,
) -> c_int {
    if follows_children() || !is_recorded() {
        // SAFETY: as the caller promises.
        unsafe { environment_for_next(path, environment, call) }
    } else {
        call(environment)
    }
}
