//! Tests of the crate from outside: one program, which is linked once.

#![forbid(unsafe_code)]

mod analysis;
mod begun;
mod calls;
mod corpus;
mod estimates;
mod filters;
mod stacks;
mod thinned;
mod thinned_call_sites;
