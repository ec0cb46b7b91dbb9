//! Records programs of other languages than OCaml: their calls of `malloc` and its relatives.
//!
//! `crates/native` makes a shared library of it, whose functions are before those of the program's allocator. They
//! count bytes, and come here ([`calls`]) where a block may be sampled, or a sampled one is freed. `memtrail-sampler`
//! draws, captures the callstack and knows the sampled blocks; its tracker ([`tracker`]) writes them into the trace
//! ([`stream`]), whose last packet is memory that the launcher shares. There is no thread of ours: threads of the program measure
//! what resident memory is used for ([`measure`]). A program that runs can be attached ([`mod@attach`]). Functions are
//! written as places in files; the launcher names them after the program's end, by the list of [`Modules`](crate::recording::modules::Modules).

mod attach;
mod begin;
mod calls;
mod children;
mod current;
mod ending;
#[cfg(target_arch = "x86_64")]
mod exit_call;
mod load;
pub mod mapping_calls;
mod mappings;
mod measure;
mod references;
mod resident;
mod setting;
mod stream;
mod tracker;

pub use crate::os::imports;
pub use crate::os::objects::{file_names, main_object, object_of};
pub use attach::{Imports, attach, load_late};
pub use calls::{allocated, freed, is_recorded, reallocated, reallocating, will_not_be_allocated};
pub use ending::end_of_process;
pub use load::load;
pub use mappings::Mapping;
pub use memtrail_sampler::events::{Reallocating, counted, counts, may_be_tracked};
pub use memtrail_sampler::{Address, Bytes, Registers, Source, forget_rules};
