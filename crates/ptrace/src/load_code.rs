//! The machine code by which a thread of the process loads a library and calls a function of it, and the values in it.
//!
//! It begins and ends as [`crate::code`] does. Until the tracer has filled in the signal mask and set [`value::READY`], it does
//! nothing and goes back. At the end it restores each register by itself. So the process runs on if the tracer is killed.
//!
//! In between it runs C code, on a stack that it maps and unmaps again. Registers of floating-point numbers and vectors, all of
//! them, and `errno` are kept for the thread, which may be anywhere in the program's code.

use std::arch::global_asm;
use std::ffi::CStr;

use crate::registers::Registers;
use crate::request::{load_code, way_back_from_load};

/// Places of values, in words before the strings.
mod value {
    /// Not 0 when all others are filled in.
    pub(super) const READY: usize = 28;
    pub(super) const DLOPEN: usize = 27;
    pub(super) const DLSYM: usize = 26;
    pub(super) const DLERROR: usize = 25;
    pub(super) const ERRNO: usize = 24;
    /// Addresses of strings.
    pub(super) const PATH: usize = 23;
    pub(super) const ENTRY: usize = 22;
    pub(super) const ARGUMENT: usize = 21;
    pub(super) const NUMBER: usize = 20;
    /// The thread's signal mask.
    pub(super) const MASK: usize = 19;
    pub(super) const FLAGS: usize = 18;
    pub(super) const STACK: usize = 17;
    pub(super) const INSTRUCTION: usize = 16;
    pub(super) const GENERAL: usize = 15;
}

/// Results of the code, in `r12` behind its last system call.
pub(crate) mod result {
    pub(crate) const DONE: u64 = 0;
    pub(crate) const NOT_LOADED: u64 = 1;
    pub(crate) const NO_ENTRY: u64 = 2;
    pub(crate) const NO_MEMORY: u64 = 3;
}

/// Bytes of the stack. Pages that are never touched take no memory. The registers of vectors are kept at its low end: some 11 KiB
/// on the largest processors.
pub(crate) const STACK_BYTES: usize = 1 << 20;

global_asm!(
    ".pushsection .rodata.memtrail_load, \"a\"",
    ".balign 8",
    ".globl memtrail_load_begin",
    ".globl memtrail_load_end",
    ".hidden memtrail_load_begin",
    ".hidden memtrail_load_end",
    ".globl memtrail_load_back",
    ".hidden memtrail_load_back",
    "memtrail_load_begin:",
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
    // mmap(0, bytes, read and write, private, anonymous and without reserve, -1, 0)
    "mov eax, 9",
    "xor edi, edi",
    "mov esi, {stack}",
    "mov edx, 3",
    "mov r10d, 0x4022",
    "mov r8, -1",
    "xor r9d, r9d",
    "syscall",
    "xor r13d, r13d",
    "mov r12d, 3",
    "cmp rax, -4095",
    "jae 80f",
    "mov rbx, rax",
    // xsave(all components)
    "mov eax, -1",
    "mov edx, -1",
    "xsave64 [rbx]",
    "fninit",
    "mov dword ptr [rbx + {scratch}], 0x1f80",
    "ldmxcsr dword ptr [rbx + {scratch}]",
    "cld",
    "lea rsp, [rbx + {stack}]",
    "xor ebp, ebp",
    "call qword ptr [rip + 54f]",
    "mov r14, rax",
    "mov r15d, [rax]",
    // dlopen(path, RTLD_NOW | RTLD_LOCAL)
    "mov rdi, [rip + 55f]",
    "mov esi, 2",
    "call qword ptr [rip + 51f]",
    "mov r12d, 1",
    "test rax, rax",
    "jz 70f",
    "mov rdi, rax",
    "mov rsi, [rip + 56f]",
    "call qword ptr [rip + 52f]",
    "mov r12d, 2",
    "test rax, rax",
    "jz 70f",
    "mov rdi, [rip + 57f]",
    "mov rsi, [rip + 58f]",
    "call rax",
    "mov r12d, eax",
    "shl r12, 8",
    "jmp 71f",
    "70: call qword ptr [rip + 53f]",
    "mov r13, rax",
    "71: mov [r14], r15d",
    "mov eax, -1",
    "mov edx, -1",
    "xrstor64 [rbx]",
    // munmap(stack, bytes)
    "mov eax, 11",
    "mov rdi, rbx",
    "mov esi, {stack}",
    "syscall",
    // The way back.
    "80: lea rsp, [rip + 60f]",
    "popfq",
    "mov rsp, [rip + 61f]",
    "mov eax, 14",
    "mov edi, 2",
    "lea rsi, [rip + 59f]",
    "mov edx, 0",
    "mov r10d, 8",
    "syscall",
    "memtrail_load_back:",
    "90: mov r15, [rip + 63f]",
    "mov r14, [rip + 63f + 8]",
    "mov r13, [rip + 63f + 16]",
    "mov r12, [rip + 63f + 24]",
    "mov rbp, [rip + 63f + 32]",
    "mov rbx, [rip + 63f + 40]",
    "mov r11, [rip + 63f + 48]",
    "mov r10, [rip + 63f + 56]",
    "mov r9, [rip + 63f + 64]",
    "mov r8, [rip + 63f + 72]",
    "mov rax, [rip + 63f + 80]",
    "mov rcx, [rip + 63f + 88]",
    "mov rdx, [rip + 63f + 96]",
    "mov rsi, [rip + 63f + 104]",
    "mov rdi, [rip + 63f + 112]",
    "jmp qword ptr [rip + 62f]",
    ".balign 8",
    "40: .quad -1",
    // The values: `value` has their places.
    "50: .quad 0",
    "51: .quad 0",
    "52: .quad 0",
    "53: .quad 0",
    "54: .quad 0",
    "55: .quad 0",
    "56: .quad 0",
    "57: .quad 0",
    "58: .quad 0",
    "59: .quad 0",
    "60: .quad 0",
    "61: .quad 0",
    "62: .quad 0",
    "63: .fill 15, 8, 0",
    "memtrail_load_end:",
    ".popsection",
    stack = const STACK_BYTES,
    scratch = const STACK_BYTES / 4,
);

/// Addresses of functions of libc in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibcFunctions {
    /// `dlopen`.
    pub dlopen: u64,
    /// `dlsym`.
    pub dlsym: u64,
    /// `dlerror`.
    pub dlerror: u64,
    /// `__errno_location`.
    pub errno_location: u64,
}

/// A library, and the function of it that is called once: `int f(const char *argument, uint64_t number)`.
#[derive(Clone, Copy, Debug)]
pub struct Library<'a> {
    /// The library's file, by a path that the process knows it by.
    pub path: &'a CStr,
    /// The function's name.
    pub entry: &'a CStr,
    /// Its first argument.
    pub argument: &'a CStr,
    /// Its second argument.
    pub number: u64,
}

/// The code, with its values and strings.
#[derive(Clone, Debug)]
pub(crate) struct LoadCode {
    words: Vec<u64>,
    /// Words of the code and of its values.
    end: usize,
}

impl LoadCode {
    /// Bytes of the code for a library.
    pub(crate) fn bytes(library: &Library<'_>) -> u64 {
        let strings = [library.path, library.entry, library.argument];
        let words: usize = strings.iter().map(|text| words_of(text)).sum();
        load_code().len() as u64 + 8 * words as u64
    }

    /// Code for this place that goes back to a thread's registers.
    pub(crate) fn new(
        place: u64,
        library: &Library<'_>,
        functions: &LibcFunctions,
        back: &Registers,
    ) -> Self {
        let words = load_code().chunks_exact(8).filter_map(|word| word.first_chunk().copied());
        let mut words: Vec<u64> = words.map(u64::from_le_bytes).collect();
        let end = words.len();
        let mut put = |text: &CStr| {
            let at = place + 8 * words.len() as u64;
            let mut bytes = text.to_bytes().to_vec();
            bytes.resize(8 * words_of(text), 0);
            let content = bytes.chunks_exact(8).filter_map(|word| word.first_chunk().copied());
            words.extend(content.map(u64::from_le_bytes));
            at
        };
        let [path, entry, argument] = [library.path, library.entry, library.argument].map(&mut put);
        let mut code = Self { words, end };
        let (instruction, rax) = back.resumption();
        let mut general = back.words();
        general[10] = rax;
        for (at, word) in [
            (value::DLOPEN, functions.dlopen),
            (value::DLSYM, functions.dlsym),
            (value::DLERROR, functions.dlerror),
            (value::ERRNO, functions.errno_location),
            (value::PATH, path),
            (value::ENTRY, entry),
            (value::ARGUMENT, argument),
            (value::NUMBER, library.number),
            (value::FLAGS, back.0.eflags),
            (value::STACK, back.0.rsp),
            (value::INSTRUCTION, instruction),
        ] {
            code.set(at, word);
        }
        for (at, word) in (1..=value::GENERAL).rev().zip(general.into_iter().take(15)) {
            code.set(at, word);
        }
        code
    }

    /// Bytes that are the same for every thread.
    pub(crate) fn fixed() -> &'static [u8] {
        let code = load_code();
        code.get(..code.len() - 8 * value::READY).unwrap_or_default()
    }

    /// Offset in bytes of the first instruction behind the last system call.
    pub(crate) fn back_at() -> u64 {
        way_back_from_load()
    }

    fn set(&mut self, at: usize, word: u64) {
        let at = self.end - at;
        self.words[at] = word;
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Offset in bytes of the signal mask.
    pub(crate) const fn mask_at(&self) -> u64 {
        8 * (self.end - value::MASK) as u64
    }

    /// Offset in bytes of the word that is set when all others are filled in.
    pub(crate) const fn ready_at(&self) -> u64 {
        8 * (self.end - value::READY) as u64
    }
}

/// Words of a string with the zero behind it.
fn words_of(text: &CStr) -> usize {
    text.to_bytes_with_nul().len().div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::no_registers;

    #[test]
    fn values_and_strings_have_their_places() {
        let mut registers = Registers(no_registers());
        (registers.0.r15, registers.0.rdi, registers.0.rax) = (15, 5, 10);
        (registers.0.rip, registers.0.rsp, registers.0.eflags) = (0x77, 0x88, 0x202);
        registers.0.orig_rax = u64::MAX;
        let library = Library { path: c"/a/agent.so", entry: c"enter", argument: c"", number: 99 };
        let functions = LibcFunctions { dlopen: 1, dlsym: 2, dlerror: 3, errno_location: 4 };
        let code = LoadCode::new(0x1000, &library, &functions, &registers);
        let words = code.words();
        let end = load_code().len() / 8;
        assert_eq!(8 * words.len() as u64, LoadCode::bytes(&library));
        let strings = 0x1000 + 8 * end as u64;
        let values = [0, 1, 2, 3, 4, strings, strings + 16, strings + 24, 99, 0, 0x202, 0x88, 0x77];
        assert_eq!(words[end - 28..end - 15], values);
        assert_eq!((words[end - 15], words[end - 5], words[end - 1]), (15, 10, 5));
        assert_eq!(words[end..].len(), 4);
        assert_eq!(words[end].to_le_bytes(), *b"/a/agent");
        assert_eq!(words[end + 3], 0, "an empty string");
        assert!(LoadCode::back_at() < LoadCode::fixed().len() as u64);
    }
}
