//! Tells whether a thread of a native program runs the program's own code, and neither the linker nor the allocator called it.
//!
//! The thread then holds no lock of the linker or the allocator. A signal handler may have interrupted code that does. A callback
//! may come from the linker, as constructors do, or from the allocator. So the thread's callers are looked at, by the tables for
//! exceptions. Beyond the last table, all words of the stack are looked at. A word that an earlier call has left there may look
//! like a caller: the thread is not used at this stop.

use std::collections::HashMap;
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_ocaml::Memory;
use memtrail_ocaml_snapshot::core_file::Thread;
use memtrail_recording::mappings::Mapping;
use memtrail_symbols::callers::{Caller, Frame, UnwindTables};
use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

/// Callers that are looked at: a thread with more is not used.
const DEEPEST: usize = 10_000;
/// Bytes of the stack that are looked at where no table tells the caller.
const SEARCHED: u64 = 1 << 20;
/// Instructions that signal handlers return to: `mov $15, %rax; syscall` (`rt_sigreturn`), as libc has them.
const SIGNAL_RETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
/// Beginnings of the names of libc's files.
const LIBC: [&[u8]; 2] = [b"libc.so", b"libc-2."];
/// Beginnings of the names of the linker's files, and of libraries that were parts of libc.
const LINKER: [&[u8]; 4] = [b"ld-", b"ld.so", b"libpthread", b"libdl"];
/// A part of the names of allocators' libraries.
const ALLOCATOR: &[u8] = b"malloc";

/// Files of code, by path.
pub(super) type Files = HashMap<Vec<u8>, Option<MappedFile>>;

/// Whose code it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The program's, or any library's.
    Program,
    /// libc's: it calls `main`, and functions that compare, and `malloc` calls nothing.
    Libc,
    /// The linker's or the allocator's.
    Locking,
}

/// Code that is mapped.
struct Code<'a> {
    mapping: Mapping<'a>,
    owner: Owner,
}

/// The code of a process.
struct Program<'a, M> {
    memory: &'a M,
    pid: u32,
    code: Vec<Code<'a>>,
    /// Lowest address of each file.
    beginnings: HashMap<&'a [u8], u64>,
}

/// A judgement of a thread by its callers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Callers {
    /// None hinders.
    Free,
    /// One of them holds locks, or a signal interrupted the thread.
    Hinder,
    /// Unknown from this stack pointer on.
    UnknownFrom(u64),
}

/// True if a thread runs such code. `mappings` is the text of the process's mappings.
pub(super) fn is_in_program(
    memory: &impl Memory,
    (pid, mappings): (u32, &[u8]),
    thread: &Thread,
    files: &mut Files,
) -> bool {
    if thread.system_call().is_some() {
        return false;
    }
    let program = Program::new(memory, pid, mappings);
    if program.owner_at(thread.instruction()) != Some(Owner::Program) {
        return false;
    }
    match program.callers(thread, files) {
        Callers::Free => true,
        Callers::Hinder => false,
        Callers::UnknownFrom(stack) => !program.may_hinder_above(stack),
    }
}

impl<'a, M: Memory> Program<'a, M> {
    fn new(memory: &'a M, pid: u32, mappings: &'a [u8]) -> Self {
        let lines = || mappings.split(|&byte| byte == b'\n').filter_map(Mapping::parse);
        let mut beginnings = HashMap::new();
        for mapping in lines().filter(Mapping::is_file) {
            let lowest = beginnings.entry(mapping.path).or_insert(u64::MAX);
            *lowest = mapping.addresses.start.min(*lowest);
        }
        // Code that a program has made by itself has no file: nothing is known of it.
        let code = lines().filter(|mapping| mapping.is_code() && mapping.is_file());
        let code = code.map(|mapping| Code { owner: owner(mapping.path), mapping }).collect();
        Self { memory, pid, code, beginnings }
    }

    fn at(&self, address: u64) -> Option<&Code<'a>> {
        self.code.iter().find(|code| code.mapping.addresses.contains(&address))
    }

    fn owner_at(&self, address: u64) -> Option<Owner> {
        self.at(address).map(|code| code.owner)
    }

    fn callers(&self, thread: &Thread, files: &mut Files) -> Callers {
        let mut frame = Frame::innermost(thread.instruction(), thread.in_dwarfs_order());
        for _ in 0..DEEPEST {
            match self.caller(&frame, files) {
                Caller::None => return Callers::Free,
                Caller::Signal => return Callers::Hinder,
                Caller::Unknown => return Callers::UnknownFrom(frame.stack()),
                Caller::Frame(caller) => frame = caller,
            }
            match self.owner_at(frame.place()) {
                Some(Owner::Locking) => return Callers::Hinder,
                Some(Owner::Program | Owner::Libc) => {}
                None => return Callers::UnknownFrom(frame.stack()),
            }
        }
        Callers::Hinder
    }

    fn caller(&self, frame: &Frame, files: &mut Files) -> Caller {
        let found = self.at(frame.place()).and_then(|code| {
            let path = code.mapping.path;
            let start = *self.beginnings.get(path)?;
            let file = files.entry(path.to_vec()).or_insert_with(|| self.file(path)).as_ref()?;
            let bias = start.wrapping_sub(lowest_address(file)?);
            let tables = UnwindTables::parse(file)?;
            Some(tables.caller(frame, bias, |at| self.memory.u64(at)))
        });
        found.unwrap_or(Caller::Unknown)
    }

    /// The file of a mapping. A replaced one has another path in the mappings, which leads nowhere.
    fn file(&self, path: &[u8]) -> Option<MappedFile> {
        let path = format!("/proc/{}/root{}", self.pid, str::from_utf8(path).ok()?);
        MappedFile::open(Path::new(&path)).ok()
    }

    /// True if a word on the rest of the stack may be a return address into code that holds locks, or a signal handler's.
    fn may_hinder_above(&self, stack: u64) -> bool {
        let hinders = |word: u64| match self.owner_at(word) {
            Some(Owner::Locking) => self.is_behind_call(word),
            Some(_) => self.memory.bytes::<9>(word) == Some(SIGNAL_RETURN),
            None => false,
        };
        let start = stack & !7;
        let places = (start..start.saturating_add(SEARCHED)).step_by(8);
        places.map_while(|at| self.memory.u64(at)).any(hinders)
    }

    /// True behind `call`, in one of its usual forms.
    fn is_behind_call(&self, address: u64) -> bool {
        let before = |bytes: u64| address.checked_sub(bytes).and_then(|at| self.memory.u8(at));
        // call rel32; call *disp32(%rip); call *%reg; call *disp8(%reg)
        before(5) == Some(0xe8) || [6, 2, 3].into_iter().any(|bytes| before(bytes) == Some(0xff))
    }
}

/// The lowest address of a file's segments, at the beginning of a page.
fn lowest_address(file: &[u8]) -> Option<u64> {
    const PAGE: u64 = 4096;
    let header = FileHeader64::<LittleEndian>::parse(file).ok()?;
    let segments = header.program_headers(LittleEndian, file).ok()?;
    let first = segments.iter().find(|segment| segment.p_type(LittleEndian) == elf::PT_LOAD)?;
    Some(first.p_vaddr(LittleEndian) / PAGE * PAGE)
}

/// Whose code a file has.
fn owner(path: &[u8]) -> Owner {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let begins = |libraries: &[&[u8]]| libraries.iter().any(|one| name.starts_with(one));
    if begins(&LIBC) {
        Owner::Libc
    } else if begins(&LINKER) || name.windows(ALLOCATOR.len()).any(|part| part == ALLOCATOR) {
        Owner::Locking
    } else {
        Owner::Program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPINGS: &[u8] = b"1000-2000 r-xp 00001000 08:02 17 /nowhere/bin/server\n\
        3000-4000 r-xp 00001000 08:02 18 /nowhere/lib/libc.so.6\n\
        5000-6000 r-xp 00001000 08:02 19 /nowhere/ld-linux-x86-64.so.2\n\
        7000-8000 r-xp 00001000 08:02 20 /nowhere/libtcmalloc_minimal.so.4\n\
        9000-a000 rw-p 00000000 00:00 0\n\
        b000-c000 rwxp 00000000 00:00 0\n";
    const STACK: u64 = 0x9000;

    /// Memory of words on a stack, and of code: behind calls at 0x3100, 0x5100 and 0x7100.
    struct Stack(Vec<u64>);

    impl Memory for Stack {
        fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
            let mut found = [0x90; N];
            for (byte, at) in found.iter_mut().zip(at..) {
                *byte = match at {
                    0x50fb | 0x30fb | 0x70fb => 0xe8,
                    0x3200..0x3209 => SIGNAL_RETURN[(at - 0x3200) as usize],
                    0x1000..0x9000 => 0x90,
                    _ => {
                        let word = at.checked_sub(STACK)? / 8;
                        self.0.get(word as usize)?.to_le_bytes()[at as usize % 8]
                    }
                }
            }
            Some(found)
        }
    }

    fn runs(instruction: u64, stack: &[u64]) -> bool {
        let mut registers = [0; 27];
        // The order of `user_regs_struct`: 15 is the number of a system call, 16 the instruction, 19 the stack.
        (registers[15], registers[16], registers[19]) = (u64::MAX, instruction, STACK);
        let thread = Thread { id: 1, signal: 0, registers };
        let pid = std::process::id();
        is_in_program(&Stack(stack.to_vec()), (pid, MAPPINGS), &thread, &mut Files::new())
    }

    #[test]
    fn code_of_the_program_is_told_by_its_file() {
        assert!(runs(0x1100, &[1, 2, 3]));
        for elsewhere in [0x3100, 0x5100, 0x7100, 0xb100, 0xf000] {
            assert!(!runs(elsewhere, &[1, 2, 3]), "{elsewhere:x}");
        }
    }

    #[test]
    fn without_tables_what_may_be_a_callback_or_a_handler_is_left_alone() {
        assert!(runs(0x1100, &[7, 0x3100, 0x1200]), "libc calls main");
        assert!(!runs(0x1100, &[7, 0x5100]), "a constructor");
        assert!(!runs(0x1100, &[7, 0x7100]), "the allocator's callback");
        assert!(!runs(0x1100, &[7, 0x3200]), "a signal handler");
        assert!(runs(0x1100, &[7, 0x5180, 0x7180]), "no return addresses");
    }
}
