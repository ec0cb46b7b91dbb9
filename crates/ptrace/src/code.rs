//! The machine code that a thread of the process runs, and the values in it.
//!
//! It uses no stack and writes to no memory. Until the tracer has filled in the signal mask and set [`READY`], it does nothing
//! and goes back. At the end it restores each register, from values in the code, and jumps to where the thread was. If the
//! tracer lives, it takes the thread over behind the last system call instead, and gives the registers back itself: the kernel
//! then makes an interrupted call again as it would have without us.
//!
//! Signals are blocked in between: a handler must not run while the stack pointer is not the program's. The flags are
//! restored before the last system call, which keeps them; the instructions behind it change none.

use std::arch::global_asm;

use crate::registers::Registers;
use crate::request::{machine_code, way_back};

/// Places of values, in words before the end of the code.
mod value {
    /// Not 0 when all others are filled in.
    pub(super) const READY: usize = 22;
    /// 0: a child makes the copy; 1: the copy is a child; 2: a child is waited for.
    pub(super) const TASK: usize = 21;
    /// The child to wait for.
    pub(super) const CHILD: usize = 20;
    /// The thread's signal mask.
    pub(super) const MASK: usize = 19;
    pub(super) const FLAGS: usize = 18;
    pub(super) const STACK: usize = 17;
    pub(super) const INSTRUCTION: usize = 16;
    pub(super) const GENERAL: usize = 15;
}

global_asm!(
    ".pushsection .rodata.memtrail_copy, \"a\"",
    ".balign 8",
    ".globl memtrail_copy_begin",
    ".globl memtrail_copy_end",
    ".hidden memtrail_copy_begin",
    ".hidden memtrail_copy_end",
    ".globl memtrail_copy_back",
    ".hidden memtrail_copy_back",
    "memtrail_copy_begin:",
    // getpid: the tracer fills in the values now.
    "mov eax, 39",
    "syscall",
    "mov rcx, [rip + 50f]",
    "jrcxz 20f",
    "jmp 21f",
    "20: jmp 90f",
    // rt_sigprocmask(SIG_SETMASK, all signals, 0, 8)
    "21: mov eax, 14",
    "mov edi, 2",
    "lea rsi, [rip + 40f]",
    "xor edx, edx",
    "mov r10d, 8",
    "syscall",
    "cmp qword ptr [rip + 51f], 2",
    "je 22f",
    // clone(no signal at the end); a child that only makes the copy has the same memory (CLONE_VM), which is not copied twice.
    "xor edi, edi",
    "cmp qword ptr [rip + 51f], 0",
    "jne 24f",
    "mov edi, 0x100",
    "24: mov eax, 56",
    "xor esi, esi",
    "xor r10d, r10d",
    "xor r8d, r8d",
    "syscall",
    "test rax, rax",
    "jz 30f",
    "js 80f",
    "cmp qword ptr [rip + 51f], 0",
    "jne 80f",
    "mov rdi, rax",
    "jmp 23f",
    // wait4(child, 0, __WALL, 0)
    "22: mov rdi, [rip + 52f]",
    "23: mov eax, 61",
    "xor esi, esi",
    "mov edx, 0x40000000",
    "xor r10d, r10d",
    "syscall",
    // The way back.
    "80: lea rsp, [rip + 54f]",
    "popfq",
    "mov rsp, [rip + 55f]",
    "mov eax, 14",
    "mov edi, 2",
    "lea rsi, [rip + 53f]",
    "mov edx, 0",
    "mov r10d, 8",
    "syscall",
    "memtrail_copy_back:",
    "90: mov r15, [rip + 57f]",
    "mov r14, [rip + 57f + 8]",
    "mov r13, [rip + 57f + 16]",
    "mov r12, [rip + 57f + 24]",
    "mov rbp, [rip + 57f + 32]",
    "mov rbx, [rip + 57f + 40]",
    "mov r11, [rip + 57f + 48]",
    "mov r10, [rip + 57f + 56]",
    "mov r9, [rip + 57f + 64]",
    "mov r8, [rip + 57f + 72]",
    "mov rax, [rip + 57f + 80]",
    "mov rcx, [rip + 57f + 88]",
    "mov rdx, [rip + 57f + 96]",
    "mov rsi, [rip + 57f + 104]",
    "mov rdi, [rip + 57f + 112]",
    "jmp qword ptr [rip + 56f]",
    // The child: clones itself and exits, or is the copy.
    "30: cmp qword ptr [rip + 51f], 0",
    "jne 31f",
    "mov eax, 56",
    "xor edi, edi",
    "xor esi, esi",
    "xor edx, edx",
    "xor r10d, r10d",
    "xor r8d, r8d",
    "syscall",
    "test rax, rax",
    "jz 31f",
    "mov eax, 60",
    "xor edi, edi",
    "syscall",
    // The copy: close_range(0, all, 0), nanosleep(ten minutes), exit_group(0).
    "31: mov eax, 436",
    "xor edi, edi",
    "mov esi, -1",
    "xor edx, edx",
    "syscall",
    "mov eax, 35",
    "lea rdi, [rip + 41f]",
    "xor esi, esi",
    "syscall",
    "mov eax, 231",
    "xor edi, edi",
    "syscall",
    ".balign 8",
    "40: .quad -1",
    "41: .quad 600",
    ".quad 0",
    // The values: `value` has their places.
    "50: .quad 0",
    "51: .quad 0",
    "52: .quad 0",
    "53: .quad 0",
    "54: .quad 0",
    "55: .quad 0",
    "56: .quad 0",
    "57: .fill 15, 8, 0",
    "memtrail_copy_end:",
    ".popsection",
);

/// The task of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Copy the process; the copy is a child of a child that ends at once.
    CopyByChild,
    /// Copy the process; the copy is a child.
    Copy,
    /// Wait for a child, by the number that the process knows it by.
    WaitFor(u32),
}

/// The code, with its values.
#[derive(Clone, Debug)]
pub(crate) struct Code(Vec<u64>);

impl Code {
    /// Bytes of the code.
    pub(crate) fn bytes() -> u64 {
        machine_code().len() as u64
    }

    /// Code that goes back to a thread's registers.
    pub(crate) fn new(task: Task, back: &Registers) -> Self {
        let words = machine_code().chunks_exact(8).filter_map(|word| word.first_chunk().copied());
        let mut code = Self(words.map(u64::from_le_bytes).collect());
        let (instruction, rax) = back.resumption();
        let mut general = back.words();
        general[10] = rax;
        let (task, child) = match task {
            Task::CopyByChild => (0, 0),
            Task::Copy => (1, 0),
            Task::WaitFor(child) => (2, child),
        };
        for (place, word) in [
            (value::TASK, task),
            (value::CHILD, u64::from(child)),
            (value::FLAGS, back.0.eflags),
            (value::STACK, back.0.rsp),
            (value::INSTRUCTION, instruction),
        ] {
            code.set(place, word);
        }
        for (place, word) in (1..=value::GENERAL).rev().zip(general.into_iter().take(15)) {
            code.set(place, word);
        }
        code
    }

    /// Bytes that are the same for every thread.
    pub(crate) fn fixed() -> &'static [u8] {
        let code = machine_code();
        code.get(..code.len() - 8 * value::READY).unwrap_or_default()
    }

    /// Offset in bytes of the first instruction behind the last system call.
    pub(crate) fn back_at() -> u64 {
        way_back()
    }

    fn set(&mut self, place: usize, word: u64) {
        let at = self.0.len() - place;
        self.0[at] = word;
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }

    /// Offset in bytes of the signal mask.
    pub(crate) fn mask_at(&self) -> u64 {
        8 * (self.0.len() - value::MASK) as u64
    }

    /// Offset in bytes of the word that says that all others are filled in.
    pub(crate) fn ready_at(&self) -> u64 {
        8 * (self.0.len() - value::READY) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::no_registers;

    #[test]
    fn values_have_their_places() {
        let mut registers = Registers(no_registers());
        (registers.0.r15, registers.0.rdi, registers.0.rax) = (15, 5, 10);
        (registers.0.rip, registers.0.rsp, registers.0.eflags) = (0x77, 0x88, 0x202);
        registers.0.orig_rax = u64::MAX;
        let code = Code::new(Task::WaitFor(42), &registers);
        let words = code.words();
        let end = words.len();
        assert_eq!(8 * end as u64, Code::bytes());
        assert_eq!(words[end - 22..end - 15], [0, 2, 42, 0, 0x202, 0x88, 0x77]);
        assert_eq!((words[end - 15], words[end - 5], words[end - 1]), (15, 10, 5));
        assert_eq!(
            (code.ready_at(), code.mask_at()),
            (8 * (end as u64 - 22), 8 * (end as u64 - 19))
        );
        assert!(Code::back_at() < Code::fixed().len() as u64);
    }
}
