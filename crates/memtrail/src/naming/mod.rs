//! Names the functions of native code in a trace where the agent has left places in files.
//!
//! The agent lists the program's executable and libraries beside the trace ([`MODULES_FILE`]). Their debug information and
//! symbol tables give functions, inlined ones too, files and lines. When the program has ended, the launcher writes the
//! names into the trace and removes the list ([`write_into`]). Until then whoever reads the trace names them: in what was
//! read of it ([`named`]), or while it is read on ([`naming`]).

mod malloc;
mod native;
mod rewriting;

use std::fmt::Debug;
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use memtrail_recording::{MODULES_FILE, Recording, is_alive};
use memtrail_symbols::Symbols;
use memtrail_symbols::modules::{self, Module};
use memtrail_trace::replace_part::replace_part;
use memtrail_trace::rewrite::rewrite;
use memtrail_trace::{Code, Location, Naming, Reader};

use crate::recording_facts;
use malloc::MallocNames;
use native::NativeNames;
use rewriting::Rewriting;

pub(crate) use rewriting::{Written, write_into};

/// Functions and positions at the codes of a trace.
trait Names: Debug + Send {
    /// Looks codes up that have not been met.
    fn resolve(&mut self, codes: &[Code]);
    /// The part of a callstack that is kept, its outermost frame first: without what allocates for others. Its codes were resolved.
    fn own(&self, callstack: &[Code]) -> Range<usize>;
    /// The functions at a code that was resolved, the caller first. None where no more is known than the trace says.
    fn locations(&self, code: Code) -> Vec<Location<'_>>;
}

/// Names for the trace of a recording, while it is read on; `None` if they are in the trace.
pub(crate) fn naming(recording: &Recording) -> Option<Arc<dyn Naming>> {
    if !recording.path.join(MODULES_FILE).exists() {
        return None;
    }
    let (folder, pid) = (recording.path.clone(), pid_of(recording));
    let symbols = Symbols::of_list(move || listed(&folder, pid).ok().flatten());
    Some(if is_native(recording) {
        Arc::new(Live(Mutex::new(NativeNames::new(symbols))))
    } else {
        Arc::new(Live(Mutex::new(MallocNames::new(symbols))))
    })
}

/// Bytes of the trace of a recording with the names; `None` if they are there already.
pub(crate) fn named(recording: &Recording, trace: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let Some(modules) = listed(&recording.path, pid_of(recording))? else { return Ok(None) };
    let symbols = Symbols::of_modules(modules);
    let out = io::Cursor::new(Vec::with_capacity(trace.len()));
    let out = write(trace, symbols, is_native(recording), out, || ())?;
    Ok(Some(out.into_inner()))
}

fn is_native(recording: &Recording) -> bool {
    recording.description.as_ref().is_some_and(|known| known.runtime.is_native())
}

/// The process, while it runs and writes.
fn pid_of(recording: &Recording) -> Option<u32> {
    let known = recording.description.as_ref()?;
    (recording_facts::grows(recording) && is_alive(known.pid)).then_some(known.pid)
}

/// The executable of a recording whose functions cannot be named here, as its file is gone or another one.
pub(crate) fn without_file(recording: &Recording) -> Option<PathBuf> {
    executable_without_file(&listed(&recording.path, pid_of(recording)).ok().flatten()?)
}

fn executable_without_file(modules: &[Module]) -> Option<PathBuf> {
    let executable = modules.first()?;
    (!executable.is_at(&executable.path)).then(|| executable.path.clone())
}

/// The modules that the agent has listed, as a process has them that runs; `None` if there is no list.
fn listed(folder: &Path, pid: Option<u32>) -> io::Result<Option<Vec<Module>>> {
    match fs::read(folder.join(MODULES_FILE)) {
        Ok(text) => {
            let modules = modules::parse(&String::from_utf8_lossy(&text)).into_iter();
            let seen = |module: Module| match pid {
                Some(pid) => module.seen_by(pid),
                None => module,
            };
            Ok(Some(modules.map(seen).collect()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a trace with names to `out`, which is given back. `is_native`: it is that of a native program. In that of an OCaml
/// program the part with its calls of `malloc` is written anew. `progress` is called for each event of a native program's.
fn write<W: Write>(
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

/// Names that are looked up as codes are met.
#[derive(Debug)]
struct Live<N>(Mutex<N>);

impl<N: Names> Naming for Live<N> {
    fn locate(&self, code: Code, each: &mut dyn FnMut(Location<'_>)) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.resolve(&[code]);
        names.locations(code).into_iter().for_each(each);
    }

    fn own(&self, callstack: &[Code]) -> Range<usize> {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.resolve(callstack);
        names.own(callstack)
    }
}
