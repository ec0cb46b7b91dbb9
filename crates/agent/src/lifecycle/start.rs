//! Starts a recording, when the runtime is ready and nothing of the program has run.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use memtrail_ocaml::calibrate::{Moment, calibrate};
use memtrail_ocaml::memory::{Memory as _, Probed};
use memtrail_ocaml::symbols;
use memtrail_recording::session::{CLAIM_FILE, SnapshotOptions, State};

use crate::context::runtime::{Runtime, symbol};
use crate::lifecycle::pending_start::{PendingStart, refuse};
use crate::recording::recorder::{Recorder, Target, note, report, without_snapshots};
use crate::sampling::callbacks;
use crate::sampling::callstack::Capturer;
use crate::sampling::handover;
use crate::sampling::premature_dealloc;
use crate::sampling::seeding;
use crate::snapshot;

/// Starts recording this process, or tells the launcher why not.
pub(crate) fn start(pending: PendingStart) {
    let session = pending.session.clone();
    if let Err(reason) = try_start(pending) {
        refuse(&session, reason, None);
    }
}

fn try_start(pending: PendingStart) -> Result<(), String> {
    let missing = |name: &str| format!("its runtime does not export {name}");
    let mut runtime = Runtime::find(pending.version).map_err(missing)?;
    calibrate_layout(&mut runtime)?;
    let capturer = Capturer::new(&runtime, &pending.options)
        .ok_or_else(|| missing(symbols::callstack::DESCRIPTORS))?;
    let target: &'static Target = Box::leak(Box::new(Target {
        runtime,
        capturer,
        seed: pending.options.seed.unwrap_or_else(seeding::random),
        options: pending.options,
        session: pending.session,
        incremental: AtomicBool::new(false),
        arguments: pending.arguments,
    }));
    if !target.options.children && !claim(&target.session) {
        report(target, std::process::id(), 0, State::Passed);
        return Ok(());
    }
    callbacks::prepare(target);
    premature_dealloc::prevent(&target.runtime);
    Recorder::begin(target, None, 0)?;
    let snapshots = snapshot::prepare(target);
    callbacks::start(target);
    handover::watch(target);
    if let Err(reason) = snapshots {
        without_snapshots();
        // Where nobody has asked for any so far, there is nothing to say.
        if target.options.snapshots.as_ref().is_some_and(SnapshotOptions::has_moments) {
            note(format!("there will be no heap snapshots: {reason}"));
        }
    }
    Ok(())
}

/// Checks that the runtime is laid out as its version says.
fn calibrate_layout(runtime: &mut Runtime) -> Result<(), String> {
    let memory = Probed::open().map_err(|error| format!("cannot read its memory: {error}"))?;
    let [from, to] = symbols::state::MINOR_HEAPS.map(|name| memory.u64(symbol(name) as u64));
    let state = runtime.state();
    let layout = calibrate(&memory, &runtime.layout, state, from.zip(to), Moment::Start);
    runtime.layout = layout.map_err(|mismatch| {
        format!("its runtime is not laid out as that of OCaml {}: {mismatch}", runtime.version)
    })?;
    Ok(())
}

/// Whether this process is the one to be recorded: the first that comes, whatever it becomes.
fn claim(session: &Path) -> bool {
    let file = session.join(CLAIM_FILE);
    let me = std::process::id().to_string();
    if let Ok(mut claim) = OpenOptions::new().write(true).create_new(true).open(&file) {
        return claim.write_all(me.as_bytes()).is_ok();
    }
    std::fs::read_to_string(&file).is_ok_and(|holder| holder == me)
}
