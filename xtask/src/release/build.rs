//! Builds the agents and the launcher of a release.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::sysroot::GLIBC;
use crate::command::{Outcome, output, repository, run, target};

/// Agents run in programs of this C library.
const OF_PROGRAMS: &str = "x86_64-unknown-linux-gnu";
/// The launcher has its C library inside.
const STATIC: &str = "x86_64-unknown-linux-musl";
/// Packages of the agents.
const AGENTS: [&str; 3] = ["memtrail-preload", "memtrail-native", "memtrail-whole"];

/// Builds the agents with an old C library, and gives the folder in which they are.
pub(super) fn agents(sysroot: &Path) -> Outcome<PathBuf> {
    let root = sysroot.display();
    let libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
    let paths = libraries.map(|path| format!("-Lnative={root}/{path}")).join(" ");
    let mut cargo = cargo(OF_PROGRAMS);
    cargo.args(["--profile", "agent"]).args(AGENTS.iter().flat_map(|name| ["--package", *name]));
    cargo.env("RUSTFLAGS", format!("-Clink-arg=--sysroot={root} {paths}"));
    run(&mut cargo)?;
    let folder = builds().join(OF_PROGRAMS).join("agent");
    for package in AGENTS {
        check(&folder.join(format!("lib{}.so", package.replace('-', "_"))))?;
    }
    Ok(folder)
}

/// Builds the launcher, which carries the agents, and gives its path.
pub(super) fn launcher(agents: &Path) -> Outcome<PathBuf> {
    run(Command::new("rustup").args(["--quiet", "target", "add", STATIC]))?;
    let mut cargo = cargo(STATIC);
    cargo.args(["--release", "--package", "memtrail"]).env("MEMTRAIL_AGENTS", agents);
    run(cargo.env(format!("CC_{}", STATIC.replace('-', "_")), "musl-gcc"))?;
    Ok(builds().join(STATIC).join("release/memtrail"))
}

fn cargo(for_target: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(repository()).args(["build", "--quiet", "--locked", "--target", for_target]);
    cargo.arg("--target-dir").arg(builds());
    cargo
}

/// Flags of the agents' build would have everything else built again.
fn builds() -> PathBuf {
    target().join("release-build")
}

/// Fails if a library needs a later version of the C library.
fn check(library: &Path) -> Outcome {
    let symbols = output(Command::new("objdump").arg("--dynamic-syms").arg(library))?;
    match too_new(&symbols) {
        Some(symbol) => Err(format!("{} needs {symbol}", library.display())),
        None => Ok(()),
    }
}

/// The first symbol of a version later than that of the oldest library.
fn too_new(symbols: &str) -> Option<&str> {
    symbols.lines().find(|line| {
        let version = line.split("GLIBC_").nth(1).unwrap_or_default();
        let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) > GLIBC)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_of_a_later_library_is_found() {
        let old = "0000 DF *UND* 0000 (GLIBC_2.30) gettid\n0000 DF *UND* 0000 (GLIBC_2.2.5) free\n";
        assert_eq!(too_new(old), None);
        let new = "0000 DF *UND* 0000 (GLIBC_2.34) pthread_create";
        assert_eq!(too_new(&format!("{old}{new}\n")), Some(new));
    }
}
