//! Makes a thread that is stopped run our code, and puts it back to where it was.

use std::io;

use crate::code::{Code, Task};
use crate::error::CopyError;
use crate::padding;
use crate::request::{self, Event, Tid};
use crate::status::Status;
use crate::stop::{StoppedProcess, StoppedThread};

/// The kernel's result at the entry of a system call.
pub(crate) const ENTERED: i64 = -(libc::ENOSYS as i64);
const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK;

/// Makes a thread of the process do something. Returns the copy, if it was to make one.
///
/// After an error of the kernel's own, the threads have to be let go on by the end of this process.
pub(crate) fn run(process: &StoppedProcess, task: Task) -> Result<Option<Tid>, CopyError> {
    // A thread in a system call is in no restartable sequence (`rseq(2)`), which would have to begin anew.
    let waits = |thread: &&StoppedThread| thread.registers.is_in_system_call();
    let thread = process.threads.iter().find(waits).or(process.threads.first());
    let thread = *thread.ok_or(CopyError::Ended)?;
    let place = padding::place(process, Code::bytes(), Code::fixed()).ok_or(CopyError::NoRoom)?;
    let code = Code::new(task, &thread.registers);
    let mut before = vec![0; code.words().len() * 8];
    if !process.read(place, &mut before) {
        return Err(CopyError::NoRoom);
    }
    request::write(thread.tid, place, code.words()).map_err(ended)?;
    request::set_options(thread.tid, OPTIONS).map_err(ended)?;
    let mut begin = thread.registers;
    begin.0.rip = place;
    // No call is to be made again here.
    begin.0.orig_rax = u64::MAX;
    request::set_registers(thread.tid, &begin).map_err(ended)?;
    let mut run = Run {
        pid: process.pid,
        tid: thread.tid,
        others: process.threads.iter().map(|thread| thread.tid).collect(),
        place,
        code,
        task,
        is_ready: false,
        child: None,
        copy: Copy::None,
        failure: None,
    };
    let progress = run.follow()?;
    let before = before.chunks_exact(8).filter_map(|word| word.first_chunk().copied());
    let before: Vec<u64> = before.map(u64::from_le_bytes).collect();
    let put_back = || {
        request::set_registers(thread.tid, &thread.registers)?;
        request::set_options(thread.tid, 0)?;
        request::write(thread.tid, place, &before)
    };
    if let Progress::Signal(signal) = progress {
        // Its handler ends the call that the thread was in, or does not, as it would have without us.
        put_back().map_err(ended)?;
        stop_again(thread.tid, signal)?;
        return Err(CopyError::Interrupted);
    }
    // The kernel makes an interrupted call again where it stops a thread for us, and not at the end of another call.
    stop_again(thread.tid, 0)?;
    put_back().map_err(ended)?;
    match (run.copy, run.failure) {
        (Copy::Sleeps(copy), _) => Ok(Some(copy)),
        (_, Some(error)) => Err(CopyError::Clone(io::Error::from_raw_os_error(error))),
        _ if matches!(task, Task::WaitFor(_)) => Ok(None),
        _ => Err(CopyError::Clone(io::Error::from_raw_os_error(libc::EAGAIN))),
    }
}

/// Lets a thread go on, with a signal if that is not 0, and stops it before it runs any code but the kernel's.
pub(crate) fn stop_again(tid: Tid, signal: i32) -> Result<(), CopyError> {
    request::interrupt(tid).map_err(ended)?;
    request::go_on(tid, signal).map_err(ended)?;
    loop {
        match request::wait(tid, true)? {
            Some((_, Event::Stopped)) => return Ok(()),
            Some((_, Event::Ended)) => return Err(CopyError::Ended),
            Some((_, Event::Signal(signal))) => request::go_on(tid, signal).map_err(ended)?,
            _ => request::go_on(tid, 0).map_err(ended)?,
        }
    }
}

/// A thread that has been killed does not exist for the kernel's requests.
pub(crate) fn ended(error: io::Error) -> CopyError {
    if error.raw_os_error() == Some(libc::ESRCH) { CopyError::Ended } else { error.into() }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copy {
    None,
    /// It was made, and has not stopped for us yet.
    Made(Tid),
    Sleeps(Tid),
}

/// How far a thread has come in our code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// It is under way.
    Runs,
    /// It has left its last system call.
    Done,
    /// It is about to be given a signal, before it has done anything.
    Signal(i32),
}

/// A thread that runs our code.
struct Run {
    pid: u32,
    tid: Tid,
    /// All threads of the process.
    others: Vec<Tid>,
    place: u64,
    code: Code,
    task: Task,
    /// The values of the code are all filled in.
    is_ready: bool,
    /// The child that makes the copy.
    child: Option<Tid>,
    copy: Copy,
    /// The error number of `clone`.
    failure: Option<i32>,
}

impl Run {
    /// Follows the thread up to the end of its last system call, and the copy until it sleeps.
    fn follow(&mut self) -> Result<Progress, CopyError> {
        request::go_on_to_system_call(self.tid, 0).map_err(ended)?;
        let mut progress = Progress::Runs;
        while progress == Progress::Runs || matches!(self.copy, Copy::Made(_)) {
            let Some((tid, event)) = request::wait(-1, true)? else { continue };
            if tid == self.tid {
                progress = self.advance(event)?;
            } else {
                self.see(tid, event)?;
            }
        }
        Ok(progress)
    }

    /// The thread itself has stopped.
    fn advance(&mut self, event: Event) -> Result<Progress, CopyError> {
        let mut signal = 0;
        match event {
            Event::Ended => return Err(CopyError::Ended),
            // Its handler must not run in our code, where the thread is in no system call.
            Event::Signal(number) if !self.is_ready => return Ok(Progress::Signal(number)),
            Event::Signal(number) => signal = number,
            Event::Child => {
                let made = request::child_of_event(self.tid).map_err(ended)?;
                self.made(made);
            }
            Event::SystemCall if !self.is_ready => self.fill_in()?,
            Event::SystemCall => {
                let registers = request::registers(self.tid).map_err(ended)?;
                let result = registers.0.rax.cast_signed();
                if result != ENTERED && registers.0.rip == self.place + Code::back_at() {
                    return Ok(Progress::Done);
                }
                let is_clone = registers.0.orig_rax.cast_signed() == libc::SYS_clone;
                if is_clone && result < 0 && result != ENTERED {
                    self.failure = i32::try_from(-result).ok();
                }
            }
            Event::Stopped | Event::Other => {}
        }
        request::go_on_to_system_call(self.tid, signal).map_err(ended)?;
        Ok(Progress::Runs)
    }

    /// Fills in the thread's signal mask. Calls as `ppoll` and `sigsuspend` had it changed until now.
    fn fill_in(&mut self) -> Result<(), CopyError> {
        let status = Status::of_thread(self.pid, self.tid.cast_unsigned())?;
        let at = |offset| self.place + offset;
        request::write(self.tid, at(self.code.mask_at()), &[status.blocked]).map_err(ended)?;
        request::write(self.tid, at(self.code.ready_at()), &[1]).map_err(ended)?;
        self.is_ready = true;
        Ok(())
    }

    /// The process has made a child.
    fn made(&mut self, made: Tid) {
        if self.child == Some(made)
            || matches!(self.copy, Copy::Made(known) | Copy::Sleeps(known) if known == made)
        {
            return;
        }
        if self.task == Task::CopyByChild && self.child.is_none() {
            self.child = Some(made);
        } else if self.copy == Copy::None {
            self.copy = Copy::Made(made);
        }
    }

    /// A child or the copy has stopped, or another thread was killed.
    fn see(&mut self, tid: Tid, event: Event) -> Result<(), CopyError> {
        if self.others.contains(&tid) {
            return Ok(());
        }
        match event {
            Event::Ended => {
                if self.copy == Copy::Made(tid) || self.copy == Copy::Sleeps(tid) {
                    return Err(CopyError::Ended);
                }
                return Ok(());
            }
            Event::Child => {
                let made = request::child_of_event(tid).map_err(ended)?;
                self.made(made);
            }
            Event::Stopped => {
                // The first thing that each does is to stop, maybe before its parent's event is reported.
                self.made(tid);
                if self.copy == Copy::Made(tid) {
                    request::set_options(tid, libc::PTRACE_O_EXITKILL).map_err(ended)?;
                    self.copy = Copy::Sleeps(tid);
                } else if self.child == Some(tid) {
                    // The copy that it makes is killed with this process from the beginning.
                    let options = OPTIONS | libc::PTRACE_O_EXITKILL;
                    request::set_options(tid, options).map_err(ended)?;
                }
            }
            Event::Signal(_) | Event::SystemCall | Event::Other => {}
        }
        request::go_on(tid, 0).map_err(ended)
    }
}
