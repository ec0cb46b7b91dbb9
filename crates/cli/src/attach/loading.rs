//! Loads the agent into a process: stops it at a good moment, and has one of its threads call the dynamic linker.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use memtrail_ocaml_snapshot::core_file::{Runtime, Thread};
use memtrail_ptrace::{CopyError, Library, LoadError};

use super::libc_functions;
use super::ready_thread::Search;
use super::subject::Subject;
use crate::error::{Failure, Kind};
use crate::next_commands::{self, ProgramKind};
use crate::snapshot::live::peek::Peek;
use crate::snapshot::live::{self, refusal};

/// The function of the agent that begins to record.
const ENTRY: &std::ffi::CStr = c"memtrail_attach";
/// Results of that function.
const RECORDED: i32 = 2;
/// Time limit of the search for a thread that may call the dynamic linker.
const SEARCH: Duration = Duration::from_secs(5);
/// Between stops: doubled up to the second.
const FIRST_WAIT: Duration = Duration::from_millis(1);
const MAX_WAIT: Duration = Duration::from_millis(50);
/// Each thread has to come out of the kernel within this time.
const STOP_LIMIT: Duration = Duration::from_secs(2);
/// The linker may have to wait for another thread.
const LOAD_LIMIT: Duration = Duration::from_secs(10);

/// Loads the agent's file and has it begin to record for a session.
pub(super) fn load(subject: &Subject, library: &Path, session: &Path) -> Result<(), Failure> {
    let pid = subject.pid;
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::new(Kind::Work, format_args!("cannot load the agent into process {pid}: {why}"))
    };
    let runtime = subject
        .is_ocaml
        .then(|| Runtime::known(&subject.executable, subject.entry))
        .transpose()
        .map_err(|error| Failure::new(Kind::Input, format_args!("process {pid}: {error}")))?;
    if !std::arch::is_x86_feature_detected!("xsave") {
        return Err(cannot(&"the processor has no xsave, by which a thread's registers are kept"));
    }
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (Ok(path), Ok(argument)) = (text(library), text(session)) else {
        return Err(cannot(&"a path has a zero byte"));
    };
    let kind = if subject.is_ocaml { ProgramKind::Ocaml } else { ProgramKind::Native };
    let command = if subject.is_ocaml { "attach" } else { "attach --native" };
    let again = kind.attach(pid);
    let instead = || next_commands::instead_of_attach(pid, kind);
    let mut search = Search::new(pid, runtime.as_ref());
    let (begun, mut wait) = (Instant::now(), FIRST_WAIT);
    loop {
        let process =
            live::stop(pid, STOP_LIMIT).map_err(|error| refusal::of_stop(command, pid, error))?;
        let mappings = process.mappings().unwrap_or_default();
        let threads: Vec<Thread> = process.threads().iter().map(thread).collect();
        let read = |at, into: &mut [u8]| process.read(at, into);
        let found = search.find(&Peek::new(&read), &mappings, &threads);
        if let Some(found) = found {
            let functions =
                libc_functions::find(pid, &mappings).map_err(|why| cannot(&why).hint(instead()))?;
            let main = threads.iter().find(|thread| thread.id == pid);
            let number = main.map_or(0, Thread::thread_pointer);
            let library = Library { path: &path, entry: ENTRY, argument: &argument, number };
            match process.load(found, &library, &functions, LOAD_LIMIT) {
                Ok(()) => return Ok(()),
                Err(LoadError::NotRun(CopyError::Interrupted)) if begun.elapsed() < SEARCH => {}
                Err(LoadError::NotRun(CopyError::Ended)) => return Err(refusal::no_process(pid)),
                Err(LoadError::Entry(RECORDED)) => {
                    return Err(Failure::new(
                        Kind::Input,
                        format_args!("process {pid} is recorded already"),
                    )
                    .hint(format_args!("end that first: memtrail detach {pid}")));
                }
                Err(LoadError::Linker(why)) => {
                    let message = format_args!(
                        "cannot load the agent into process {pid}: {}",
                        explained(&why)
                    );
                    return Err(Failure::new(Kind::Input, message).hint(instead()));
                }
                Err(why) => {
                    return Err(
                        cannot(&why).hint(format_args!("the process runs on; try again: {again}"))
                    );
                }
            }
        } else {
            process.resume();
        }
        if begun.elapsed() > SEARCH {
            let stops = "none of its threads could call the dynamic linker at any of many stops";
            return Err(
                cannot(&stops).hint(format_args!("the process runs on; try again: {again}"))
            );
        }
        thread::sleep(wait);
        wait = (wait * 2).min(MAX_WAIT);
    }
}

/// The dynamic linker's message, with the reason where that is one of the agent's needs.
fn explained(why: &str) -> String {
    if why.contains("static TLS") {
        return format!("its libraries left no static thread-local storage for the agent ({why})");
    }
    why.to_owned()
}

fn thread(stopped: &memtrail_ptrace::StoppedThread) -> Thread {
    Thread { id: stopped.id(), signal: 0, registers: stopped.registers().words() }
}
