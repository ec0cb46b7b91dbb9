//! Calls of allocators by names of their own: they go past `malloc`, and the recording says so.

use memtrail_recording::Recording;

use crate::operators::library;
use crate::{compile, exact};

/// The notes of a recording of a program that is compiled so.
fn notes(options: &[&str]) -> Vec<String> {
    let program = compile("own_functions.c", options);
    let recorded = exact(&program).same();
    Recording::open(&recorded.recording).unwrap().description.unwrap().notes
}

#[test]
fn calls_that_are_not_recorded_are_named() {
    let (jemalloc, mimalloc) = (library("libjemalloc.so.2"), library("libmimalloc.so.2"));
    let (jemalloc, mimalloc) = (jemalloc.to_str().unwrap(), mimalloc.to_str().unwrap());
    let imported = "calls of functions of the allocator's own are not recorded: ";
    assert_eq!(notes(&["-DJEMALLOC", jemalloc]), [format!("{imported}mallocx")]);
    assert_eq!(notes(&["-DMIMALLOC", mimalloc]), [format!("{imported}mi_malloc")]);
    let own = "the program has an allocator of its own in its executable, with mi_malloc: its calls \
               are not recorded";
    assert_eq!(notes(&["-DOWN"]), [own]);
}

/// They are not functions of the library's: programs ask whether they are there.
#[test]
fn an_allocator_that_is_not_there_is_not_found() {
    assert!(notes(&[]).is_empty());
    // It is there, as the program's allocator, and the program finds it.
    let jemalloc = library("libjemalloc.so.2");
    let options = ["-Wl,--no-as-needed", jemalloc.to_str().unwrap()];
    assert_eq!(notes(&options).len(), 1);
}
