//! The sampler of runtimes that have none: OCaml 5.0 to 5.2, whose `caml_memprof_start` only raises.
//!
//! What the sampler of 5.3 does inside the runtime is done from outside. Each domain allocates down to
//! `young_limit`; that is raised to where the next sample is, so that the allocation which it falls into
//! comes to `caml_alloc_small_dispatch`, as in other versions. Blocks of the major heap and memory
//! outside of it are seen where they are allocated. Sampled blocks are looked at when their domain's minor
//! heap has been emptied, and when a major cycle begins, while all domains are stopped.
//!
//! The runtime's own functions are called all the same ([`crate::os::detour`]).

mod deaths;
mod domain;
mod entry;
mod functions;
pub(crate) mod tracked;

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use memtrail_ocaml::layout::MulticoreState;

use crate::context::target::Target;
use crate::sampling::rate::{self, RateControl};
use crate::sampling::state;
use functions::Functions;

/// What stands for the runtime's sampler.
struct Substitute {
    target: &'static Target,
    fields: MulticoreState,
    functions: Functions,
}

static SUBSTITUTE: OnceLock<Substitute> = OnceLock::new();

/// There once sampling has begun.
fn substitute() -> Option<&'static Substitute> {
    SUBSTITUTE.get()
}

/// Gets ready to capture callstacks.
pub(crate) fn prepare(target: &'static Target) {
    state::set_up(target);
    target.incremental.store(true, Relaxed);
}

/// Starts sampling. The error says why that is not possible: then the runtime is as it was.
///
/// The runtime is ready, the program's own code has not run: the process has one thread.
pub(crate) fn start(target: &'static Target) -> Result<(), String> {
    let missing = |name: &str| format!("its runtime does not export {name}");
    let fields = *target.runtime.layout.multicore().ok_or_else(|| missing("caml_state"))?;
    let (functions, prepared) = Functions::prepare()?;
    if SUBSTITUTE.set(Substitute { target, fields, functions }).is_err() {
        return Err("it is being sampled already".into());
    }
    // SAFETY: the process has one thread; ours take and give what the runtime's functions do, none of which
    // begins with a loop in the sources of these versions.
    unsafe { prepared.begin() }.map_err(|error| format!("its code cannot be changed: {error}"))?;
    deaths::watch();
    if let Some(substitute) = substitute() {
        substitute.renew(target.runtime.state());
    }
    rate::begin(target, Some(RateControl::Substitute));
    Ok(())
}
