//! Real OCaml programs, with and without `memtrail run`, on each OCaml the tests know.
#![forbid(unsafe_code)]

mod authors;
mod callstacks;
mod collections;
mod demo;
mod descriptors;
mod disk;
mod distribution;
mod domains;
mod endings;
mod failing_writes;
mod launching;
mod main_thread;
mod moving_minor_heap;
mod overflows;
mod own_sampler;
mod processes;
mod rates;
mod recorded;
mod refusals;
mod resident_memory;
mod same_end;
mod server;
mod small_minor_heap;
mod survival;
mod totals;
mod transparency;
mod viewing;
