//! Names the functions of native code in a trace where the agent has left places in files.
//!
//! The agent lists the program's executable and libraries beside the trace ([`MODULES_FILE`]). Their debug information and
//! symbol tables give functions, inlined ones too, files and lines. When the program has ended, the launcher writes the
//! names into the trace and removes the list ([`write_into`]). Until then whoever reads the trace names them: in what was
//! read of it ([`named`]), or while it is read on ([`naming`]).

mod listed;
mod malloc;
mod names;
mod native;
mod rewriting;

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use memtrail_recording::{MODULES_FILE, Recording};
use memtrail_symbols::Symbols;
use memtrail_trace::{Code, Location, Naming};

use crate::recording_facts;
use listed::{executable_without_file, listed};
use malloc::MallocNames;
use names::Names;
use native::NativeNames;
use rewriting::write;

pub(crate) use rewriting::{Written, write_into};

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
    (recording_facts::present(recording).is_some()).then_some(known.pid)
}

/// The executable of a recording whose functions cannot be named here, as its file is gone or another one.
pub(crate) fn without_file(recording: &Recording) -> Option<PathBuf> {
    executable_without_file(&listed(&recording.path, pid_of(recording)).ok().flatten()?)
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
