//! Gives way to a program that uses the runtime's sampler itself.
//!
//! There is one sampler a domain, and whoever starts it second gets an exception. So its functions
//! are redirected once ours runs. Stopping it fails as if nothing ran, and our recording goes on.
//! Starting it ends our recording, stops our profile and gives the functions back, and the program's
//! call goes on as if we had never been.
//!
//! In OCaml 4 all this happens under the runtime's lock. In OCaml 5 several domains may get here at
//! once; one profile of ours is shared by all, and stopped by one write to its block, as
//! `caml_memprof_stop` does. It is not discarded: 5.3 crashes when that befalls a domain that is taking
//! a sample. So callbacks for blocks it knows may still come, and do nothing. Functions are given back
//! by one write each (see [`near`]).

use std::arch::naked_asm;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use memtrail_ocaml::block::{self, UNIT, Value};
use memtrail_ocaml::layout::FamilyState;
use memtrail_ocaml::{Family, Memory as _, memprof, symbols};

use crate::fence::fenced;
use crate::lock::Lock;
use crate::near::{self, Detour};
use crate::recorder::{self, Target};
use crate::runtime::symbol;
use crate::sampling::OURS;

/// What `caml_memprof_stop` says when nothing runs: 4.11 to 4.14, and 5.3 and later.
const NOT_STARTED: &CStr = c"Gc.Memprof.stop: not started.";
const NO_PROFILE: &CStr = c"Gc.Memprof.stop: no profile running.";

struct Guard {
    target: &'static Target,
    stop: u64,
    /// `caml_failwith`.
    raise: u64,
    detours: Vec<Detour>,
}

static GUARD: OnceLock<Guard> = OnceLock::new();
static GIVEN_WAY: Lock<bool> = Lock::new(false);

/// Watches for the program using the sampler. False if that is not possible.
pub(crate) fn watch(target: &'static Target) -> bool {
    let start = target.runtime.start_address;
    let stop = symbol(symbols::memprof::STOP);
    let asks = symbol(symbols::memprof::IS_SAMPLING);
    let raise = symbol(symbols::control::FAILWITH);
    let redirected = [
        (start, instead_of_start as unsafe extern "C" fn() as *const c_void),
        (stop, instead_of_stop as unsafe extern "C" fn() as *const c_void),
        (asks, instead_of_is_sampling as extern "C" fn(Value) -> Value as *const c_void),
    ];
    let Ok(slots) = near::page(start, &redirected.map(|(_, ours)| ours)) else { return false };
    let detours: Option<Vec<_>> = redirected
        .iter()
        .zip(slots)
        .filter(|((theirs, _), _)| !theirs.is_null())
        .map(|((theirs, _), slot)| Detour::begin(*theirs, slot).ok())
        .collect();
    let Some(detours) = detours.filter(|_| !raise.is_null()) else { return false };
    GUARD.set(Guard { target, stop: stop as u64, raise: raise as u64, detours }).is_ok()
}

/// Stands in for `caml_memprof_start`: gives way, then jumps there with the program's arguments. No
/// frame of ours is left for an exception to pass through.
#[unsafe(naked)]
unsafe extern "C" fn instead_of_start() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "call {give_way}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        give_way = sym give_way,
    );
    #[cfg(target_arch = "aarch64")]
    naked_asm!(
        "stp x0, x1, [sp, #-32]!",
        "stp x2, x30, [sp, #16]",
        "bl {give_way}",
        "mov x16, x0",
        "ldp x2, x30, [sp, #16]",
        "ldp x0, x1, [sp], #32",
        "br x16",
        give_way = sym give_way,
    );
}

/// Stands in for `caml_memprof_stop`.
#[unsafe(naked)]
unsafe extern "C" fn instead_of_stop() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!(
        "sub rsp, 8",
        "call {answer}",
        "add rsp, 8",
        "mov rdi, rax",
        "jmp rdx",
        answer = sym answer_to_stop,
    );
    #[cfg(target_arch = "aarch64")]
    naked_asm!(
        "str x30, [sp, #-16]!",
        "bl {answer}",
        "ldr x30, [sp], #16",
        "br x1",
        answer = sym answer_to_stop,
    );
}

/// Stands in for `caml_memprof_is_sampling`: the program's own profile does not run, or this would
/// not be called.
extern "C" fn instead_of_is_sampling(_: Value) -> Value {
    UNIT
}

/// Stands in for `caml_memprof_start` should it not be possible to give it back.
extern "C" fn nothing(_: Value, _: Value, _: Value) -> Value {
    UNIT
}

/// A function to jump to, with its argument.
#[repr(C)]
struct Jump {
    argument: u64,
    function: u64,
}

/// While ours runs, the program's does not: it gets the exception that it would get alone.
extern "C" fn answer_to_stop() -> Jump {
    let Some(guard) = GUARD.get() else {
        return Jump { argument: UNIT, function: nothing as *const () as u64 };
    };
    if *GIVEN_WAY.lock() {
        // Another domain has started its own just now.
        return Jump { argument: UNIT, function: guard.stop };
    }
    let message = match guard.target.runtime.version.family() {
        Family::Single => NOT_STARTED,
        Family::Multicore => NO_PROFILE,
    };
    Jump { argument: message.as_ptr() as u64, function: guard.raise }
}

/// Gives way, once. The address of the runtime's own function.
extern "C" fn give_way() -> u64 {
    let nowhere = nothing as *const () as u64;
    let Some(guard) = GUARD.get() else { return nowhere };
    let mut given_way = GIVEN_WAY.lock();
    if !*given_way {
        fenced((), recorder::give_way);
        // Before the functions are given back: a domain that starts its own must not find ours.
        fenced((), || stop(guard.target));
        if guard.detours.iter().any(|detour| detour.end().is_err()) {
            return nowhere;
        }
        *given_way = true;
        drop(given_way);
        if guard.target.runtime.version.family() == Family::Single {
            // SAFETY: our profile runs, so this neither fails nor raises; we are where the program's
            // own call would be, so all that the runtime does is allowed.
            unsafe { (guard.target.runtime.stop)(UNIT) };
        }
    }
    guard.target.runtime.start_address as u64
}

/// Stops our profile in all domains.
fn stop(target: &Target) {
    let FamilyState::Multicore(fields) = target.runtime.layout.state.family else { return };
    let memory = target.capturer.memory();
    let profile = fields
        .memprof
        .and_then(|offset| memory.field(target.runtime.state(), offset))
        .and_then(|domain| memory.field(domain, memprof::domain::PROFILE));
    if let (Some(profile), Some(&ours)) = (profile, OURS.get())
        && memprof::is_profile_of(&memory, profile, ours)
    {
        let status = (profile + memprof::profile::STATUS * 8) as *mut Value;
        let stopped = block::integer(memprof::profile::STOPPED);
        // SAFETY: the block lives as long as it is this domain's profile; an integer replaces an
        // integer, which is all that `caml_modify` would do.
        unsafe { status.write_volatile(stopped) };
    }
}
