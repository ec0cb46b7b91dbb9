//! The snapshot that a command reads, and its index.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_heap::MappedSnapshot;
use memtrail_heap::graph::Graph;
use memtrail_heap::query::Heap;
use memtrail_heap::read::{self, Snapshot};
use serde::Serialize;

use crate::error::{Failure, Kind};

/// Which snapshot.
#[derive(clap::Args)]
pub(super) struct Which {
    /// A recording (NAME.memtrail) or a snapshot (NNNN.heap)
    #[arg(value_name = "REC")]
    path: PathBuf,
    /// Of a recording with several snapshots the one with this number, instead of the last
    #[arg(long, value_name = "N")]
    snapshot: Option<u64>,
    /// Print one JSON object; sizes in bytes
    #[arg(long)]
    pub(super) json: bool,
}

impl Which {
    pub(super) fn open(&self) -> Result<Input, Failure> {
        let files = snapshots(&self.path)?;
        let file = match self.snapshot {
            None => files.last(),
            Some(number) => files.iter().find(|file| number_of(file) == Some(number)),
        };
        let file = file.ok_or_else(|| {
            let numbers: Vec<String> =
                files.iter().filter_map(|file| Some(number_of(file)?.to_string())).collect();
            let wanted = self.snapshot.unwrap_or_default();
            Failure::new(
                Kind::Input,
                format_args!("no snapshot {wanted} in {}", self.path.display()),
            )
            .hint(format_args!("there is {}", numbers.join(", ")))
        })?;
        Input::open(file)
    }
}

/// The snapshots of a recording in the order they were taken, or the one that is named.
pub(super) fn snapshots(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::new(Kind::Input, format_args!("cannot open {}: {error}", path.display()))
    };
    if !fs::metadata(path).map_err(cannot)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files: Vec<PathBuf> = fs::read_dir(path)
        .map_err(cannot)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| number_of(file).is_some())
        .collect();
    files.sort_by_key(|file| number_of(file));
    if files.is_empty() {
        return Err(Failure::new(
            Kind::Input,
            format_args!("{} has no heap snapshots", path.display()),
        )
        .hint("take some: memtrail run --snapshot every-major -- PROGRAM"));
    }
    Ok(files)
}

/// The number in a snapshot's file name; other files have none.
fn number_of(file: &Path) -> Option<u64> {
    file.file_name()?.to_str()?.strip_suffix(".heap")?.parse().ok()
}

/// An opened snapshot.
pub(super) struct Input {
    path: PathBuf,
    map: MappedSnapshot,
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let map = MappedSnapshot::open(path).map_err(|error| {
            Failure::new(Kind::Input, format_args!("cannot open {}: {error}", path.display()))
        })?;
        Ok(Self { path: path.to_path_buf(), map })
    }

    /// The snapshot with its analysis: read from the index, or made and left there.
    pub(super) fn heap(&self) -> Result<Heap<'_>, Failure> {
        let snapshot = Snapshot::read(&self.map).map_err(|error| self.failure(&error))?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut index = self.path.clone().into_os_string();
        index.push(".index");
        let index = PathBuf::from(index);
        let known = fs::read(&index).ok().and_then(|bytes| Graph::read_index(&snapshot, &bytes));
        if let Some(graph) = known {
            return Ok(Heap { snapshot, graph, threads });
        }
        let heap = Heap::new(snapshot, threads).map_err(|error| self.failure(&error))?;
        // Where it cannot be left, the next command takes as long as this one: that is all.
        let _ = keep(&heap, &index);
        Ok(heap)
    }

    /// A damaged file, as the user is told.
    pub(super) fn failure(&self, error: &read::Error) -> Failure {
        Failure::new(Kind::Input, format_args!("{}: {error}", self.path.display()))
            .hint("heap snapshots come from `memtrail run --snapshot` and `memtrail snapshot`")
    }

    /// Prints an answer as JSON, or as text by `print`, and says if the file is not whole.
    pub(super) fn answer<T: Serialize>(
        &self,
        heap: &Heap<'_>,
        json: bool,
        answer: &T,
        print: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> Result<ExitCode, Failure> {
        put(json, answer, print)?;
        match heap.snapshot.damage {
            None => Ok(ExitCode::SUCCESS),
            Some(damage) => Err(Failure::new(
                Kind::Input,
                format_args!("{} is damaged {damage}", self.path.display()),
            )
            .hint("what is said is of the part before that alone")),
        }
    }
}

/// Leaves the index at `path`, which it gets when it is whole.
fn keep(heap: &Heap<'_>, path: &Path) -> std::io::Result<()> {
    let mut partial = path.as_os_str().to_os_string();
    partial.push(format!(".{}.partial", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&partial)
        .and_then(|file| {
            heap.graph.write_index(&heap.snapshot, BufWriter::with_capacity(1 << 20, file))
        })
        .and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // Whatever is wrong, half an index helps nobody.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Prints an answer as JSON, or as text by `print`.
pub(super) fn put<T: Serialize>(
    json: bool,
    answer: &T,
    print: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if json {
        serde_json::to_writer_pretty(&mut out, answer).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        print(&mut out)?;
    }
    out.flush()?;
    Ok(())
}
