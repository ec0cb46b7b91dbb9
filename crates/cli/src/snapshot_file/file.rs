//! The files of snapshots, with the index, the types of blocks and the summary that are left beside each.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::ops::Deref;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memtrail_engine::heap::MemoryLimit;
use memtrail_engine::{Bytes, SnapshotFile, Source};
use memtrail_heap::graph::{Failed, Graph, Place};
use memtrail_heap::query::Heap;
use memtrail_heap::read::{Error, Snapshot};
use memtrail_heap::{BlockTypes, TypesSource, give_back_freed};
use memtrail_map::MappedFile;
use memtrail_recording::Recording;
use memtrail_recording::disk::Used;
use memtrail_types::Types;

use super::memory::MemoryArgs;
use super::stored::{self, StoredTypes};
use super::{types, variables};

/// The file of a snapshot, with the stored names and types of its recording.
#[derive(Clone, Debug)]
pub(crate) struct File {
    path: PathBuf,
    stored: Option<Arc<StoredTypes>>,
    memory: MemoryArgs,
}

impl File {
    pub(crate) fn new(path: &Path, stored: Option<Arc<StoredTypes>>, memory: MemoryArgs) -> Self {
        Self { path: path.to_path_buf(), stored, memory }
    }

    /// The types that `memtrail types` stored in the recording.
    pub(crate) fn types(&self) -> Option<&Types> {
        self.stored.as_ref().map(|stored| &stored.types)
    }

    fn beside(&self, what: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(what);
        PathBuf::from(name)
    }

    fn index_path(&self) -> PathBuf {
        self.beside(".index")
    }

    fn block_types_path(&self) -> PathBuf {
        self.beside(".types")
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

    fn map(&self) -> Option<&MappedFile> {
        Some(&self.0)
    }

    fn give_back(&self) {
        self.0.give_back();
        give_back_freed();
    }
}

impl SnapshotFile for File {
    fn open(&self) -> io::Result<Bytes> {
        Ok(Box::new(Mapped(MappedFile::open(&self.path)?)))
    }

    fn index(&self, snapshot: &Snapshot<'_>) -> Option<Graph> {
        Graph::open_index(snapshot, &self.index_path())
    }

    fn keep_index(&self, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) {
        // Where it cannot be left, it is made again the next time: that is all.
        let _ = keep(&self.index_path(), write);
    }

    fn give_back(&self, heap: &mut Heap<'_>) {
        types::give_back(heap, &self.index_path());
    }

    fn name_roots(&self, heap: &mut Heap<'_>) -> Result<(), Error> {
        self.types().map_or(Ok(()), |types| variables::name(heap, types))
    }

    fn types_source(&self) -> TypesSource {
        self.stored.as_ref().map_or_else(|| stored::source(&[]), |stored| stored.source)
    }

    fn find_types(&self, heap: &mut Heap<'_>, place: &Place) -> Result<(), Failed> {
        let memory = self.memory_limit().map(|limit| limit.memory);
        self.types().map_or(Ok(()), |types| types::find(heap, types, place, memory))
    }

    fn memory_limit(&self) -> Option<MemoryLimit> {
        self.memory.limit(&self.path)
    }

    fn block_types(
        &self,
        snapshot: &mut Snapshot<'_>,
        source: TypesSource,
        place: &Place,
    ) -> Option<BlockTypes> {
        BlockTypes::open_file(snapshot, source, &self.block_types_path(), place)
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

/// Writes a file that gets its name when it is whole, if the recording has room for it.
fn keep(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let room = path.parent().and_then(room);
    let mut partial = path.as_os_str().to_os_string();
    partial.push(format!(".{}.partial", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&partial)
        .and_then(|file| {
            let out = Limited { file, room: room.unwrap_or(u64::MAX) };
            let mut out = BufWriter::with_capacity(1 << 20, out);
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

/// Bytes that are left of the disk space of a recording (`run --disk`); `None` if it has no limit.
fn room(folder: &Path) -> Option<u64> {
    let description = Recording::open(folder).ok()?.description?;
    let is_shared = description.shares_disk;
    Some(Used::of(folder, is_shared).room(description.disk?, is_shared))
}

/// A file that has so much room.
struct Limited {
    file: fs::File,
    room: u64,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.room.checked_sub(bytes.len() as u64);
        self.room = left.ok_or(io::ErrorKind::QuotaExceeded)?;
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
