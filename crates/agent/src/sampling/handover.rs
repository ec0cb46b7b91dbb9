//! Gives way to a program that uses the runtime's sampler itself.
//!
//! There is one sampler a domain, and whoever starts it second gets an exception. So its functions
//! are redirected once ours runs. Stopping it fails as if nothing ran, and our recording goes on.
//! Starting it ends our recording, stops our profile and gives the functions back, and the program's
//! call goes on as if we had never been.
//!
//! In OCaml 4 all this happens under the runtime's lock. In OCaml 5 several domains may get here at
//! once, and one profile of ours is shared by all. It is stopped, by one write to its block, in the
//! course of a minor collection: while no domain runs, and before each decides where its next sample
//! is to be. Otherwise they would still take one, and the runtime count it for the program's profile.
//! The profile is not discarded as well, for 5.3 crashes when that befalls a domain with samples
//! pending; callbacks for blocks it knows may still come, and do nothing. Only then are the functions
//! given back, by one write each (see [`crate::os::trampoline_page`]).

use std::arch::naked_asm;
use std::ffi::c_void;
use std::sync::OnceLock;

use memtrail_ocaml::block::{UNIT, Value};
use memtrail_ocaml::symbols;

use crate::context::target::Target;
use crate::os::ffi_guard::guarded;
use crate::os::lock::Lock;
use crate::os::symbol::symbol;
use crate::os::trampoline_page::{self, CodeHook};
use crate::recording::end;
use crate::sampling::collection::Collection;
use crate::sampling::generation::Sampler;
use crate::sampling::start::OUR_PROFILE;

struct Guard {
    target: &'static Target,
    generation: &'static dyn Sampler,
    start: u64,
    stop: u64,
    /// `caml_failwith`.
    raise: u64,
    collection: Option<Collection>,
    /// The redirected functions, and the slots that they lead to.
    redirected: Vec<(u64, u64)>,
}

impl Guard {
    /// Stops our profile, if it is this domain's.
    fn stop_profile(&self) {
        if let Some(&ours) = OUR_PROFILE.get() {
            self.generation.stop_profile(self.target, ours);
        }
    }
}

/// Whose the sampler is.
#[derive(PartialEq)]
enum Progress {
    Ours,
    /// Ours is being stopped, the functions are still redirected.
    Stopping,
    Theirs,
}

/// The hand-over to the program's own use of the sampler.
struct Handover {
    /// There if it is watched for.
    guard: OnceLock<Guard>,
    /// The jumps in the functions that are redirected now.
    hooks: Lock<Vec<CodeHook>>,
    progress: Lock<Progress>,
}

static HANDOVER: Handover = Handover {
    guard: OnceLock::new(),
    hooks: Lock::new(Vec::new()),
    progress: Lock::new(Progress::Ours),
};

/// Watches for the program using the sampler. False if that is not possible.
///
/// # Safety
/// The process has one thread, or no thread begins one of the sampler's functions now.
pub(crate) unsafe fn watch(target: &'static Target, generation: &'static dyn Sampler) -> bool {
    if HANDOVER.guard.get().is_none() && prepare(target, generation).is_none() {
        return false;
    }
    let redirected = HANDOVER.guard.get().map(|guard| &*guard.redirected).unwrap_or_default();
    let hooks = redirected.iter().map(|&(theirs, slot)| {
        // SAFETY: functions of the runtime, and ours in their place; the rest as the caller promises.
        unsafe { CodeHook::begin(theirs as *mut c_void, slot).ok() }
    });
    let Some(hooks) = hooks.collect() else { return false };
    *HANDOVER.hooks.lock() = hooks;
    *HANDOVER.progress.lock() = Progress::Ours;
    true
}

/// Watches no more. False if a function could not be given back.
pub(crate) fn watch_no_more() -> bool {
    let mut hooks = HANDOVER.hooks.lock();
    hooks.retain(|hook| hook.end().is_err());
    hooks.is_empty()
}

/// True while the sampler is ours, and not the program's.
pub(crate) fn is_ours() -> bool {
    *HANDOVER.progress.lock() == Progress::Ours
}

/// Finds the functions, once. Nothing if they cannot be redirected.
fn prepare(target: &'static Target, generation: &'static dyn Sampler) -> Option<()> {
    let sampler = target.runtime.sampler.as_ref()?;
    let start = sampler.start_address;
    let stop = symbol(symbols::memprof::STOP);
    let asks = symbol(symbols::memprof::IS_SAMPLING);
    let raise = symbol(symbols::control::FAILWITH);
    let redirected = [
        (start, instead_of_start as unsafe extern "C" fn() as *const c_void),
        (stop, instead_of_stop as unsafe extern "C" fn() as *const c_void),
        (asks, instead_of_is_sampling as extern "C" fn(Value) -> Value as *const c_void),
    ];
    let slots = trampoline_page::page(start, &redirected.map(|(_, ours)| ours)).ok()?;
    let redirected = redirected
        .iter()
        .zip(slots)
        .filter(|((theirs, _), _)| !theirs.is_null())
        .map(|((theirs, _), slot)| (*theirs as u64, slot))
        .collect();
    if raise.is_null() {
        return None;
    }
    let (start, stop, raise) = (start as u64, stop as u64, raise as u64);
    let collection = generation.collection();
    let guard = Guard { target, generation, start, stop, raise, collection, redirected };
    HANDOVER.guard.set(guard).ok()
}

/// Replaces `caml_memprof_start`: gives way, then jumps there with the program's arguments. No
/// frame of ours is left for an exception to pass through.
#[unsafe(naked)]
unsafe extern "C" fn instead_of_start() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "mov rdi, rsp",
        "call {hand_over}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        hand_over = sym hand_over,
    );
    #[cfg(target_arch = "aarch64")]
    naked_asm!(
        "stp x2, x1, [sp, #-32]!",
        "stp x0, x30, [sp, #16]",
        "mov x0, sp",
        "bl {hand_over}",
        "mov x16, x0",
        "ldp x0, x30, [sp, #16]",
        "ldp x2, x1, [sp], #32",
        "br x16",
        hand_over = sym hand_over,
    );
}

/// Replaces `caml_memprof_stop`.
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

/// Replaces `caml_memprof_is_sampling`: the program's own profile does not run, or this would
/// not be called.
extern "C" fn instead_of_is_sampling(_: Value) -> Value {
    UNIT
}

/// Replaces `caml_memprof_start` should it not be possible to give it back.
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
    let Some(guard) = HANDOVER.guard.get() else {
        return Jump { argument: UNIT, function: nothing as *const () as u64 };
    };
    if *HANDOVER.progress.lock() == Progress::Theirs {
        // Another domain has started its own just now.
        return Jump { argument: UNIT, function: guard.stop };
    }
    let message = guard.generation.not_started();
    Jump { argument: message.as_ptr() as u64, function: guard.raise }
}

/// The program's arguments of `caml_memprof_start`, in memory.
#[repr(C)]
struct Arguments {
    tracker: Value,
    frames: Value,
    rate: Value,
}

/// Gives way. The address of the runtime's own function.
///
/// # Safety
/// Called in place of `caml_memprof_start`, with its arguments.
unsafe extern "C" fn hand_over(arguments: *mut Arguments) -> u64 {
    let nowhere = nothing as *const () as u64;
    let Some(guard) = HANDOVER.guard.get() else { return nowhere };
    let target = guard.target;
    let mut progress = HANDOVER.progress.lock();
    let first = *progress == Progress::Ours;
    if first {
        guarded((), end::hand_over);
        match &guard.collection {
            Some(collection) => collection.install_hook(as_each_begins),
            // Second best; nothing to do in OCaml 4.
            None => guard.stop_profile(),
        }
        *progress = Progress::Stopping;
    }
    drop(progress);
    // No lock is held here: other domains that get to this place are involved in the collection.
    if let Some(collection) = &guard.collection {
        // SAFETY: as the caller promises.
        unsafe { collection.run([&raw mut (*arguments).tracker, &raw mut (*arguments).rate]) };
    }
    let mut progress = HANDOVER.progress.lock();
    if *progress != Progress::Theirs {
        if let Some(collection) = &guard.collection {
            collection.remove_hook(as_each_begins);
        }
        if !watch_no_more() {
            return nowhere;
        }
        *progress = Progress::Theirs;
    }
    drop(progress);
    if first {
        // SAFETY: our profile runs; we are where the program's own call would be, so all that the runtime
        // does is allowed.
        unsafe { guard.generation.stop(target) };
    }
    guard.start
}

/// Ends our sampling for good, and gives the functions back.
pub(crate) fn end_sampling() {
    let Some(guard) = HANDOVER.guard.get() else { return };
    let Some(mut progress) = HANDOVER.progress.lock_unless_ending() else { return };
    if *progress != Progress::Ours || !watch_no_more() {
        return;
    }
    *progress = Progress::Theirs;
    if let Some(&ours) = OUR_PROFILE.get() {
        // SAFETY: our profile has run up to here, and the functions are the runtime's own again.
        unsafe { guard.generation.cease(guard.target, ours) };
    }
}

/// Runs in each domain as it begins a minor collection, while all others are stopped too.
extern "C" fn as_each_begins() {
    let Some(guard) = HANDOVER.guard.get() else { return };
    guarded((), || guard.stop_profile());
    if let Some(collection) = &guard.collection {
        collection.go_on();
    }
}
