//! One recording as tables of a lake.

use std::any::Any;
use std::path::Path;

use memtrail_engine::is_library_name;
use memtrail_engine::question::{
    HistogramQuestion, Host, OwnersQuestion, Question, Selection, Trace, Unanswered, View,
};
use memtrail_heap::Bytes;
use memtrail_heap::graph::Failed;
use memtrail_heap::query::{Heap, KindOrder};
use memtrail_lake::allocations::{self, ResidentMoment};
use memtrail_lake::error::Error;
use memtrail_lake::files::{RecordingFiles, WrittenFile};
use memtrail_lake::graph::{self, GraphError};
use memtrail_lake::identity::Hasher;
use memtrail_lake::place::{Partition, UNKNOWN_SERVICE, UNKNOWN_VERSION};
use memtrail_lake::pseudonym::Names;
use memtrail_lake::recording::{Identity, RecordingRow};
use memtrail_lake::snapshot::{self, SnapshotKey};
use memtrail_lake::suspects;
use memtrail_profile::Profile;
use memtrail_recording::{Description, Recording};

use crate::error::{Failure, Kind};
use crate::heap::input::Input;
use crate::process::memory::ResidentMemory;
use crate::snapshot_file::{MemoryArgs, stored};
use crate::{damage, leaks, loading, rates, recording_facts, snapshot_file, threads, trace_file};

/// The label of a recording with the name of its program.
const SERVICE: &str = "service.name";
/// The label with its version.
const VERSION: &str = "service.version";

/// Options of an export into a lake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<'a> {
    /// The folder.
    pub(crate) lake: &'a Path,
    /// Write the tables with a row for each block, too.
    pub(crate) blocks: bool,
    /// Replace names by pseudonyms.
    pub(crate) redact: bool,
    /// The limit of memory for snapshots.
    pub(crate) memory: MemoryArgs,
}

/// Writes recordings into a lake.
pub(super) struct Tables<'a> {
    pub(super) options: Options<'a>,
    pub(super) hasher: &'a Hasher,
}

/// Files that were written of a recording.
pub(super) struct Exported {
    pub(super) id: i64,
    pub(super) files: Vec<WrittenFile>,
}

/// The reason that a recording was not written.
pub(super) enum NotExported {
    /// It cannot be read, or the lake cannot be written.
    Failed(Failure),
    /// Its rows are in the lake already: it was compacted.
    IsThere(Error),
}

impl From<Failure> for NotExported {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<memtrail_recording::Error> for NotExported {
    fn from(error: memtrail_recording::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl Tables<'_> {
    /// Writes a recording. A damaged one is not written: sums over a lake would be too low, and nobody would see it.
    pub(super) fn export(&self, path: &Path) -> Result<Exported, NotExported> {
        let recording = Recording::open(path)?;
        if recording_facts::is_snapshot_alone(&recording) {
            return Err(Failure::new(
                Kind::Input,
                format_args!("{} is a snapshot alone", path.display()),
            )
            .hint("name the recording that it is in")
            .into());
        }
        let units = stored::library_units(path);
        let is_library = |name: &str| is_library_name(name, &units);
        let names = if self.options.redact {
            Names::pseudonyms(self.hasher, &is_library)
        } else {
            Names::real(self.hasher)
        };
        let (profile, mut files, id) = self.start(&recording)?;
        let resident = resident(&recording);
        allocations::write(&mut files, id, &profile, &resident, names).map_err(failure)?;
        self.row(&recording, &profile, id, &mut files)?;
        drop(profile);
        let mut last = None;
        for (number, file) in snapshot_file::of_recording(path) {
            let key = SnapshotKey { recording: id, number };
            self.snapshot(&file, key, names, &mut files)?;
            last = Some(key);
        }
        let found = leaks::suspects(path, self.options.memory)?;
        suspects::write(&mut files, id, last, &found, names).map_err(failure)?;
        Ok(Exported { id, files: files.finish().map_err(failure)? })
    }

    /// Reads the trace, and starts the files.
    fn start(&self, recording: &Recording) -> Result<(Profile, RecordingFiles, i64), NotExported> {
        let profile = read(recording)?;
        if let Err(damaged) = damage::verdict(recording, &profile.damage) {
            let path = recording.path.display();
            let hint = format_args!("memtrail report {path} shows what can be read");
            return Err(damaged.hint(hint).into());
        }
        let description = recording.description.as_ref();
        let info = &profile.info;
        let identity = Identity {
            host: &info.host,
            pid: info.pid,
            program: &info.executable,
            start_unix_us: info.start.0,
        };
        let id = identity.id(self.hasher);
        let label = |name: &str| Some(description?.labels.get(name)?.as_str());
        let file = info.executable.rsplit('/').next().filter(|name| !name.is_empty());
        let service = label(SERVICE).or(file).unwrap_or(UNKNOWN_SERVICE);
        let version = label(VERSION).unwrap_or(UNKNOWN_VERSION);
        let partition = Partition::new(service, version, info.start.0);
        let Options { lake, blocks, .. } = self.options;
        let files = RecordingFiles::create(lake, &partition, id, blocks);
        let files = files.map_err(|error| match error {
            Error::Compacted { .. } => NotExported::IsThere(error),
            error => failure(error).into(),
        })?;
        Ok((profile, files, id))
    }

    fn row(
        &self,
        recording: &Recording,
        profile: &Profile,
        id: i64,
        files: &mut RecordingFiles,
    ) -> Result<(), Failure> {
        let info = &profile.info;
        let known = recording.description.as_ref();
        let is_shown = !self.options.redact;
        let labels = known.filter(|_| is_shown).map(|known| known.labels.clone());
        let program = info.executable.rsplit('/').next().filter(|_| !is_shown);
        let row = RecordingRow {
            id,
            host: is_shown.then_some(info.host.as_str()),
            pid: is_shown.then_some(info.pid),
            program: program.unwrap_or(&info.executable),
            build_id: known.filter(|_| is_shown).and_then(|known| known.build_id.as_deref()),
            runtime_name: known.map(|known| known.runtime.language.as_str()),
            runtime_version: known.map(|known| known.runtime.version.as_str()),
            start_unix_us: info.start.0,
            duration_us: profile.end.0,
            period: profile.estimator.bytes_per_sample(),
            samples_per_word: profile.estimator.rate().0,
            lost: known.map_or(0, |known| known.trace.lost),
            is_too_low: known.and_then(Description::why_too_low).is_some(),
            labels: labels.into_iter().flatten().collect(),
        };
        row.write(files).map_err(failure)
    }

    fn snapshot(
        &self,
        path: &Path,
        key: SnapshotKey,
        names: Names<'_>,
        files: &mut RecordingFiles,
    ) -> Result<(), Failure> {
        let input = Input::open(path, self.options.memory)?;
        let heap = input.typed_heap()?;
        if let Some(damage) = input.damage(&heap) {
            return Err(Failure::new(Kind::Input, damage).hint(format_args!(
                "memtrail heap info {} shows what can be read",
                path.display()
            )));
        }
        let room = input.room()?;
        let host = WithoutTrace(&input);
        let view = View { heap: &heap, place: &room.place, host: &host };
        let unanswered = |unanswered: Unanswered| match unanswered {
            Unanswered::Snapshot(failed) => input.failed(&failed, heap.snapshot.blocks()),
            Unanswered::Refused(error) | Unanswered::Missing(error) => {
                Failure::from(error).of_kind(Kind::Input)
            }
        };
        let all = Selection::first(KindOrder::Bytes, usize::MAX);
        let histogram = HistogramQuestion { by_type: true, owner: None, selection: all };
        let histogram = histogram.answer(&view).map_err(unanswered)?;
        snapshot::write_types(files, key, &histogram, names).map_err(failure)?;
        let owners = OwnersQuestion {
            name: None,
            kind: None,
            min: Bytes(0),
            count_blocks: false,
            describe: false,
            limit: usize::MAX,
        };
        let owners = owners.answer(&view).map_err(unanswered)?;
        snapshot::write_owners(files, key, &owners, names).map_err(failure)?;
        if !self.options.blocks {
            return Ok(());
        }
        graph::write(files, key, &heap, &room.place, names).map_err(|error| match error {
            GraphError::Snapshot(failed) => input.failed(&failed, heap.snapshot.blocks()),
            GraphError::File(error) => failure(error),
        })
    }
}

/// A lake that cannot be written, or a file of it that cannot be read.
fn failure(error: Error) -> Failure {
    Failure::new(Kind::Work, error)
}

fn read(recording: &Recording) -> Result<Profile, Failure> {
    let path = &recording.trace;
    let bytes = trace_file::open(recording).map_err(|error| Failure::unreadable(path, &error))?;
    let (threads, rates) = (threads::list(recording), rates::list(recording));
    Profile::read_with(&bytes, threads.map(Into::into), rates.map(Into::into), &mut |_| ())
        .map_err(|error| loading::no_trace(path, &error))
}

fn resident(recording: &Recording) -> Vec<ResidentMoment> {
    let memory = ResidentMemory::of(recording);
    let moments = memory.iter().flat_map(|memory| &memory.over_time);
    let moment = |seconds: f64, rss| ResidentMoment { elapsed_us: (seconds * 1e6) as u64, rss };
    moments.map(|at| moment(at.seconds, at.rss)).collect()
}

/// A snapshot of which nothing is asked that its trace knows.
struct WithoutTrace<'i>(&'i Input);

impl Host for WithoutTrace<'_> {
    fn trace(&self, _heap: &Heap<'_>) -> Option<Trace> {
        None
    }

    fn heap(&self, typed: bool) -> Result<Heap<'_>, Failed> {
        self.0.heap(typed)
    }

    fn snapshots_missing(&self) -> Vec<String> {
        self.0.snapshots_missing()
    }

    fn give_back(&self, heap: &Heap<'_>) {
        self.0.give_back(heap);
    }

    fn show_work(&self, _what: &'static str) -> Box<dyn Any> {
        Box::new(())
    }
}
