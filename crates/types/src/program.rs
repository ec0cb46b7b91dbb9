//! What an executable has about its units: names, digests, and the sizes of their blocks.

use std::collections::HashMap;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSegment as _, ObjectSymbol as _};
use thiserror::Error;

use crate::digest::Digest;
use crate::marshal::{Marshalled, Value};

/// An executable, and the plugins that it loaded.
#[derive(Debug)]
pub struct Program<'a> {
    /// Its units, in the order in which they were linked.
    pub units: Vec<ProgramUnit>,
    /// Interfaces whose implementation is not linked: most have none, and types alone.
    pub interfaces: Vec<ProgramUnit>,
    /// What the linker identifies it by, in hexadecimal, if it has that.
    pub build_id: Option<String>,
    /// Addresses of the symbols of OCaml code and data.
    pub(crate) symbols: HashMap<&'a [u8], u64>,
}

/// A unit as the executable has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramUnit {
    /// Its name.
    pub name: String,
    /// Its interface's digest.
    pub interface: Option<Digest>,
    /// Its implementation's digest.
    pub implementation: Option<Digest>,
    /// How many fields its block has.
    pub fields: Option<u64>,
    /// The units in a library made with `-pack`.
    pub members: Vec<Member>,
}

/// A unit that is packed in another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name, behind that of the library: `Lib__Cache`.
    pub name: String,
    /// The number of fields of its block.
    pub fields: Option<u64>,
}

/// Why an executable cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// No executable of this kind of machine.
    #[error("is not a 64-bit ELF file")]
    NotElf,
    /// No OCaml program, or one without symbols.
    #[error("has no list of its OCaml units (caml_globals_map)")]
    NoUnits,
    /// The list is there, and cannot be read.
    #[error("has a list of its OCaml units that cannot be read")]
    Damaged,
}

const UNITS: &[u8] = b"caml_globals_map";

impl<'a> Program<'a> {
    /// Reads an executable's bytes.
    ///
    /// # Errors
    /// If it is no OCaml program with symbols.
    pub fn read(file: &'a [u8]) -> Result<Self, Error> {
        let image = Image::read(file)?;
        let build_id = image.elf.build_id().ok().flatten();
        let build_id = build_id.map(hexadecimal);
        let map = image.symbols.get(UNITS).ok_or(Error::NoUnits)?;
        let map = image.string(*map).ok_or(Error::Damaged)?;
        let units = units_in(map).ok_or(Error::Damaged)?;
        let (mut units, interfaces): (Vec<_>, Vec<_>) =
            units.into_iter().partition(|unit| unit.implementation.is_some());
        image.measure(&mut units);
        Ok(Self { units, interfaces, build_id, symbols: image.symbols })
    }

    /// Whether its compiler has flambda, which gives functions other numbers and closures other environments than
    /// the source leads to: its units' closures have symbols.
    pub fn has_flambda(&self) -> bool {
        self.symbols.keys().any(|symbol| is_closure(symbol))
    }

    /// Whether the program has a function of this name and stamp, which both are in its symbol.
    pub fn has_function(&self, unit: &str, name: &str, stamp: u64) -> bool {
        ["__", "."].iter().any(|separator| {
            let symbol = format!("caml{unit}{separator}{name}_{stamp}");
            self.symbols.contains_key(symbol.as_bytes())
        })
    }
}

/// Whether a symbol is that of a closure that is data: `camlShop__total_12_closure`.
fn is_closure(symbol: &[u8]) -> bool {
    let name = symbol.strip_prefix(b"caml").and_then(|rest| rest.strip_suffix(b"_closure"));
    let Some(name) = name.filter(|name| name.first().is_some_and(u8::is_ascii_uppercase)) else {
        return false;
    };
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && name.get(..name.len() - digits).is_some_and(|rest| rest.ends_with(b"_"))
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// An executable's bytes by address, and its symbols.
pub(crate) struct Image<'a> {
    elf: ElfFile64<'a, Endianness>,
    /// Addresses of the symbols of OCaml code and data.
    pub(crate) symbols: HashMap<&'a [u8], u64>,
}

impl<'a> Image<'a> {
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, Error> {
        let elf = ElfFile64::<Endianness>::parse(file).map_err(|_| Error::NotElf)?;
        let mut symbols = HashMap::new();
        for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
            if let Ok(name) = symbol.name_bytes()
                && name.starts_with(b"caml")
                && !symbol.is_undefined()
            {
                symbols.insert(name, symbol.address());
            }
        }
        Ok(Self { elf, symbols })
    }

    /// Says how many fields the blocks of units and of their members have.
    pub(crate) fn measure(&self, units: &mut [ProgramUnit]) {
        for unit in units {
            unit.fields = self.fields(&unit.name);
            for member in &mut unit.members {
                member.fields = self.fields(&member.name);
            }
        }
    }

    /// How many fields a unit's block has.
    fn fields(&self, unit: &str) -> Option<u64> {
        self.wosize(*self.symbols.get(format!("caml{unit}").as_bytes())?)
    }

    fn bytes(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        self.elf.segments().find_map(|segment| segment.data_range(address, size).ok().flatten())
    }

    fn wosize(&self, block: u64) -> Option<u64> {
        let header = self.bytes(block.checked_sub(8)?, 8)?.try_into().ok()?;
        // The highest byte may be reserved.
        Some(u64::from_le_bytes(header) << 8 >> 18)
    }

    /// A string's bytes: its last byte is the number of bytes of the last word that are not part of it.
    pub(crate) fn string(&self, block: u64) -> Option<&'a [u8]> {
        let bytes = self.bytes(block, self.wosize(block)?.checked_mul(8)?)?;
        let end = bytes.len().checked_sub(1 + usize::from(*bytes.last()?))?;
        bytes.get(..end)
    }
}

/// The units and interfaces in the marshalled list, `(name, interface's digest, implementation's digest,
/// symbols) list`.
pub(crate) fn units_in(bytes: &[u8]) -> Option<Vec<ProgramUnit>> {
    let list = Marshalled::read(bytes)?;
    let digest = |value: Value| {
        let [some] = list.fields(value)? else { return None };
        Digest::from_bytes(list.text(*some)?)
    };
    let mut units = Vec::new();
    for element in list.elements(list.root()) {
        let [name, interface, implementation, symbols] = list.fields(element)? else {
            return None;
        };
        let name = std::str::from_utf8(list.text(*name)?).ok()?.to_owned();
        let (interface, implementation) = (digest(*interface), digest(*implementation));
        let members = members(&list, *symbols, &name);
        units.push(ProgramUnit { name, interface, implementation, fields: None, members });
    }
    Some(units)
}

/// The units packed in one, from the list of all that its object file defines, which has itself, too.
pub(crate) fn members(values: &Marshalled<'_>, list: Value, unit: &str) -> Vec<Member> {
    let names = values.elements(list).into_iter().filter_map(|symbol| values.text(symbol));
    let names = names.filter_map(|name| std::str::from_utf8(name).ok());
    names
        .filter(|name| *name != unit)
        .map(|name| Member { name: name.to_owned(), fields: None })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_of_flambda_are_known_by_their_symbols() {
        for (symbol, is_one) in [
            ("camlShop__total_12_closure", true),
            ("camlShop.total_12_closure", true),
            ("camlShop.anon_fn$5bshop.ml$3a16$2c24$2d$2d40$5d_7_closure", true),
            ("camlShop__make_closure_12", false),
            ("camlShop__closure", false),
            ("camlShop__12", false),
            ("caml_alloc_12_closure", false),
            ("", false),
        ] {
            assert_eq!(is_closure(symbol.as_bytes()), is_one, "{symbol}");
        }
    }
}
