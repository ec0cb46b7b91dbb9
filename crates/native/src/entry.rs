//! How control gets here: the library's constructor, and the process's end.

use std::ffi::{c_char, c_int};

use memtrail_agent::native::{end_of_process, load, load_late};

use crate::{exec, mappings, next, operators, own_calls, scope, wait};

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn(c_int, *const *const c_char) = constructor;

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = destructor;

extern "C" fn constructor(count: c_int, arguments: *const *const c_char) {
    if !scope::is_preloaded() {
        // Whoever has it loaded calls it then.
        // SAFETY: nothing else of this library has run.
        return unsafe { load_late() };
    }
    next::find();
    operators::prepare();
    mappings::find();
    exec::find();
    own_calls::find();
    wait::find();
    // SAFETY: the loader passes the program's arguments, before anything else runs.
    unsafe { load(count, arguments, next::is_bypassed()) };
}

extern "C" fn destructor() {
    end_of_process();
}
