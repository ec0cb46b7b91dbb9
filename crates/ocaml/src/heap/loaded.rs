//! Symbols of the objects in memory, read without the dynamic linker's locks: from its list of what
//! is loaded (`link.h`) and the dynamic symbol tables (System V ABI, chapter 5).
//!
//! A frozen copy of a process cannot ask `dladdr`: the lock may be held by a thread that is not there.

use super::MAX_LIST_LEN;
use crate::memory::{Address, Memory};

/// Name of the linker's list, a variable.
pub const LIST: &str = "_r_debug";

/// `struct r_debug`.
const FIRST: u64 = 8;
/// `struct link_map`.
mod link {
    pub(super) const BIAS: u64 = 0;
    pub(super) const NAME: u64 = 8;
    pub(super) const DYNAMIC: u64 = 16;
    pub(super) const NEXT: u64 = 24;
}
/// Tags of the dynamic section.
mod tag {
    /// `DT_DEBUG`: the linker leaves the address of its list there.
    pub(super) const LIST: u64 = 21;
    pub(super) const HASH: u64 = 4;
    pub(super) const STRINGS: u64 = 5;
    pub(super) const SYMBOLS: u64 = 6;
    pub(super) const GNU_HASH: u64 = 0x6fff_fef5;
}
const MAX_TAGS: u64 = 1024;
const SYMBOL: u64 = 24;

/// An object that is loaded: the program, a library, a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// What is added to addresses in its file.
    pub bias: u64,
    /// C string: its path. Empty for the program itself.
    pub name: Address,
    symbols: Address,
    strings: Address,
    hash: Option<Address>,
    gnu_hash: Option<Address>,
}

/// A symbol that is defined in its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Where it stands.
    pub address: Address,
    /// Bytes that it covers, 0 if not known.
    pub size: u64,
    /// C string: its name.
    pub name: Address,
}

/// Calls `each` with all objects, the program first; `list` is the address of [`LIST`].
pub fn each_object(memory: &impl Memory, list: Address, mut each: impl FnMut(Object)) {
    let mut next = memory.field(list, FIRST);
    for _ in 0..MAX_LIST_LEN {
        let Some(at) = next.filter(|&at| at != 0) else { return };
        if let Some(object) = Object::read(memory, at) {
            each(object);
        }
        next = memory.field(at, link::NEXT);
    }
}

/// The linker's list ([`LIST`]), from a program's dynamic section. `None` if the program has no linker, or the list is
/// not made yet.
pub fn list_of(memory: &impl Memory, dynamic: Address) -> Option<Address> {
    for index in 0..MAX_TAGS {
        let entry = dynamic.checked_add(16 * index)?;
        match memory.u64(entry)? {
            0 => return None,
            tag::LIST => return memory.field(entry, 8).filter(|&list| list != 0),
            _ => {}
        }
    }
    None
}

impl Object {
    fn read(memory: &impl Memory, at: Address) -> Option<Self> {
        let bias = memory.field(at, link::BIAS)?;
        let name = memory.field(at, link::NAME)?;
        Self::of(memory, bias, name, memory.field(at, link::DYNAMIC)?)
    }

    /// The object with this dynamic section.
    pub fn of(memory: &impl Memory, bias: u64, name: Address, dynamic: Address) -> Option<Self> {
        let mut object = Self { bias, name, symbols: 0, strings: 0, hash: None, gnu_hash: None };
        for index in 0..MAX_TAGS {
            let entry = dynamic.checked_add(16 * index)?;
            let value = memory.field(entry, 8)?;
            // The linker has mostly made addresses of them already.
            let address = if value < bias { value.wrapping_add(bias) } else { value };
            match memory.u64(entry)? {
                0 => break,
                tag::HASH => object.hash = Some(address),
                tag::GNU_HASH => object.gnu_hash = Some(address),
                tag::STRINGS => object.strings = address,
                tag::SYMBOLS => object.symbols = address,
                _ => {}
            }
        }
        (object.symbols != 0 && object.strings != 0).then_some(object)
    }

    /// How many symbols the table has: told by either hash table.
    fn count(&self, memory: &impl Memory) -> Option<u64> {
        if let Some(hash) = self.hash {
            return Some(u64::from(memory.u32(hash.checked_add(4)?)?));
        }
        let hash = self.gnu_hash?;
        let number = |at: u64| memory.u32(hash.checked_add(at)?).map(u64::from);
        let (buckets, first, bloom) = (number(0)?, number(4)?, number(8)?);
        let bucket_table = 16 + 8 * bloom;
        let chains = bucket_table + 4 * buckets;
        let mut last = 0;
        for bucket in 0..buckets {
            last = last.max(number(bucket_table + 4 * bucket)?);
        }
        if last < first {
            return Some(first);
        }
        // The last chain's end is marked by its lowest bit.
        while number(chains + 4 * (last - first))? & 1 == 0 {
            last += 1;
        }
        Some(last + 1)
    }

    /// The symbol of that name, by the hash table of GNU's linkers; `None` too where there is none.
    pub fn symbol(&self, memory: &impl Memory, name: &[u8]) -> Option<Symbol> {
        let table = self.gnu_hash?;
        let number = |at: u64| memory.u32(table.checked_add(at)?);
        let (buckets, first, bloom) = (number(0)?, number(4)?, number(8)?);
        let bucket_table = 16 + 8 * u64::from(bloom);
        let chains = bucket_table + 4 * u64::from(buckets);
        let wanted = gnu_hash(name);
        let mut index = number(bucket_table + 4 * u64::from(wanted.checked_rem(buckets)?))?;
        for _ in 0..MAX_LIST_LEN {
            let hash = number(chains + 4 * u64::from(index.checked_sub(first)?))?;
            if hash | 1 == wanted | 1
                && let Some(symbol) = self.at(memory, index.into())
                && memory.is_c_string(symbol.name, name)
            {
                return Some(symbol);
            }
            // The last of the chain.
            if hash & 1 == 1 {
                return None;
            }
            index = index.checked_add(1)?;
        }
        None
    }

    /// The symbol that covers an address: of several, the one that begins last.
    ///
    /// A table has tens of thousands of symbols in no order, so the loop has one branch, which is
    /// almost never taken.
    pub fn symbol_at(&self, memory: &impl Memory, address: Address) -> Option<Symbol> {
        let offset = address.checked_sub(self.bias)?;
        let mut found: Option<Symbol> = None;
        for index in 1..self.count(memory)? {
            let at = self.symbols.checked_add(SYMBOL * index)?;
            let (value, size) = (memory.field(at, 8)?, memory.field(at, 16)?);
            if offset.wrapping_sub(value) < size
                && let Some(symbol) = self.at(memory, index)
                && found.is_none_or(|found| found.address < symbol.address)
            {
                found = Some(symbol);
            }
        }
        found
    }

    /// A symbol of the table, if the object defines it.
    fn at(&self, memory: &impl Memory, index: u64) -> Option<Symbol> {
        let at = self.symbols.checked_add(SYMBOL * index)?;
        let section = memory.u16(at.checked_add(6)?)?;
        let kind = memory.u8(at.checked_add(4)?)? & 15;
        // Undefined; thread-local, whose value is no address; sections and files.
        if section == 0 || kind > 2 {
            return None;
        }
        Some(Symbol {
            address: memory.field(at, 8)?.wrapping_add(self.bias),
            size: memory.field(at, 16)?,
            name: self.strings.checked_add(u64::from(memory.u32(at)?))?,
        })
    }

    /// Calls `each` with every symbol that the object defines.
    pub fn each_symbol(&self, memory: &impl Memory, mut each: impl FnMut(Symbol)) -> Option<()> {
        for index in 1..self.count(memory)? {
            if let Some(symbol) = self.at(memory, index) {
                each(symbol);
            }
        }
        Some(())
    }
}

/// The hash function of `DT_GNU_HASH`: Bernstein's.
fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, &byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

#[cfg(test)]
#[allow(unsafe_code, reason = "looks at the test's own process")]
mod tests {
    use super::*;
    use crate::memory::{Image, ThisProcess};

    #[test]
    fn the_symbols_of_this_very_process_are_found() {
        // SAFETY: the linker's tables are mapped, and nothing is loaded meanwhile.
        let memory = unsafe { ThisProcess::new() };
        let list = list_of_this_process();
        let (mut objects, mut malloc) = (0, Vec::new());
        each_object(&memory, list, |object| {
            objects += 1;
            object.each_symbol(&memory, |symbol| {
                let mut text = [0; 32];
                if memory.c_string(symbol.name, &mut text) == Some(b"malloc") {
                    malloc.push(symbol.address);
                }
            });
        });
        let mut by_name = Vec::new();
        each_object(&memory, list, |object| {
            by_name.extend(object.symbol(&memory, b"malloc").map(|symbol| symbol.address));
            assert_eq!(object.symbol(&memory, b"no such symbol"), None);
        });
        assert_eq!(by_name, malloc);
        let mut by_address = Vec::new();
        each_object(&memory, list, |object| {
            by_address.extend(object.symbol_at(&memory, malloc[0] + 1));
        });
        assert_eq!(by_address.len(), 1);
        assert_eq!(by_address[0].address, malloc[0]);
        assert!(objects > 1, "{objects} objects");
        assert!(malloc.contains(&(libc_malloc() as u64)), "{malloc:x?}");
    }

    fn libc_malloc() -> usize {
        unsafe extern "C" {
            fn malloc(size: usize) -> *mut u8;
        }
        malloc as *const () as usize
    }

    fn list_of_this_process() -> Address {
        unsafe extern "C" {
            static _r_debug: u8;
        }
        (&raw const _r_debug) as u64
    }

    #[test]
    fn a_gnu_hash_table_tells_how_many_symbols_there_are() {
        // Two buckets from symbol 3 on, one bloom word; the second bucket begins at symbol 5, whose
        // chain has two.
        let words: [u32; 12] = [2, 3, 1, 0, 0, 0, 3, 5, 2, 1, 2, 1];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let memory = Image { base: 0x8000, bytes: &bytes };
        let object =
            Object { bias: 0, name: 0, symbols: 1, strings: 1, hash: None, gnu_hash: Some(0x8000) };
        assert_eq!(object.count(&memory), Some(7));
    }
}
