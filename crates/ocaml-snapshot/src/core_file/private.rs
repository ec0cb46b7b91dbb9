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
        variable: Variable,
        is: impl Fn(Address) -> bool,
    ) -> Option<Address> {
        let symbol = self.executable.address(variable.0);
        symbol.or_else(|| self.candidates(variable).find(|&place| is(place)))
    }

    /// The address of a private variable: without its symbol, the place with the highest score.
    pub(super) fn most(
        &self,
        variable: Variable,
        score: impl Fn(Address) -> Option<usize>,
    ) -> Option<Address> {
        self.executable.address(variable.0).or_else(|| {
            let scored = self.candidates(variable).filter_map(|at| Some((score(at)?, at)));
            scored.max().map(|(_, at)| at)
        })
    }

    fn candidates(&self, (_, functions): Variable) -> impl Iterator<Item = Address> {
        let code = functions.iter().filter_map(|name| {
            let own = self.executable.function(name);
            let (start, size) = own.or_else(|| self.of_libraries.get(name.as_bytes()).copied())?;
            Some((self.memory.slice(start, size)?, start))
        });
        let places = code.flat_map(|(code, start)| referred(code, start));
        places.filter(|&place| self.mapped.contains(place))
    }
}
