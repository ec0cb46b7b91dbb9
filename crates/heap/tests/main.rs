//! Tests of the crate from outside: one program, which is linked once.

#![forbid(unsafe_code)]

mod contents;
mod damage;
mod off_heap;
mod oracle;
mod owners;
mod queries;
mod renumber;
mod viewer;
