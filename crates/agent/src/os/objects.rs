//! The objects that the dynamic linker has loaded, by its own iterator: none is unloaded meanwhile.
//!
//! `dladdr` would look through all symbols of an object, which are a hundred thousand in some programs.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What ELF calls this machine.
#[cfg(target_arch = "x86_64")]
pub(crate) const THIS_MACHINE: u16 = libc::EM_X86_64;
#[cfg(target_arch = "aarch64")]
pub(crate) const THIS_MACHINE: u16 = libc::EM_AARCH64;

/// The program, or a library that is loaded.
pub(crate) struct LoadedObject<'a> {
    /// What is added to addresses in its file.
    pub(crate) bias: u64,
    /// Its path; empty for the program itself.
    pub(crate) name: *const c_char,
    headers: &'a [libc::Elf64_Phdr],
}

impl<'a> LoadedObject<'a> {
    /// Its segments in memory, with their access.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (Range<u64>, u32)> {
        self.of_type(libc::PT_LOAD)
    }

    /// Whether an address is in one of its segments.
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.segments().any(|(segment, _)| segment.contains(&address))
    }

    /// Its lowest address.
    pub(crate) fn base(&self) -> Option<u64> {
        self.segments().map(|(segment, _)| segment.start).min()
    }

    /// The part that cannot be written once the linker has relocated it.
    pub(crate) fn relocated_read_only(&self) -> Option<Range<u64>> {
        self.of_type(libc::PT_GNU_RELRO).map(|(part, _)| part).next()
    }

    /// Address of its dynamic section.
    pub(crate) fn dynamic(&self) -> Option<u64> {
        self.of_type(libc::PT_DYNAMIC).map(|(section, _)| section.start).next()
    }

    /// Its notes, which are loaded.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &'a [u8]> {
        self.of_type(libc::PT_NOTE).map(|(notes, _)| {
            let length = (notes.end - notes.start) as usize;
            // SAFETY: the object is loaded for as long as it is borrowed, and its notes with it.
            unsafe { std::slice::from_raw_parts(notes.start as *const u8, length) }
        })
    }

    fn of_type(&self, wanted: u32) -> impl Iterator<Item = (Range<u64>, u32)> + use<'a> {
        let bias = self.bias;
        self.headers.iter().filter(move |header| header.p_type == wanted).map(move |header| {
            let start = bias.wrapping_add(header.p_vaddr);
            (start..start.saturating_add(header.p_memsz), header.p_flags)
        })
    }
}

/// Calls `find` with the loaded objects, the program first, until it gives something.
pub(crate) fn find_in_objects<T>(find: impl FnMut(&LoadedObject<'_>) -> Option<T>) -> Option<T> {
    let mut search = Search { find, found: None, panicked: None };
    // SAFETY: `visit` gets a search of the type that it is made for.
    unsafe { libc::dl_iterate_phdr(Some(visit_for(&search)), (&raw mut search).cast()) };
    if let Some(panicked) = search.panicked {
        resume_unwind(panicked);
    }
    search.found
}

/// The lowest address of the object that holds an address, if one does.
pub fn object_of(address: *const c_void) -> Option<u64> {
    find_in_objects(
        |object| {
            if object.contains(address.addr() as u64) { object.base() } else { None }
        },
    )
}

/// The lowest address of the program itself.
pub fn main_object() -> Option<u64> {
    find_in_objects(|object| -> Option<u64> { object.base() })
}

/// The paths of the loaded objects, in the order in which they were loaded. The program itself has none.
pub fn file_names() -> Vec<CString> {
    let mut names = Vec::with_capacity(64);
    find_in_objects(|object| -> Option<()> {
        if !object.name.is_null() {
            // SAFETY: the linker's string, while the object is loaded.
            names.push(unsafe { CStr::from_ptr(object.name) }.to_owned());
        }
        None
    });
    names
}

/// The writable memory of the object around an address in it, in whole words: so many bytes on both sides.
pub(crate) fn writable_around(address: u64, vicinity: u64) -> Option<Range<u64>> {
    let writable = libc::PF_R | libc::PF_W;
    find_in_objects(|object| {
        let mut segments = object.segments().filter(|(_, access)| access & writable == writable);
        let (segment, _) = segments.find(|(segment, _)| segment.contains(&address))?;
        let from = segment.start.max(address.saturating_sub(vicinity));
        let to = segment.end.min(address.saturating_add(vicinity));
        Some(from.next_multiple_of(8)..to & !7)
    })
}

struct Search<T, F> {
    find: F,
    found: Option<T>,
    panicked: Option<Box<dyn Any + Send>>,
}

type Visit = unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;

fn visit_for<T, F: FnMut(&LoadedObject<'_>) -> Option<T>>(_: &Search<T, F>) -> Visit {
    visit::<T, F>
}

/// # Safety
/// As `dl_iterate_phdr` calls it, with a `Search` of these types as data.
unsafe extern "C" fn visit<T, F: FnMut(&LoadedObject<'_>) -> Option<T>>(
    info: *mut libc::dl_phdr_info,
    _: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: glibc passes a valid description of a loaded object, whose headers are mapped.
    let (object, search) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let object = LoadedObject { bias: info.dlpi_addr, name: info.dlpi_name, headers };
        (object, &mut *data.cast::<Search<T, F>>())
    };
    // The linker's frames are not to be unwound.
    match catch_unwind(AssertUnwindSafe(|| (search.find)(&object))) {
        Ok(found) => search.found = found,
        Err(panicked) => search.panicked = Some(panicked),
    }
    c_int::from(search.found.is_some() || search.panicked.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_in_an_executable_segment_of_the_program() {
        let here = code_is_in_an_executable_segment_of_the_program as fn() as usize as u64;
        let found = find_in_objects(|object| {
            object.contains(here).then(|| object.segments().find(|(s, _)| s.contains(&here)))
        });
        let (_, access) = found.unwrap().unwrap();
        assert_ne!(access & libc::PF_X, 0);
        assert_eq!(access & libc::PF_W, 0);
    }

    #[test]
    fn the_search_goes_on_until_something_is_found() {
        let mut objects = 0;
        assert_eq!(
            find_in_objects(|_| -> Option<()> {
                objects += 1;
                None
            }),
            None
        );
        assert!(objects > 1, "{objects}");
        assert_eq!(find_in_objects(|_| Some(7)), Some(7));
    }

    #[test]
    fn a_panic_comes_out_after_the_linker_is_left() {
        let outcome = catch_unwind(|| find_in_objects(|_| -> Option<()> { panic!("within") }));
        assert!(outcome.is_err());
        // Its lock is free.
        assert_eq!(find_in_objects(|_| Some(7)), Some(7));
    }
}
