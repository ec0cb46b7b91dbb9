//! Has the objects of a program that runs call the functions of this library, which was loaded late. Objects keep the addresses
//! of functions that they import in slots, which are changed.
//!
//! Calls within an object, and by addresses that the program has stored, do not come by. Operators of C++ are replaced only
//! where the allocator has its own: those of C++'s library call `malloc`.

use std::ffi::{CStr, c_void};
use std::sync::Mutex;

use memtrail_agent::native::imports::{
    Replacement, Settled, Unbound, replace as replace_all, settled,
};

use crate::{mappings, next, operators, scope};

/// Functions that are replaced, and the objects that call them.
struct Replaced {
    functions: Vec<Replacement>,
    /// Objects that were looked at last.
    objects: Settled,
    /// Passes since.
    passes: u32,
}

/// Used by the thread of ours alone.
static REPLACED: Mutex<Option<Replaced>> = Mutex::new(None);

/// Passes over the same objects: a thread that calls a function for the first time writes its slot meanwhile.
const PASSES: u32 = 2;

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

/// Has the objects call this library. Gives the number of slots that could not be written.
pub(crate) fn replace(with_mappings: bool) -> usize {
    let of_allocator =
        OF_ALLOCATOR.into_iter().filter_map(|name| Some((name, next::definition(name)?)));
    let of_mappings = mappings::definitions().into_iter().filter(|_| with_mappings);
    let replacement = |(name, before)| replacement(name, before);
    let mut functions: Vec<_> = of_allocator.chain(of_mappings).filter_map(replacement).collect();
    let objects = settled();
    let mut refused = in_objects(&functions, Unbound::Replaced, &objects);
    // Operators are tried: some call the functions that were replaced just now.
    operators::prepare();
    let of_operators: Vec<_> =
        operators::of_allocator().into_iter().filter_map(replacement).collect();
    if !of_operators.is_empty() {
        refused += in_objects(&of_operators, Unbound::Replaced, &objects);
        functions.extend(of_operators);
    }
    if let Ok(mut replaced) = REPLACED.lock() {
        *replaced = Some(Replaced { functions, objects, passes: 1 });
    }
    refused
}

/// Has objects that were loaded since call this library, too.
pub(crate) fn renew() {
    let Ok(mut replaced) = REPLACED.lock() else { return };
    let Some(replaced) = &mut *replaced else { return };
    if !replaced.objects.is_up_to_date() {
        replaced.objects = settled();
        replaced.passes = 0;
    }
    if replaced.passes < PASSES {
        replaced.passes += 1;
        in_objects(&replaced.functions, Unbound::Replaced, &replaced.objects);
    }
}

/// Has the objects call the allocator's functions again.
pub(crate) fn give_back() {
    let Some(replaced) = REPLACED.lock().ok().and_then(|mut replaced| replaced.take()) else {
        return;
    };
    let undone: Vec<Replacement> = replaced.functions.iter().map(Replacement::undone).collect();
    in_objects(&undone, Unbound::Left, &settled());
}

fn in_objects(functions: &[Replacement], unbound: Unbound, objects: &Settled) -> usize {
    let own = in_objects as fn(_, _, _) -> _ as *const c_void;
    // SAFETY: functions of this library can be called in place of those whose names they have.
    unsafe { replace_all(functions, unbound, objects, own) }.refused
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

/// What replaces a function that the program calls, if no other definition of it comes first.
fn replacement(name: &'static CStr, before: *mut c_void) -> Option<Replacement> {
    if !scope::is_called(name, before) {
        return None;
    }
    let after = scope::own(name)?.addr() as u64;
    Some(Replacement { name, before: before.addr() as u64, after })
}
