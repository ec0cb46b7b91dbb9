//! Starts a recording: when the runtime is ready and nothing of the program has run, or in a program that runs.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use memtrail_ocaml::calibrate::{Phase, calibrate};
use memtrail_ocaml::memory::{Memory as _, Probed, ThisProcess};
use memtrail_ocaml::symbols;
use memtrail_recording::Checked;
use memtrail_recording::session::{self, Sampler, SnapshotOptions, State};

use crate::context::runtime::OcamlRuntime;
use crate::context::target::Target;
use crate::lifecycle::generation::{RuntimeGeneration, generation_of};
use crate::lifecycle::hooks::HOOKS;
use crate::lifecycle::leave;
use crate::lifecycle::pending_start::PendingStart;
use crate::malloc;
use crate::os::lock::Lock;
use crate::os::symbol::symbol;
use crate::recording::begin::begin;
use crate::recording::collection_hooks;
use crate::recording::notes::{note, without_sampling, without_snapshots};
use crate::recording::report::report;
use crate::sampling::symbolise::find_program_code;
use crate::sampling::{self, handover, premature_dealloc, seeding, substitute};
use crate::snapshot;

const MEMPROF_USED: &str = "the runtime's own sampler was used, and not memtrail's: OCaml 4 cannot be given another, nor a \
     runtime whose code is not as expected";

const USED: &str = "it samples its allocations by itself, with Gc.Memprof";

/// Starts recording this process, or tells the launcher why not.
pub(crate) fn start(pending: PendingStart) {
    let session = pending.session.clone();
    if let Err(reason) = try_start(pending) {
        let state = State::Refused { reason, hint: None };
        report(&session, std::process::id(), 0, state);
    }
}

fn try_start(pending: PendingStart) -> Result<(), String> {
    let (mut target, generation) = target(pending, Phase::Start)?;
    if !target.options.children && !claim(&target.session) {
        report(&target.session, std::process::id(), 0, State::Passed);
        return Ok(());
    }
    match malloc::rate(&target.options) {
        Ok(rate) => target.malloc = rate,
        Err(note) => target.notes.push(note),
    }
    let substitute = choose_sampler(&mut target);
    let target: &'static Target = Box::leak(Box::new(target));
    match &substitute {
        None => sampling::start::prepare(target, generation),
        Some(_) => substitute::prepare(target),
    }
    find_program_code();
    begin(target, &HOOKS, None, 0)?;
    let snapshots = snapshot::lifecycle::prepare(target, generation);
    // Behind the hooks of snapshots, so that the time that these take is not the collector's.
    collection_hooks::watch();
    match substitute {
        None => {
            sampling::start::start(target, generation);
            // SAFETY: the process has one thread.
            unsafe { handover::watch(target, generation) };
        }
        Some(found) => {
            if let Err(reason) = found.and_then(|found| substitute::start(target, found)) {
                without_sampling(format!(
                    "the runtime of OCaml {} has no sampler, and could not be given one: {reason}",
                    target.runtime.version
                ));
            }
        }
    }
    malloc::start(target);
    note_missing_snapshots(target, snapshots);
    Ok(())
}

/// Starts recording a program that runs, as the recording number `epoch` of this process. The error is a reason; then all is
/// as it was.
///
/// # Safety
/// The runtime is whole: all domains, which have these states, are stopped, and this thread acts for the main one.
pub(crate) unsafe fn join(
    pending: PendingStart,
    notes: Vec<&'static str>,
    epoch: u8,
    domains: &[u64],
) -> Result<(), String> {
    let (mut target, generation) = target(pending, Phase::Running)?;
    target.notes = notes;
    // SAFETY: as the caller promises.
    if unsafe { generation.is_in_use(&target, domains) } {
        return Err(USED.into());
    }
    // SAFETY: no thread is in a collection.
    target.notes.extend(unsafe { premature_dealloc::prevent(&target.runtime) });
    let target: &'static Target = Box::leak(Box::new(target));
    sampling::start::prepare(target, generation);
    find_program_code();
    // SAFETY: as the caller promises; our profile does not run.
    let sampled = begin(target, &HOOKS, None, epoch).and_then(|_| unsafe {
        sampling::start::join(target, generation, domains).map_err(str::to_owned)
    });
    if let Err(reason) = sampled {
        // SAFETY: as above.
        unsafe { leave::give_back_code() };
        return Err(reason);
    }
    let snapshots = snapshot::lifecycle::prepare(target, generation);
    collection_hooks::watch();
    // SAFETY: no thread begins one of the sampler's functions now.
    unsafe { handover::watch(target, generation) };
    note_missing_snapshots(target, snapshots);
    Ok(())
}

/// The process that is recorded, at this phase of its life. The error is a reason.
fn target(
    pending: PendingStart,
    phase: Phase,
) -> Result<(Target, &'static dyn RuntimeGeneration), String> {
    let missing = |name: &str| format!("its runtime does not export {name}");
    let generation = generation_of(pending.version);
    let mut runtime = OcamlRuntime::find(pending.version, generation).map_err(missing)?;
    calibrate_layout(&mut runtime, phase)?;
    let frame_tables = generation.frame_tables(pending.version).map_err(missing)?;
    // SAFETY: everything read through it stems from the runtime, which holds still meanwhile.
    let memory = unsafe { ThisProcess::new() };
    if frame_tables.current(memory).is_none() {
        return Err(missing(symbols::callstack::DESCRIPTORS));
    }
    let options = pending.options;
    let target = Target {
        runtime,
        memory,
        frame_tables,
        seed: options.seed.unwrap_or_else(seeding::random),
        checked: options.check_callstacks.then(|| Lock::new(Checked::default())),
        options,
        session: pending.session,
        malloc: None,
        incremental: AtomicBool::new(false),
        arguments: pending.arguments,
        notes: Vec::new(),
    };
    Ok((target, generation))
}

fn note_missing_snapshots(target: &Target, snapshots: Result<(), String>) {
    if let Err(reason) = snapshots {
        without_snapshots();
        // Where nobody has asked for any so far, there is nothing to say.
        if target.options.snapshots.as_ref().is_some_and(SnapshotOptions::has_moments) {
            note(format!("there will be no heap snapshots: {reason}"));
        }
    }
}

/// What the agent's sampler needs of the runtime, or why it cannot be had; nothing where the runtime's own is used. That
/// is left to the program if memtrail's is asked for.
fn choose_sampler(target: &mut Target) -> Option<Result<substitute::Found, String>> {
    let version = target.runtime.version;
    if target.runtime.sampler.is_none() {
        return Some(substitute::find(version));
    }
    if target.options.sampler == Sampler::Substitute {
        if let Ok(found) = substitute::find(version) {
            target.runtime.sampler = None;
            return Some(Ok(found));
        }
        target.notes.push(MEMPROF_USED);
    }
    // SAFETY: the runtime is ready, the program's own code has not run: there is one thread.
    target.notes.extend(unsafe { premature_dealloc::prevent(&target.runtime) });
    None
}

/// Checks that the runtime is laid out as its version says.
fn calibrate_layout(runtime: &mut OcamlRuntime, phase: Phase) -> Result<(), String> {
    let memory = Probed::open().map_err(|error| format!("cannot read its memory: {error}"))?;
    let [from, to] = symbols::state::MINOR_HEAPS.map(|name| memory.u64(symbol(name) as u64));
    let state = runtime.state();
    let layout = calibrate(&memory, &runtime.layout, state, from.zip(to), phase);
    runtime.layout = layout.map_err(|mismatch| {
        format!("its runtime is not laid out as that of OCaml {}: {mismatch}", runtime.version)
    })?;
    Ok(())
}

/// Whether this process is the one to be recorded: the first that comes, whatever it becomes.
pub(crate) fn claim(session_folder: &Path) -> bool {
    let me = std::process::id();
    session::claim(session_folder, me).is_ok() || session::is_claimed_by(session_folder, me)
}
