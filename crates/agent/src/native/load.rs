//! Loading of the library into a native program: recording begins.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use memtrail_recording::Outcome;
use memtrail_recording::session::{Options, State};
use memtrail_sampler::{MAX_FRAMES, events, start_in_words};

use crate::lifecycle::environment::Injected;
use crate::lifecycle::load::texts;
use crate::lifecycle::recorded::{self, Recorded};
use crate::lifecycle::start::claim;
use crate::lifecycle::{environment_array, injected};
use crate::native::begin::begin;
use crate::native::current::{installed, own};
use crate::native::ending;
#[cfg(target_arch = "x86_64")]
use crate::native::exit_call;
use crate::native::mapping_calls;
use crate::native::references::{requests, take};
use crate::native::setting::Setting;
use crate::native::tracker::BlockWriter;
use crate::os::errno::keeping_errno;
use crate::os::own_thread::LONG_PATIENCE;
use crate::os::{deadly_signal, ffi_guard, heap, own_thread, private_stack, thread_exit};
use crate::recording::end::NO_MEMORY;
use crate::recording::relay;
use crate::recording::report::report;

/// What the recording of a native program can do.
static RECORDED: Recorded = Recorded {
    has_begun: || installed().is_some(),
    follows_children: || installed().is_some_and(|recording| recording.setting.options.children),
    takes_snapshots: || {
        let snapshots = installed().and_then(|own| own.setting.options.snapshots.as_ref());
        snapshots.is_some_and(|asked| asked.exit || asked.request || asked.every_ms > 0)
    },
    give_up_last: || {
        keeping_errno(deadly_signal::uninstall);
        if let Some(recording) = own() {
            recording.give_up_last();
        }
    },
    before_exec: || note(Some(Outcome::Execed)),
    after_failed_exec: || note(None),
    end_with_note: |words| {
        keeping_errno(deadly_signal::uninstall);
        if let Some(recording) = own() {
            events::suspended(|| recording.end_with_note(words));
            own_thread::end_ours(LONG_PATIENCE);
        }
    },
};

fn note(outcome: Option<Outcome>) {
    if let Some(recording) = own() {
        keeping_errno(|| events::suspended(|| recording.note(outcome)));
    }
}

/// The library has been loaded into a process with these arguments. `is_bypassed`: the program calls an allocator that
/// is not behind the library's functions.
///
/// # Safety
/// Called once, before anything is allocated by this library and while the process has one thread. `arguments` are so
/// many C strings.
pub unsafe fn load(count: c_int, arguments: *const *const c_char, is_bypassed: bool) {
    // SAFETY: as the caller promises.
    unsafe { heap::prepare() };
    ffi_guard::guarded((), || {
        let Some(injected) = Injected::find() else { return };
        install();
        // SAFETY: as the caller promises.
        let arguments = unsafe { texts(count, arguments) };
        let injected = injected::keep(injected);
        relay::map(&injected.session);
        let Ok(options) = Options::load(&injected.session) else { return };
        if options.memtrail != env!("CARGO_PKG_VERSION") {
            return;
        }
        relay::stay_known(&injected.session);
        if !options.children {
            injected.remove();
        }
        let session = injected.session.clone();
        if let Some(state) = injected.refusal() {
            report(&session, std::process::id(), 0, state);
            return;
        }
        if let Err(state) = start(options, &session, arguments, is_bypassed) {
            report(&session, std::process::id(), 0, state);
        }
    });
}

fn install() {
    recorded::install(&RECORDED, for_want_of_memory);
}

/// Gets the library ready in a program that runs, once.
pub(super) fn begin_library() {
    install();
    thread_exit::prepare(thread_ends);
}

/// Frames of callstacks that are recorded.
pub(super) fn depth(options: &Options) -> usize {
    MAX_FRAMES.min(options.callstack_depth as usize)
}

/// There is no memory for our work any more: the process goes on without.
fn for_want_of_memory() {
    own_thread::end_ours(0);
    if let Some(recording) = own() {
        events::suspended(|| recording.end_with_note(NO_MEMORY));
    }
}

/// Starts to record, or gives what becomes of the process instead.
fn start(
    options: Options,
    session: &Path,
    arguments: Vec<String>,
    is_bypassed: bool,
) -> Result<(), State> {
    let refused = |reason| State::Refused { reason, hint: None };
    if is_bypassed {
        return Err(refused("has an allocator of its own in its executable".into()));
    }
    if !options.children && !claim(session) {
        return Err(State::Passed);
    }
    let setting = Setting::keep(options, session, arguments).map_err(refused)?;
    thread_exit::prepare(thread_ends);
    begin(setting, None, 0).map_err(refused)?.report();
    let snapshots = setting.options.snapshots.clone();
    if let Some(options) = &snapshots {
        take::prepare();
        if options.exit || options.auto {
            #[cfg(target_arch = "x86_64")]
            exit_call::watch();
            deadly_signal::install(&ending::LAST_WORK);
        }
    }
    let depth = depth(&setting.options);
    if let Ok(profile) = start_in_words(setting.per_byte, depth, BlockWriter, setting.seed) {
        // Until the process ends: blocks are freed late.
        profile.keep();
        if setting.options.mappings {
            mapping_calls::record();
        }
    }
    if let Some(options) = &snapshots {
        requests::start(options);
    }
    Ok(())
}

/// Runs as a thread ends.
extern "C" fn thread_ends(_: *mut c_void) {
    if ffi_guard::is_stopped() {
        return;
    }
    // SAFETY: the thread runs none of our code but this.
    unsafe { environment_array::free() };
    own_thread::one_of_theirs_ends();
    private_stack::release();
}
