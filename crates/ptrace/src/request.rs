//! Requests of `ptrace(2)` and waiting for threads that are traced.

#![expect(unsafe_code, reason = "system calls that libc declares, and the code of another file")]

use std::ffi::c_void;
use std::io;

use crate::registers::Registers;

/// A number in the kernel's list of threads and processes.
pub(crate) type Tid = libc::pid_t;

/// A change of a traced thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It has ended, or was killed.
    Ended,
    /// It is stopped because we asked, or with its process; the latter by a signal.
    Stopped,
    /// It is about to be given this signal.
    Signal(i32),
    /// It is about to enter a system call, or has left one.
    SystemCall,
    /// It has made a thread or process.
    Child,
    /// Another event.
    Other,
}

/// The type of `ptrace`'s first argument.
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;
#[cfg(target_env = "musl")]
type Request = libc::c_int;

fn call(request: Request, tid: Tid, address: u64, data: u64) -> io::Result<()> {
    // SAFETY: none of the requests that are made here writes to memory of ours but where `data` points to a live value.
    let result = unsafe {
        libc::ptrace(request, tid, address as usize as *mut c_void, data as usize as *mut c_void)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(crate) fn seize(tid: Tid) -> io::Result<()> {
    call(libc::PTRACE_SEIZE, tid, 0, 0)
}

pub(crate) fn interrupt(tid: Tid) -> io::Result<()> {
    call(libc::PTRACE_INTERRUPT, tid, 0, 0)
}

pub(crate) fn set_options(tid: Tid, options: i32) -> io::Result<()> {
    call(libc::PTRACE_SETOPTIONS, tid, 0, options as u64)
}

/// Lets a thread go on, with a signal if that is not 0.
pub(crate) fn go_on(tid: Tid, signal: i32) -> io::Result<()> {
    call(libc::PTRACE_CONT, tid, 0, signal as u64)
}

/// The same up to its next system call.
pub(crate) fn go_on_to_system_call(tid: Tid, signal: i32) -> io::Result<()> {
    call(libc::PTRACE_SYSCALL, tid, 0, signal as u64)
}

pub(crate) fn detach(tid: Tid) -> io::Result<()> {
    call(libc::PTRACE_DETACH, tid, 0, 0)
}

/// Registers that are all 0.
pub(crate) fn no_registers() -> libc::user_regs_struct {
    // SAFETY: its fields are integers.
    unsafe { std::mem::zeroed() }
}

pub(crate) fn registers(tid: Tid) -> io::Result<Registers> {
    let mut registers = Registers(no_registers());
    call(libc::PTRACE_GETREGS, tid, 0, (&raw mut registers.0) as u64)?;
    Ok(registers)
}

pub(crate) fn set_registers(tid: Tid, registers: &Registers) -> io::Result<()> {
    call(libc::PTRACE_SETREGS, tid, 0, (&raw const registers.0) as u64)
}

/// The number of the process that a thread has made.
pub(crate) fn child_of_event(tid: Tid) -> io::Result<Tid> {
    let mut number: libc::c_ulong = 0;
    call(libc::PTRACE_GETEVENTMSG, tid, 0, (&raw mut number) as u64)?;
    Tid::try_from(number).map_err(io::Error::other)
}

/// Writes words into memory that the process itself may not write, such as its code.
pub(crate) fn write(tid: Tid, at: u64, words: &[u64]) -> io::Result<()> {
    for (word, at) in words.iter().zip((at..).step_by(8)) {
        call(libc::PTRACE_POKEDATA, tid, at, *word)?;
    }
    Ok(())
}

/// Waits for a change of this thread, or of any if it is -1. `None` if there was none and `is_patient` is not set.
pub(crate) fn wait(tid: Tid, is_patient: bool) -> io::Result<Option<(Tid, Event)>> {
    let flags = if is_patient { libc::__WALL } else { libc::__WALL | libc::WNOHANG };
    let mut status = 0;
    loop {
        // SAFETY: a valid out-pointer.
        let found = unsafe { libc::waitpid(tid, &raw mut status, flags) };
        match found {
            0 => return Ok(None),
            found if found > 0 => return Ok(Some((found, event(status)))),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

fn event(status: i32) -> Event {
    if !libc::WIFSTOPPED(status) {
        return Event::Ended;
    }
    match (status >> 16, libc::WSTOPSIG(status)) {
        (0, signal) if signal == libc::SIGTRAP | 0x80 => Event::SystemCall,
        (0, signal) => Event::Signal(signal),
        (libc::PTRACE_EVENT_STOP, _) => Event::Stopped,
        (libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK, _) => {
            Event::Child
        }
        _ => Event::Other,
    }
}

pub(crate) fn kill(pid: Tid) {
    // SAFETY: plain system call.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

unsafe extern "C" {
    static memtrail_copy_begin: u8;
    static memtrail_copy_end: u8;
    static memtrail_copy_back: u8;
}

/// The machine code between the two labels of `code.rs`.
pub(crate) fn machine_code() -> &'static [u8] {
    // SAFETY: the assembler puts both labels into one section of constants, in this order.
    unsafe {
        let begin = &raw const memtrail_copy_begin;
        let length = (&raw const memtrail_copy_end).offset_from_unsigned(begin);
        std::slice::from_raw_parts(begin, length)
    }
}

/// Offset in the machine code of the first instruction behind the last system call.
pub(crate) fn way_back() -> u64 {
    // SAFETY: both labels are in one section, in this order.
    unsafe {
        (&raw const memtrail_copy_back).offset_from_unsigned(&raw const memtrail_copy_begin) as u64
    }
}

unsafe extern "C" {
    static memtrail_load_begin: u8;
    static memtrail_load_end: u8;
    static memtrail_load_back: u8;
}

/// The machine code between the two labels of `load_code.rs`.
pub(crate) fn load_code() -> &'static [u8] {
    // SAFETY: the assembler puts both labels into one section of constants, in this order.
    unsafe {
        let begin = &raw const memtrail_load_begin;
        let length = (&raw const memtrail_load_end).offset_from_unsigned(begin);
        std::slice::from_raw_parts(begin, length)
    }
}

/// Offset in that code of the first instruction behind the last system call.
pub(crate) fn way_back_from_load() -> u64 {
    // SAFETY: both labels are in one section, in this order.
    unsafe {
        (&raw const memtrail_load_back).offset_from_unsigned(&raw const memtrail_load_begin) as u64
    }
}
