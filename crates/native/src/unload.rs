//! Functions before those that unload code, or what is known of it: what was remembered of its frames is forgotten.

use std::ffi::{c_int, c_void};

use memtrail_agent::native::forget_rules;

use crate::next;

macro_rules! forgetting {
    ($($name:ident($argument:ident: $type:ty) -> $result:ty;)*) => {
        $(
            /// # Safety
            /// As the function of this name.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($argument: $type) -> $result {
                // SAFETY: as the caller promises.
                let result = unsafe { next::$name($argument) };
                forget_rules();
                result
            }
        )*
    };
}

forgetting! {
    dlclose(library: *mut c_void) -> c_int;
    __deregister_frame(table: *const c_void) -> ();
    __deregister_frame_info(table: *const c_void) -> *mut c_void;
    __deregister_frame_info_bases(table: *const c_void) -> *mut c_void;
}
