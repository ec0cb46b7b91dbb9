//! Memory has run out: before the runtime raises `Out_of_memory`, which unwinds the stacks that hold
//! the memory, the heap is written down.
//!
//! The function that raises it is redirected. Its callers are in C code, called where OCaml's
//! registers are saved, and what they were about to allocate is not there: so this is as good a moment
//! as the end of a collection. Not covered are fatal errors in the midst of a minor collection, when
//! half of the heap has moved, and the kernel's own way of ending processes: see [`super::memory_pressure`].

use std::arch::naked_asm;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_ocaml::symbols::control;

use super::setting::setting;
use crate::os::clock::monotonic;
use crate::os::ffi_guard::guarded;
use crate::os::symbol::required;
use crate::os::trampoline_page::{self, CodeHook};

/// What raises the exception in the redirected function's place.
struct Raise {
    /// `caml_raise_constant`.
    function: u64,
    exception: u64,
}

/// The redirected function.
struct RaiseHook {
    /// What it was.
    raise: OnceLock<Raise>,
    /// When the last such snapshot was taken.
    last: AtomicU64,
}

static HOOK: RaiseHook = RaiseHook { raise: OnceLock::new(), last: AtomicU64::new(0) };
/// Nanoseconds to the next: a program that goes on may run out of memory again and again.
const REST: u64 = 10_000_000_000;

/// Redirects the function, while the process has one thread. The error says why that is not possible.
pub(super) fn prepare() -> Result<(), String> {
    let need = |name| required(name).map_err(|name| format!("its runtime does not export {name}"));
    let function = need(control::RAISE_OUT_OF_MEMORY)?;
    let raise = Raise {
        function: need(control::RAISE_CONSTANT)? as u64,
        exception: need(control::OUT_OF_MEMORY)? as u64,
    };
    if HOOK.raise.set(raise).is_err() {
        return Ok(());
    }
    let ours = instead_of_raise as unsafe extern "C" fn() as *const c_void;
    let redirected = trampoline_page::page(function, &[ours]).and_then(|slots| {
        slots.first().map_or(Ok(()), |slot| {
            // SAFETY: a function of the runtime, and ours in its place; the process has one thread.
            unsafe { CodeHook::begin(function, *slot).map(|_| ()) }
        })
    });
    redirected
        .map_err(|error| format!("{} cannot be redirected: {error}", control::RAISE_OUT_OF_MEMORY))
}

/// Replaces `caml_raise_out_of_memory`, and leaves no frame of ours for the exception to pass.
#[unsafe(naked)]
unsafe extern "C" fn instead_of_raise() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!(
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        "mov rdi, rax",
        "jmp rdx",
        before = sym before_raise,
    );
    #[cfg(target_arch = "aarch64")]
    naked_asm!(
        "str x30, [sp, #-16]!",
        "bl {before}",
        "ldr x30, [sp], #16",
        "br x1",
        before = sym before_raise,
    );
}

/// A function to jump to, with its argument.
#[repr(C)]
struct Jump {
    argument: u64,
    function: u64,
}

extern "C" fn before_raise() -> Jump {
    guarded((), || {
        let Some(setting) = setting() else { return };
        let (now, last) = (monotonic(), HOOK.last.load(Relaxed));
        let rests = last != 0 && now.saturating_sub(last) < REST;
        if rests || HOOK.last.compare_exchange(last, now, Relaxed, Relaxed).is_err() {
            return;
        }
        setting.heap.out_of_memory();
    });
    let (argument, function) =
        HOOK.raise.get().map_or((0, 0), |raise| (raise.exception, raise.function));
    Jump { argument, function }
}
