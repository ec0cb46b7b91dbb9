//! Benchmarks: what recording costs, what it writes, how fast traces and snapshots are read.
//!
//! Every comparison is paired: the variants of one round run one after the other, and a figure is
//! the median over rounds of that round's ratio. CPU time is what the kernel charged to the
//! process and all its children, the launcher's included.

mod check;
mod cpu;
mod folders;
mod generate;
mod heap;
mod idle;
mod leaks;
mod native;
mod options;
mod overhead;
mod peer;
mod snapshot;
mod start;
mod statistics;
mod subjects;
mod table;
mod tools;
mod viewer;

use std::path::PathBuf;
use std::process::Command;

pub(crate) use self::options::Options;
use self::options::Part;
use crate::command::{Outcome, repository, run};

/// Build what is measured, measure, print Markdown.
pub(crate) fn bench(options: &Options) -> Outcome {
    let memtrail = match std::env::var_os("MEMTRAIL") {
        Some(file) => PathBuf::from(file),
        None => built()?,
    };
    if options.parts.contains(&Part::Overhead) {
        overhead::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Tools) {
        tools::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Snapshot) {
        snapshot::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Viewer) {
        viewer::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Heap) {
        heap::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Check) {
        check::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Leaks) {
        leaks::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Start) {
        start::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Idle) {
        idle::measure(&memtrail)?;
    }
    if options.parts.contains(&Part::Native) {
        native::measure(&memtrail, options)?;
    }
    Ok(())
}

/// The binary of this repository.
fn built() -> Outcome<PathBuf> {
    run(Command::new(env!("CARGO")).current_dir(repository()).args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "memtrail",
    ]))?;
    Ok(folders::release_binary("memtrail"))
}
