//! Tests of the crate from outside: one program, which is linked once.

#![forbid(unsafe_code)]

mod corpus;
mod queries;
mod verdict;
