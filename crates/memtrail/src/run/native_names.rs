//! Names the functions of a native program in its trace, where the agent has left places in files.
//!
//! The agent lists the program's executable and libraries beside the trace. Their debug information and symbol
//! tables give functions, inlined ones too, files and lines. The list is removed when the names are in the trace.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_recording::MODULES_FILE;
use memtrail_symbols::{Symbols, modules};
use memtrail_trace::rewrite::{Rewrite, rewrite};
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{Alloc, Code, Location, Reader, TraceInfo};

/// Names the functions in the trace of a recording that has a list of modules, and no names yet.
pub(super) fn resolve(folder: &Path, trace: &Path) -> io::Result<()> {
    let list = folder.join(MODULES_FILE);
    let text = match fs::read(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let modules = modules::parse(&String::from_utf8_lossy(&text));
    let mut names = Names { symbols: Symbols::of_modules(modules), innermost_first: Vec::new() };
    let fresh = trace.with_extension("named");
    let named = write(trace, &fresh, &mut names).and_then(|()| fs::rename(&fresh, trace));
    if named.is_err() {
        // What is left of it would not be looked at again.
        let _ = fs::remove_file(&fresh);
    }
    named.and_then(|()| fs::remove_file(&list))
}

fn write(trace: &Path, fresh: &Path, names: &mut Names) -> io::Result<()> {
    let bytes = MappedFile::open(trace)?;
    let reader = Reader::new(&bytes).map_err(io::Error::other)?;
    let out =
        io::BufWriter::new(File::options().write(true).create(true).truncate(true).open(fresh)?);
    fs::set_permissions(fresh, fs::metadata(trace)?.permissions())?;
    let (mut out, _) = rewrite(&reader, out, names, || ())?;
    io::Write::flush(&mut out)
}

/// What is at the addresses of a trace.
struct Names {
    symbols: Symbols,
    /// Scratch: a callstack.
    innermost_first: Vec<u64>,
}

impl Rewrite for Names {
    const STACKS: bool = true;

    fn info(&self, old: &TraceInfo) -> TraceInfo {
        old.clone()
    }

    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent> {
        self.innermost_first.clear();
        self.innermost_first.extend(alloc.backtrace.iter().rev().map(|code| code.0));
        self.symbols.resolve(&self.innermost_first);
        let &Alloc { length, samples, source, .. } = alloc;
        Some(AllocEvent { length, samples, source })
    }

    /// Without the innermost frames that are those of libraries, unless all are.
    fn backtrace<'a>(&self, backtrace: &'a [Code]) -> &'a [Code] {
        let libraries =
            backtrace.iter().rev().take_while(|code| self.symbols.is_library(code.0)).count();
        match backtrace.len() - libraries {
            0 => backtrace,
            own => &backtrace[..own],
        }
    }

    fn locations(&self, code: Code) -> Option<Vec<Location<'_>>> {
        Some(self.symbols.locations(code.0).collect()).filter(|found: &Vec<_>| !found.is_empty())
    }
}
