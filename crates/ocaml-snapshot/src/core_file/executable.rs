//! The executable of a core file: symbols that are not in memory, and where its parts were loaded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use memtrail_ocaml::Address;
use memtrail_ocaml::heap::loaded::Symbol;
use memtrail_ocaml::release::{MAX_DATA, Release, SYS_DATA};
use memtrail_ocaml::shape::{Found, Parts};
use memtrail_ocaml::symbols::fingerprint;
use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _, Sym as _};

/// Storage of a thread that is looked at: that of a runtime is small.
const MAX_THREAD_STORAGE: u64 = 1 << 20;

type Header = FileHeader64<LittleEndian>;

/// The build id in a file's notes; also of the first page of a file, which core files have.
pub fn build_id(file: &[u8]) -> Option<&[u8]> {
    let header = Header::parse(file).ok()?;
    for segment in header.program_headers(LittleEndian, file).ok()? {
        let Ok(Some(mut notes)) = segment.notes(LittleEndian, file) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(LittleEndian) == elf::NT_GNU_BUILD_ID
            {
                return Some(note.desc());
            }
        }
    }
    None
}

/// An executable that was loaded.
#[derive(Debug)]
pub(super) struct Executable<'a> {
    /// Difference between addresses in memory and in the file.
    bias: u64,
    /// The dynamic section in memory; static executables have none.
    pub(super) dynamic: Option<Address>,
    /// Bytes of its thread-local storage, which ends where the thread pointer is.
    thread_storage: u64,
    /// Memory that the program may write, and its code.
    data: Vec<Range<Address>>,
    code: Vec<Range<Address>>,
    /// Address and size of each variable and function.
    symbols: HashMap<&'a [u8], (Address, u64)>,
    /// Offsets in the thread-local storage.
    thread_local: HashMap<&'a [u8], u64>,
    /// The names of [`Self::each_symbol`].
    pub(super) names: Cow<'a, [u8]>,
    all: Vec<(Address, u64, u32)>,
    /// True if the dynamic linker knows the runtime's symbols.
    pub(super) exports_runtime: bool,
    /// The release that compiled it, where its data has one.
    pub(super) release: Option<Release>,
}

impl<'a> Executable<'a> {
    /// Reads an executable that was entered at `entry`. `None` if it is none.
    pub(super) fn read(file: &'a [u8], entry: Address) -> Option<Self> {
        let header = Header::parse(file).ok()?;
        let bias = entry.wrapping_sub(header.e_entry(LittleEndian));
        let (mut dynamic, mut thread_storage) = (None, 0);
        let (mut data, mut code) = (Vec::new(), Vec::new());
        for segment in header.program_headers(LittleEndian, file).ok()? {
            match segment.p_type(LittleEndian) {
                elf::PT_DYNAMIC => {
                    dynamic = Some(segment.p_vaddr(LittleEndian).wrapping_add(bias));
                }
                elf::PT_LOAD => {
                    let start = segment.p_vaddr(LittleEndian).wrapping_add(bias);
                    let part = start..start.saturating_add(segment.p_memsz(LittleEndian));
                    let flags = segment.p_flags(LittleEndian).0;
                    if flags & elf::PF_W.0 != 0 {
                        data.push(part);
                    } else if flags & elf::PF_X.0 != 0 {
                        code.push(part);
                    }
                }
                elf::PT_TLS => {
                    let alignment = segment.p_align(LittleEndian).max(1);
                    let size = segment.p_memsz(LittleEndian);
                    thread_storage = size.checked_next_multiple_of(alignment)?;
                }
                _ => {}
            }
        }
        let mut executable = Self {
            bias,
            dynamic,
            thread_storage,
            data,
            code,
            symbols: HashMap::new(),
            thread_local: HashMap::new(),
            names: Cow::Borrowed(&[]),
            all: Vec::new(),
            exports_runtime: false,
            release: None,
        };
        executable.add_symbols(file, header);
        executable.release = executable.find_release(file, header);
        Some(executable)
    }

    fn add_symbols(&mut self, file: &'a [u8], header: &Header) -> Option<()> {
        let sections = header.sections(LittleEndian, file).ok()?;
        let exported = sections.symbols(LittleEndian, file, elf::SHT_DYNSYM).ok()?;
        self.exports_runtime = exported.symbols().iter().any(|symbol| {
            let name = symbol.name(LittleEndian, exported.strings());
            !symbol.is_undefined(LittleEndian) && name == Ok(fingerprint::BEFORE_STATE.as_bytes())
        });
        let mut table = sections.symbols(LittleEndian, file, elf::SHT_SYMTAB).ok()?;
        if table.is_empty() {
            table = exported;
        }
        let strings = sections.iter().nth(table.string_section().0)?;
        let offset = usize::try_from(strings.sh_offset.get(LittleEndian)).ok()?;
        let length = usize::try_from(strings.sh_size.get(LittleEndian)).ok()?;
        self.names = Cow::Borrowed(file.get(offset..offset.checked_add(length)?)?);
        for symbol in table.symbols() {
            if symbol.is_undefined(LittleEndian) {
                continue;
            }
            let Ok(name) = symbol.name(LittleEndian, table.strings()) else { continue };
            let (value, size) = (symbol.st_value(LittleEndian), symbol.st_size(LittleEndian));
            match symbol.st_type() {
                elf::STT_TLS => {
                    self.thread_local.entry(name).or_insert(value);
                }
                elf::STT_NOTYPE | elf::STT_OBJECT | elf::STT_FUNC => {
                    let address = value.wrapping_add(self.bias);
                    self.symbols.entry(name).or_insert((address, size));
                    self.all.push((address, size, symbol.st_name(LittleEndian)));
                }
                _ => {}
            }
        }
        Some(())
    }

    fn find_release(&self, file: &'a [u8], header: &Header) -> Option<Release> {
        let segments = header.program_headers(LittleEndian, file).ok()?;
        SYS_DATA.into_iter().find_map(|(begin, end)| {
            let (begin, end) = (self.address(begin)?, self.address(end)?);
            let size = end.checked_sub(begin).filter(|&size| size <= MAX_DATA)?;
            let begin = begin.wrapping_sub(self.bias);
            let data = segments
                .iter()
                .find_map(|segment| segment.data_range(LittleEndian, file, begin, size).ok()?)?;
            Release::find(data)
        })
    }

    /// True if it has no symbols.
    pub(super) fn is_stripped(&self) -> bool {
        self.all.is_empty()
    }

    /// Its parts in memory, with those of threads that have these thread pointers.
    pub(super) fn parts(&self, threads: impl Iterator<Item = Address>) -> Parts {
        let storage = |end: Address| {
            let start = end.checked_sub(self.thread_storage)?;
            (start.is_multiple_of(8) && self.thread_storage <= MAX_THREAD_STORAGE)
                .then_some(start..end)
        };
        Parts {
            data: self.data.clone(),
            code: self.code.clone(),
            thread_local: threads.filter_map(storage).collect(),
        }
    }

    /// Adds symbols for what was found without any: the runtime's variables, and the edges of units.
    pub(super) fn add_found(&mut self, found: &Found) {
        for &(name, address) in &found.variables {
            self.symbols.insert(name.as_bytes(), (address, 8));
            self.add_symbol(name.as_bytes(), address, 8);
        }
        if let Some((name, offset)) = found.thread_local {
            self.thread_local.insert(name.as_bytes(), offset);
        }
        for unit in &found.units {
            let of_unit = |edge: &str| [b"caml", &unit.name[..], b"__", edge.as_bytes()].concat();
            self.add_symbol(&of_unit("gc_roots"), 0, 0);
            self.add_symbol(&of_unit("data_begin"), unit.data.start, 0);
            self.add_symbol(&of_unit("data_end"), unit.data.end, 0);
            self.add_symbol(&of_unit("code_begin"), unit.code.start, 0);
            self.add_symbol(&of_unit("code_end"), unit.code.end, 0);
            for function in &unit.functions {
                // It ends the function before it.
                self.add_symbol(b"", *function, 0);
            }
            for (number, block) in unit.blocks.iter().enumerate() {
                let name = if number == 0 {
                    [b"caml", &unit.name[..]].concat()
                } else {
                    of_unit(&format!("block_{number}"))
                };
                self.add_symbol(&name, *block, 8);
            }
        }
    }

    fn add_symbol(&mut self, name: &[u8], address: Address, size: u64) {
        let Ok(at) = u32::try_from(self.names.len()) else { return };
        let names = self.names.to_mut();
        names.extend_from_slice(name);
        names.push(0);
        self.all.push((address, size, at));
    }

    /// True if it defines a variable or a function of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        let name = name.as_bytes();
        self.symbols.contains_key(name) || self.thread_local.contains_key(name)
    }

    /// Address of a variable or a function.
    pub(super) fn address(&self, name: &str) -> Option<Address> {
        self.symbols.get(name.as_bytes()).map(|(address, _)| *address)
    }

    /// Address and size of a function.
    pub(super) fn function(&self, name: &str) -> Option<(Address, u64)> {
        self.symbols.get(name.as_bytes()).copied()
    }

    /// Address of a thread's own copy of a variable, by the thread pointer.
    pub(super) fn of_thread(&self, name: &str, thread_pointer: Address) -> Option<Address> {
        let offset = self.thread_local.get(name.as_bytes())?;
        thread_pointer.checked_sub(self.thread_storage)?.checked_add(*offset)
    }

    /// Calls `each` with all its symbols; their names begin at `names`.
    pub(super) fn each_symbol(&self, names: Address, each: &mut dyn FnMut(Symbol)) {
        for &(address, size, name) in &self.all {
            each(Symbol { address, size, name: names + u64::from(name) });
        }
    }
}
