//! The analysis as a whole, from the bytes of a trace to the numbers of a report, against slow
//! oracles.

mod callers;
mod damage;
mod malloc_use;
mod memory;
mod places;
mod recorded;
