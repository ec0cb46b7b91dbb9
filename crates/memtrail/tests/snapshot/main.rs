//! Heap snapshots of real OCaml programs: their heaps are known block by block, and nothing about the
//! programs changes.
#![forbid(unsafe_code)]

mod asking;
mod by_themselves;
mod core_files;
mod core_trouble;
mod cores;
mod idle;
mod modes;

mod compilers_at_work;
mod moments;
mod privileges;
#[cfg(target_arch = "x86_64")]
mod process_kills;
#[cfg(target_arch = "x86_64")]
mod process_trouble;
#[cfg(target_arch = "x86_64")]
mod processes;
mod server_at_work;
mod shapes;
mod stacks;
mod trouble;
