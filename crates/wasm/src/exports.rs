//! The functions that the page calls; `lib.rs` lists them.
#![expect(unsafe_code, reason = "exported functions take addresses from the page")]

use std::cell::RefCell;

use crate::page::Page;

/// Address and length of a slab.
#[repr(C)]
struct Place {
    start: u32,
    len: u32,
}

struct Held {
    page: Page,
    place: Place,
}

thread_local! {
    static HELD: RefCell<Held> = RefCell::new(Held {
        page: Page::default(),
        place: Place { start: 0, len: 0 },
    });
}

impl Held {
    fn place_of_result(&mut self) -> *const Place {
        let result = self.page.result();
        self.place = Place { start: result.as_ptr() as u32, len: result.len() as u32 };
        &raw const self.place
    }
}

/// The bytes that the page has written.
///
/// # Safety
/// `ptr` came from [`alloc`] with this length or a greater one, and is not freed while it is used.
unsafe fn written<'a>(ptr: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the caller's promise; `alloc` initialises what it gives.
    unsafe { std::slice::from_raw_parts(ptr, len) }
}

#[unsafe(no_mangle)]
extern "C" fn alloc(len: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; len].into_boxed_slice()).cast()
}

/// # Safety
/// `ptr` came from [`alloc`] with this very length, and is freed once.
#[unsafe(no_mangle)]
unsafe extern "C" fn free(ptr: *mut u8, len: usize) {
    // SAFETY: the page's promise, as above.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(ptr, len)) });
}

/// # Safety
/// Both places came from [`alloc`] with these lengths.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_recording(
    ptr: *const u8,
    len: usize,
    description: *const u8,
    description_len: usize,
) -> i32 {
    // SAFETY: the page's promise, as above.
    let (trace, description) =
        unsafe { (written(ptr, len), written(description, description_len)) };
    HELD.with_borrow_mut(|held| if held.page.add(trace, description) { 0 } else { -1 })
}

/// # Safety
/// Both places came from [`alloc`] with these lengths.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_snapshot(
    recording: u32,
    ptr: *const u8,
    len: usize,
    facts: *const u8,
    facts_len: usize,
) -> i32 {
    // SAFETY: the page's promise, as above.
    let (snapshot, facts) = unsafe { (written(ptr, len), written(facts, facts_len)) };
    HELD.with_borrow_mut(
        |held| if held.page.add_snapshot(recording, snapshot, facts) { 0 } else { -1 },
    )
}

/// # Safety
/// The place came from [`alloc`] with this length.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_types(ptr: *const u8, len: usize) {
    // SAFETY: the page's promise, as above.
    let types = unsafe { written(ptr, len) };
    HELD.with_borrow_mut(|held| held.page.add_types(types));
}

/// # Safety
/// Both places came from [`alloc`] with these lengths.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_references(
    recording: u32,
    ptr: *const u8,
    len: usize,
    facts: *const u8,
    facts_len: usize,
) -> i32 {
    // SAFETY: the page's promise, as above.
    let (references, facts) = unsafe { (written(ptr, len), written(facts, facts_len)) };
    HELD.with_borrow_mut(|held| {
        if held.page.add_references(recording, references, facts) { 0 } else { -1 }
    })
}

/// # Safety
/// The place came from [`alloc`] with this length.
#[unsafe(no_mangle)]
unsafe extern "C" fn add_sources(ptr: *const u8, len: usize) -> i32 {
    // SAFETY: the page's promise, as above.
    let sources = unsafe { written(ptr, len) };
    HELD.with_borrow_mut(|held| if held.page.add_sources(sources) { 0 } else { -1 })
}

/// # Safety
/// The place came from [`alloc`] with this length.
#[unsafe(no_mangle)]
unsafe extern "C" fn query(ptr: *const u8, len: usize) -> *const Place {
    // SAFETY: the page's promise, as above.
    let query = unsafe { written(ptr, len) };
    HELD.with_borrow_mut(|held| {
        held.page.query(query);
        held.place_of_result()
    })
}

#[unsafe(no_mangle)]
extern "C" fn last_error() -> *const Place {
    HELD.with_borrow_mut(Held::place_of_result)
}
