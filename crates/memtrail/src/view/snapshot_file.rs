//! The files of snapshots, with the index, the types of blocks and the summary that are left beside each.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::ops::Deref;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memtrail_engine::{Bytes, SnapshotFacts, SnapshotFile, Source};
use memtrail_heap::graph::{Graph, Place};
use memtrail_heap::query::Heap;
use memtrail_heap::read::Snapshot;
use memtrail_heap::{BlockTypes, TypesSource};
use memtrail_map::MappedFile;
use memtrail_recording::number_of_snapshot;

use crate::heap::typed;

/// The file of a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct File(PathBuf);

/// How the name of a snapshot's file goes on in that of its blocks' types.
pub(crate) const BLOCK_TYPES: &str = ".types";

/// What every snapshot begins with.
const MAGIC: &[u8] = b"MTHEAP";

/// Whether a file is a heap snapshot.
pub(crate) fn is_snapshot(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let file =
        fs::File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
    file.is_ok() && start == *MAGIC
}

/// The snapshots of a recording with their numbers, in their order.
pub(crate) fn of_recording(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let number = number_of_snapshot(entry.file_name().to_str()?)?;
            Some((number, entry.path()))
        })
        .collect();
    files.sort();
    files
}

/// A snapshot as an engine takes it. One that cannot be read is there with the reason.
pub(crate) fn look(path: &Path, number: Option<u64>) -> (SnapshotFacts, Arc<dyn SnapshotFile>) {
    let facts = MappedFile::open(path)
        .map_err(|error| error.to_string())
        .and_then(|map| SnapshotFacts::peek(&map).map_err(|error| error.to_string()));
    let mut facts = facts
        .unwrap_or_else(|error| SnapshotFacts { damage: Some(error), ..SnapshotFacts::default() });
    facts.number = number.unwrap_or(facts.number);
    (facts, Arc::new(File(path.to_path_buf())))
}

impl File {
    fn beside(&self, what: &str) -> PathBuf {
        let mut name = self.0.clone().into_os_string();
        name.push(what);
        PathBuf::from(name)
    }

    fn index_path(&self) -> PathBuf {
        self.beside(".index")
    }

    fn block_types_path(&self) -> PathBuf {
        self.beside(BLOCK_TYPES)
    }

    fn summary_path(&self) -> PathBuf {
        self.beside(".summary")
    }
}

/// A snapshot as it is in its file.
struct Mapped(MappedFile);

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Source for Mapped {
    fn is_whole(&self) -> bool {
        self.0.is_whole()
    }
}

impl SnapshotFile for File {
    fn open(&self) -> io::Result<Bytes> {
        Ok(Box::new(Mapped(MappedFile::open(&self.0)?)))
    }

    fn index(&self, snapshot: &Snapshot<'_>) -> Option<Graph> {
        Graph::open_index(snapshot, &self.index_path())
    }

    fn keep_index(&self, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) {
        // Where it cannot be left, it is made again the next time: that is all.
        let _ = keep(&self.index_path(), write);
    }

    fn give_back(&self, heap: &mut Heap<'_>) {
        typed::give_back(heap, &self.index_path());
    }

    fn types_source(&self) -> TypesSource {
        typed::source(&[])
    }

    fn block_types(&self, snapshot: &mut Snapshot<'_>, source: TypesSource) -> Option<BlockTypes> {
        BlockTypes::open_file(snapshot, source, &self.block_types_path(), &Place::Memory)
    }

    fn keep_block_types(&self, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) {
        // The same.
        let _ = keep(&self.block_types_path(), write);
    }

    fn summary(&self) -> Option<Vec<u8>> {
        fs::read(self.summary_path()).ok()
    }

    fn keep_summary(&self, json: &[u8]) {
        let _ = keep(&self.summary_path(), |out| out.write_all(json));
    }
}

/// Writes a file that gets its name when it is whole.
pub(crate) fn keep(
    path: &Path,
    write: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut partial = path.as_os_str().to_os_string();
    partial.push(format!(".{}.partial", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&partial)
        .and_then(|file| {
            let mut out = BufWriter::with_capacity(1 << 20, file);
            write(&mut out)?;
            out.flush()
        })
        .and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // Half a file helps nobody.
        let _ = fs::remove_file(&partial);
    }
    written
}
