//! Slots in which loaded objects keep the addresses of functions that they import, and how these are replaced while the program
//! runs.
//!
//! A slot is a word that the dynamic linker fills in, and that calls read: so one store is enough, and no code is changed. A slot
//! whose function was not called yet leads to a stub in its own object. An object may be relocated meanwhile by a thread that
//! loads it: only objects that were there before the linker's lock was free are looked at ([`settled`]).

use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::ptr::{null, with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

use memtrail_recording::mappings::Mapping;

use crate::os::objects::{LoadedObject, find_in_objects};

/// A function that objects are to call in another's place.
#[derive(Clone, Copy, Debug)]
pub struct Replacement {
    /// The name by which they import it.
    pub name: &'static CStr,
    /// Address of the function that they call.
    pub before: u64,
    /// Address of the function that they are to call.
    pub after: u64,
}

impl Replacement {
    /// The replacement that undoes this one.
    #[must_use]
    pub const fn undone(&self) -> Self {
        Self { name: self.name, before: self.after, after: self.before }
    }
}

/// Slots that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slots {
    /// Slots that were changed.
    replaced: usize,
    /// Slots that the kernel did not let be written.
    refused: usize,
}

/// The treatment of slots whose function was not called yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unbound {
    Replaced,
    Left,
}

/// Entries of the dynamic section (`elf.h`).
mod tag {
    pub(super) const PLT_BYTES: i64 = 2;
    pub(super) const STRINGS: i64 = 5;
    pub(super) const SYMBOLS: i64 = 6;
    pub(super) const RELOCATIONS: i64 = 7;
    pub(super) const RELOCATION_BYTES: i64 = 8;
    pub(super) const PLT: i64 = 23;
}

/// Kinds of relocations whose slots hold a function's address (`elf.h`).
#[cfg(target_arch = "x86_64")]
mod kind {
    pub(super) const ADDRESS: u32 = 1;
    pub(super) const DATA: u32 = 6;
    pub(super) const JUMP: u32 = 7;
}
#[cfg(target_arch = "aarch64")]
mod kind {
    pub(super) const ADDRESS: u32 = 257;
    pub(super) const DATA: u32 = 1025;
    pub(super) const JUMP: u32 = 1026;
}

/// The section of symbols that an object imports (`elf.h`).
const UNDEFINED: u16 = 0;

/// The linker's notes on what it filled in (`Elf64_Rela`).
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

impl Relocation {
    const fn kind(&self) -> u32 {
        self.info as u32
    }

    const fn symbol(&self) -> usize {
        (self.info >> 32) as usize
    }

    /// True if its slot holds the address of what the symbol names.
    const fn holds_address(&self) -> bool {
        matches!(self.kind(), kind::ADDRESS | kind::DATA | kind::JUMP) && self.addend == 0
    }
}

/// An object's relocations, and what they name.
struct Tables {
    relocations: [Range<u64>; 2],
    symbols: u64,
    strings: u64,
}

impl Tables {
    fn of(object: &LoadedObject<'_>) -> Option<Self> {
        let mut found = Self { relocations: [0..0, 0..0], symbols: 0, strings: 0 };
        let (mut bytes, mut starts) = ([0; 2], [0; 2]);
        // The linker has added the bias to some, as far as the section can be written.
        let address = |value: u64| if value < object.bias { value + object.bias } else { value };
        let mut entry = with_exposed_provenance::<[u64; 2]>(object.dynamic()? as usize);
        loop {
            // SAFETY: the dynamic section of a loaded object, which ends with a zero.
            let [tag, value] = unsafe { entry.read() };
            match tag as i64 {
                0 => break,
                tag::PLT => starts[0] = address(value),
                tag::PLT_BYTES => bytes[0] = value,
                tag::RELOCATIONS => starts[1] = address(value),
                tag::RELOCATION_BYTES => bytes[1] = value,
                tag::SYMBOLS => found.symbols = address(value),
                tag::STRINGS => found.strings = address(value),
                _ => {}
            }
            entry = entry.wrapping_add(1);
        }
        for ((range, start), bytes) in found.relocations.iter_mut().zip(starts).zip(bytes) {
            let end = start.checked_add(bytes)?;
            if bytes > 0 && object.contains(start) && object.contains(end - 1) {
                *range = start..end;
            }
        }
        let is_whole = object.contains(found.symbols) && object.contains(found.strings);
        is_whole.then_some(found)
    }

    fn relocations(&self) -> impl Iterator<Item = &Relocation> {
        self.relocations.iter().flat_map(|range| {
            let count = (range.end - range.start) as usize / size_of::<Relocation>();
            let start = with_exposed_provenance::<Relocation>(range.start as usize);
            // SAFETY: within a segment of an object that is loaded while this is borrowed.
            (0..count).map(move |index| unsafe { &*start.add(index) })
        })
    }

    /// The symbol with this number.
    fn symbol(&self, number: usize) -> &libc::Elf64_Sym {
        let symbols = with_exposed_provenance::<libc::Elf64_Sym>(self.symbols as usize);
        // SAFETY: a relocation of the object, which is loaded while this is borrowed, has the number.
        unsafe { &*symbols.add(number) }
    }

    /// A symbol's name.
    fn name(&self, symbol: &libc::Elf64_Sym) -> &CStr {
        let strings = with_exposed_provenance::<i8>(self.strings as usize);
        // SAFETY: the linker has looked this symbol up by its name.
        unsafe { CStr::from_ptr(strings.add(symbol.st_name as usize).cast()) }
    }
}

/// Passes over the same objects: a thread that calls a function for the first time writes its slot meanwhile.
const PASSES: u32 = 2;

/// Functions that are replaced in a program that runs, until they are given back.
#[derive(Debug)]
pub struct Replaced {
    functions: Vec<Replacement>,
    /// An address in this library, whose own calls stay.
    own: *const c_void,
    /// Objects that were looked at last.
    objects: Settled,
    /// Passes over them.
    passes: u32,
    /// Slots that the kernel did not let be written.
    pub refused: usize,
}

impl Replaced {
    /// Replaces functions in the calls of all objects but the one that has this address: this library's own.
    ///
    /// # Safety
    /// Each function can be called in place of the other one, for as long as the process lives.
    pub unsafe fn new(functions: Vec<Replacement>, own: *const c_void) -> Self {
        let mut replaced =
            Self { functions: Vec::new(), own, objects: settled(), passes: 0, refused: 0 };
        // SAFETY: as the caller promises.
        unsafe { replaced.add(functions) };
        replaced.passes = 1;
        replaced
    }

    /// Replaces more of them.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    pub unsafe fn add(&mut self, functions: Vec<Replacement>) {
        // SAFETY: as the caller promises.
        let slots = unsafe { replace(&functions, Unbound::Replaced, &self.objects, self.own) };
        self.refused += slots.refused;
        self.functions.extend(functions);
    }

    /// Replaces them in objects that were loaded since.
    pub fn renew(&mut self) {
        if !self.objects.is_up_to_date() {
            self.objects = settled();
            self.passes = 0;
        }
        if self.passes < PASSES {
            self.passes += 1;
            // SAFETY: as whoever replaced them promised.
            unsafe { replace(&self.functions, Unbound::Replaced, &self.objects, self.own) };
        }
    }

    /// Has the objects call the functions from before.
    pub fn give_back(self) {
        let undone: Vec<Replacement> = self.functions.iter().map(Replacement::undone).collect();
        // SAFETY: as whoever replaced them promised.
        unsafe { replace(&undone, Unbound::Left, &settled(), self.own) };
    }
}

/// Addresses of objects whose loading is complete, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Settled(Vec<u64>);

/// Addresses of the objects that are listed now.
fn listed() -> Vec<u64> {
    let mut bases = Vec::with_capacity(64);
    find_in_objects(|object| -> Option<()> {
        bases.extend(object.base());
        None
    });
    bases.sort_unstable();
    bases
}

impl Settled {
    /// True if no object was loaded or unloaded since.
    fn is_up_to_date(&self) -> bool {
        listed() == self.0
    }
}

/// The objects that are loaded. Waits for threads that load some.
///
/// The calling thread must not hold a lock that a library's constructor waits for.
fn settled() -> Settled {
    let bases = listed();
    // The linker has one lock for all that it loads, from the list to the last relocation.
    // SAFETY: gives the program itself, of which no file is read.
    unsafe {
        let program = libc::dlopen(null(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if !program.is_null() {
            libc::dlclose(program);
        }
    }
    Settled(bases)
}

/// Has objects call other functions, but for the one that has this address: this library's own.
///
/// # Safety
/// Each function can be called in place of the other one.
unsafe fn replace(
    replacements: &[Replacement],
    unbound: Unbound,
    settled: &Settled,
    but: *const c_void,
) -> Slots {
    let mut slots = Slots::default();
    find_in_objects(|object| -> Option<()> {
        let base = object.base()?;
        if settled.0.binary_search(&base).is_ok() && !object.contains(but.addr() as u64) {
            // SAFETY: as the caller promises; the object stays meanwhile.
            unsafe { replace_in(object, replacements, unbound, &mut slots) };
        }
        None
    });
    slots
}

/// # Safety
/// As [`replace`]; the object's loading is complete.
unsafe fn replace_in(
    object: &LoadedObject<'_>,
    replacements: &[Replacement],
    unbound: Unbound,
    slots: &mut Slots,
) {
    let Some(tables) = Tables::of(object) else { return };
    let mut writable = Writable::new(object);
    for relocation in tables.relocations().filter(|relocation| relocation.holds_address()) {
        let symbol = tables.symbol(relocation.symbol());
        let name = tables.name(symbol);
        let Some(wanted) = replacements.iter().find(|wanted| wanted.name == name) else { continue };
        let address = object.bias.wrapping_add(relocation.offset);
        if !address.is_multiple_of(8) || !object.contains(address) {
            continue;
        }
        // SAFETY: a word of the object's, which the linker filled in.
        let slot = unsafe { AtomicU64::from_ptr(with_exposed_provenance_mut(address as usize)) };
        let value = slot.load(Acquire);
        // A function of the object's own would look like a stub.
        let is_unbound = unbound == Unbound::Replaced
            && relocation.kind() == kind::JUMP
            && symbol.st_shndx == UNDEFINED
            && object.contains(value);
        if value != wanted.before && !is_unbound {
            continue;
        }
        if writable.allow(address) {
            slot.store(wanted.after, Release);
            slots.replaced += 1;
        } else {
            slots.refused += 1;
        }
    }
}

/// The part of an object that cannot be written once it is relocated: it can while this is there.
struct Writable {
    protected: Range<u64>,
    /// True if it can be written by now; nothing if that was not tried.
    is_open: Option<bool>,
    /// Pages that could not be written before.
    opened: Vec<Range<u64>>,
}

impl Writable {
    fn new(object: &LoadedObject<'_>) -> Self {
        // SAFETY: only asks.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as u64;
        let relocated = object.relocated_read_only().unwrap_or(0..0);
        let protected = relocated.start / page * page..relocated.end / page * page;
        Self { protected, is_open: None, opened: Vec::new() }
    }

    /// True if the word at an address can be written.
    fn allow(&mut self, address: u64) -> bool {
        if !self.protected.contains(&address) {
            return true;
        }
        if self.is_open.is_none() {
            self.is_open = Some(self.open());
        }
        self.is_open == Some(true)
    }

    /// Lets those pages be written that the program itself cannot write. False if the system does not.
    fn open(&mut self) -> bool {
        let Ok(maps) = std::fs::read("/proc/self/maps") else { return false };
        let mappings = maps.split(|&byte| byte == b'\n').filter_map(Mapping::parse);
        for mapping in mappings.filter(|mapping| !mapping.is_data()) {
            let Range { start, end } = mapping.addresses;
            let pages = start.max(self.protected.start)..end.min(self.protected.end);
            if pages.is_empty() {
                continue;
            }
            if !protect(&pages, libc::PROT_READ | libc::PROT_WRITE) {
                return false;
            }
            self.opened.push(pages);
        }
        true
    }
}

impl Drop for Writable {
    fn drop(&mut self) {
        for pages in &self.opened {
            protect(pages, libc::PROT_READ);
        }
    }
}

/// Sets the access to whole pages. False if the kernel refuses.
fn protect(pages: &Range<u64>, access: i32) -> bool {
    let start = with_exposed_provenance_mut::<c_void>(pages.start as usize);
    // SAFETY: pages of a loaded object, which can be read in any case.
    unsafe { libc::mprotect(start, (pages.end - pages.start) as usize, access) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn always_seven() -> libc::pid_t {
        7
    }

    /// The test's executable imports it, as nothing else of it calls the function.
    fn group() -> libc::pid_t {
        // SAFETY: only asks.
        unsafe { libc::getpgrp() }
    }

    #[test]
    fn an_imported_function_is_replaced_and_given_back() {
        let before = group();
        // SAFETY: a C string.
        let theirs = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"getpgrp".as_ptr()) };
        let wanted = Replacement {
            name: c"getpgrp",
            before: theirs.expose_provenance() as u64,
            after: always_seven as *const c_void as u64,
        };
        let settled = settled();
        assert!(settled.is_up_to_date());
        // SAFETY: both have the same type, and nothing else in this process calls it.
        let slots = unsafe { replace(&[wanted], Unbound::Replaced, &settled, null()) };
        assert_eq!((slots.refused, group()), (0, 7));
        assert!(slots.replaced > 0);
        // SAFETY: as above.
        let back = unsafe { replace(&[wanted.undone()], Unbound::Left, &settled, null()) };
        assert_eq!((back, group()), (slots, before));
        // SAFETY: as above.
        let again = unsafe { replace(&[wanted.undone()], Unbound::Left, &settled, null()) };
        assert_eq!(again, Slots::default());
    }

    #[test]
    fn objects_that_are_not_settled_are_left_alone() {
        let none = Settled::default();
        let wanted = Replacement { name: c"getppid", before: 1, after: 2 };
        // SAFETY: no object is looked at.
        let slots = unsafe { replace(&[wanted], Unbound::Replaced, &none, null()) };
        assert_eq!(slots, Slots::default());
        assert!(!none.is_up_to_date());
    }
}
