//! Names of global variables, from what real compilers leave on disk.

mod closures;
mod compilers;
mod files;
mod kinds;

use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use memtrail_types::compiler::{self, Compiler};
use memtrail_types::find::Files;
use memtrail_types::program::Program;
use memtrail_types::resolve::resolve;
use memtrail_types::{Types, Unit};

/// What is found of a program in some folders, with this compiler alone.
fn found(program: &Path, folders: &[&Path], ocamlopt: &Path, version: &str) -> Types {
    let bytes = MappedFile::open(program).expect("a program");
    let read = Program::read(&bytes).expect("an OCaml program");
    let mut files = Files::default();
    for folder in folders {
        files.add(folder);
    }
    let compilers: Vec<Compiler> = compiler::compilers(&[ocamlopt.to_path_buf()])
        .into_iter()
        .filter(|compiler| compiler.file == ocamlopt)
        .collect();
    assert_eq!(compilers.len(), 1, "{}", ocamlopt.display());
    let (types, error) = resolve(program, &read, &files, &compilers, version);
    assert!(error.is_none(), "{error:?}");
    // What is written reads the same.
    assert_eq!(Types::read(&types.to_bytes()), Ok(types.clone()));
    types
}

/// A program on `PATH`.
fn on_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("PATH");
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("no {program} on PATH"))
}

/// A unit by its name.
fn unit<'a>(types: &'a Types, name: &str) -> &'a Unit {
    types.units.iter().find(|unit| unit.name == name).unwrap_or_else(|| panic!("no unit {name}"))
}
