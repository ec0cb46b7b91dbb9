//! `memtrail attach --native`: records a native program that runs.
//!
//! The library was loaded late, so that none of its functions is called. A thread of ours has the loaded objects call them
//! ([`Imports`]), and starts the profile. At the end all is as before: the objects call the allocator, and what was sampled is
//! forgotten.

use std::ffi::{c_char, c_int};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use memtrail_recording::ATTACHED;
use memtrail_recording::session::Options;
use memtrail_sampler::{Profile, Registers, events, start_in_words};

use crate::lifecycle::attachment::{self, Attached, DETACHED, LOOK};
use crate::native::begin::begin;
use crate::native::current::Recording;
use crate::native::load::{begin_library, depth};
use crate::native::mapping_calls;
use crate::native::measure::measure;
use crate::native::references::{requests, take};
use crate::native::setting::Setting;
use crate::native::tracker::BlockWriter;
use crate::os::imports::Replaced;
use crate::os::rest::{self, Rest};
use crate::os::{heap, own_thread};
use crate::recording::relay;

/// The way in which functions of this library come before those of the program's allocator.
#[derive(Debug)]
pub struct Imports {
    /// Finds the allocator's functions. The error is a reason.
    pub find: fn() -> Result<(), String>,
    /// Has the program's objects call ours: those that map memory, too, if that is asked for.
    pub replace: fn(mappings: bool) -> Replaced,
}

static IMPORTS: OnceLock<&'static Imports> = OnceLock::new();

static THIS_AGENT: Attached = Attached { prepare: begin_library, follow };

const UNSEEN: &str = "not recorded of an attached program: exec and _exit, frees by addresses of functions that the program \
     had stored before, and filters of system calls (seccomp), which must allow the agent's";
/// Time for threads that sample to end that.
const PATIENCE: Duration = Duration::from_secs(2);
const SAMPLED: &str = "samples its calls of malloc by itself, with memtrail's sampler";

/// The library has been loaded into a program that runs.
///
/// # Safety
/// Called once, before anything is allocated by this library.
pub unsafe fn load_late() {
    // SAFETY: as the caller promises.
    unsafe { heap::prepare() };
}

/// Begins to record this process for a session.
///
/// # Safety
/// `session` is a C string. The calling thread is neither in the dynamic linker nor in `malloc`.
pub unsafe fn attach(session: *const c_char, main_thread: u64, imports: &'static Imports) -> c_int {
    IMPORTS.get_or_init(|| imports);
    // SAFETY: as the caller promises.
    unsafe { attachment::attach(session, main_thread, &THIS_AGENT) }
}

/// Records until somebody asks to end it, or the program ends. The error is a reason.
fn follow(session: &Path) -> Result<(), String> {
    let imports = *IMPORTS.get().ok_or("was not attached")?;
    // Blocks that libc allocates for this thread are not the program's.
    events::suspended(|| {
        let options = attachment::join(session)?;
        (imports.find)()?;
        let recording = begin_recording(options, session)?;
        attachment::has_begun();
        let mut replaced = (imports.replace)(recording.setting.options.mappings);
        let profile = match start(recording, replaced.refused) {
            Ok(profile) => profile,
            Err(reason) => {
                replaced.give_back();
                return Err(reason);
            }
        };
        let mut rest = Rest::begin(rest::ASKED);
        while rest.sleep(LOOK) {
            if attachment::is_detached(session) {
                end(recording, replaced, profile);
                return Ok(());
            }
            replaced.renew();
        }
        // Its other threads go on, and are recorded.
        std::mem::forget(profile);
        Ok(())
    })
}

fn begin_recording(options: Options, session: &Path) -> Result<&'static Recording, String> {
    let setting = Setting::keep(options, session, attachment::arguments())?;
    let recording = begin(setting, None, u32::from(attachment::epoch()))?;
    if let Some(mut stream) = recording.stream() {
        stream.add_note(ATTACHED);
        stream.add_note(UNSEEN);
    }
    Ok(recording)
}

/// Starts the profile, once the program calls this library's functions.
fn start(recording: &Recording, refused: usize) -> Result<Profile<BlockWriter>, String> {
    let Setting { options, per_byte, seed, .. } = recording.setting;
    if refused > 0
        && let Some(mut stream) = recording.stream()
    {
        stream.add_note(&format!(
            "{refused} of its calls of malloc's functions are not recorded: the system does not let them be redirected"
        ));
    }
    recording.note(None);
    if let Some(options) = &options.snapshots {
        take::prepare();
        requests::start(options);
    }
    let profile = start_in_words(*per_byte, depth(options), BlockWriter, *seed);
    let profile = profile.map_err(|_| {
        recording.end_with_note(SAMPLED);
        SAMPLED.to_owned()
    })?;
    if options.mappings {
        mapping_calls::record();
    }
    // The program is sampled from here on.
    recording.report();
    Ok(profile)
}

/// Ends the recording and takes back all that was changed.
fn end(recording: &Recording, replaced: Replaced, profile: Profile<BlockWriter>) {
    mapping_calls::record_no_more();
    own_thread::end_others();
    if !recording.has_ended() {
        measure(recording, &Registers::here());
    }
    recording.complete(DETACHED);
    profile.stop_within(PATIENCE);
    replaced.give_back();
    relay::unmap();
}
