//! `memtrail types` as users run it.
#![forbid(unsafe_code)]

mod allocated_as;
mod command;
mod contents;
mod coqc;
mod coverage;
mod definitions;
mod derivations;
mod dune;
mod flow;
mod kept;
mod needed;
mod packs;
mod plugins;
mod sampled_blocks;
mod searched_once;
mod stored;
mod truth;
mod variable_lines;
mod who_of_type;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use memtrail_test_support::compilers::Compiler;

/// `memtrail ARGS`.
fn memtrail<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env_remove("COLUMNS").env_remove("OCAMLPATH").args(args).output().unwrap()
}

/// Standard output of a command that has nothing to complain about.
fn printed<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> String {
    let output = memtrail(args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// Compiles files in a folder with `.cmt` files.
fn compile(compiler: &Compiler, folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(&compiler.ocamlopt);
    command.args(["-g", "-bin-annot"]).args(arguments).current_dir(folder);
    assert!(command.status().unwrap().success());
}
