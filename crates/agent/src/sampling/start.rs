//! The runtime's sampler, started with callbacks that are native code in this library.
//!
//! The tracker, its closures and the rate are static data to the runtime; starting runs no OCaml
//! code, and no callback does.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use memtrail_ocaml::block;
use memtrail_ocaml::memprof::{Callback, TRACKER_WOSIZE};
use memtrail_recording::session::Pace;

use crate::context::functions::size_of_function;
use crate::context::target::Target;
use crate::os::lock::Lock;
use crate::os::patch::{self, Redirection};
use crate::os::symbol::symbol;
use crate::sampling::arguments::Arguments;
use crate::sampling::callstack::token::FRAMES_ASKED_FOR;
use crate::sampling::generation::Sampler;
use crate::sampling::value::{Closure, Float, Record};
use crate::sampling::{rate, state};

/// Frames that the runtime is asked for when it captures callstacks itself.
const ALL_FRAMES: i64 = i32::MAX as i64;

/// The `AllocMinor` closure, by which a profile is known to be ours.
pub(crate) static OUR_PROFILE: OnceLock<u64> = OnceLock::new();

/// The runtime's function that captures callstacks, while ours stands before it.
static CAPTURE: Lock<Option<Redirection>> = Lock::new(None);

/// Decides who captures callstacks.
pub(crate) fn prepare(target: &'static Target, generation: &'static dyn Sampler) {
    state::set_up(target);
    let incremental = !target.options.runtime_callstacks && redirect_capture(target, generation);
    target.incremental.store(incremental, Relaxed);
}

fn redirect_capture(target: &Target, generation: &dyn Sampler) -> bool {
    let Some(sampler) = &target.runtime.sampler else { return false };
    let name = sampler.capture_function;
    let (function, size) = (symbol(name).cast(), size_of_function(name));
    // SAFETY: the function of this name, and one that takes and gives the same. The process has one thread, or no thread
    // captures a callstack now.
    let Ok(redirection) = (unsafe { patch::redirect(function, size, generation.capture()) }) else {
        return false;
    };
    *CAPTURE.lock() = Some(redirection);
    true
}

/// Leaves capturing to the runtime again.
///
/// # Safety
/// No thread captures a callstack now.
pub(crate) unsafe fn give_back() {
    if let Some(redirection) = CAPTURE.lock().take() {
        // SAFETY: as the caller promises. Should it fail, ours captures what the runtime's own would.
        let _ = unsafe { redirection.undo() };
    }
}

/// Starts sampling. Nothing may stand between this and the program's own first allocation.
pub(crate) fn start(target: &'static Target, generation: &'static dyn Sampler) {
    let arguments = arguments(target, generation);
    // SAFETY: the types are the runtime's; called where allocation is allowed (before the program's
    // own code, after the runtime's set-up), with values that live for ever.
    let control = unsafe { generation.start(target, &arguments) };
    rate::begin(target, control);
}

/// Starts sampling in a program that runs, whose domains have these states. The error is a reason.
///
/// # Safety
/// All domains are stopped where the runtime's state is whole, and this thread acts for the main one.
pub(crate) unsafe fn join(
    target: &'static Target,
    generation: &'static dyn Sampler,
    domains: &[u64],
) -> Result<(), &'static str> {
    let arguments = arguments(target, generation);
    // SAFETY: as the caller promises, with values that live for ever.
    let control = unsafe { generation.join(target, &arguments, domains) }?;
    rate::begin(target, control);
    Ok(())
}

/// The sampler's arguments. The closures are made once, whatever is recorded later.
fn arguments(target: &Target, generation: &dyn Sampler) -> Arguments {
    static CLOSURES: OnceLock<[Closure; TRACKER_WOSIZE as usize]> = OnceLock::new();
    let runtime = &target.runtime;
    let incremental = target.incremental.load(Relaxed);
    let frames = if incremental { FRAMES_ASKED_FOR as i64 } else { ALL_FRAMES };

    let closures = CLOSURES.get_or_init(|| {
        Callback::ALL.map(|callback| Closure::new(generation.callback(callback), runtime.version))
    });
    let tracker = Box::leak(Box::new(Record::new(closures.each_ref().map(Closure::value))));
    let rate = Box::leak(Box::new(Float::new(target.options.rate)));
    let ours = closures[0].value();
    OUR_PROFILE.get_or_init(|| ours);
    let changes = target.options.pace != Pace::Constant;
    Arguments {
        rate: rate.value(),
        frames: block::integer(frames),
        tracker: tracker.value(),
        ours,
        finds_variables: changes && !target.options.decline_samples,
    }
}
