//! Heap snapshots of real OCaml programs: their heaps are known block by block, and nothing about the
//! programs changes.
#![forbid(unsafe_code)]

#[path = "../agent/compilers.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod compilers;
#[path = "../agent/contents.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod contents;
#[path = "../agent/each.rs"]
mod each;
#[path = "../agent/programs.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod programs;
#[path = "../agent/running.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod running;
#[path = "../agent/site.rs"]
mod site;

mod asking;
mod heap;
mod modes;

mod compilers_at_work;
mod moments;
mod privileges;
mod server_at_work;
mod shapes;
mod stacks;
mod trouble;

pub(crate) use each::on_each;
