//! OCaml 4: one sampler, whose variables are found by what they do.

use std::ffi::{CStr, c_void};

use memtrail_ocaml::block::Value;
use memtrail_ocaml::memprof::Callback;

use crate::context::ocaml4::Ocaml4;
use crate::context::target::Target;
use crate::os::own_thread;
use crate::sampling::arguments::Arguments;
use crate::sampling::capture_hook::{CollectSingle, collect_single};
use crate::sampling::collection::Collection;
use crate::sampling::generation::Sampler;
use crate::sampling::generator::Generator;
use crate::sampling::rate::RateControl;
use crate::sampling::rate::statics::Statics;
use crate::sampling::{running_single, seeding, trampoline};

impl Sampler for Ocaml4 {
    fn callback(&self, callback: Callback) -> *const () {
        trampoline::single(callback)
    }

    fn capture(&self) -> *const c_void {
        collect_single as CollectSingle as *const c_void
    }

    unsafe fn start(&self, target: &'static Target, arguments: &Arguments) -> Option<RateControl> {
        // SAFETY: as the caller promises; it has not been started yet, and nothing was drawn.
        let generator = unsafe { Generator::find(target, arguments) };
        // SAFETY: as the caller promises.
        let find = || unsafe { Statics::find(target, arguments) };
        let found = arguments.finds_variables.then(find).flatten();
        // SAFETY: as the caller promises.
        unsafe {
            seeding::seed_single(target, arguments, generator.as_ref());
            target.runtime.start_sampler(arguments.rate, arguments.frames, arguments.tracker);
        }
        Some(found.map_or(RateControl::Thinned, RateControl::Single))
    }

    unsafe fn is_in_use(&self, target: &Target, _: &[u64]) -> bool {
        // SAFETY: as the caller promises.
        unsafe { running_single::is_in_use(target) }
    }

    unsafe fn join(
        &self,
        target: &'static Target,
        arguments: &Arguments,
        _: &[u64],
    ) -> Result<Option<RateControl>, &'static str> {
        // SAFETY: it neither allocates nor collects, and the caller holds the runtime's lock.
        Ok(unsafe { self.start(target, arguments) })
    }

    unsafe fn calls_back(&self, _: &Target, _: &[u64]) -> bool {
        // SAFETY: as the caller promises.
        unsafe { running_single::calls_back() }
    }

    unsafe fn leave(&self, target: &Target, _: Value, _: &[u64]) {
        // SAFETY: our profile runs, so this neither fails nor raises. It frees the tables.
        unsafe { target.runtime.stop_sampler() };
    }

    fn not_started(&self) -> &'static CStr {
        // 4.11 to 4.14.
        c"Gc.Memprof.stop: not started."
    }

    fn collection(&self) -> Option<Collection> {
        None
    }

    fn stop_profile(&self, _: &Target, _: Value) {}

    unsafe fn stop(&self, target: &Target) {
        // SAFETY: as the caller promises, this neither fails nor raises.
        unsafe { target.runtime.stop_sampler() };
    }

    unsafe fn cease(&self, target: &Target, _: Value) {
        // Which thread has the runtime's lock is not known. One that is alone may do what it needs the lock for.
        if own_thread::is_alone() {
            // SAFETY: as the caller promises, this neither fails nor raises. It frees the tables.
            unsafe { target.runtime.stop_sampler() };
        }
    }
}
