//! Has the objects of a program that runs call the functions of this library, which was loaded late. Objects keep the addresses
//! of functions that they import in slots, which are changed.
//!
//! Calls within an object, and by addresses that the program has stored, do not come by. Operators of C++ are replaced only
//! where the allocator has its own: those of C++'s library call `malloc`.

use std::ffi::{CStr, c_void};

use memtrail_agent::native::imports::{Replaced, Replacement};

use crate::{mappings, next, operators, scope};

/// Finds the allocator's functions. The error is a reason.
pub(crate) fn find() -> Result<(), String> {
    next::find();
    if next::has_own_allocator() {
        return Err("has an allocator of its own in its executable".into());
    }
    if next::definition(c"malloc").is_none() {
        return Err("has no malloc in a library: its functions cannot be redirected".into());
    }
    mappings::find();
    Ok(())
}

/// Has the objects call this library.
pub(crate) fn replace(with_mappings: bool) -> Replaced {
    let of_allocator =
        OF_ALLOCATOR.into_iter().filter_map(|name| Some((name, next::definition(name)?)));
    let of_mappings = mappings::definitions().into_iter().filter(|_| with_mappings);
    let replacement = |(name, before)| replacement(name, before);
    let functions = of_allocator.chain(of_mappings).filter_map(replacement).collect();
    let own = replace as fn(_) -> _ as *const c_void;
    // SAFETY: functions of this library, which stays, can be called in place of those whose names they have.
    let mut replaced = unsafe { Replaced::new(functions, own) };
    // Operators are tried: some call the functions that were replaced just now.
    operators::prepare();
    // SAFETY: so with its operators.
    unsafe {
        replaced.add(operators::of_allocator().into_iter().filter_map(replacement).collect());
    }
    replaced
}

/// The functions that allocate and free, and those that unload code.
const OF_ALLOCATOR: [&CStr; 13] = [
    c"malloc",
    c"calloc",
    c"memalign",
    c"aligned_alloc",
    c"posix_memalign",
    c"valloc",
    c"pvalloc",
    c"realloc",
    c"free",
    c"dlclose",
    c"__deregister_frame",
    c"__deregister_frame_info",
    c"__deregister_frame_info_bases",
];

/// The replacement of a function that the program calls, if no other definition of it comes first.
fn replacement(name: &'static CStr, before: *mut c_void) -> Option<Replacement> {
    if !scope::is_called(name, before) {
        return None;
    }
    let after = scope::own(name)?.addr() as u64;
    Some(Replacement { name, before: before.addr() as u64, after })
}
