//! Writes the events of one trace into another, which appears under its name only when whole.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{
    Alloc, BlockId, Code, Decoded, Detail, Event, Reader, Tables, Timestamp, TraceInfo,
};

use crate::error::{Failure, Kind};
use crate::trace::progress::Progress;

/// What becomes of a trace on its way.
pub(super) trait Filter {
    /// The first packet of the new trace.
    fn info(&self, old: &TraceInfo) -> TraceInfo;
    /// A block as it is to be written; `None` drops it, and all that happens to it.
    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent>;
    /// The time of an event.
    fn time(&self, time: Timestamp) -> Timestamp {
        time
    }
    /// Whether call stacks are kept.
    const STACKS: bool;
}

/// Copies what `filter` lets through to the file `to`.
pub(super) fn copy<F: Filter>(
    reader: &Reader<'_>,
    to: &Path,
    filter: &mut F,
) -> Result<Decoded, Failure> {
    let output = Output::create(to)?;
    let failed = |error: io::Error| output.failure(&error);
    let out = BufWriter::with_capacity(1 << 18, &output.file);
    let writer = TraceWriter::new(out, &filter.info(reader.info())).map_err(failed)?;
    let mut copying = Copying { filter, writer, ids: HashMap::new() };
    let mut progress = Progress::new();
    let detail = if F::STACKS { Detail::Codes } else { Detail::Marks };
    let read = reader.try_for_each(detail, |event, tables| {
        progress.tick();
        match copying.event(&event, tables) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    });
    let decoded = match read {
        ControlFlow::Continue(decoded) => decoded,
        ControlFlow::Break(error) => return Err(output.failure(&error)),
    };
    copying.finish().map_err(failed)?;
    output.keep()?;
    Ok(decoded)
}

struct Copying<'a, F, W> {
    filter: &'a mut F,
    writer: TraceWriter<W>,
    /// New ids of the blocks that are still live.
    ids: HashMap<BlockId, BlockId>,
}

impl<F: Filter, W: Write> Copying<'_, F, W> {
    fn finish(self) -> io::Result<()> {
        self.writer.finish().map(drop)
    }

    fn event(&mut self, event: &Event<'_>, tables: &Tables) -> io::Result<()> {
        match event {
            Event::Alloc(a) => {
                let Some(event) = self.filter.alloc(a) else { return Ok(()) };
                let backtrace: &[Code] = if F::STACKS { a.backtrace } else { &[] };
                let locations = &tables.locations;
                let time = self.filter.time(a.time);
                let id = self.writer.alloc(a.domain, time, &event, backtrace, |code, to| {
                    to.extend(locations.of(code).iter().map(|&site| locations.resolve(site)));
                })?;
                self.ids.insert(a.id, id);
            }
            Event::Promote(m) => {
                if let Some(&id) = self.ids.get(&m.id) {
                    self.writer.promote(m.domain, self.filter.time(m.time), id)?;
                }
            }
            Event::Collect(m) => {
                if let Some(id) = self.ids.remove(&m.id) {
                    self.writer.collect(m.domain, self.filter.time(m.time), id)?;
                }
            }
        }
        Ok(())
    }
}

/// A file in the making, beside the one that it will be. Devices and pipes are written directly.
struct Output {
    file: File,
    path: PathBuf,
    partial: Option<PathBuf>,
}

impl Output {
    fn create(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::new(Kind::Work, format_args!("cannot create {}: {error}", path.display()))
        };
        let mut options = OpenOptions::new();
        options.write(true).mode(0o600);
        if path.metadata().is_ok_and(|meta| !meta.is_file()) {
            let file = options.open(path).map_err(failed)?;
            return Ok(Self { file, path: path.to_path_buf(), partial: None });
        }
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let file = options.create_new(true).open(&partial).map_err(failed)?;
        Ok(Self { file, path: path.to_path_buf(), partial: Some(partial) })
    }

    fn failure(&self, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::new(Kind::BrokenPipe, "broken pipe");
        }
        Failure::new(Kind::Work, format_args!("cannot write {}: {error}", self.path.display()))
    }

    /// Gives the file its name.
    fn keep(mut self) -> Result<(), Failure> {
        if let Some(partial) = self.partial.take() {
            std::fs::rename(&partial, &self.path).map_err(|error| {
                let _ = std::fs::remove_file(&partial);
                self.failure(&error)
            })?;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let _ = std::fs::remove_file(partial);
        }
    }
}
