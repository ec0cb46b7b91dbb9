//! Real OCaml programs, with and without `memtrail run`, on each OCaml the tests know.
#![forbid(unsafe_code)]

mod compilers;
mod programs;
mod running;

mod descriptors;
mod distribution;
mod endings;
mod processes;
mod transparency;
