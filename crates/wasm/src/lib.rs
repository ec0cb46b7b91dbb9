//! The engine as WebAssembly: what `memtrail view` answers over HTTP, a page that was opened from
//! disk asks of this.
//!
//! The module has no imports. The page writes bytes into its memory and calls:
//!
//! | export | what |
//! |---|---|
//! | `alloc(len) -> ptr` | room for bytes of the page |
//! | `free(ptr, len)` | gives that room back |
//! | `add_recording(ptr, len, description, description_len) -> i32` | reads a trace and its description in JSON; 0, or -1 when it cannot be read |
//! | `add_snapshot(recording, ptr, len, facts, facts_len) -> i32` | adds a heap snapshot and what is said of it in JSON to a recording; without bytes, only that is known; 0 or -1 |
//! | `add_types(ptr, len)` | types of blocks and names of variables of the snapshot that is added next |
//! | `add_references(recording, ptr, len, facts, facts_len) -> i32` | gives a recording a file of references to its blocks from `malloc`, and what is said of it in JSON; 0 or -1 |
//! | `add_sources(ptr, len) -> i32` | source files, as JSON: names of files in recordings and what is in them; 0 or -1 |
//! | `query(ptr, len) -> result` | answers a query in JSON |
//! | `last_error() -> result` | why one of these gave -1 |
//!
//! A `result` is the place of two `u32`: where a [slab](memtrail_engine::response_body) begins and how
//! long it is. Both stay as they are until the next call. Nothing of it is to be freed.
//!
//! Invariants: no input traps, short of memory that runs out; recordings stay for good.
#![deny(unsafe_code)]

#[cfg(target_arch = "wasm32")]
mod exports;
mod page;

pub use page::Page;
