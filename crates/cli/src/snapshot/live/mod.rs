//! `memtrail snapshot PID` of a process that memtrail did not start.
//!
//! The tracer, a child of memtrail, stops the process. It has the process make a frozen copy of itself, and lets it go on.
//! memtrail reads the copy's memory as it reads that of a core file. Only the tracer uses `ptrace(2)`: whichever of the two is killed, the
//! kernel lets the process run on and kills the copy.

mod image;
mod others;
pub(crate) mod peek;
pub(crate) mod refusal;
mod report;
mod subject;
mod tracer;
mod tracing;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use memtrail_map::MappedFile;
use memtrail_ocaml_snapshot::core_file::{CoreProcess, Limit, Runtime, Unreadable};

use super::outside::{BytecodeFile, Executables, Places, Source, Taken, no_heap, save};
use crate::error::{Failure, Kind};
use image::Image;
use report::{CopyReport, Work};
use subject::Subject;
use tracing::Tracing;

pub(crate) use others::stop;
pub(crate) use tracer::{Args as TracerArgs, run as trace};

/// Checks that the heap of a process can be found, and that it may be traced.
pub(super) fn check_process(pid: u32) -> Result<(), Failure> {
    let subject = Subject::find(pid)?;
    Runtime::find(&subject.executable, subject.entry)
        .map_err(|error| no_heap(Source::Process(pid), error))?;
    refusal::check(pid)
}

/// Checks that the heap of a program can be found in its processes.
pub(super) fn check_program(file: &Path) -> Result<(), Failure> {
    let refused = |error: &dyn std::fmt::Display, hint: &str| {
        Err(Failure::new(Kind::Input, format_args!("no heap in its processes: {error}")).hint(hint))
    };
    let executable = match MappedFile::open(file) {
        Ok(executable) => executable,
        Err(error) => return refused(&error, "name a file that can be read"),
    };
    match Runtime::find(&executable, 0) {
        Ok(_) => Ok(()),
        Err(error @ Unreadable::NoSymbols) => {
            refused(&error, "keep the symbols: do not strip a static program")
        }
        Err(error) => refused(
            &error,
            "memtrail reads the heap of native programs of OCaml 4.12 to 4.14 and 5.1 to 5.5",
        ),
    }
}

/// Checks that processes of the user may be traced here.
pub(super) fn check_permission() -> Result<(), Failure> {
    refusal::check(refusal::other_process())
}

/// A process and its options on the command line.
pub(super) struct LiveArgs<'a> {
    pub(super) pid: u32,
    pub(super) output: Option<&'a Path>,
    pub(super) contents: bool,
    pub(super) json: bool,
}

/// The process is copied again so often if blocks were being moved.
const COPIES: u32 = 4;

pub(super) fn run(args: &LiveArgs<'_>) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let source = Source::Process(args.pid);
    let subject = Subject::find(args.pid)?;
    let unreadable = |error| no_heap(source, error);
    // Before anything is stopped.
    look_for_runtime(&subject)?.map_err(unreadable)?;
    let mut tracing = Tracing::start(args.pid)?;
    let mut copies = 0;
    loop {
        copies += 1;
        let frozen = tracing.take_copy()?;
        let held_since = Instant::now();
        let taken = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let image = Image::read(&frozen, &subject, args.output);
        let image = image.map_err(|failure| match frozen.held {
            // Nothing is left of the memory of a process that was paused, not copied, and killed.
            Some(_) => refusal::unless_it_ends(args.pid, failure),
            None => failure,
        })?;
        let core = image.core_file();
        let root = format!("/proc/{}/root", frozen.copy);
        let program = format!("/proc/{}/exe", frozen.copy);
        let folder = format!("/proc/{}/cwd", frozen.copy);
        let places = Places { program: Some(program.as_ref()), root: Some(root.as_ref()) };
        let executables = Executables::find(&core, source, &places)?;
        let process = CoreProcess::open(&core, executables.program(), executables.contents());
        let is_in_disorder = match &process {
            Ok(process) => process.limit() == Some(Limit::Collects),
            Err(error) => error.is_without_symbols(),
        };
        if copies < COPIES && is_in_disorder {
            continue;
        }
        let mut pause = Duration::from_nanos(frozen.pause_ns);
        if frozen.held.is_some() {
            pause += held_since.elapsed();
        }
        let process = process.map_err(unreadable)?;
        let bytecode = BytecodeFile::open(&process, Some(root.as_ref()), Some(folder.as_ref()));
        let mut process = process;
        let nameless = bytecode.as_ref().and_then(|file| file.add_to(&mut process));
        tracing.end();
        let mut notes: Vec<String> = executables.notes().to_vec();
        notes.extend(nameless);
        notes.extend(process.notes().iter().cloned());
        notes.extend(frozen.notes());
        return save(&Taken {
            source,
            core: &core,
            executables: &executables,
            process: &process,
            bytecode: bytecode.as_ref().map(BytecodeFile::path),
            at_unix_us: u64::try_from(taken.as_micros()).unwrap_or(u64::MAX),
            began_unix_us: subject.began_unix_us,
            pause: Some(pause),
            begun,
            label: label(process.limit(), &frozen),
            notes,
            output: args.output,
            contents: args.contents,
            json: args.json,
        });
    }
}

/// Looks for a runtime, by symbols or in the memory of the process while it runs.
fn look_for_runtime(subject: &Subject) -> Result<Result<(), Unreadable>, Failure> {
    let (executable, entry) = (&subject.executable, subject.entry);
    match Runtime::find(executable, entry) {
        Err(error) if error.is_without_symbols() => {
            let memory = peek::open(subject.pid);
            let memory = memory.map_err(|error| refusal::unseen(subject.pid, &error))?;
            let read = peek::read_at(&memory);
            let may_be = Runtime::may_be_in(executable, entry, &peek::Peek::new(&read));
            Ok(if may_be { Ok(()) } else { Err(error) })
        }
        found => Ok(found.map(|_| ())),
    }
}

/// A name for a snapshot that does not show all, or more than the program retained.
fn label(limit: Option<Limit>, frozen: &CopyReport) -> Option<&'static str> {
    match (limit, frozen.work) {
        (Some(Limit::Truncated), _) => Some("memory is missing"),
        (Some(Limit::Collects), _) => Some("taken in a minor collection"),
        (Some(Limit::Registers), _) => Some("registers as roots"),
        (None, Work::InC) => Some("taken in C code"),
        (None, _) => None,
    }
}
