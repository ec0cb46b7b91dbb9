//! Finds OCaml compilers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An OCaml compiler that can build the helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// `ocamlopt`.
    pub file: PathBuf,
    /// For example `4.13.1`.
    pub version: String,
    /// Of the files that it writes: the digits of `Caml1999I030`.
    pub magic: String,
    /// Its standard library.
    pub library: PathBuf,
}

/// The given compilers, those on `PATH`, and those in the switches of opam; each once. None is looked for beside
/// the program: a recording that comes from elsewhere could name any folder.
pub fn compilers(given: &[PathBuf]) -> Vec<Compiler> {
    let mut folders = Vec::new();
    let path = std::env::var_os("PATH");
    folders.extend(path.iter().flat_map(std::env::split_paths));
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".opam"));
    let opam = std::env::var_os("OPAMROOT").map(PathBuf::from).or_else(home);
    let switches = opam.and_then(|opam| std::fs::read_dir(opam).ok());
    folders
        .extend(switches.into_iter().flatten().flatten().map(|switch| switch.path().join("bin")));
    let found = folders
        .iter()
        .flat_map(|folder| [folder.join("ocamlopt.opt"), folder.join("ocamlopt")])
        .filter(|file| file.is_file());
    let mut seen = HashSet::new();
    given
        .iter()
        .cloned()
        .chain(found)
        .filter(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())))
        .filter_map(|file| compiler(&file))
        .collect()
}

/// What a compiler reports of itself; `None` if it cannot be started, or is none.
fn compiler(file: &Path) -> Option<Compiler> {
    let output = Command::new(file).arg("-config").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let value = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ").map(str::to_owned))
    };
    let magic = value("cmi_magic_number")?;
    Some(Compiler {
        file: file.to_path_buf(),
        version: value("version")?,
        magic: magic.get(9..)?.to_owned(),
        library: value("standard_library")?.into(),
    })
}
