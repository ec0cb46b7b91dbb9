//! A snapshot together with the trace of its recording, in an engine: what both halves say of the
//! same blocks.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use memtrail_engine::heap::{OfSnapshot, Outcome};
use memtrail_engine::leaks::LeaksResponse;
use memtrail_engine::references::ReferrersResponse;
use memtrail_engine::{ApiError, Engine, RecordingId, Setting};
use memtrail_heap::read::Snapshot;
use memtrail_map::MappedFile;
use memtrail_profile::Caveats;
use memtrail_recording::Recording;

use super::input::{choose, none, number_of, unreadable};
use crate::caveats;
use crate::damage;
use crate::error::{Failure, Kind};
use crate::loading;
use crate::recording_cache::RecordingCache;
use crate::recording_facts;
use crate::recording_source::{Need, Process, Subject};
use crate::references;
use crate::snapshot_file::{self, MemoryArgs, SnapshotFiles};
use crate::spinner::with_spinner;

/// Earlier snapshots that are looked at, at most.
const MAX_EARLIER: usize = 23;

/// Which snapshot of which recording.
#[derive(clap::Args)]
pub(crate) struct RecordingArgs {
    /// A recording with heap snapshots (NAME.memtrail)
    #[arg(value_name = "REC")]
    path: PathBuf,
    #[command(flatten)]
    process: Process,
    /// The snapshot with this number, or the last with this label (Memtrail.dump), instead of the last
    #[arg(long, value_name = "N|LABEL")]
    snapshot: Option<String>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Keeps traces and snapshots that are opened.
    #[arg(skip)]
    cache: RecordingCache,
}

/// A trace in an engine of its own.
pub(crate) struct Traced {
    pub(crate) engine: Engine,
    pub(crate) id: RecordingId,
}

/// Trace and snapshot, opened.
pub(crate) struct Joined {
    recording: Recording,
    engine: Engine,
    id: RecordingId,
    snapshot: u64,
    path: PathBuf,
    files: SnapshotFiles,
}

impl RecordingArgs {
    /// All snapshots of a recording, and no limit of memory.
    pub(crate) fn all_of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            process: Process::default(),
            snapshot: None,
            memory: MemoryArgs::default(),
            cache: RecordingCache::default(),
        }
    }

    /// Keeps what is opened in a cache, and takes it from there.
    pub(crate) fn keep_in(&mut self, cache: &RecordingCache) {
        self.cache = cache.clone();
    }

    pub(super) fn open(&self) -> Result<Rc<Joined>, Failure> {
        self.open_of(&self.process.one(&self.path, Need::Snapshots)?)
    }

    /// The processes that are meant: all of a family that have snapshots together, unless one is named.
    pub(super) fn subject(&self) -> Result<Subject, Failure> {
        self.process.subject(&self.path, Need::Snapshots)
    }

    /// The processes that are meant, with snapshots or references.
    pub(super) fn subject_with_retainers(&self) -> Result<Subject, Failure> {
        self.process.subject(&self.path, Need::Retainers)
    }

    /// The snapshot of one of them.
    pub(super) fn open_of(&self, path: &Path) -> Result<Rc<Joined>, Failure> {
        let recording = Recording::open(path)?;
        let wanted = self.snapshot.as_deref();
        let open = || Joined::open(recording, wanted, self.memory);
        let what = format!("snapshot {}", wanted.unwrap_or("(last)"));
        self.cache.keep(what, &[path], open)
    }

    /// The trace of a recording without snapshots of OCaml's heap.
    pub(crate) fn open_trace(&self, recording: &Recording) -> Result<Rc<Traced>, Failure> {
        self.cache.keep("trace".to_owned(), &[&recording.path], || {
            let engine = Engine::new(Setting::default());
            let id = loading::add(&engine, recording)?;
            Ok(Traced { engine, id })
        })
    }

    /// Gives the engine the references of a native program's recording. Returns the error about a file that cannot be read.
    pub(crate) fn give_references(
        &self,
        engine: &Engine,
        id: RecordingId,
        recording: &Recording,
    ) -> Result<Option<Failure>, Failure> {
        references::give(engine, id, recording, self.snapshot.as_deref())
    }

    /// A snapshot alone, too: nothing is known of the calls that allocated its blocks, nor when.
    pub(super) fn open_with_or_without_trace(&self, path: &Path) -> Result<Rc<Joined>, Failure> {
        if path.is_dir() || !snapshot_file::is_snapshot(path) {
            return self.open_of(path);
        }
        let recording = Recording::open(path)?;
        let path = choose(&recording.path, self.snapshot.as_deref())?;
        let files = SnapshotFiles::alone(self.memory);
        let (facts, file) = files.open(&path, None);
        let engine = Engine::new(Setting::default());
        let id = engine.add_without_trace(loading::describe_snapshot(&path, &facts));
        let snapshot = facts.number;
        engine.add_snapshot(id, facts, Some(file));
        Ok(Rc::new(Joined { recording, engine, id, snapshot, path, files }))
    }

    /// Those that are asked for: of a family, all in which leaks are found.
    pub(crate) fn all(&self) -> Result<Vec<PathBuf>, Failure> {
        self.process.all(&self.path, Need::Leaks)
    }

    /// One of [`all`](Self::all), with earlier snapshots.
    pub(crate) fn open_one(&self, path: &Path) -> Result<Rc<Joined>, Failure> {
        let joined = self.open_of(path)?;
        joined.add_earlier();
        Ok(joined)
    }
}

/// Whether a recording has references and no snapshots of OCaml's heap: that of a native program.
pub(super) fn has_references_alone(recording: &Path) -> bool {
    let has_references = !references::of_recording(recording).is_empty();
    has_references && snapshot_file::of_recording(recording).is_empty()
}

impl Joined {
    /// Opens the snapshot with this number or label, or the last.
    pub(crate) fn open(
        recording: Recording,
        wanted: Option<&str>,
        memory: MemoryArgs,
    ) -> Result<Self, Failure> {
        if recording_facts::is_snapshot_alone(&recording) {
            let path = recording.path.display();
            return Err(Failure::new(Kind::Usage, format_args!("{path} is a snapshot alone"))
                .hint("name the recording that it is in: what allocated blocks is in its trace"));
        }
        let path = choose(&recording.path, wanted)?;
        let number = number_of(&path).ok_or_else(|| none(&recording.path))?;
        // Before the recording is described: which units are a library's is found with the names.
        let files = SnapshotFiles::of_recording(&recording.path, memory);
        let engine = Engine::new(Setting::default());
        let id = loading::add(&engine, &recording)?;
        let (facts, file) = files.open(&path, Some(number));
        engine.add_snapshot(id, facts, Some(file));
        Ok(Self { snapshot: number, path, recording, engine, id, files })
    }

    /// Adds the snapshot with this number or label, or the first, and gives its number.
    pub(super) fn add(&self, wanted: Option<&str>) -> Result<u64, Failure> {
        let folder = &self.recording.path;
        let path = match wanted {
            Some(wanted) => choose(folder, Some(wanted))?,
            None => snapshot_file::of_recording(folder)
                .into_iter()
                .next()
                .map(|(_, path)| path)
                .ok_or_else(|| none(folder))?,
        };
        let number = number_of(&path).ok_or_else(|| none(folder))?;
        self.add_snapshots(1, |known| known == number);
        Ok(number)
    }

    /// Adds snapshots before this one, some of very many, evenly, and analyses what has no summary yet.
    fn add_earlier(&self) {
        let before = |number| number < self.snapshot;
        self.add_snapshots(MAX_EARLIER, before);
    }

    fn add_snapshots(&self, most: usize, is_wanted: impl Fn(u64) -> bool) {
        let snapshots = snapshot_file::of_recording(&self.recording.path);
        add_snapshots(&self.engine, self.id, &self.files, snapshots, most, is_wanted);
    }

    /// Whether variables of units outside the standard library have names.
    pub(crate) fn has_names(&self) -> bool {
        self.files.have_names()
    }

    /// The recording's number, and that of the snapshot: what queries begin with.
    pub(crate) const fn ids(&self) -> (u32, Option<u64>) {
        (self.id.0, Some(self.snapshot))
    }

    /// The failure about the snapshot if that cannot be read, or else about the query.
    fn refused(&self, error: &ApiError) -> Failure {
        let damage = MappedFile::open(&self.path).ok().and_then(|file| Snapshot::read(&file).err());
        damage.map_or_else(|| loading::refused(error), |damage| unreadable(&self.path, damage))
    }

    /// Asks the engine, which analyses the snapshot first.
    pub(crate) fn query<T>(
        &self,
        query: impl Fn(&Engine) -> Result<Outcome<T>, ApiError>,
    ) -> Result<OfSnapshot<T>, Failure> {
        with_spinner(format!("analysing snapshot {}", self.snapshot), || {
            loop {
                match query(&self.engine).map_err(|error| self.refused(&error))? {
                    Outcome::Ready(response) => return Ok(response),
                    Outcome::Analysing(_) if self.engine.work().is_some() => {}
                    Outcome::Analysing(number) => {
                        let message = format_args!("snapshot {number} cannot be analysed");
                        return Err(Failure::new(Kind::Input, message));
                    }
                }
            }
        })
    }

    /// As [`query`](Self::query), when all snapshots have been analysed.
    pub(crate) fn query_all<T>(
        &self,
        query: impl Fn(&Engine) -> Result<Outcome<T>, ApiError>,
    ) -> Result<OfSnapshot<T>, Failure> {
        // Asking makes the engine want summaries of all.
        self.query(&query)?;
        with_spinner("analysing earlier snapshots".to_owned(), || {
            while self.engine.work().is_some() {}
        });
        self.query(query)
    }

    /// Says if what refers to memory from `malloc` in this snapshot was looked for.
    pub(crate) fn has_references(&self) -> bool {
        references::has_of_snapshot(&self.recording, self.snapshot)
    }

    /// Gives the engine what refers to memory from `malloc` in this snapshot, if that was looked for. Returns the error about a
    /// file that cannot be read.
    pub(crate) fn give_references(&self) -> Result<Option<Failure>, Failure> {
        if !self.has_references() {
            return Ok(None);
        }
        let wanted = self.snapshot.to_string();
        references::give(&self.engine, self.id, &self.recording, Some(&wanted))
    }

    /// What refers to the memory from `malloc` that a function allocated; an error if it allocated none.
    pub(super) fn referrers(
        &self,
        name: &str,
        limit: usize,
    ) -> Result<OfSnapshot<ReferrersResponse>, Failure> {
        self.query(|engine| engine.heap_referrers((self.id, self.snapshot), name, limit))
    }

    /// Which call sites allocate ever more than is freed, where the recording has all calls of `malloc`.
    pub(crate) fn site_leaks(&self, limit: usize) -> Result<Option<LeaksResponse>, Failure> {
        self.engine.site_leaks(self.id, limit).map_err(|error| loading::refused(&error))
    }

    /// Asks for rows until there are as many as wanted, or all: one response is of bounded size.
    /// `query` gets an offset and a limit; `rows` are those of a response, and how many there are.
    pub(super) fn rows<T, R>(
        &self,
        limit: usize,
        query: impl Fn(&Engine, usize, usize) -> Result<Outcome<T>, ApiError>,
        rows: impl Fn(&mut T) -> (&mut Vec<R>, usize),
    ) -> Result<OfSnapshot<T>, Failure> {
        let mut all: Vec<R> = Vec::new();
        loop {
            let (offset, left) = (all.len(), limit - all.len());
            let mut answer = self.query(|engine| query(engine, offset, left))?;
            let (some, count) = rows(&mut answer.response);
            let none_left = some.is_empty();
            all.append(some);
            if none_left || all.len() >= limit || all.len() == count {
                *rows(&mut answer.response).0 = all;
                return Ok(answer);
            }
        }
    }

    /// What must be known of how many blocks were sampled.
    pub(crate) fn caveats(&self) -> Caveats {
        caveats::reported(&self.recording).of_allocation()
    }

    /// What is wrong with the snapshot, if an answer is about a part of it.
    pub(crate) fn damage<T>(&self, answer: &OfSnapshot<T>) -> Option<String> {
        Some(format!("{} is damaged {}", self.path.display(), answer.partial.as_ref()?))
    }

    /// The exit code, which says if the trace is damaged.
    pub(crate) fn verdict(&self) -> Result<std::process::ExitCode, Failure> {
        if recording_facts::is_snapshot_alone(&self.recording) {
            return Ok(std::process::ExitCode::SUCCESS);
        }
        damage::verdict(&self.recording, &self.engine.damage(self.id).unwrap_or_default())
    }
}

/// Adds all snapshots of a recording, some of very many, evenly.
pub(crate) fn add_some_snapshots(
    engine: &Engine,
    id: RecordingId,
    recording: &Recording,
    memory: MemoryArgs,
) {
    let files = SnapshotFiles::of_recording(&recording.path, memory);
    let snapshots = snapshot_file::of_recording(&recording.path);
    add_snapshots(engine, id, &files, snapshots, MAX_EARLIER + 1, |_| true);
}

fn add_snapshots(
    engine: &Engine,
    id: RecordingId,
    files: &SnapshotFiles,
    mut snapshots: Vec<(u64, PathBuf)>,
    most: usize,
    is_wanted: impl Fn(u64) -> bool,
) {
    snapshots.retain(|(number, _)| is_wanted(*number));
    for place in evenly(snapshots.len(), most) {
        let (number, path) = &snapshots[place];
        let (facts, file) = files.open(path, Some(*number));
        engine.add_snapshot(id, facts, Some(file));
    }
}

/// Some of many, the first and the last among them.
fn evenly(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let some = count.min(most);
    (0..some).map(move |place| if some < 2 { place } else { place * (count - 1) / (some - 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_of_many_have_the_first_and_the_last() {
        let some = |count, most| evenly(count, most).collect::<Vec<_>>();
        assert!(some(0, 3).is_empty());
        assert_eq!(some(1, 3), [0]);
        assert_eq!(some(3, 3), [0, 1, 2]);
        assert_eq!(some(101, 3), [0, 50, 100]);
    }
}
