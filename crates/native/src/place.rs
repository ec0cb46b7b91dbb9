//! The objects of addresses, and the symbols there, as the dynamic linker knows them.

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use memtrail_agent::native::object_of;

/// True if an address is that of a jump to a function of a library.
pub(crate) fn is_imported(address: *const c_void) -> bool {
    place_of(address).is_imported
}

/// True if a function is of this library.
pub(crate) fn is_ours(function: *const c_void) -> bool {
    object_of(function) == object_of(is_ours as fn(_) -> _ as *const c_void)
}

/// The path of the library or executable of an address, or nothing.
pub(crate) fn file_of(address: *const c_void) -> &'static CStr {
    place_of(address).file
}

/// The place of an address. The search looks through all symbols of its object.
struct Place {
    file: &'static CStr,
    /// True if the symbol there is one that this imports. An executable with a fixed address has jumps to functions of libraries,
    /// which stand for these.
    is_imported: bool,
}

fn place_of(address: *const c_void) -> Place {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    let mut symbol: *mut c_void = null_mut();
    // SAFETY: zeros are a value, which the call replaces if it finds something; so with the symbol, which is of the
    // 64-bit ELF file's table. The name is the dynamic linker's; what this library asks for is never unloaded.
    unsafe {
        libc::dladdr1(address, found.as_mut_ptr(), &raw mut symbol, RTLD_DL_SYMENT);
        let symbol = symbol.cast::<libc::Elf64_Sym>().as_ref();
        let found = found.assume_init();
        let name = found.dli_fname;
        Place {
            file: if name.is_null() { c"" } else { CStr::from_ptr(name) },
            is_imported: symbol.is_some_and(|symbol| symbol.st_shndx == SHN_UNDEF),
        }
    }
}

/// The symbol is asked for (`dlfcn.h`).
const RTLD_DL_SYMENT: c_int = 1;
/// The section of symbols that are imported (`elf.h`).
const SHN_UNDEF: u16 = 0;
