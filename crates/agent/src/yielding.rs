//! Gives way to a program that starts the runtime's sampler itself.
//!
//! There is one sampler a domain, and whoever starts it second gets an exception. So the function
//! that starts it is redirected here once ours runs: when the program calls it, our recording ends,
//! our profile is stopped, and the program's call goes on as if we had never been.

use std::sync::OnceLock;

use memtrail_ocaml::block::{UNIT, Value};
use memtrail_ocaml::layout::FamilyState;
use memtrail_ocaml::{Memory as _, memprof};

use crate::fence::fenced;
use crate::patch::{self, Patched};
use crate::recorder::{self, Target};
use crate::sampling::OURS;

static GUARD: OnceLock<(Patched, &'static Target)> = OnceLock::new();

/// Watches for the program starting the sampler. False if that is not possible.
pub(crate) fn watch(target: &'static Target) -> bool {
    let ours: unsafe extern "C" fn(Value, Value, Value) -> Value = instead_of_start;
    match patch::redirect(target.runtime.start_address, ours as *const _) {
        Ok(patched) => GUARD.set((patched, target)).is_ok(),
        Err(_) => false,
    }
}

/// Stands in for `caml_memprof_start`.
unsafe extern "C" fn instead_of_start(rate: Value, frames: Value, tracker: Value) -> Value {
    let Some((patched, target)) = GUARD.get() else { return UNIT };
    fenced((), recorder::give_way);
    if fenced(true, || is_ours(target)) {
        // SAFETY: the profile of this domain is ours and runs, so this neither fails nor raises; we
        // are where the program's own call would be, so all that the runtime does is allowed.
        unsafe { (target.runtime.stop)(UNIT) };
    }
    // Should this fail, the call below would come back here for ever.
    if patched.restore().is_err() {
        return UNIT;
    }
    // SAFETY: the program's own call, with its own arguments.
    unsafe { (target.runtime.start)(rate, frames, tracker) }
}

/// Whether the profile that runs in this domain is the one we started. In OCaml 4 there is only one.
fn is_ours(target: &Target) -> bool {
    let FamilyState::Multicore(fields) = target.runtime.layout.state.family else { return true };
    let memory = target.capturer.memory();
    let profile = fields
        .memprof
        .and_then(|offset| memory.field(target.runtime.state(), offset))
        .and_then(|domain| memory.field(domain, memprof::domain::PROFILE));
    match (profile, OURS.get()) {
        (Some(profile), Some(&closure)) => {
            memprof::is_profile_of(&memory, profile, closure)
                && memory.field(profile, memprof::profile::STATUS * 8) == Some(UNIT)
        }
        _ => false,
    }
}
