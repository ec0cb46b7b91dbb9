//! `memtrail why --format`: retaining paths as stacks.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use clap::ValueEnum;
use memtrail_engine::heap::{PathShare, WhyResponse};
use memtrail_export::named_stacks::{self, NamedStack};

use crate::error::{Failure, Kind};
use crate::output::{Output, is_standard};

/// A format of stacks.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum StackFormat {
    /// Folded stacks: a line a path, with bytes
    Folded,
    /// pprof, gzipped: blocks and bytes
    Pprof,
}

/// Writes the retaining paths as stacks. What is of one process of several has a frame above with its name.
pub(super) fn write(
    output: Option<&Path>,
    format: StackFormat,
    answers: &[(Option<&str>, &WhyResponse)],
) -> Result<(), Failure> {
    let standard = output.is_none_or(is_standard);
    if format == StackFormat::Pprof && standard && std::io::stdout().is_terminal() {
        return Err(Failure::new(Kind::Usage, "pprof files are binary, and this is a terminal")
            .hint("name a file: -o why.pb.gz"));
    }
    let of = answers.iter().flat_map(|(process, why)| stacks(*process, why));
    let stacks: Vec<NamedStack> = of.collect();
    let mut names: Vec<&str> = Vec::new();
    for name in answers.iter().flat_map(|(_, why)| &why.names) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let bytes = match format {
        StackFormat::Folded => named_stacks::folded(&stacks),
        StackFormat::Pprof => named_stacks::pprof(&stacks, &names.join(", ")),
    };
    let output = Output::create(output.unwrap_or(Path::new("-")))?;
    (&output.file).write_all(&bytes).map_err(|error| output.failure(&error))?;
    output.keep()
}

fn stacks(process: Option<&str>, why: &WhyResponse) -> Vec<NamedStack> {
    // Of very many blocks only some paths were looked at: these stand for all.
    let all: f64 = why.paths.iter().map(|path| path.alive.blocks.value).sum();
    let scale = if all > 0.0 { why.alive.blocks.value / all } else { 0.0 };
    let stack = |path: &PathShare| NamedStack {
        names: (process.map(|name| format!("[{name}]")).into_iter())
            .chain(path.shape.iter().cloned())
            .collect(),
        bytes: path.share * why.alive.bytes.value,
        blocks: path.alive.blocks.value * scale,
    };
    why.paths.iter().map(stack).collect()
}
