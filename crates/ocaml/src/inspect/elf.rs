//! ELF executables.

use object::elf::{EM_AARCH64, EM_X86_64, PT_INTERP};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSegment as _, ObjectSymbol};

use super::reason::Reason;
use super::strings::{self, Guess};
use super::verdict::{Other, Program, Rival, Verdict};
use crate::layout::Machine;
use crate::release::{MAX_DATA, Release, SYS_DATA};
use crate::version::{Unsupported, Version, detect};

const MAGIC: &[u8] = b"\x7fELF";
/// Names of compilation units' symbols, up to where they may go on.
const MEMTRACE: &[u8] = b"camlMemtrace";
const MEMPROF_LIMITS: &[u8] = b"camlMemprof_limits";

/// Sorted: a program has a thousand, and twenty are asked for.
struct Names<'a>(Vec<&'a [u8]>);

impl Names<'_> {
    fn contains(&self, name: &str) -> bool {
        self.0.binary_search(&name.as_bytes()).is_ok()
    }
}

/// What was read of an executable.
struct Executable<'a> {
    machine: Option<Machine>,
    dynamic: bool,
    /// What the dynamic loader sees.
    exported: Names<'a>,
    elf: ElfFile64<'a, Endianness>,
    stripped: bool,
}

pub(super) fn judge(file: &[u8]) -> Verdict {
    if !file.starts_with(MAGIC) {
        return Verdict::NotOcaml(Other::Unknown);
    }
    match read(file) {
        Some(executable) => judge_executable(&executable, file),
        // 32 bits, the other byte order, or damaged: only its strings can tell.
        None => match strings::guess(file) {
            Guess::Nothing => Verdict::NotOcaml(Other::Unknown),
            Guess::Native | Guess::Bytecode => Verdict::Refused(Reason::Machine),
        },
    }
}

/// The program that the kernel starts in front of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpreter<'a> {
    /// The file is no executable: a script, or left to the kernel to refuse.
    NoProgram,
    /// A program for another processor, or of 32 bits.
    OtherMachine,
    /// None: it is statically linked.
    None,
    /// The dynamic linker, as the program names it.
    Path(&'a [u8]),
}

/// The dynamic linker that the kernel starts a program of this machine with, by its path.
pub(super) fn interpreter(file: &[u8]) -> Interpreter<'_> {
    const HERE: object::elf::Machine =
        if cfg!(target_arch = "aarch64") { EM_AARCH64 } else { EM_X86_64 };
    if !file.starts_with(MAGIC) {
        return Interpreter::NoProgram;
    }
    let Ok(elf) = ElfFile64::<Endianness>::parse(file) else { return Interpreter::OtherMachine };
    let (endian, header) = (elf.endian(), elf.elf_header());
    if endian != Endianness::Little || header.e_machine(endian) != HERE {
        return Interpreter::OtherMachine;
    }
    let mut named = elf.elf_program_headers().iter().filter(|h| h.p_type(endian) == PT_INTERP);
    let Some(named) = named.next() else { return Interpreter::None };
    let path = named.data(endian, file).unwrap_or_default();
    Interpreter::Path(path.split(|&byte| byte == 0).next().unwrap_or_default())
}

fn read(file: &[u8]) -> Option<Executable<'_>> {
    let elf = ElfFile64::<Endianness>::parse(file).ok()?;
    let endian = elf.endian();
    if endian != Endianness::Little {
        return None;
    }
    let machine = match elf.elf_header().e_machine(endian) {
        EM_X86_64 => Some(Machine::Amd64),
        EM_AARCH64 => Some(Machine::Arm64),
        _ => None,
    };
    Some(Executable {
        machine,
        dynamic: elf.elf_program_headers().iter().any(|h| h.p_type(endian) == PT_INTERP),
        exported: names(elf.dynamic_symbols()),
        stripped: elf.elf_symbol_table().is_empty(),
        elf,
    })
}

/// Those of the symbols that are the runtime's, or tell of a rival. A program has a hundred times as
/// many of its own.
fn names<'a>(symbols: impl Iterator<Item: ObjectSymbol<'a>>) -> Names<'a> {
    let mut names: Vec<_> = symbols
        .filter_map(|symbol| symbol.name_bytes().ok().filter(is_wanted).map(|name| (symbol, name)))
        .filter(|(symbol, _)| !symbol.is_undefined())
        .map(|(_, name)| name)
        .collect();
    names.sort_unstable();
    Names(names)
}

fn is_wanted(name: &&[u8]) -> bool {
    [b"caml_".as_slice(), b"Caml_", MEMTRACE, MEMPROF_LIMITS]
        .iter()
        .any(|wanted| name.starts_with(wanted))
}

fn judge_executable(executable: &Executable<'_>, file: &[u8]) -> Verdict {
    let version = detect(|name| executable.exported.contains(name));
    match version.and_then(|version| version.unless_newer(|| release(&executable.elf))) {
        Ok(version) => judge_version(executable, version),
        Err(Unsupported::NoRuntime) => judge_hidden(executable, file),
        Err(Unsupported::Bytecode) => Verdict::Refused(Reason::Bytecode),
        Err(refusal) => Verdict::Refused(Reason::Runtime(refusal)),
    }
}

/// The release that compiled it, from the data of `Stdlib.Sys`.
fn release(elf: &ElfFile64<'_, Endianness>) -> Option<Release> {
    let address = |name: &str| {
        let mut symbols = elf.dynamic_symbols();
        symbols.find(|symbol| symbol.name_bytes() == Ok(name.as_bytes())).map(|it| it.address())
    };
    SYS_DATA.into_iter().find_map(|(begin, end)| {
        let (begin, end) = (address(begin)?, address(end)?);
        let size = end.checked_sub(begin).filter(|&size| size <= MAX_DATA)?;
        let data = elf.segments().find_map(|segment| segment.data_range(begin, size).ok()?)?;
        Release::find(data)
    })
}

fn judge_version(executable: &Executable<'_>, version: Version) -> Verdict {
    let reason = match executable.machine {
        Some(machine) if machine == Machine::HERE => {
            if executable.dynamic {
                let rival = rival(executable);
                let stripped = executable.stripped;
                return Verdict::Ocaml(Program { version, machine, rival, stripped });
            }
            Reason::Static
        }
        _ => Reason::Machine,
    };
    Verdict::Refused(reason)
}

/// The loader will see no runtime; is there one all the same?
fn judge_hidden(executable: &Executable<'_>, file: &[u8]) -> Verdict {
    // What only tools see.
    let local = names(executable.elf.symbols());
    let told = match detect(|name| local.contains(name)) {
        Err(Unsupported::NoRuntime) => strings::guess(file),
        Err(Unsupported::Bytecode) => Guess::Bytecode,
        Ok(_) | Err(_) => Guess::Native,
    };
    match told {
        Guess::Nothing => Verdict::NotOcaml(Other::Executable),
        Guess::Bytecode => Verdict::Refused(Reason::Bytecode),
        Guess::Native if executable.machine != Some(Machine::HERE) => {
            Verdict::Refused(Reason::Machine)
        }
        Guess::Native if !executable.dynamic => Verdict::Refused(Reason::Static),
        Guess::Native => Verdict::Refused(Reason::NoSymbols),
    }
}

fn rival(executable: &Executable<'_>) -> Option<Rival> {
    let linked = |unit: &[u8]| {
        executable.exported.0.iter().any(|name| {
            // A unit's own block, or what belongs to it, but no unit whose name only begins alike.
            name.strip_prefix(unit).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(b"__") || rest.starts_with(b".")
            })
        })
    };
    if linked(MEMTRACE) {
        Some(Rival::Memtrace)
    } else if linked(MEMPROF_LIMITS) {
        Some(Rival::MemprofLimits)
    } else {
        None
    }
}
