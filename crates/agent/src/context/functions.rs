//! Functions of the program and its libraries: how large they are.

use memtrail_ocaml::heap::loaded::each_object;
use memtrail_ocaml::memory::ThisProcess;

unsafe extern "C" {
    /// The linker's list of what is loaded.
    static _r_debug: u8;
}

/// Size of a function that the program or a library of its exports; 0 if it is not known. Only while
/// nothing is loaded or unloaded.
///
/// `dladdr` would look through all symbols, which are a hundred thousand in some programs.
pub(crate) fn size_of_function(name: &str) -> usize {
    let mut size = None;
    // SAFETY: the linker's tables are mapped, and nothing is loaded or unloaded meanwhile.
    let memory = unsafe { ThisProcess::new() };
    each_object(&memory, (&raw const _r_debug) as u64, |object| {
        size = size.or_else(|| Some(object.symbol(&memory, name.as_bytes())?.size));
    });
    size.unwrap_or(0) as usize
}
