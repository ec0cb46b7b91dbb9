//! Names the functions of a native program in its trace, where the agent has left places in files.
//!
//! So are the functions of native code on callstacks of an OCaml program's calls of `malloc`, whose part of the trace
//! alone is written anew ([`MallocNames`]).
//!
//! The agent lists the program's executable and libraries beside the trace. Their debug information and symbol
//! tables give functions, inlined ones too, files and lines. The list is removed when the names are in the trace.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_ocaml::{names, symbols};
use memtrail_recording::MODULES_FILE;
use memtrail_symbols::{OwnFunctions, Symbols, modules};
use memtrail_trace::malloc::{self, native_address};
use memtrail_trace::replace_part::replace_part;
use memtrail_trace::rewrite::{Rewrite, rewrite};
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{Alloc, Code, Location, Reader, TraceInfo};

/// Events of which the bytes are kept in memory: a few megabytes.
const EVENTS_AT_ONCE: u64 = 1 << 18;

/// Names the functions in the trace of a recording that has a list of modules, and no names yet. `is_native`: it is
/// that of a native program. Gives what calls of allocators were not recorded.
pub(super) fn resolve(folder: &Path, trace: &Path, is_native: bool) -> io::Result<OwnFunctions> {
    let list = folder.join(MODULES_FILE);
    let text = match fs::read(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(OwnFunctions::default()),
        Err(error) => return Err(error),
    };
    let modules = modules::parse(&String::from_utf8_lossy(&text));
    let not_recorded = OwnFunctions::of_modules(&modules);
    let symbols = Symbols::of_modules(modules);
    let fresh = trace.with_extension("named");
    let written = if is_native {
        write(trace, &fresh, &mut Names { symbols, last: (0, 0) })
    } else {
        write_part(
            trace,
            &fresh,
            &mut MallocNames { symbols, ocaml: HashMap::new(), innermost_first: Vec::new() },
        )
    };
    let named = written.and_then(|()| fs::rename(&fresh, trace));
    if named.is_err() {
        // What is left of it would not be looked at again.
        let _ = fs::remove_file(&fresh);
    }
    named.and_then(|()| fs::remove_file(&list)).map(|()| not_recorded)
}

fn write(trace: &Path, fresh: &Path, names: &mut Names) -> io::Result<()> {
    let bytes = MappedFile::open(trace)?;
    let reader = Reader::new(&bytes).map_err(io::Error::other)?;
    // No page is read twice: without this the launcher takes as much memory as the trace.
    let mut events = 0_u64;
    let progress = || {
        events += 1;
        if events.is_multiple_of(EVENTS_AT_ONCE) {
            bytes.give_back();
        }
    };
    let (mut out, _) = rewrite(&reader, create(fresh, trace)?, names, progress)?;
    io::Write::flush(&mut out)
}

fn write_part(trace: &Path, fresh: &Path, names: &mut MallocNames) -> io::Result<()> {
    let bytes = MappedFile::open(trace)?;
    let mut out = replace_part(&bytes, malloc::DOMAIN, create(fresh, trace)?, names)?;
    io::Write::flush(&mut out)
}

/// A new file for a trace, readable by who may read the trace.
fn create(fresh: &Path, trace: &Path) -> io::Result<io::BufWriter<File>> {
    let file = File::options().write(true).create(true).truncate(true).open(fresh)?;
    fs::set_permissions(fresh, fs::metadata(trace)?.permissions())?;
    Ok(io::BufWriter::new(file))
}

/// What is at the addresses of a trace.
struct Names {
    symbols: Symbols,
    /// Frames of the last callstack, and those of them that are kept.
    last: (usize, usize),
}

impl Names {
    /// Without the innermost frames that are not the program's own, unless all are.
    fn kept(&self, backtrace: &[Code]) -> usize {
        let others = self.symbols.not_own(backtrace.iter().rev().map(|code| code.0));
        match backtrace.len() - others {
            0 => backtrace.len(),
            own => own,
        }
    }
}

impl Rewrite for Names {
    const STACKS: bool = true;
    const KEEPS_IDS: bool = true;

    fn info(&self, old: &TraceInfo) -> TraceInfo {
        old.clone()
    }

    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent> {
        // The frames that it has in common with the previous one are known.
        let new = alloc.backtrace.get(alloc.common_prefix..).unwrap_or_default();
        for code in new {
            self.symbols.resolve(&[code.0]);
        }
        let frames = alloc.backtrace.len();
        if !new.is_empty() || self.last.0 != frames {
            self.last = (frames, self.kept(alloc.backtrace));
        }
        let &Alloc { length, samples, source, .. } = alloc;
        Some(AllocEvent { length, samples, source })
    }

    /// What [`alloc`](Self::alloc) found of this callstack.
    fn backtrace<'a>(&self, backtrace: &'a [Code]) -> &'a [Code] {
        backtrace.get(..self.last.1).unwrap_or(backtrace)
    }

    fn locations(&self, code: Code) -> Option<Vec<Location<'_>>> {
        Some(self.symbols.locations(code.0).collect()).filter(|found: &Vec<_>| !found.is_empty())
    }
}

/// What is at the addresses of native code in a trace of OCaml.
struct MallocNames {
    symbols: Symbols,
    /// Names of OCaml functions that the frame tables have none for.
    ocaml: HashMap<u64, Option<String>>,
    /// Scratch: the native frames of a callstack.
    innermost_first: Vec<u64>,
}

impl MallocNames {
    /// Whether a frame is native code of which this is true; OCaml's are not.
    fn is(&self, code: Code, what: impl Fn(u64, &[u8]) -> bool) -> bool {
        native_address(code).is_some_and(|address| {
            let function = self.symbols.locations(address).next_back();
            what(address, function.map_or(b"", |location| location.function))
        })
    }

    /// Whether a function allocates for those that call it.
    fn is_passed_over(&self, code: Code) -> bool {
        self.is(code, |address, function| {
            self.symbols.is_library(address) || is_one_of(&symbols::malloc::FOR_OTHERS, function)
        })
    }

    /// Whether a function is on the way to a thread's first one of OCaml's.
    fn is_way_in(&self, code: Code) -> bool {
        self.is(code, |address, function| {
            self.symbols.is_library(address) || is_one_of(&symbols::malloc::WAY_IN, function)
        })
    }
}

fn is_one_of(names: &[&str], function: &[u8]) -> bool {
    names.iter().any(|name| name.as_bytes() == function)
}

impl Rewrite for MallocNames {
    const STACKS: bool = true;

    fn info(&self, old: &TraceInfo) -> TraceInfo {
        old.clone()
    }

    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent> {
        self.innermost_first.clear();
        self.innermost_first
            .extend(alloc.backtrace.iter().rev().filter_map(|&code| native_address(code)));
        self.symbols.resolve(&self.innermost_first);
        for &address in &self.innermost_first {
            self.ocaml.entry(address).or_insert_with(|| {
                let symbol = self.symbols.locations(address).next_back()?.function;
                let mut text = vec![0; symbol.len()];
                names::demangle(symbol, &mut text)
                    .map(|name| String::from_utf8_lossy(name).into_owned())
            });
        }
        let &Alloc { length, samples, source, .. } = alloc;
        Some(AllocEvent { length, samples, source })
    }

    /// Without the innermost frames that allocate for others, and, where OCaml's functions follow, without the
    /// outermost ones that lead to them: the runtime's sampler does not have these either.
    fn backtrace<'a>(&self, backtrace: &'a [Code]) -> &'a [Code] {
        let others = backtrace.iter().rev().take_while(|&&code| self.is_passed_over(code)).count();
        let own = match backtrace.len() - others {
            0 => backtrace,
            own => &backtrace[..own],
        };
        let way_in = own.iter().take_while(|&&code| self.is_way_in(code)).count();
        match own.get(way_in) {
            Some(&first) if native_address(first).is_none() => &own[way_in..],
            _ => own,
        }
    }

    fn locations(&self, code: Code) -> Option<Vec<Location<'_>>> {
        let address = native_address(code)?;
        let mut found: Vec<_> = self.symbols.locations(address).collect();
        if let (Some(last), Some(Some(name))) = (found.last_mut(), self.ocaml.get(&address)) {
            last.function = name.as_bytes();
        }
        Some(found).filter(|found| !found.is_empty())
    }
}
