//! The OCaml compilers of `tests/compilers.txt`, where `cargo xtask setup` puts them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIST: &str = include_str!("../../../tests/compilers.txt");

/// An installed OCaml.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// As in the list: `system`, `ocaml-5.3.0`.
    pub name: &'static str,
    pub ocamlopt: PathBuf,
    /// Major, minor.
    pub version: (u32, u32),
}

/// The folder that `cargo xtask setup` fills.
pub fn cache() -> PathBuf {
    let base = match std::env::var_os("XDG_CACHE_HOME") {
        Some(dir) if Path::new(&dir).is_absolute() => PathBuf::from(dir),
        _ => std::env::home_dir().expect("a home folder").join(".cache"),
    };
    base.join("memtrail")
}

/// A published program that `cargo xtask setup` has put into the cache.
pub fn cached_program(name: &str) -> PathBuf {
    let path = cache().join("wild").join(name);
    assert!(path.is_file(), "there is no {}\nhint: cargo xtask setup", path.display());
    path
}

/// The compiler of that name.
///
/// # Panics
/// When it is not installed: what it would have tested is not tested.
pub fn named(name: &str) -> Compiler {
    let name = LIST
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next())
        .find(|listed| *listed == name)
        .unwrap_or_else(|| panic!("{name} is not in tests/compilers.txt"));
    let ocamlopt = match name {
        "system" => PathBuf::from("ocamlopt"),
        _ => cache().join(name).join("bin/ocamlopt"),
    };
    let version = Command::new(&ocamlopt).arg("-version").output();
    let version = match version {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        _ => panic!("{} does not run\nhint: cargo xtask setup", ocamlopt.display()),
    };
    let mut numbers = version.split('.').map_while(|n| n.trim().parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => Compiler { name, ocamlopt, version: (major, minor) },
        _ => panic!("{} -version says {version:?}", ocamlopt.display()),
    }
}

/// Whether a compiler that not everybody has is installed; if not, a line to standard error says what is not
/// tested, also where the test's output is captured.
pub fn is_installed(name: &str) -> bool {
    let is_there = cache().join(name).join("bin/ocamlopt").is_file();
    if !is_there {
        let _ = writeln!(
            std::io::stderr(),
            "not tested with {name}, which is not installed\nhint: cargo xtask setup --all-compilers"
        );
    }
    is_there
}

impl Compiler {
    /// Whether its runtime has a sampler, which a program can start itself.
    pub fn has_sampler(&self) -> bool {
        !((5, 0)..(5, 3)).contains(&self.version)
    }

    /// Whether it has flambda, whose blocks of modules and closures are others.
    pub fn has_flambda(&self) -> bool {
        self.name.ends_with("-flambda")
    }

    /// `ocamlc` of the same installation.
    pub fn ocamlc(&self) -> PathBuf {
        self.ocamlopt.with_file_name("ocamlc")
    }

    /// Where its runtime's headers are.
    pub fn headers(&self) -> PathBuf {
        let output = Command::new(&self.ocamlopt).arg("-where").output().expect("ocamlopt -where");
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    }
}
