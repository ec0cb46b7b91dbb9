//! A generation of runtimes: what differs between them, as far as sampling is concerned.

use std::ffi::{CStr, c_void};

use memtrail_ocaml::block::Value;
use memtrail_ocaml::memprof::Callback;

use crate::context::target::Target;
use crate::sampling::arguments::Arguments;
use crate::sampling::collection::Collection;
use crate::sampling::rate::RateControl;

/// Starts and stops a runtime's sampler.
pub(crate) trait Sampler: Sync {
    /// The code of a callback's closure.
    fn callback(&self, callback: Callback) -> *const ();

    /// What is called in place of the runtime's function that captures callstacks.
    fn capture(&self) -> *const c_void;

    /// Starts the sampler, with random numbers of this run's own. Gives what its rate can be changed by.
    ///
    /// # Safety
    /// The values are right for `caml_memprof_start`, which may be called here and now. The process has one thread.
    unsafe fn start(&self, target: &'static Target, arguments: &Arguments) -> Option<RateControl>;

    /// True if the program samples by itself, or has blocks that it sampled.
    ///
    /// # Safety
    /// As [`Self::join`].
    unsafe fn is_in_use(&self, target: &Target, domains: &[u64]) -> bool;

    /// Starts the sampler in a program that runs and does not sample by itself.
    ///
    /// # Safety
    /// The values are right for the sampler. All domains, which have these states, are stopped where the runtime's state
    /// is whole, and this thread acts for the main one.
    unsafe fn join(
        &self,
        target: &'static Target,
        arguments: &Arguments,
        domains: &[u64],
    ) -> Result<Option<RateControl>, &'static str>;

    /// True if a thread is in the midst of a callback of the sampler's.
    ///
    /// # Safety
    /// As [`Self::join`].
    unsafe fn calls_back(&self, target: &Target, domains: &[u64]) -> bool;

    /// Stops the sampler, and forgets all that it sampled for us: it is as before [`Self::join`].
    ///
    /// # Safety
    /// As [`Self::join`]. No thread is in the midst of a callback.
    unsafe fn leave(&self, target: &Target, ours: Value, domains: &[u64]);

    /// What stopping it fails with when nothing runs.
    fn not_started(&self) -> &'static CStr;

    /// A collection in the course of which our profile is stopped, if the generation needs one.
    fn collection(&self) -> Option<Collection>;

    /// Stops our profile, if it is this domain's, without a call of the runtime: in a collection, or where
    /// there is none.
    fn stop_profile(&self, target: &Target, ours: Value);

    /// Stops the sampler in place of the program's call that starts another profile.
    ///
    /// # Safety
    /// Our profile runs. All is allowed that `caml_memprof_start` may do.
    unsafe fn stop(&self, target: &Target);

    /// Ends sampling for good. From then on the runtime changes the size of no table of its sampler: the system calls of
    /// that are the agent's doing, and the program is about to forbid itself some.
    ///
    /// # Safety
    /// Our profile runs, and its functions are not redirected any more.
    unsafe fn cease(&self, target: &Target, ours: Value);
}
