//! Writes names into a trace.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use memtrail_recording::MODULES_FILE;
use memtrail_symbols::{OwnFunctions, Symbols};
use memtrail_trace::replace_part::replace_part;
use memtrail_trace::rewrite::{Rewrite, rewrite};
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{Alloc, Code, DomainId, Location, Reader, TraceInfo};

use super::listed::{executable_without_file, listed};
use super::malloc::MallocNames;
use super::names::Names;
use super::native::NativeNames;

/// Events of which the bytes are kept in memory: a few megabytes.
const EVENTS_AT_ONCE: u64 = 1 << 18;

/// Facts about a trace that was written with names.
#[derive(Default)]
pub(crate) struct Written {
    /// Calls of allocators that were not recorded.
    pub(crate) not_recorded: OwnFunctions,
    /// The executable, if its file is gone or another one, so that its functions have no names.
    pub(crate) without_file: Option<PathBuf>,
}

/// Names the functions in the trace of a recording that has a list of modules, and no names yet. `is_native`: it is
/// that of a native program.
pub(crate) fn write_into(folder: &Path, trace: &Path, is_native: bool) -> io::Result<Written> {
    let Some(modules) = listed(folder, None)? else { return Ok(Written::default()) };
    let written = Written {
        not_recorded: OwnFunctions::of_modules(&modules),
        without_file: executable_without_file(&modules),
    };
    let fresh = trace.with_extension("named");
    let named = write_file(trace, &fresh, Symbols::of_modules(modules), is_native)
        .and_then(|()| fs::rename(&fresh, trace));
    if named.is_err() {
        // Nobody would look at the rest of it again.
        let _ = fs::remove_file(&fresh);
    }
    named.and_then(|()| fs::remove_file(folder.join(MODULES_FILE))).map(|()| written)
}

fn write_file(trace: &Path, fresh: &Path, symbols: Symbols, is_native: bool) -> io::Result<()> {
    let bytes = MappedFile::open(trace)?;
    // No page is read twice: without this the launcher takes as much memory as the trace.
    let mut events = 0_u64;
    let progress = || {
        events += 1;
        if events.is_multiple_of(EVENTS_AT_ONCE) {
            bytes.give_back();
        }
    };
    let mut out = write(&bytes, symbols, is_native, create(fresh, trace)?, progress)?;
    out.flush()
}

/// Writes a trace with names to `out`, which is given back. `is_native`: it is that of a native program. In that of an OCaml
/// program the part with its calls of `malloc` is written anew. `progress` is called for each event of a native program's.
pub(super) fn write<W: Write>(
    trace: &[u8],
    symbols: Symbols,
    is_native: bool,
    out: W,
    progress: impl FnMut(),
) -> io::Result<W> {
    if is_native {
        let reader = Reader::new(trace).map_err(io::Error::other)?;
        let mut names = Rewriting::new(NativeNames::new(symbols));
        rewrite(&reader, out, &mut names, progress).map(|(out, _)| out)
    } else {
        let mut names = Rewriting::new(MallocNames::new(symbols));
        replace_part(trace, memtrail_trace::malloc::DOMAIN, out, &mut names)
    }
}

/// A new file for a trace, readable by who may read the trace.
fn create(fresh: &Path, trace: &Path) -> io::Result<io::BufWriter<File>> {
    let file = File::options().write(true).create(true).truncate(true).open(fresh)?;
    fs::set_permissions(fresh, fs::metadata(trace)?.permissions())?;
    Ok(io::BufWriter::new(file))
}

/// Names, as a trace is written with them.
struct Rewriting<N> {
    names: N,
    /// The domain and the frames of the last callstack, and those of them that are kept.
    last: Option<(DomainId, usize)>,
    own: Range<usize>,
}

impl<N: Names> Rewriting<N> {
    fn new(names: N) -> Self {
        Self { names, last: None, own: 0..0 }
    }
}

impl<N: Names> Rewrite for Rewriting<N> {
    const STACKS: bool = true;
    const KEEPS_IDS: bool = true;

    fn info(&self, old: &TraceInfo) -> TraceInfo {
        old.clone()
    }

    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent> {
        let callstack = Some((alloc.domain, alloc.backtrace.len()));
        let is_of_domain = self.last.is_some_and(|(domain, _)| domain == alloc.domain);
        // The frames that it has in common with the previous one are known.
        let known = if is_of_domain { alloc.common_prefix } else { 0 };
        let new = alloc.backtrace.get(known..).unwrap_or_default();
        if !new.is_empty() || self.last != callstack {
            self.names.resolve(new);
            self.own = self.names.own(alloc.backtrace);
            self.last = callstack;
        }
        let &Alloc { length, samples, source, .. } = alloc;
        Some(AllocEvent { length, samples, source })
    }

    /// The part that [`alloc`](Self::alloc) found.
    fn backtrace<'a>(&self, backtrace: &'a [Code]) -> &'a [Code] {
        backtrace.get(self.own.clone()).unwrap_or(backtrace)
    }

    fn locations(&self, code: Code) -> Option<Vec<Location<'_>>> {
        Some(self.names.locations(code)).filter(|found| !found.is_empty())
    }
}
