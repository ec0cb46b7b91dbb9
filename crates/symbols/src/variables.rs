//! Variables at addresses of data, from symbol tables and debug information.

use std::path::Path;

use addr2line::Loader;

use crate::names;
use crate::variable_positions::Positions;

/// The variables of a file.
pub struct Variables {
    symbols: Loader,
    positions: Positions,
}

/// What is at an address of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The variable, and how far inside of it the address is: `table+0x18`.
    pub name: String,
    /// Where it is defined, if there is debug information: `server.c:14`.
    pub position: Option<String>,
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variables").finish_non_exhaustive()
    }
}

impl Variables {
    /// Those of an executable or a library; `None` if it cannot be read.
    pub fn of_file(path: &Path) -> Option<Self> {
        let symbols = Loader::new(path).ok()?;
        Some(Self { symbols, positions: Positions::of_file(path) })
    }

    /// The variable that an address in the file is in.
    pub fn at(&self, address: u64) -> Option<Variable> {
        let symbol = self.symbols.find_symbol_info(address)?;
        let name = names::demangled(symbol.name());
        let name = match address.checked_sub(symbol.address())? {
            0 => name,
            inside => format!("{name}+{inside:#x}"),
        };
        let position = self.positions.at(symbol.address()).map(ToOwned::to_owned);
        Some(Variable { name, position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[used]
    static mut FOUR_WORDS_OF_A_TEST: [u64; 4] = [1, 2, 3, 4];

    #[test]
    fn an_address_inside_of_a_variable_has_its_name() {
        let program = std::env::current_exe().unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let third = (&raw const FOUR_WORDS_OF_A_TEST).addr() as u64 + 16;
        let modules = crate::modules::parse(&maps);
        let in_file = modules.iter().find_map(|module| module.in_file(third)).unwrap();
        let found = Variables::of_file(&program).unwrap().at(in_file).unwrap();
        assert!(found.name.ends_with("FOUR_WORDS_OF_A_TEST+0x10"), "{found:?}");
    }
}
