//! The OCaml compilers on this machine, and programs made with them.
//!
//! Without a compiler a test fails: `cargo xtask setup` brings them all.

#![allow(dead_code, reason = "each test uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// One installation of OCaml.
pub(crate) struct Compiler {
    /// `system`, or the name in the cache.
    pub(crate) name: String,
    bin: Option<PathBuf>,
}

const LIST: &str = include_str!("../../../../tests/compilers.txt");

fn cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || {
            let home = std::env::var_os("HOME").expect("HOME says where the compilers are");
            PathBuf::from(home).join(".cache")
        },
        PathBuf::from,
    );
    base.join("memtrail")
}

/// Those that `tests/compilers.txt` names, and whatever else the cache has.
pub(crate) fn compilers() -> Vec<Compiler> {
    let names = LIST.lines().filter(|line| !line.starts_with('#'));
    // Those with options are tested where they are installed.
    let always = |line: &&str| line.split_whitespace().count() == 2;
    let names = names.filter(always);
    let mut names: Vec<String> =
        names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    for entry in fs::read_dir(cache()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("ocaml-") && !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .into_iter()
        .map(|name| {
            let bin = (name != "system").then(|| cache().join(&name).join("bin"));
            Compiler { name, bin }
        })
        .collect()
}

/// The one that the distribution brings.
pub(crate) fn system() -> Compiler {
    Compiler { name: "system".to_owned(), bin: None }
}

impl Compiler {
    fn tool(&self, tool: &str) -> PathBuf {
        self.bin.as_ref().map_or_else(|| PathBuf::from(tool), |bin| bin.join(tool))
    }

    /// `ocamlopt -version`.
    pub(crate) fn version(&self) -> String {
        let output = Command::new(self.tool("ocamlopt")).arg("-version").output();
        let output = output.unwrap_or_else(|error| self.absent(&error));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn absent(&self, error: &std::io::Error) -> ! {
        panic!(
            "the OCaml compiler `{}` cannot be run ({}): {error}; run `cargo xtask setup` first",
            self.name,
            self.tool("ocamlopt").display(),
        )
    }

    /// Compiles `source` with `tool` (`ocamlopt` or `ocamlc`), as the unit `Probe`.
    pub(crate) fn compile(&self, tool: &str, source: &str, options: &[&str]) -> Compiled {
        self.compile_unit(tool, "probe.ml", source, options)
    }

    /// The same, from a source file of this name.
    pub(crate) fn compile_unit(
        &self,
        tool: &str,
        unit: &str,
        source: &str,
        options: &[&str],
    ) -> Compiled {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("program");
        fs::write(folder.path().join(unit), source).expect("the source is written");
        let mut command = Command::new(self.tool(tool));
        command.args(options).args(["-g", "-w", "-a", "-o"]).arg(&path).arg(unit);
        let output = command.current_dir(folder.path()).output();
        let output = output.unwrap_or_else(|error| self.absent(&error));
        assert!(
            output.status.success() && path.exists(),
            "{command:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Compiled { folder, path }
    }
}

/// An executable in a folder of its own.
pub(crate) struct Compiled {
    folder: TempDir,
    /// The executable.
    pub(crate) path: PathBuf,
}

impl Compiled {
    /// The executable's contents.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).expect("the executable")
    }

    /// Runs a tool of the system on the executable.
    pub(crate) fn treat(&self, tool: &str, options: &[&str]) {
        let status = Command::new(tool).args(options).arg(&self.path).status();
        assert!(status.is_ok_and(|status| status.success()), "{tool} failed");
    }
}

/// Contents of a program that the distribution installs.
pub(crate) fn installed(path: &str) -> Vec<u8> {
    fs::read(Path::new(path))
        .unwrap_or_else(|error| panic!("{path}: {error}; run `cargo xtask setup` first"))
}
