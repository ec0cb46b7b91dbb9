//! OCaml 5: a sampler for each domain, and one profile of ours that all share.

use std::ffi::{CStr, c_void};
use std::mem;

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::block::{self, Value};
use memtrail_ocaml::layout::GenerationState;
use memtrail_ocaml::memprof::{self, Callback};
use memtrail_ocaml::symbols;

use crate::context::ocaml5::Ocaml5;
use crate::context::target::Target;
use crate::os::symbol::symbol;
use crate::sampling::arguments::Arguments;
use crate::sampling::capture_hook::{CollectMulticore, collect_multicore};
use crate::sampling::collection::Collection;
use crate::sampling::generation::Sampler;
use crate::sampling::rate::RateControl;
use crate::sampling::{
    channel_buffers, new_domains, running_multicore, seeding, static_profile, trampoline,
};

impl Sampler for Ocaml5 {
    fn callback(&self, callback: Callback) -> *const () {
        trampoline::multicore(callback)
    }

    fn capture(&self) -> *const c_void {
        collect_multicore as CollectMulticore as *const c_void
    }

    unsafe fn start(&self, target: &'static Target, arguments: &Arguments) -> Option<RateControl> {
        // SAFETY: as the caller promises; this is the thread of the only domain.
        let profiles = unsafe {
            channel_buffers::watch(target);
            new_domains::watch(target);
            seeding::seed_domain(target, target.runtime.state(), 0);
            let &Arguments { rate, frames, tracker, ours, .. } = arguments;
            let profile = target.runtime.start_sampler(rate, frames, tracker);
            static_profile::replace(target, profile, ours)
        };
        profiles.map(RateControl::Multicore)
    }

    unsafe fn is_in_use(&self, target: &Target, domains: &[u64]) -> bool {
        running_multicore::is_in_use(target, domains)
    }

    unsafe fn join(
        &self,
        target: &'static Target,
        arguments: &Arguments,
        domains: &[u64],
    ) -> Result<Option<RateControl>, &'static str> {
        // SAFETY: as the caller promises.
        unsafe { running_multicore::join(target, arguments, domains) }
            .map(|profiles| Some(RateControl::Multicore(profiles)))
    }

    unsafe fn calls_back(&self, target: &Target, domains: &[u64]) -> bool {
        running_multicore::calls_back(target, domains)
    }

    unsafe fn leave(&self, target: &Target, ours: Value, domains: &[u64]) {
        // SAFETY: as the caller promises.
        unsafe { running_multicore::leave(target, ours, domains) };
    }

    fn not_started(&self) -> &'static CStr {
        // 5.3 and later.
        c"Gc.Memprof.stop: no profile running."
    }

    fn collection(&self) -> Option<Collection> {
        Collection::find()
    }

    fn stop_profile(&self, target: &Target, ours: Value) {
        let GenerationState::Multicore(fields) = target.runtime.layout.state.generation else {
            return;
        };
        let memory = target.memory;
        let profile = fields
            .memprof
            .and_then(|offset| memory.field(target.runtime.state(), offset))
            .and_then(|domain| memory.field(domain, memprof::domain::PROFILE));
        if let Some(profile) = profile
            && memprof::is_profile_of(&memory, profile, ours)
        {
            let status = (profile + memprof::profile::STATUS * 8) as *mut Value;
            let stopped = block::integer(memprof::profile::STOPPED);
            // SAFETY: the block lives as long as it is this domain's profile; an integer replaces an
            // integer, which is all that `caml_modify` would do.
            unsafe { status.write_volatile(stopped) };
        }
    }

    // The profile was stopped in a collection. Another call would make the runtime discard it, for which
    // 5.3 is not ready.
    unsafe fn stop(&self, _: &Target) {}

    unsafe fn cease(&self, target: &Target, ours: Value) {
        static_profile::stop_all();
        let state = target.runtime.state();
        // A thread that has left the runtime has no domain.
        if state == 0 {
            return;
        }
        self.stop_profile(target, ours);
        static_profile::keep_sizes(target, state);
        for name in [symbols::memprof::SET_TRIGGER, symbols::memprof::RESET_YOUNG_LIMIT] {
            let function = symbol(name);
            if !function.is_null() {
                // SAFETY: the runtime declares both with this type; they write fields of this thread's domain. As nothing
                // is sampled any more, the first draws no distance.
                unsafe {
                    mem::transmute::<*mut c_void, unsafe extern "C" fn(u64)>(function)(state);
                };
            }
        }
    }
}
