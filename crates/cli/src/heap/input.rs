//! The snapshot that a command reads, and its index.

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memtrail_engine::heap::{Opening, Room, open_heap};
use memtrail_engine::question::{Host, Trace};
use memtrail_engine::{Bytes, Engine, Setting, SnapshotFile as _};
use memtrail_heap::graph::Failed;
use memtrail_heap::query::Heap;
use memtrail_heap::read::{self, Snapshot};
use memtrail_map::MappedFile;
use memtrail_recording::{Recording, number_of_snapshot};
use memtrail_text::rounded::{self, count};
use memtrail_trace::Reader;
use memtrail_typeflow::Coverage;

use crate::answer::OutputArgs;
use crate::damage;
use crate::error::{Failure, Kind};
use crate::loading;
use crate::next_commands;
use crate::outcome;
use crate::recording_facts;
use crate::recording_source::{Need, Process, Subject};
use crate::snapshot_file::{self, File, MemoryArgs, types};
use crate::spinner::{Spinner, with_spinner};
use crate::types::lookup;

/// The snapshot that is meant, and how its answer is printed.
#[derive(clap::Args)]
pub(super) struct SnapshotArgs {
    /// A recording (NAME.memtrail) or a snapshot (NNNN.heap)
    #[arg(value_name = "REC")]
    path: PathBuf,
    #[command(flatten)]
    process: Process,
    /// Of a recording with several snapshots the one with this number, or the last with this label
    /// (Memtrail.dump), instead of the last
    #[arg(long, value_name = "N|LABEL")]
    snapshot: Option<String>,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    pub(super) form: OutputArgs,
}

impl SnapshotArgs {
    /// The processes that are meant: all of a family that have snapshots together, unless one is named.
    pub(super) fn subject(&self) -> Result<Subject, Failure> {
        self.process.subject(&self.path, Need::Snapshots)
    }

    /// The only process that is meant: numbers of blocks and roots are those of one snapshot.
    pub(super) fn only(&self) -> Result<Subject, Failure> {
        Ok(Subject::One(self.process.one(&self.path, Need::Snapshots)?))
    }

    /// The snapshot of a process.
    pub(super) fn open_of(&self, recording: &Path) -> Result<Input, Failure> {
        Input::open(&choose(recording, self.snapshot.as_deref())?, self.memory)
    }
}

/// The snapshot of a recording with this number or label, or the last; the one that is named.
pub(crate) fn choose(path: &Path, wanted: Option<&str>) -> Result<PathBuf, Failure> {
    let mut files = snapshots(path)?;
    let Some(wanted) = wanted else {
        return files.pop().ok_or_else(|| none(path));
    };
    let place = place_in(&files, wanted)?;
    Ok(files.swap_remove(place))
}

/// Where among snapshots the one with this number is, or the last with this label.
pub(super) fn place_in(files: &[PathBuf], wanted: &str) -> Result<usize, Failure> {
    let number: Option<u64> = wanted.parse().ok();
    let by_number = || files.iter().position(|file| number.is_some() && number_of(file) == number);
    let labels: Vec<Option<String>> =
        files.iter().map(|file| snapshot_file::facts(file, None).label).collect();
    let by_label = || labels.iter().rposition(|label| label.as_deref() == Some(wanted));
    if let Some(place) = by_number().or_else(by_label) {
        return Ok(place);
    }
    let known = files.iter().zip(&labels).filter_map(|(file, label)| {
        let number = number_of(file)?;
        Some(label.as_ref().map_or(number.to_string(), |label| format!("{number} ({label:?})")))
    });
    let known: Vec<String> = known.collect();
    let wanted = number.map_or(format!("{wanted:?}"), |number| number.to_string());
    let folder = files.first().and_then(|file| file.parent()).unwrap_or(Path::new("."));
    Err(snapshot_file::no_such(folder, &wanted, &known))
}

/// The snapshots of a recording in the order they were taken, or the one that is named.
pub(super) fn snapshots(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error: std::io::Error| cannot_open(path, &error);
    if !fs::metadata(path).map_err(cannot)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    // A folder that cannot be read is said to be so.
    fs::read_dir(path).map_err(cannot)?;
    let files = snapshot_file::of_recording(path);
    if files.is_empty() {
        return Err(none(path));
    }
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// What the recording of a snapshot says of those that were asked for and not taken.
fn failed_beside(folder: &Path) -> Vec<String> {
    let description = Recording::open(folder).ok().and_then(|recording| recording.description);
    description.as_ref().map_or_else(Vec::new, outcome::failed_snapshots)
}

fn cannot_open(path: &Path, error: &std::io::Error) -> Failure {
    Failure::unreadable(path, error).or_hint(
        "name a recording or a .heap file; `memtrail run --snapshot exit -- PROGRAM` makes one",
    )
}

/// A file that is no snapshot, or has too little of one.
pub(super) fn unreadable(path: &Path, error: impl Display) -> Failure {
    Failure::new(Kind::Input, format_args!("{}: {error}", path.display()))
        .hint("heap snapshots come from `memtrail run --snapshot` and `memtrail snapshot`")
}

/// There are no snapshots.
pub(super) fn none(path: &Path) -> Failure {
    if let Some(failure) = not_a_trace(path) {
        return failure;
    }
    let failed = failed_beside(path);
    if !failed.is_empty() {
        let message = format_args!("{}: {}", path.display(), failed.join("; "));
        return Failure::new(Kind::Input, message);
    }
    let recording = match Recording::open(path) {
        Ok(recording) => Some(recording),
        Err(memtrail_recording::Error::NotARecording { .. }) => None,
        Err(error) => return error.into(),
    };
    // Nothing is known of snapshots that were asked for, nor of the program's language.
    if let Some(problem) = recording.as_ref().and_then(|recording| recording.problem.as_ref()) {
        return damage::of_description(path, problem);
    }
    let hint = if recording.as_ref().is_some_and(recording_facts::is_native) {
        "heap snapshots are of OCaml's heap, and this program is native; leaks: memtrail leaks REC"
            .to_owned()
    } else {
        next_commands::heap_snapshot(recording.as_ref())
    };
    Failure::new(Kind::Input, format_args!("{} has no heap snapshots", path.display())).hint(hint)
}

/// The failure about a file that is no trace, either.
fn not_a_trace(path: &Path) -> Option<Failure> {
    let file = MappedFile::open(path).ok().filter(|_| path.is_file())?;
    Reader::new(&file).err().map(|error| loading::no_trace(path, &error))
}

/// The number in a snapshot's file name; other files have none.
pub(super) fn number_of(file: &Path) -> Option<u64> {
    number_of_snapshot(file.file_name()?.to_str()?)
}

/// An opened snapshot.
pub(crate) struct Input {
    path: PathBuf,
    bytes: Bytes,
    memory: MemoryArgs,
    /// The file with what `memtrail types` stored in the recording, once that was read.
    file: OnceCell<File>,
    /// Set if the names of variables cannot be read, which was reported.
    without_names: Cell<Option<Failure>>,
}

impl Input {
    pub(crate) fn open(path: &Path, memory: MemoryArgs) -> Result<Self, Failure> {
        let bytes = File::new(path, None, memory).open();
        let bytes = bytes.map_err(|error| cannot_open(path, &error))?;
        Ok(Self {
            path: path.to_path_buf(),
            bytes,
            memory,
            file: OnceCell::new(),
            without_names: Cell::new(None),
        })
    }

    /// The snapshot, with the types of blocks as far as they are declared, and by contents for the others.
    pub(crate) fn typed_heap(&self) -> Result<Heap<'_>, Failure> {
        self.analysed(true)
    }

    /// The snapshot with its analysis, read from the index, or made and left there; with the types of blocks if they are
    /// needed.
    pub(super) fn analysed(&self, typed: bool) -> Result<Heap<'_>, Failure> {
        self.open_heap(typed).map_err(|failed| self.failed(&failed, self.blocks()))
    }

    fn open_heap(&self, typed: bool) -> Result<Heap<'_>, Failed> {
        let snapshot = Snapshot::read(&self.bytes)?;
        let opening = Opening { typed, keep: true, strict: true };
        let message = format!("analysing {} blocks", count(f64::from(snapshot.blocks())));
        with_spinner(message, || open_heap(self.file(), &*self.bytes, snapshot, opening))
    }

    /// The number of blocks of a snapshot that can be read.
    fn blocks(&self) -> u32 {
        Snapshot::read(&self.bytes).map_or(0, |snapshot| snapshot.blocks())
    }

    /// How far the types of blocks reach; `None` if nothing is stored of types.
    pub(super) fn coverage(&self, heap: &Heap<'_>) -> Result<Option<Coverage>, Failure> {
        let Some(types) = self.file().types() else { return Ok(None) };
        let (room, memory) = (self.room()?, self.file().memory_limit());
        let coverage = with_spinner("typing blocks".into(), || {
            types::coverage(heap, types, &room.place, memory.map(|limit| limit.memory))
        });
        coverage.map(Some).map_err(|failed| self.failed(&failed, heap.snapshot.blocks()))
    }

    /// The file, with what `memtrail types` stored in the recording.
    fn file(&self) -> &File {
        self.file.get_or_init(|| {
            let stored = lookup::stored(self.folder()).unwrap_or_else(|failure| {
                // The snapshot can be read all the same.
                failure.report();
                self.without_names.set(Some(failure));
                None
            });
            File::new(&self.path, stored.map(Arc::new), self.memory)
        })
    }

    /// The folder of the snapshot, which has columns that do not fit into memory.
    pub(super) fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// Room for columns, within the limit of memory if there is one.
    pub(crate) fn room(&self) -> Result<Room<'_>, Failure> {
        Room::of(self.file(), &*self.bytes).map_err(|error| self.failed(&error.into(), 0))
    }

    /// The error about an analysis that did not come to an end.
    pub(crate) fn failed(&self, failed: &Failed, blocks: u32) -> Failure {
        match failed {
            Failed::Snapshot(error) => self.failure(error),
            Failed::MappedArena(_) => {
                let folder = self.folder().display();
                Failure::new(Kind::Input, format_args!("{folder}: {failed}")).hint(format_args!(
                    "it takes some {} there while it runs",
                    rounded::bytes(30.0 * f64::from(blocks))
                ))
            }
        }
    }

    /// The error about a damaged file.
    pub(super) fn failure(&self, error: &read::Error) -> Failure {
        unreadable(&self.path, error)
    }

    /// What was reported of the names that are stored beside the snapshot, once.
    pub(super) fn reported(&self) -> Option<Failure> {
        self.without_names.take()
    }

    /// What is wrong with the file, if it is not whole.
    pub(crate) fn damage(&self, heap: &Heap<'_>) -> Option<String> {
        Some(format!("{} is damaged {}", self.path.display(), heap.snapshot.damage?))
    }
}

impl Host for Input {
    /// Other commands report why a trace cannot be read.
    fn trace(&self, heap: &Heap<'_>) -> Option<Trace> {
        if heap.snapshot.samples.is_empty() {
            return None;
        }
        let recording = Recording::open(self.folder()).ok()?;
        if recording_facts::is_snapshot_alone(&recording) {
            return None;
        }
        let engine = Engine::new(Setting::default());
        let id = loading::add(&engine, &recording).ok()?;
        Some(Trace { engine, id })
    }

    fn heap(&self, typed: bool) -> Result<Heap<'_>, Failed> {
        self.open_heap(typed)
    }

    fn snapshots_missing(&self) -> Vec<String> {
        self.path.parent().map_or_else(Vec::new, failed_beside)
    }

    fn give_back(&self, heap: &Heap<'_>) {
        heap.graph.give_back();
        self.bytes.give_back();
    }

    fn show_work(&self, what: &'static str) -> Box<dyn Any> {
        Box::new(Spinner::start(what.to_owned()))
    }
}
