//! The sampler of runtimes that have none: OCaml 5.0 to 5.2, whose `caml_memprof_start` only raises. Later ones are given
//! it where that is asked for, and keep theirs for the program.
//!
//! What the sampler of 5.3 does inside the runtime is done from outside. Each domain allocates down to
//! `young_limit`; that is raised to where the next sample is, so that the allocation which it falls into
//! comes to `caml_alloc_small_dispatch`, as in other versions. Blocks of the major heap and memory
//! outside of it are seen where they are allocated. Sampled blocks are looked at when their domain's minor
//! heap has been emptied, and when a major cycle begins, while all domains are stopped.
//!
//! The runtime's own functions are called all the same ([`crate::os::function_hooks`]).

mod deaths;
mod domain;
mod entry;
mod functions;
mod installed;
pub(crate) mod tracked;

use std::sync::atomic::Ordering::Relaxed;

use memtrail_ocaml::version::Version;

use crate::context::target::Target;
use crate::os::function_hooks::Prepared;
use crate::sampling::rate::{self, RateControl};
use crate::sampling::state;
use functions::{Functions, Replacements};
use installed::{Substitute, install};

const REPLACEMENTS: Replacements = Replacements {
    small: entry::small,
    large: [entry::large::<0>, entry::large::<1>, entry::large::<2>],
    custom: entry::custom,
    reset_limit: entry::reset_limit,
    after_minor: entry::after_minor,
    compact: entry::compact,
    counted: entry::counted,
};

/// What it needs of a runtime.
pub(crate) struct Found {
    functions: Functions,
    prepared: Prepared,
}

/// Looks whether a runtime can be given it. The error says why not. Nothing of the runtime is changed.
pub(crate) fn find(version: Version) -> Result<Found, String> {
    if !version.can_be_given_sampler() {
        return Err("its allocator has no place to stand before".to_owned());
    }
    let (functions, prepared) = Functions::prepare(version, &REPLACEMENTS)?;
    Ok(Found { functions, prepared })
}

/// Gets ready to capture callstacks.
pub(crate) fn prepare(target: &'static Target) {
    state::set_up(target);
    target.incremental.store(true, Relaxed);
}

/// Starts sampling. The error says why that is not possible: then the runtime is as it was.
///
/// The runtime is ready, the program's own code has not run: the process has one thread.
pub(crate) fn start(target: &'static Target, found: Found) -> Result<(), String> {
    let Found { functions, prepared } = found;
    let substitute = install(Substitute { target, functions })
        .ok_or_else(|| "it is being sampled already".to_owned())?;
    // SAFETY: the process has one thread; ours take and give what the runtime's functions do, none of which
    // begins with a loop in the sources of these versions.
    unsafe { prepared.begin() }.map_err(|error| format!("its code cannot be changed: {error}"))?;
    deaths::watch();
    substitute.renew(target.runtime.state());
    rate::begin(target, Some(RateControl::Substitute));
    Ok(())
}
