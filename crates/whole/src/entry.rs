//! How control gets here: the library's constructor, and the process's end. The constructor only looks.

use std::ffi::{c_char, c_int};

use memtrail_agent::{end_of_process, load, malloc};

use crate::{exec, next, operators, own_calls, wait};

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn(c_int, *const *const c_char) = constructor;

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = destructor;

extern "C" fn constructor(count: c_int, arguments: *const *const c_char) {
    next::find();
    operators::prepare();
    exec::find();
    own_calls::find();
    wait::find();
    malloc::prepare(next::is_bypassed());
    // SAFETY: the loader passes the program's arguments, before anything else runs.
    unsafe { load(count, arguments) };
}

extern "C" fn destructor() {
    end_of_process();
}
