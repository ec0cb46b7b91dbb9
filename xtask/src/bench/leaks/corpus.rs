//! The programs of `tests/leaks`, built with each compiler once.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::label::Labels;
use crate::command::{Outcome, cache, repository, run};

/// A program of the corpus.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) labels: Labels,
    /// A number that tells one version of its source from another.
    pub(super) version: u64,
    source: PathBuf,
    stubs: Option<PathBuf>,
}

/// A compiler that builds it.
#[derive(Clone)]
pub(super) struct Compiler {
    pub(super) name: &'static str,
    /// The folder of its programs; `None` is the system's.
    folder: Option<PathBuf>,
}

impl Compiler {
    /// `PATH` with its programs first: `memtrail` needs them to read types.
    pub(super) fn path(&self) -> OsString {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.folder.iter().cloned().chain(std::env::split_paths(&path));
        std::env::join_paths(folders).unwrap_or(path)
    }

    /// The system's compiler, and of those in the cache 4.14 and 5.3.
    pub(super) fn all() -> Outcome<Vec<Self>> {
        let mut compilers = vec![Self { name: "4.13", folder: None }];
        for (name, folder) in [("4.14", "ocaml-4.14.1000"), ("5.3", "ocaml-5.3.0")] {
            let folder = cache()?.join(folder).join("bin");
            if folder.join("ocamlopt").exists() {
                compilers.push(Self { name, folder: Some(folder) });
            }
        }
        Ok(compilers)
    }

    /// Programs that use packages are built with the system's compiler, which has them.
    fn builds(&self, labels: &Labels) -> bool {
        let version5 = self.name.starts_with('5');
        let libraries = ["unix", "threads.posix"];
        let has_packages = self.folder.is_none()
            || labels.packages.iter().all(|package| libraries.contains(&package.as_str()));
        (version5 || !labels.needs_ocaml5) && has_packages
    }
}

/// All programs whose name contains this.
pub(super) fn programs(only: Option<&str>) -> Outcome<Vec<Program>> {
    let folder = repository().join("tests/leaks");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut programs = Vec::new();
    for source in entries.flatten().map(|entry| entry.path()) {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if source.extension().is_none_or(|ext| ext != "ml")
            || only.is_some_and(|only| !name.contains(only))
        {
            continue;
        }
        let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
        let labels = Labels::read(&text)
            .map_err(|line| format!("{}: not a label: {line}", source.display()))?;
        let stubs = folder.join(format!("{name}_stubs.c"));
        let stubs = stubs.exists().then_some(stubs);
        let version = super::digest(text.as_bytes());
        programs.push(Program { name, labels, version, source, stubs });
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

impl Program {
    /// The compilers that build it.
    pub(super) fn compilers<'a>(&self, all: &'a [Compiler]) -> Vec<&'a Compiler> {
        all.iter().filter(|compiler| compiler.builds(&self.labels)).collect()
    }

    /// Build it below a folder, and give the executable's path.
    pub(super) fn build(&self, compiler: &Compiler, folder: &Path) -> Outcome<PathBuf> {
        let folder = folder.join(compiler.name).join(&self.name);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut files = Vec::new();
        for file in self.stubs.iter().chain([&self.source]) {
            let name = file.file_name().unwrap_or_default();
            let copy = folder.join(name);
            fs::copy(file, &copy).map_err(|e| format!("cannot copy {}: {e}", file.display()))?;
            files.push(name.to_owned());
        }
        let mut build = match &compiler.folder {
            None => {
                let mut build = Command::new("ocamlfind");
                build.arg("ocamlopt");
                if !self.labels.packages.is_empty() {
                    build.args([
                        "-thread",
                        "-linkpkg",
                        "-package",
                        &self.labels.packages.join(","),
                    ]);
                }
                build
            }
            Some(bin) => {
                let mut build = Command::new(bin.join("ocamlopt"));
                let is_5 = compiler.name.starts_with('5');
                for package in &self.labels.packages {
                    let name = package.split('.').next().unwrap_or(package);
                    // OCaml 5 has each library in a folder of its own.
                    let include =
                        if is_5 || name == "threads" { format!("+{name}") } else { String::new() };
                    if !include.is_empty() {
                        build.args(["-I", &include]);
                    }
                    if name == "threads" {
                        build.args(if is_5 {
                            &["-I", "+unix", "unix.cmxa"][..]
                        } else {
                            &["unix.cmxa"][..]
                        });
                    }
                    build.arg(format!("{name}.cmxa"));
                }
                build
            }
        };
        let executable = folder.join("program");
        run(build
            .current_dir(&folder)
            .args(["-g", "-bin-annot", "-w", "-a", "-o", "program"])
            .args(files))?;
        Ok(executable)
    }
}
