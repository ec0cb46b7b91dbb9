//! Tests of the crate from outside: one program, which is linked once.

#![forbid(unsafe_code)]

mod kinds;
mod map_nodes;
mod oracle;
mod support;
