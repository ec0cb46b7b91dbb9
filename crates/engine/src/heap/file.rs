//! Where snapshots come from: files of the host, or bytes inside a page.

use std::fmt::Debug;
use std::io;
use std::ops::Deref;
use std::path::PathBuf;

use memtrail_heap::graph::{Failed, Graph, Place};
use memtrail_heap::query::{Heap, Summary};
use memtrail_heap::read::{Error, Peek, Snapshot};
use memtrail_heap::{BlockTypes, Bytes as Size, SnapshotReason, TypesSource};
use serde::{Deserialize, Serialize};

/// A limit of the memory that an analysis may use.
#[derive(Clone, Debug)]
pub struct MemoryLimit {
    /// Bytes, about.
    pub memory: Size,
    /// The folder of files with the columns that do not fit.
    pub folder: PathBuf,
}

/// Bytes of a snapshot, which stay as they are.
pub trait Source: Deref<Target = [u8]> + Send + Sync {
    /// Whether all of them can still be read: a file that is mapped may have been cut short.
    fn is_whole(&self) -> bool {
        true
    }

    /// The mapped file, if they are in one.
    #[cfg(feature = "mmap")]
    fn map(&self) -> Option<&memtrail_map::MappedFile> {
        None
    }

    /// Gives pages back to the system. They are read again when they are used.
    fn give_back(&self) {}
}

impl Source for Vec<u8> {}

/// Bytes of any source.
pub type Bytes = Box<dyn Source>;

/// The file of a snapshot, and what is kept beside it. What cannot be kept is made again.
pub trait SnapshotFile: Debug + Send + Sync {
    /// Opens the bytes of the snapshot.
    fn open(&self) -> io::Result<Bytes>;

    /// What an earlier analysis left of this snapshot.
    fn index(&self, snapshot: &Snapshot<'_>) -> Option<Graph> {
        let _ = snapshot;
        None
    }

    /// Leaves an index, which `write` writes.
    fn keep_index(&self, write: &dyn Fn(&mut dyn io::Write) -> io::Result<()>) {
        let _ = write;
    }

    /// What types of blocks are found from.
    fn types_source(&self) -> TypesSource {
        TypesSource::default()
    }

    /// The types of this snapshot's blocks that an earlier analysis left, if they were found from `source`.
    /// Their column is made at `place`.
    fn block_types(
        &self,
        snapshot: &mut Snapshot<'_>,
        source: TypesSource,
        place: &Place,
    ) -> Option<BlockTypes> {
        let _ = (snapshot, source, place);
        None
    }

    /// Leaves types of blocks, which `write` writes.
    fn keep_block_types(&self, write: &dyn Fn(&mut dyn io::Write) -> io::Result<()>) {
        let _ = write;
    }

    /// Gives memory back to the system that finding types does not need: that of the analysis, as far as the index has it.
    fn give_back(&self, heap: &mut Heap<'_>) {
        let _ = heap;
    }

    /// Gives blocks the types that are declared; columns are made at `place`.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    fn find_types(&self, heap: &mut Heap<'_>, place: &Place) -> Result<(), Failed> {
        let _ = (heap, place);
        Ok(())
    }

    /// The limit of the memory that an analysis may use.
    fn memory_limit(&self) -> Option<MemoryLimit> {
        None
    }

    /// The summary that was left, as JSON.
    fn summary(&self) -> Option<Vec<u8>> {
        None
    }

    /// Names what is known of roots beyond the snapshot itself.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    fn name_roots(&self, heap: &mut Heap<'_>) -> Result<(), Error> {
        let _ = heap;
        Ok(())
    }

    /// Leaves a summary.
    fn keep_summary(&self, json: &[u8]) {
        let _ = json;
    }
}

/// A snapshot as it is listed. The same object stands as JSON in an offline page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SnapshotFacts {
    /// Its number within the recording.
    pub number: u64,
    /// Why it was taken.
    pub reason: String,
    /// The name that the program gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Name of the recorded program.
    pub program: String,
    /// The language runtime, as `OCaml 4.14`.
    pub runtime: String,
    /// When: seconds since 1970.
    pub taken_unix: f64,
    /// How long the program was paused, in seconds.
    pub pause: f64,
    /// Bytes that the runtime has taken for the major heap; 0 if unknown.
    pub heap: u64,
    /// Blocks in the file.
    pub blocks: u64,
    /// Size of the file.
    pub file_bytes: u64,
    /// Major collections there had been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major: Option<u64>,
    /// Minor collections there had been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minor: Option<u64>,
    /// Words that the program had allocated, headers included; in OCaml 5, by the domains that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_words: Option<u64>,
    /// Whether strings' contents were written.
    pub contents: bool,
    /// Checksum of the file, by which indexes and summaries are known to be its own.
    pub checksum: u64,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// What is kept of it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
}

impl SnapshotFacts {
    /// Looks at a snapshot's beginning. The number is its own, if it has one.
    ///
    /// # Errors
    /// If it is no snapshot.
    pub fn peek(bytes: &[u8]) -> Result<Self, Error> {
        let peek = Peek::new(bytes)?;
        let facts = &peek.facts;
        let counter = |wanted: &[u8]| {
            let mut found = facts.counters.iter().filter(|(name, _)| name == wanted).peekable();
            found.peek()?;
            // Each domain has its own.
            Some(
                found.map(|(_, value)| value).fold(0, |sum: u64, value| sum.saturating_add(*value)),
            )
        };
        let words = counter(b"heap_words").unwrap_or_else(|| {
            let of = |name| counter(name).unwrap_or(0);
            of(b"pool_words").saturating_add(of(b"large_words"))
        });
        Ok(Self {
            number: facts.number,
            reason: SnapshotReason::name(facts.reason).to_owned(),
            label: (!facts.label.is_empty())
                .then(|| String::from_utf8_lossy(&facts.label).into_owned()),
            program: String::from_utf8_lossy(&facts.program).into_owned(),
            runtime: match String::from_utf8_lossy(&facts.runtime) {
                version if version.is_empty() => String::new(),
                version => format!("OCaml {version}"),
            },
            taken_unix: facts.taken_at as f64 / 1e9,
            pause: facts.pause as f64 / 1e9,
            heap: words.saturating_mul(8),
            blocks: peek.blocks,
            file_bytes: bytes.len() as u64,
            major: counter(b"major_collections"),
            minor: counter(b"minor_collections"),
            allocated_words: counter(b"allocated_words"),
            contents: peek.has_contents,
            checksum: peek.checksum,
            damage: (!peek.is_whole).then(|| "the file is cut off".to_owned()),
            summary: None,
        })
    }
}

/// A snapshot that is there as bytes.
#[derive(Clone, Debug)]
pub struct InMemory(pub std::sync::Arc<[u8]>);

struct Shared(std::sync::Arc<[u8]>);

impl Deref for Shared {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Source for Shared {}

impl SnapshotFile for InMemory {
    fn open(&self) -> io::Result<Bytes> {
        Ok(Box::new(Shared(self.0.clone())))
    }
}

/// A snapshot that is there as bytes, with the types of its blocks and the names of its variables.
#[derive(Clone, Debug)]
pub struct InMemoryTyped {
    /// The snapshot.
    pub snapshot: std::sync::Arc<[u8]>,
    /// What [`types_of_copy`](crate::types_of_copy) gave.
    pub types: std::sync::Arc<[u8]>,
}

impl SnapshotFile for InMemoryTyped {
    fn open(&self) -> io::Result<Bytes> {
        Ok(Box::new(Shared(self.snapshot.clone())))
    }

    fn types_source(&self) -> TypesSource {
        BlockTypes::source_of_file(&self.types).unwrap_or_default()
    }

    fn block_types(
        &self,
        snapshot: &mut Snapshot<'_>,
        source: TypesSource,
        _place: &Place,
    ) -> Option<BlockTypes> {
        BlockTypes::read_file(snapshot, source, &self.types)
    }
}
