//! The tracer: stops the process at a good moment, copies it, and holds the copy until memtrail has read it.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use memtrail_ocaml_snapshot::core_file::{Moment, Runtime, Thread};
use memtrail_ptrace::{CopyError, ProcessCopy, Status, StoppedProcess, Way};

use super::others;
use super::peek::{self, Peek};
use super::report::{AGAIN, CopyReport, Report, ThreadReport, TraceError, Work};
use super::subject::Subject;
use crate::error::Failure;

/// Make a frozen copy of a process and hold it
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The process
    pid: u32,
}

/// A process is stopped so often, and for so long, to find a moment at which all its roots are saved.
const STOPS: u32 = 20;
const SEARCH: Duration = Duration::from_secs(1);
/// At a moment at which blocks are moved nothing can be read: such a process is stopped more often.
const COLLECTION_STOPS: u32 = 200;
const COLLECTION_SEARCH: Duration = Duration::from_secs(5);
/// From this stop on, a moment at which OCaml code runs will do, and from the second one at which C code runs.
const OCAML_FROM: u32 = 6;
const C_FROM: u32 = 12;
/// Between stops: doubled up to the second.
const FIRST_WAIT: Duration = Duration::from_millis(1);
const MAX_WAIT: Duration = Duration::from_millis(50);
/// Between looks at whether a collection has ended.
const LOOK: Duration = Duration::from_micros(50);
/// A runtime without symbols is looked for so often: it may be collecting garbage.
const SHAPE_TRIES: u32 = 20;
/// Each thread has to come out of the kernel within this time.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// A process that is paused for memtrail to read it.
enum Held {
    Copy(ProcessCopy),
    Itself(StoppedProcess),
}

/// The program of the tracer.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let subject = Subject::find(args.pid);
    // memtrail looked at the process before it started this one: the process has ended since, or is about to.
    let runtime = subject.as_ref().map_err(|failure| TraceError::Failed(failure.message().into()));
    let runtime = runtime.and_then(find_runtime);
    let (mut orders, mut out) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let copied = match &runtime {
            Ok(runtime) => take_copy(args.pid, runtime),
            Err(refusal) => Err(refusal.clone()),
        };
        let (report, held) = match copied {
            Ok((frozen, held)) => (Report::Copied(frozen), Some(held)),
            Err(refusal) => (Report::Refused(refusal), None),
        };
        serde_json::to_writer(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
        out.flush()?;
        let mut order = String::new();
        orders.read_line(&mut order)?;
        match held {
            // The process may have ended meanwhile, and nobody waits for the answer.
            Some(Held::Copy(copy)) => drop(copy.end()),
            Some(Held::Itself(process)) => process.resume(),
            None => break,
        }
        if order.trim() != AGAIN {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds the runtime. In a program without symbols it is looked for in the memory, while the process runs: the threads' own
/// storage is known from a short stop.
fn find_runtime(subject: &Subject) -> Result<Runtime<'_>, TraceError> {
    let mut why = match Runtime::find(&subject.executable, subject.entry) {
        Err(error) if error.is_without_symbols() => error,
        found => return found.map_err(|error| TraceError::NoRuntime(error.to_string())),
    };
    for _ in 0..SHAPE_TRIES {
        let process = others::stop(subject.pid, STOP_LIMIT).map_err(TraceError::from)?;
        let threads: Vec<Thread> = process.threads().iter().map(thread).collect();
        process.resume();
        let memory = peek::open(subject.pid).map_err(|_| TraceError::NotPermitted)?;
        let read = peek::read_at(&memory);
        let memory = Peek::new(&read);
        match Runtime::find_in(&subject.executable, subject.entry, &memory, &threads) {
            Ok(runtime) => return Ok(runtime),
            Err(error) => why = error,
        }
        thread::sleep(FIRST_WAIT);
    }
    Err(TraceError::NoRuntime(why.to_string()))
}

fn take_copy(pid: u32, runtime: &Runtime<'_>) -> Result<(CopyReport, Held), TraceError> {
    let begun = Instant::now();
    let (mut stops, mut wait) = (0, FIRST_WAIT);
    loop {
        stops += 1;
        let stopped = Instant::now();
        let mut process = others::stop(pid, STOP_LIMIT).map_err(TraceError::from)?;
        let threads: Vec<Thread> = process.threads().iter().map(thread).collect();
        let read = |at, into: &mut [u8]| process.read(at, into);
        let moment = runtime.moment(&Peek::new(&read), &threads);
        let is_last = stops >= STOPS || begun.elapsed() > SEARCH;
        let is_good = match moment {
            Moment::Exact => true,
            Moment::Running => is_last || stops >= OCAML_FROM,
            Moment::InC => is_last || stops >= C_FROM,
            Moment::Collecting
                if stops >= COLLECTION_STOPS || begun.elapsed() > COLLECTION_SEARCH =>
            {
                return Err(TraceError::Collects(stops));
            }
            Moment::Collecting => false,
        };
        if !is_good {
            process.resume();
            if moment == Moment::Collecting {
                wait_for_collection(pid, runtime, &threads);
            } else {
                thread::sleep(wait);
                wait = (wait * 2).min(MAX_WAIT);
            }
            continue;
        }
        let work = match moment {
            Moment::Exact | Moment::Collecting => Work::None,
            Moment::Running => Work::Ocaml,
            Moment::InC => Work::InC,
        };
        let copied = copy(pid, &mut process)?;
        let (copy, why, held) = match copied {
            // A process that gets signals all the time is paused in the end.
            Err(CopyError::Interrupted) if !is_last => continue,
            Ok(copy) => {
                let id = copy.id();
                process.resume();
                (id, None, Held::Copy(copy))
            }
            Err(why) => (pid, Some(why.to_string()), Held::Itself(process)),
        };
        let pause_ns = u64::try_from(stopped.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let threads = threads
            .iter()
            .map(|thread| ThreadReport { id: thread.id, registers: thread.registers.to_vec() });
        let threads = threads.collect();
        return Ok((CopyReport { copy, held: why, threads, pause_ns, stops, work }, held));
    }
}

/// Waits until blocks are no longer moved, for a moment at most. The process runs meanwhile.
fn wait_for_collection(pid: u32, runtime: &Runtime<'_>, threads: &[Thread]) {
    let Ok(memory) = peek::open(pid) else { return };
    let begun = Instant::now();
    while begun.elapsed() < MAX_WAIT {
        let read = peek::read_at(&memory);
        if !runtime.collects(&Peek::new(&read), threads) {
            return;
        }
        thread::sleep(LOOK);
    }
}

/// Copies a process, or returns the reason why it cannot be copied and has to be paused instead.
fn copy(
    pid: u32,
    process: &mut StoppedProcess,
) -> Result<Result<ProcessCopy, CopyError>, TraceError> {
    let status = Status::of_process(pid).map_err(|_| TraceError::Ended)?;
    // A filter that the container gave all its processes allows what ours need; another one may end the process for it.
    let own = Status::of_process(std::process::id()).map_or(0, |status| status.filters);
    if status.is_filtered && (status.filters == 0 || status.filters > own) {
        return Ok(Err(CopyError::Filtered));
    }
    let way = if status.inner_pid == 1 { Way::Direct } else { Way::ByChild };
    match process.copy(way) {
        Ok(copy) => Ok(Ok(copy)),
        Err(CopyError::Ended) => Err(TraceError::Ended),
        Err(error @ (CopyError::Clone(_) | CopyError::NoRoom | CopyError::Interrupted)) => {
            Ok(Err(error))
        }
        Err(error) => Err(TraceError::Failed(error.to_string())),
    }
}

fn thread(stopped: &memtrail_ptrace::StoppedThread) -> Thread {
    Thread { id: stopped.id(), signal: 0, registers: stopped.registers().words() }
}
