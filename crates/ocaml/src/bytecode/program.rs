//! A program's file and sections, as the runtime's variables name them (`runtime/sys.c`, `runtime/startup_aux.c`).

use crate::layout::Layout;
use crate::memory::{Address, Memory};
use crate::symbols::{bytecode as names, parameters};

/// Fields of 5.x's `struct caml_params`, from [`Layout::startup_parameters`].
const FILE: u64 = 0;
const SECTIONS: u64 = 8;
const SECTIONS_BYTES: u64 = 16;

/// Address of the name of the file that was started. `variable` returns the addresses of variables.
pub fn file_name(
    memory: &impl Memory,
    layout: &Layout,
    variable: impl Fn(&str) -> Option<Address>,
) -> Option<Address> {
    let own = variable(names::FILE).and_then(|at| memory.u64(at));
    let field = layout.startup_parameters() + FILE;
    own.or_else(|| memory.field(memory.u64(variable(parameters::PARAMS)?)?, field))
}

/// Address and bytes of the table of sections that `-output-complete-exe` puts into memory.
pub fn sections(
    memory: &impl Memory,
    layout: &Layout,
    variable: impl Fn(&str) -> Option<Address>,
) -> Option<(Address, u64)> {
    let [table, bytes] = names::SECTIONS.map(&variable);
    if let (Some(table), Some(bytes)) = (table, bytes) {
        return Some((memory.u64(table)?, memory.u64(bytes)?));
    }
    let parameters = memory.u64(variable(parameters::PARAMS)?)?;
    let field = |offset| memory.field(parameters, layout.startup_parameters() + offset);
    Some((field(SECTIONS)?, field(SECTIONS_BYTES)?))
}
