//! Notes of a core file: threads and their registers, mapped files, the program's name.

use std::ops::Range;

use memtrail_ocaml::Address;
use object::elf;

use super::error::CoreError;

/// A thread, and its registers as the kernel's `user_regs_struct` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's number.
    pub id: u32,
    /// The signal that it was stopped by; 0 if none.
    pub signal: u16,
    /// The registers, in the order of `user_regs_struct`.
    pub registers: [u64; REGISTERS],
}

/// Number of registers.
pub const REGISTERS: usize = 27;

/// Registers by their places in `user_regs_struct` of x86-64.
mod place {
    pub(super) const R15: usize = 0;
    pub(super) const R14: usize = 1;
    pub(super) const GENERAL: usize = 15;
    pub(super) const SYSTEM_CALL: usize = 15;
    pub(super) const INSTRUCTION: usize = 16;
    pub(super) const STACK: usize = 19;
    pub(super) const THREAD: usize = 21;
    /// `rdi`, `rsi`, `rdx`.
    pub(super) const ARGUMENTS: [usize; 3] = [14, 13, 12];
}

impl Thread {
    /// `r14`: where OCaml code runs, the domain's state.
    pub fn state(&self) -> u64 {
        self.registers[place::R14]
    }

    /// `r15`: where OCaml code runs, the last block of the minor heap.
    pub fn young_pointer(&self) -> u64 {
        self.registers[place::R15]
    }

    /// The instruction that is next.
    pub fn instruction(&self) -> Address {
        self.registers[place::INSTRUCTION]
    }

    /// The number of the system call that the thread is in.
    pub fn system_call(&self) -> Option<u64> {
        let number = self.registers[place::SYSTEM_CALL];
        (number.cast_signed() >= 0).then_some(number)
    }

    /// An argument of the system call that the thread is in, counted from 0. Only the first three are known.
    pub fn argument(&self, number: usize) -> u64 {
        place::ARGUMENTS.get(number).map_or(0, |&place| self.registers[place])
    }

    /// The stack pointer.
    pub fn stack(&self) -> Address {
        self.registers[place::STACK]
    }

    /// The base of the thread's local storage.
    pub fn thread_pointer(&self) -> Address {
        self.registers[place::THREAD]
    }

    /// The general registers in the order that x86-64's psABI gives them for DWARF: `rax`, `rdx`, `rcx`, `rbx`, `rsi`, `rdi`, `rbp`,
    /// `rsp`, `r8` to `r15`.
    pub fn in_dwarfs_order(&self) -> [u64; 16] {
        [10, 12, 11, 5, 13, 14, 4, place::STACK, 9, 8, 7, 6, 3, 2, 1, 0]
            .map(|at| self.registers[at])
    }

    /// All registers that may hold a value.
    pub fn general(&self) -> &[u64] {
        &self.registers[..place::GENERAL]
    }
}

/// A part of a file that was mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFile {
    /// Addresses that it was mapped at.
    pub addresses: Range<Address>,
    /// Byte of the file that the first address has.
    pub offset: u64,
    /// The path that the process knew it by.
    pub path: Vec<u8>,
}

/// The program, as the kernel names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The process.
    pub pid: u32,
    /// At most 15 bytes of its name.
    pub name: Vec<u8>,
    /// At most 79 bytes of its arguments, its own name first, with blanks between them.
    pub arguments: Vec<u8>,
}

/// All notes of a file.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) threads: Vec<Thread>,
    pub(super) files: Vec<MappedFile>,
    pub(super) program: Program,
    pub(super) auxiliary: Vec<(u64, u64)>,
}

/// A note's owner and type.
const HEADER: usize = 12;

impl Notes {
    /// Reads the notes between two offsets of a file.
    pub(super) fn read(&mut self, file: &[u8], offset: u64, length: u64) -> Result<(), CoreError> {
        let known = file.len() as u64;
        let end = offset.checked_add(length).filter(|end| *end <= known);
        let Some(end) = end else {
            let what = "its notes, which list the threads,";
            return Err(CoreError::Truncated { length: known, offset: offset.max(known), what });
        };
        let (mut at, end) = (offset as usize, end as usize);
        while at + HEADER <= end {
            let damaged = |cause| CoreError::Damaged { offset: at as u64, cause };
            let number = |place: usize| u32_at(file, at + place).unwrap_or(0);
            let (owner, bytes, kind) = (number(0) as usize, number(4) as usize, number(8));
            let start = at + HEADER + owner.next_multiple_of(4);
            let content = file.get(start..start + bytes).filter(|_| start + bytes <= end);
            let content = content.ok_or_else(|| damaged("a note is longer than all notes"))?;
            self.add(kind, content).ok_or_else(|| damaged("a note is too short"))?;
            at = start + bytes.next_multiple_of(4);
        }
        Ok(())
    }

    fn add(&mut self, kind: u32, content: &[u8]) -> Option<()> {
        match elf::NoteType(kind) {
            elf::NT_PRSTATUS => self.threads.push(thread(content)?),
            elf::NT_PRPSINFO => self.program = program(content)?,
            elf::NT_AUXV => {
                let words = content.chunks_exact(16);
                self.auxiliary = words
                    .filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?)))
                    .collect();
            }
            elf::NT_FILE => self.files = mapped_files(content)?,
            _ => {}
        }
        Some(())
    }
}

/// `struct elf_prstatus`.
fn thread(content: &[u8]) -> Option<Thread> {
    const SIGNAL: usize = 12;
    const ID: usize = 32;
    const FIRST: usize = 112;
    let mut registers = [0; REGISTERS];
    for (index, register) in registers.iter_mut().enumerate() {
        *register = u64_at(content, FIRST + 8 * index)?;
    }
    let signal = content.get(SIGNAL..)?.first_chunk().copied().map(u16::from_le_bytes)?;
    Some(Thread { id: u32_at(content, ID)?, signal, registers })
}

/// `struct elf_prpsinfo`.
fn program(content: &[u8]) -> Option<Program> {
    const ID: usize = 24;
    const NAME: Range<usize> = 40..56;
    const ARGUMENTS: Range<usize> = 56..136;
    let text = |range: Range<usize>| {
        let text = content.get(range)?;
        Some(text.split(|&byte| byte == 0).next().unwrap_or_default().to_vec())
    };
    Some(Program { pid: u32_at(content, ID)?, name: text(NAME)?, arguments: text(ARGUMENTS)? })
}

/// Number of entries, size of a page; then first and last address and the page in the file for each; then their names.
fn mapped_files(content: &[u8]) -> Option<Vec<MappedFile>> {
    const ENTRIES: usize = 16;
    const ENTRY: usize = 24;
    let count = usize::try_from(u64_at(content, 0)?).ok()?;
    let page = u64_at(content, 8)?;
    let names = content.get(ENTRIES.checked_add(count.checked_mul(ENTRY)?)?..)?;
    let names = names.split(|&byte| byte == 0);
    let entries = content.get(ENTRIES..)?.chunks_exact(ENTRY).take(count);
    entries
        .zip(names)
        .map(|(entry, path)| {
            let addresses = u64_at(entry, 0)?..u64_at(entry, 8)?;
            let offset = u64_at(entry, 16)?.checked_mul(page)?;
            Some(MappedFile { addresses, offset, path: path.to_vec() })
        })
        .collect()
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}
