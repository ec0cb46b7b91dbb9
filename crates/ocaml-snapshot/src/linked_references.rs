//! What code refers to, also through the dynamic linker's tables: plugins take the addresses of symbols from these, and
//! call other modules through code of the linker.

use memtrail_ocaml::code_references::{Reference, amd64, jump_slot};

use super::frozen::{StoppedProcess, View};
use super::mapped::Mapped;

/// The linker's code for one call is no longer.
const MAX_JUMP_LEN: u64 = 16;

/// What is taken or called, and whether it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The address of this is taken.
    Address(u64),
    /// The code there is called, or jumped to.
    Call(u64),
}

/// Calls `each` with what the code at `start` refers to.
pub(super) fn each(
    view: &View<'_, impl StoppedProcess>,
    mapped: &Mapped,
    code: &[u8],
    start: u64,
    mut each: impl FnMut(Target),
) {
    let Some(file) = mapped.file(start) else {
        // Code that no file has, as that of a debugger, has no tables.
        return amd64(code, start, |reference| match reference {
            Reference::Address(address) => each(Target::Address(address)),
            Reference::Call(code) => each(Target::Call(code)),
            Reference::Stored(_) => {}
        });
    };
    // The bytes of some other instruction may look like such a reference: what is not of the same file is not read.
    let is_own = |address: u64, bytes: u64| {
        mapped.file(address) == Some(file) && mapped.readable(address) >= bytes
    };
    let stored = |slot: u64| is_own(slot, 8).then(|| view.memory.u64(slot)).flatten();
    let jump = |code: u64| {
        let is_symbol = view.symbols.at(code).is_some_and(|symbol| symbol.address == code);
        if is_symbol || !is_own(code, MAX_JUMP_LEN) {
            return None;
        }
        let bytes: [u8; MAX_JUMP_LEN as usize] = view.memory.bytes(code)?;
        stored(jump_slot(&bytes, code)?)
    };
    amd64(code, start, |reference| match reference {
        Reference::Address(address) => each(Target::Address(address)),
        Reference::Call(code) => each(Target::Call(jump(code).unwrap_or(code))),
        Reference::Stored(slot) => {
            if let Some(address) = stored(slot) {
                each(Target::Address(address));
            }
        }
    });
}
