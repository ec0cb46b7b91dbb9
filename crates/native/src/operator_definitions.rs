//! C++'s operators `new` and `delete`, and their definitions that come after this library's.

use std::ffi::{CStr, c_void};

use crate::definition::Definition;

/// An operator `new`: a size, then an alignment and `std::nothrow` if it takes them. All are passed in registers, and what
/// is not taken is passed on as it is.
pub(crate) type New = unsafe extern "C-unwind" fn(usize, usize, usize) -> *mut c_void;

/// Calls a macro with all operators. Each has a name, its number and its symbol. Those that allocate have, in brackets,
/// whether they take an alignment and whether they throw, and then the number of the operator that frees their blocks.
macro_rules! operators {
    ($each:ident) => {
        $each! {
            new {
                new = 0 "_Znwm" (false, true), 0;
                new_array = 1 "_Znam" (false, true), 1;
                new_nothrow = 2 "_ZnwmRKSt9nothrow_t" (false, false), 0;
                new_array_nothrow = 3 "_ZnamRKSt9nothrow_t" (false, false), 1;
                new_aligned = 4 "_ZnwmSt11align_val_t" (true, true), 4;
                new_array_aligned = 5 "_ZnamSt11align_val_t" (true, true), 5;
                new_aligned_nothrow = 6 "_ZnwmSt11align_val_tRKSt9nothrow_t" (true, false), 4;
                new_array_aligned_nothrow = 7 "_ZnamSt11align_val_tRKSt9nothrow_t" (true, false), 5;
            }
            delete {
                delete = 0 "_ZdlPv";
                delete_array = 1 "_ZdaPv";
                delete_sized = 2 "_ZdlPvm";
                delete_array_sized = 3 "_ZdaPvm";
                delete_aligned = 4 "_ZdlPvSt11align_val_t";
                delete_array_aligned = 5 "_ZdaPvSt11align_val_t";
                delete_sized_aligned = 6 "_ZdlPvmSt11align_val_t";
                delete_array_sized_aligned = 7 "_ZdaPvmSt11align_val_t";
                delete_nothrow = 8 "_ZdlPvRKSt9nothrow_t";
                delete_array_nothrow = 9 "_ZdaPvRKSt9nothrow_t";
                delete_aligned_nothrow = 10 "_ZdlPvSt11align_val_tRKSt9nothrow_t";
                delete_array_aligned_nothrow = 11 "_ZdaPvSt11align_val_tRKSt9nothrow_t";
            }
        }
    };
}

macro_rules! definitions {
    (
        new { $($new:ident = $new_number:literal $new_name:literal $is:tt, $freed_by:literal;)* }
        delete { $($delete:ident = $delete_number:literal $delete_name:literal;)* }
    ) => {
        /// Those of the operators `new`, by number.
        pub(crate) static NEW: [Definition; 8] =
            [$(Definition::of(name(concat!($new_name, "\0")))),*];
        /// Those of the operators `delete`.
        pub(crate) static DELETE: [Definition; 12] =
            [$(Definition::of(name(concat!($delete_name, "\0")))),*];
    };
}

const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

operators!(definitions);

pub(crate) use operators;

/// Finds them.
pub(crate) fn find() {
    NEW.iter().chain(&DELETE).for_each(Definition::find);
}
