//! After the program's end: recordings are made whole, described, and announced.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use memtrail_order::SortRows as _;
use memtrail_recording::session::{
    Options, SnapshotOptions, State, Status, WriteFailure, owner_of_live_packet,
};
use memtrail_recording::{Description, FileState, Outcome, Recording, started_at};
use memtrail_symbols::OwnFunctions;
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::process::End;
use super::session::Session;
use super::survivors::{may_be_one, own_numbers, programs};
use super::{live_packets, nothing_recorded, old_sessions, outliving, waiting, writing};
use crate::naming::Written;
use crate::{json, naming, outcome, references, shell_quote};

/// Recordings that are shown one by one.
const MAX_SHOWN: usize = 20;

/// What the agents did, after all is settled.
pub(super) struct Finalized {
    pub(super) statuses: Vec<Status>,
    pub(super) recordings: Vec<Recorded>,
    /// Folders of recordings that are gone.
    gone: Vec<PathBuf>,
    /// The process that we started.
    root: u32,
    /// Processes that were forked from an OCaml program and run on, each with its announcement.
    forks: Vec<String>,
}

impl Finalized {
    /// Whether there is no recording.
    pub(super) fn is_empty(&self) -> bool {
        self.recordings.is_empty()
    }

    /// The recordings' folders; that of the process that we started comes first.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let mut recordings: Vec<&Recorded> =
            self.recordings.iter().filter(|recorded| !recorded.is_predecessor).collect();
        recordings.sort_rows_by_key(|recorded| recorded.description.pid != self.root);
        recordings.into_iter().map(|recorded| recorded.folder.clone()).collect()
    }

    /// Whether a process ran on, so that its recording was not completed.
    pub(super) fn has_alive(&self) -> bool {
        self.recordings.iter().any(|recorded| recorded.alive)
    }
}

pub(super) struct Recorded {
    pub(super) folder: PathBuf,
    pub(super) description: Description,
    /// Its process runs on.
    pub(super) alive: bool,
    /// It is of a program that its process was before it did the work, inside the recording of that.
    pub(super) is_predecessor: bool,
}

/// Completes the recordings of processes that have ended; `root` is the one that we started.
pub(super) fn finalize(session: &Session, root: u32, end: End) -> Finalized {
    let statuses = session.statuses();
    let options = Options::load(session.folder()).ok();
    let snapshots = options.as_ref().and_then(|options| options.snapshots.as_ref());
    let wants_last = snapshots.is_some_and(|options| options.exit);
    let (mut recordings, mut gone) = (Vec::new(), Vec::new());
    // Whoever keeps a session started after the processes.
    let begin = if root == 0 { 0 } else { started_at(std::process::id()).unwrap_or(0) };
    let running = LazyCell::new(|| own_numbers(session.folder(), begin));
    let (all_live_packets, all_waiting) = (session.live_packets(), session.waiting());
    // With `--children` they have recordings of their own. Whoever keeps a session waits for them.
    let watched = options.as_ref().filter(|options| root != 0 && !options.children);
    let forks = watched.map_or_else(Vec::new, |_| {
        outliving::settled(&running, &statuses, root, || programs(session.folder(), begin))
    });
    let mut announcements = Vec::new();
    for status in &statuses {
        let State::Recording { folder, failure } = &status.state else { continue };
        // Another process may have its number, in another namespace or after it.
        let alive =
            status.pid != root && (running.contains(&status.pid) || may_be_one(status.pid, begin));
        let Ok(Recording { description: Some(mut description), trace, .. }) =
            Recording::open(folder)
        else {
            gone.push(folder.clone());
            continue;
        };
        if !alive {
            let ended = (status.pid == root).then_some(end);
            let live_packets = all_live_packets
                .iter()
                .filter(|(_, name)| owner_of_live_packet(name) == Some((status.pid, status.image)))
                .map(|(tail, _)| tail.clone());
            // Before the packet that is missing, if one is.
            let appended = waiting::append(&all_waiting, status, folder, &mut description);
            match failure {
                Some(failure) => fail(&mut description, *failure),
                // What was sampled after a packet that is missing makes no sense without it.
                None if matches!(description.outcome, Some(Outcome::WriteFailed { .. })) => {}
                None if appended.is_ok() => {
                    collect_live_packets(live_packets, &mut description, &trace);
                }
                None => {
                    let blocks = live_packets.filter_map(|tail| live_packets::blocks(&tail).ok());
                    description.trace.lost += blocks.sum::<u64>();
                }
            }
            if let Err(failed) = appended {
                lose(&mut description, failed);
            }
            let is_native = description.runtime.is_native();
            // Nobody takes what an agent has not taken.
            old_sessions::remove_thinned(folder);
            if trace.exists() {
                match naming::write_into(folder, &trace, is_native) {
                    Ok(Written { not_recorded, without_file }) => {
                        description.notes.extend(note_of(&not_recorded));
                        let nameless = without_file.map(|file| outcome::no_names(&file));
                        description.notes.extend(nameless);
                    }
                    Err(error) => {
                        description.notes.push(format!("{}: {error}", outcome::NO_NAMES));
                    }
                }
                if let Err(error) = references::name_files(folder) {
                    let note = format!("variables that refer to blocks have no names: {error}");
                    description.notes.push(note);
                }
            }
            // What a process was killed before it could say; or less than its last packet brought.
            let blocks = live_packets::blocks(&trace).unwrap_or(0);
            description.trace.blocks = match description.outcome {
                Some(Outcome::WriteFailed { .. }) => blocks,
                _ => description.trace.blocks.max(blocks),
            };
            complete(&mut description, &trace, ended);
            if !trace.exists() {
                note_missing_trace(&mut description);
            }
            writing::finish(folder, &mut description);
            if wants_last {
                let takes_requests =
                    !is_native || snapshots.is_some_and(SnapshotOptions::has_thread);
                writing::note_missing_last(&mut description, takes_requests);
            }
            let has_execed = matches!(description.outcome, Some(Outcome::Execed));
            if let Some(options) = watched.filter(|_| !has_execed) {
                if is_native {
                    let ended = outliving::ended(&running, &statuses);
                    description.notes.extend(outliving::note(&forks, &ended));
                } else if announcements.is_empty() {
                    let program = &description.program;
                    let announcement = |&pid| outliving::announcement(options, program, pid);
                    announcements.extend(forks.iter().map(announcement));
                }
            }
            // The trace itself is whole; only its description would lack the outcome.
            let _ = description.save(folder);
        }
        recordings.push(Recorded {
            folder: folder.clone(),
            description,
            alive,
            is_predecessor: false,
        });
    }
    Finalized { statuses, recordings, gone, root, forks: announcements }
}

/// Calls of allocators that were not recorded.
fn note_of(OwnFunctions { imported, in_executable }: &OwnFunctions) -> Option<String> {
    /// Functions that are named, at most.
    const NAMED: usize = 4;
    if let Some(function) = in_executable {
        return Some(format!(
            "the program has an allocator of its own in its executable, with {function}: its calls are not recorded"
        ));
    }
    let names = imported
        .get(..NAMED)
        .filter(|_| imported.len() > NAMED)
        .map_or_else(|| imported.join(", "), |some| format!("{} and others", some.join(", ")));
    (!imported.is_empty())
        .then(|| format!("calls of functions of the allocator's own are not recorded: {names}"))
}

/// Appends the packets that were being filled.
fn collect_live_packets(
    live_packets: impl Iterator<Item = PathBuf>,
    description: &mut Description,
    trace: &Path,
) {
    for tail in live_packets {
        let appended = live_packets::append(&tail, trace);
        // Whoever keeps the session for others must not append it again.
        let _ = std::fs::remove_file(&tail);
        if let Err(failed) = appended {
            lose(description, failed);
        }
    }
}

/// The trace lacks the blocks of a packet that could not be written.
fn lose(description: &mut Description, (error, blocks): (io::Error, u64)) {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    fail(description, WriteFailure { errno, lost: description.trace.lost + blocks });
}

/// The trace ends before the program did.
fn fail(description: &mut Description, failure: WriteFailure) {
    description.outcome = Some(Outcome::WriteFailed { errno: failure.errno });
    description.trace.state = FileState::Cut;
    description.trace.lost = description.trace.lost.max(failure.lost);
}

fn complete(description: &mut Description, trace: &Path, end: Option<End>) {
    description.trace.bytes =
        std::fs::metadata(trace).map_or(description.trace.bytes, |metadata| metadata.len());
    if description.trace.state == FileState::Growing {
        description.trace.state = if end.is_some() { FileState::Complete } else { FileState::Cut };
    }
    let by_itself =
        matches!(description.outcome, None | Some(Outcome::Exited { .. } | Outcome::Killed { .. }));
    if end.is_some() && description.ended_unix_us.is_none() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        description.ended_unix_us = now.ok().map(|now| now.as_micros() as u64);
    }
    if let Some(end) = end.filter(|_| by_itself) {
        description.outcome = Some(match end {
            End::Exited(code) => Outcome::Exited { code: Some(code) },
            End::Killed(signal) => Outcome::Killed { signal },
        });
    }
}

/// Notes that somebody removed the trace while it was written.
fn note_missing_trace(description: &mut Description) {
    description.trace.blocks = 0;
    description.trace.bytes = 0;
    description.trace.state = FileState::Cut;
    let note = "the trace was removed while the program ran: nothing is left of its allocations";
    description.notes.push(note.into());
}

/// Tells the user, in one line a recording, what there is and what to type next. `family` is the folder of
/// the recordings of `--children`, `native` whether OCaml programs were not looked for.
pub(super) fn announce(
    finalized: &Finalized,
    command: &[OsString],
    family: Option<&Path>,
    native: bool,
    json: bool,
    kept: bool,
) {
    if json {
        json::report(&Summary::new(finalized, family));
        return;
    }
    let announced = || finalized.recordings.iter().filter(|recorded| !recorded.is_predecessor);
    let several = announced().count() > 1;
    let (mut shown, mut nothing) = (0, 0);
    let is_empty = |recorded: &Recorded| {
        let description = &recorded.description;
        let has_some = description.trace.blocks > 0 || outcome::snapshots_taken(description) > 0;
        !recorded.alive && !has_some
    };
    // The last of several is what the program has become.
    let only = announced().all(is_empty).then(|| announced().next_back());
    let only = only.flatten().filter(|_| family.is_none()).map(|recorded| &recorded.folder);
    for recorded in announced() {
        let description = &recorded.description;
        let is_nothing = several && is_empty(recorded) && only != Some(&recorded.folder);
        if is_nothing {
            nothing += 1;
        }
        // What to type next is said of the family.
        let is_member = several && family.is_some();
        let is_shown = !is_nothing && shown < MAX_SHOWN;
        if is_shown {
            shown += 1;
            message!("{}", summary(recorded, is_member));
        }
        let next = shell_quote::path(&recorded.folder);
        let lines =
            writing::lines(description, &recorded.folder, Some(&*next).filter(|_| !is_member));
        let has_some = outcome::snapshots_taken(description) > 0;
        for line in lines.iter().skip(usize::from(is_member && !is_shown && has_some)) {
            message!("memtrail: {line}");
        }
        for note in &description.notes {
            message!("memtrail: note: {note}");
        }
        if let Some(hint) = outcome::hint(description).filter(|_| is_shown) {
            message!("hint: {hint}");
        }
    }
    if let Some(family) = family.filter(|_| several) {
        message!("{}", family_summary(finalized, family, nothing));
    } else if announced().count() > 4 {
        message!("memtrail: {} recordings", announced().count());
    }
    for folder in &finalized.gone {
        let folder = folder.display();
        message!("memtrail: {folder} was removed while the program ran: the recording is lost");
    }
    // A script may start the same one many times.
    let mut refused: Vec<(&str, &str, Option<&str>, usize)> = Vec::new();
    for status in &finalized.statuses {
        let State::Refused { reason, hint } = &status.state else { continue };
        let same = |one: &&mut (&str, &str, _, _)| (one.0, one.1) == (&*status.program, &**reason);
        match refused.iter_mut().find(same) {
            Some((.., times)) => *times += 1,
            None => refused.push((&status.program, reason, hint.as_deref(), 1)),
        }
    }
    for (program, reason, hint, times) in refused {
        let times =
            if times > 1 { format!(" ({} times)", grouped(times as u64)) } else { String::new() };
        message!("memtrail: not recorded: {program} {reason}{times}");
        if let Some(hint) = hint {
            message!("hint: {hint}");
        }
    }
    let passed = finalized.statuses.iter().filter(|s| s.state == State::Passed).count();
    if passed > 0 && family.is_none() {
        let kind = if native { "" } else { "OCaml " };
        message!(
            "memtrail: {passed} more {kind}{} started and not recorded; --children records all",
            if passed == 1 { "program was" } else { "programs were" }
        );
    }
    for fork in &finalized.forks {
        message!("memtrail: {fork}");
    }
    let without_agent = |status: &Status| status.state == State::WithoutAgent;
    if finalized.recordings.is_empty() && finalized.statuses.iter().all(without_agent) {
        let name = command.first().map(|name| Path::new(name).display().to_string());
        let name = name.unwrap_or_default();
        if let (true, Some(family)) = (kept, family) {
            let family = shell_quote::path(family);
            message!(
                "memtrail: nothing recorded yet: processes that {name} started run on; recordings of them will be in {family}"
            );
        } else {
            nothing_recorded::announce(command, &finalized.statuses, native);
        }
    }
}

/// `is_member`: what to type next is shown for the family.
fn summary(recorded: &Recorded, is_member: bool) -> String {
    let Recorded { folder, description, alive, .. } = recorded;
    let shown = shell_quote::path(folder);
    let mut text = format!(
        "memtrail: {shown}: {} sampled block{}, {}",
        grouped(description.trace.blocks),
        if description.trace.blocks == 1 { "" } else { "s" },
        bytes(description.trace.bytes as f64)
    );
    match outcome::words(description.outcome.as_ref()) {
        Some(words) => text = format!("{text}, {words}"),
        // How many there are is counted at its end.
        None if *alive && description.trace.blocks == 0 => {
            text = format!("memtrail: {shown}: still growing");
        }
        None if *alive => text += ", still growing",
        None => {}
    }
    if !is_member {
        let _ = write!(text, "; next: memtrail report {shown}");
        if outcome::snapshots_taken(description) > 0 {
            let _ = write!(text, ", memtrail leaks {shown}");
        }
    }
    text
}

/// `nothing`: so many recordings hold nothing.
fn family_summary(finalized: &Finalized, folder: &Path, nothing: usize) -> String {
    let shown = shell_quote::path(folder);
    let all = grouped(finalized.recordings.len() as u64);
    let mut text = format!("memtrail: {shown}: {all} recordings");
    if nothing > 0 {
        let _ = write!(text, ", {} of them without samples", grouped(nothing as u64));
    }
    let _ = write!(text, "; next: memtrail report {shown}");
    let have_snapshots = |is_native| {
        finalized.recordings.iter().map(|recorded| &recorded.description).any(|description| {
            description.runtime.is_native() == is_native
                && outcome::snapshots_taken(description) > 0
        })
    };
    let have_heaps = have_snapshots(false);
    if have_heaps || have_snapshots(true) {
        let _ = write!(text, ", memtrail leaks {shown}");
    }
    if have_heaps {
        let _ = write!(text, ", memtrail heap roots {shown}");
    }
    text
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    /// The folder of the recordings of `--children`.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<Cow<'a, str>>,
    recordings: Vec<RecordedSummary<'a>>,
    processes: &'a [Status],
}

#[derive(Serialize)]
struct RecordedSummary<'a> {
    folder: Cow<'a, str>,
    description: &'a Description,
}

impl<'a> Summary<'a> {
    fn new(finalized: &'a Finalized, family: Option<&'a Path>) -> Self {
        let recordings = finalized.recordings.iter().map(|recorded| RecordedSummary {
            folder: recorded.folder.to_string_lossy(),
            description: &recorded.description,
        });
        Self {
            family: family.map(Path::to_string_lossy),
            recordings: recordings.collect(),
            processes: &finalized.statuses,
        }
    }
}
