//! Makes a thread of the process load a library and call a function of it.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{CopyError, LoadError};
use crate::injection::{ENTERED, ended, stop_again};
use crate::load_code::{LibcFunctions, Library, LoadCode, result};
use crate::padding;
use crate::request::{self, Event, Tid};
use crate::status::Status;
use crate::stop::{StoppedProcess, StoppedThread};

/// Between looks at whether the thread is done.
const LOOK: Duration = Duration::from_micros(100);
/// Bytes of the linker's message that are read, at most.
const MESSAGE: usize = 512;

impl StoppedProcess {
    /// Has the thread with this number load a library and call its entry. All other threads go on at once: the dynamic linker
    /// and `malloc` may have to wait for one of them. The thread itself must be in neither.
    ///
    /// After [`LoadError::TakesTooLong`] the thread goes on, and may still load the library.
    ///
    /// # Errors
    /// Errors of the dynamic linker, and of the kernel. The process runs on in any case.
    pub fn load(
        mut self,
        thread: u32,
        library: &Library<'_>,
        functions: &LibcFunctions,
        limit: Duration,
    ) -> Result<(), LoadError> {
        let chosen = self.threads().iter().find(|stopped| stopped.id() == thread).copied();
        let thread = chosen.ok_or(CopyError::Ended)?;
        let bytes = LoadCode::bytes(library);
        let place = padding::place(&self, bytes, LoadCode::fixed()).ok_or(CopyError::NoRoom)?;
        let code = LoadCode::new(place, library, functions, &thread.registers);
        let mut before = vec![0; code.words().len() * 8];
        if !self.read(place, &mut before) {
            return Err(CopyError::NoRoom.into());
        }
        let before = before.chunks_exact(8).filter_map(|word| word.first_chunk().copied());
        let before: Vec<u64> = before.map(u64::from_le_bytes).collect();
        let tid = thread.tid;
        request::write(tid, place, code.words()).map_err(ended)?;
        request::set_options(tid, libc::PTRACE_O_TRACESYSGOOD).map_err(ended)?;
        let mut begin = thread.registers;
        begin.0.rip = place;
        // No call is to be made again here.
        begin.0.orig_rax = u64::MAX;
        request::set_registers(tid, &begin).map_err(ended)?;
        self.resume_others(tid);
        let deadline = Instant::now() + limit;
        let run = Run { pid: self.pid, tid, place, code: &code, is_ready: false, deadline };
        let progress = run.follow()?;
        let outcome = self.outcome(&progress);
        let signal = match progress {
            Progress::Signal(signal) => signal,
            Progress::Done { .. } => 0,
            Progress::TooLate => return Err(LoadError::TakesTooLong),
        };
        put_back(&thread, signal, place, &before)?;
        outcome
    }

    /// Lets all threads but one go on.
    fn resume_others(&mut self, chosen: Tid) {
        self.threads.retain(|thread| {
            if thread.tid != chosen {
                // It may have been killed.
                let _ = request::detach(thread.tid);
            }
            thread.tid == chosen
        });
    }

    fn outcome(&self, progress: &Progress) -> Result<(), LoadError> {
        let &Progress::Done { result, message } = progress else {
            return Err(CopyError::Interrupted.into());
        };
        match result {
            result::DONE => Ok(()),
            result::NOT_LOADED | result::NO_ENTRY => Err(LoadError::Linker(self.text(message))),
            result::NO_MEMORY => Err(io::Error::from_raw_os_error(libc::ENOMEM).into()),
            other => Err(LoadError::Entry((other >> 8) as i32)),
        }
    }

    /// A string of the process.
    fn text(&self, at: u64) -> String {
        let bytes = (at..at.saturating_add(MESSAGE as u64)).map_while(|at| {
            let mut byte = [0];
            (at != 0 && self.read(at, &mut byte) && byte != [0]).then_some(byte[0])
        });
        String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
    }
}

/// Gives a thread its registers back, and the place of the code its zeros.
fn put_back(
    thread: &StoppedThread,
    signal: i32,
    place: u64,
    before: &[u64],
) -> Result<(), LoadError> {
    if signal == 0 {
        // The kernel makes an interrupted call again where it stops a thread for us, and not at the end of another call.
        stop_again(thread.tid, 0)?;
    }
    request::set_registers(thread.tid, &thread.registers).map_err(ended)?;
    request::set_options(thread.tid, 0).map_err(ended)?;
    request::write(thread.tid, place, before).map_err(ended)?;
    if signal != 0 {
        stop_again(thread.tid, signal)?;
    }
    Ok(())
}

/// Progress of a thread in our code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// It has left its last system call.
    Done { result: u64, message: u64 },
    /// It is about to be given a signal, before it has done anything.
    Signal(i32),
    /// It has not come back in time.
    TooLate,
}

/// A thread that runs our code.
struct Run<'a> {
    pid: u32,
    tid: Tid,
    place: u64,
    code: &'a LoadCode,
    /// The values of the code are all filled in.
    is_ready: bool,
    deadline: Instant,
}

impl Run<'_> {
    fn follow(mut self) -> Result<Progress, LoadError> {
        request::go_on_to_system_call(self.tid, 0).map_err(ended)?;
        loop {
            let Some((_, event)) = request::wait(self.tid, false)? else {
                if Instant::now() > self.deadline {
                    return Ok(Progress::TooLate);
                }
                thread::sleep(LOOK);
                continue;
            };
            let mut signal = 0;
            match event {
                Event::Ended => return Err(CopyError::Ended.into()),
                // Its handler must not run in our code, where the thread is in no system call.
                Event::Signal(number) if !self.is_ready => return Ok(Progress::Signal(number)),
                Event::Signal(number) => signal = number,
                Event::SystemCall if !self.is_ready => self.fill_in()?,
                Event::SystemCall => {
                    let registers = request::registers(self.tid).map_err(ended)?.0;
                    let is_left = registers.rax.cast_signed() != ENTERED;
                    if is_left && registers.rip == self.place + LoadCode::back_at() {
                        let (result, message) = (registers.r12, registers.r13);
                        return Ok(Progress::Done { result, message });
                    }
                }
                Event::Stopped | Event::Child | Event::Other => {}
            }
            request::go_on_to_system_call(self.tid, signal).map_err(ended)?;
        }
    }

    /// Fills in the thread's signal mask. Calls as `ppoll` and `sigsuspend` had it changed until now.
    fn fill_in(&mut self) -> Result<(), LoadError> {
        let status = Status::of_thread(self.pid, self.tid.cast_unsigned())?;
        let at = |offset| self.place + offset;
        request::write(self.tid, at(self.code.mask_at()), &[status.blocked]).map_err(ended)?;
        request::write(self.tid, at(self.code.ready_at()), &[1]).map_err(ended)?;
        self.is_ready = true;
        Ok(())
    }
}
