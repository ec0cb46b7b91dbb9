//! Variables that are private to the runtime: by their symbols, or by the code of exported functions that refers to
//! them.

use memtrail_ocaml::Address;
use memtrail_ocaml::heap::code::referred;
use memtrail_ocaml::symbols::private::Variable;

use super::process::CoreProcess;

impl CoreProcess<'_> {
    /// The address of a private variable. Without its symbol, the first address is taken that `is` holds for, among
    /// those of writable memory that the code of its functions refers to.
    pub(super) fn private(
        &self,
        (symbol, functions): Variable,
        is: impl Fn(Address) -> bool,
    ) -> Option<Address> {
        if let Some(address) = self.executable.address(symbol) {
            return Some(address);
        }
        functions.iter().find_map(|name| {
            let (start, size) = self.executable.function(name)?;
            let code = self.memory.slice(start, size)?;
            referred(code, start).find(|&place| self.mapped.contains(place) && is(place))
        })
    }
}
