//! The programs of `tests/leaks`, built with each compiler once, and the scripts of `tests/leaks/real`, which have programs of
//! other people recorded.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xxhash_rust::xxh3::xxh3_64;

use super::label::Labels;
use super::recorded::{Mode, OF_NATIVE, OF_OCAML, OF_REAL};
use crate::command::{Outcome, cache, find, repository, run};

/// A program of the corpus.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) labels: Labels,
    /// A number that tells one version of its source from another.
    pub(super) version: u64,
    language: Language,
    source: PathBuf,
    stubs: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Ocaml,
    C,
    Cpp,
    Rust,
    /// A script for `sh`.
    Script,
}

impl Language {
    /// The language of a file with this extension.
    fn of(extension: &str) -> Option<Self> {
        Some(match extension {
            "ml" => Self::Ocaml,
            "c" => Self::C,
            "cc" => Self::Cpp,
            "rs" => Self::Rust,
            "sh" => Self::Script,
            _ => return None,
        })
    }
}

/// A compiler that builds it.
#[derive(Clone)]
pub(super) struct Compiler {
    pub(super) name: &'static str,
    language: Language,
    build: Build,
}

#[derive(Clone)]
enum Build {
    /// OCaml of the system.
    Ocamlfind,
    /// OCaml with its programs in this folder.
    Ocamlopt(PathBuf),
    /// A command and its options.
    Command(&'static [&'static str]),
}

/// Compilers of other languages, with and without optimisation. Scripts start what is installed.
const OTHERS: [(&str, Language, &[&str]); 7] = [
    ("cc", Language::C, &["cc", "-g", "-pthread"]),
    ("cc -O2", Language::C, &["cc", "-g", "-pthread", "-O2"]),
    ("c++", Language::Cpp, &["c++", "-g", "-std=c++17"]),
    ("c++ -O2", Language::Cpp, &["c++", "-g", "-std=c++17", "-O2"]),
    ("rustc", Language::Rust, &["rustc", "--edition", "2024", "-g"]),
    ("rustc -O", Language::Rust, &["rustc", "--edition", "2024", "-g", "-O"]),
    ("installed", Language::Script, &["sh"]),
];

impl Compiler {
    /// `PATH` with its programs first: `memtrail` needs them to read types.
    pub(super) fn path(&self) -> OsString {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let Build::Ocamlopt(folder) = &self.build else { return path };
        let folders = [folder.clone()].into_iter().chain(std::env::split_paths(&path));
        std::env::join_paths(folders).unwrap_or(path)
    }

    /// The system's compilers, and of those in the cache 4.14 and 5.3.
    pub(super) fn all() -> Outcome<Vec<Self>> {
        let language = Language::Ocaml;
        let mut compilers = vec![Self { name: "4.13", language, build: Build::Ocamlfind }];
        for (name, folder) in [("4.14", "ocaml-4.14.1000"), ("5.3", "ocaml-5.3.0")] {
            let folder = cache()?.join(folder).join("bin");
            if folder.join("ocamlopt").exists() {
                compilers.push(Self { name, language, build: Build::Ocamlopt(folder) });
            }
        }
        let others = OTHERS.map(|(name, language, words)| Self {
            name,
            language,
            build: Build::Command(words),
        });
        compilers.extend(others);
        Ok(compilers)
    }

    /// Programs that use packages are built with the system's compiler, which has them.
    fn builds(&self, program: &Program) -> bool {
        let labels = &program.labels;
        let version5 = self.name.starts_with('5');
        let libraries = ["unix", "threads.posix"];
        let has_packages = !matches!(self.build, Build::Ocamlopt(_))
            || labels.packages.iter().all(|package| libraries.contains(&package.as_str()));
        let has_tools = labels.tools.iter().all(|tool| find(tool).is_some());
        self.language == program.language
            && has_tools
            && (version5 || !labels.needs_ocaml5)
            && has_packages
    }

    /// The command that builds a program, but for the names of its files.
    fn command(&self, labels: &Labels) -> Command {
        match &self.build {
            Build::Ocamlfind => {
                let mut build = Command::new("ocamlfind");
                build.arg("ocamlopt");
                if !labels.packages.is_empty() {
                    let packages = labels.packages.join(",");
                    build.args(["-thread", "-linkpkg", "-package", &packages]);
                }
                build
            }
            Build::Ocamlopt(bin) => {
                let mut build = Command::new(bin.join("ocamlopt"));
                for package in &labels.packages {
                    build.args(self.library(package));
                }
                build
            }
            Build::Command(words) => {
                let mut build = Command::new(words[0]);
                build.args(&words[1..]);
                build
            }
        }
    }

    /// Options of `ocamlopt` for a library of its distribution. OCaml 5 has each in a folder of its own.
    fn library(&self, package: &str) -> Vec<String> {
        let is_5 = self.name.starts_with('5');
        let name = package.split('.').next().unwrap_or(package);
        let include = |name: &str| ["-I".to_owned(), format!("+{name}")];
        let mut options = Vec::new();
        if is_5 || name == "threads" {
            options.extend(include(name));
        }
        if name == "threads" {
            options.extend(is_5.then(|| include("unix")).into_iter().flatten());
            options.push("unix.cmxa".to_owned());
        }
        options.push(format!("{name}.cmxa"));
        options
    }
}

/// All programs whose name contains this.
pub(super) fn programs(only: Option<&str>) -> Outcome<Vec<Program>> {
    let folder = repository().join("tests/leaks");
    let mut programs = Vec::new();
    for source in files(&folder)?.into_iter().chain(files(&folder.join("real"))?) {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = source.extension().unwrap_or_default().to_string_lossy();
        let Some(language) = Language::of(&extension) else { continue };
        if only.is_some_and(|only| !name.contains(only)) || name.ends_with("_stubs") {
            continue;
        }
        let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
        let labels = Labels::read(&text)
            .map_err(|line| format!("{}: not a label: {line}", source.display()))?;
        let stubs = folder.join(format!("{name}_stubs.c"));
        let stubs = stubs.exists().then_some(stubs);
        let version = xxh3_64(text.as_bytes());
        programs.push(Program { name, labels, version, language, source, stubs });
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

impl Program {
    /// The compilers that build it.
    pub(super) fn compilers<'a>(&self, all: &'a [Compiler]) -> Vec<&'a Compiler> {
        all.iter().filter(|compiler| compiler.builds(self)).collect()
    }

    /// The ways in which it is recorded.
    pub(super) fn modes(&self) -> &'static [Mode] {
        match self.language {
            Language::Ocaml => &OF_OCAML,
            Language::Script if !self.labels.is_native => &OF_REAL,
            _ => &OF_NATIVE,
        }
    }

    /// The tools that it needs and that are not here.
    pub(super) fn missing(&self) -> Vec<&str> {
        let tools = self.labels.tools.iter().map(String::as_str);
        tools.filter(|tool| find(tool).is_none()).collect()
    }

    /// True if it starts `memtrail` itself, by the words in `RECORD`.
    pub(super) fn is_script(&self) -> bool {
        self.language == Language::Script
    }

    /// Build it below a folder, and give the executable's path.
    pub(super) fn build(&self, compiler: &Compiler, folder: &Path) -> Outcome<PathBuf> {
        if self.is_script() {
            return Ok(self.source.clone());
        }
        let folder = folder.join(compiler.name).join(&self.name);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut files = Vec::new();
        for file in self.stubs.iter().chain([&self.source]) {
            let name = file.file_name().unwrap_or_default();
            let copy = folder.join(name);
            fs::copy(file, &copy).map_err(|e| format!("cannot copy {}: {e}", file.display()))?;
            files.push(name.to_owned());
        }
        let executable = folder.join("program");
        let mut build = compiler.command(&self.labels);
        build.current_dir(&folder).args(["-o", "program"]);
        if self.language == Language::Ocaml {
            build.args(["-g", "-bin-annot", "-w", "-a"]);
        }
        run(build.args(files))?;
        Ok(executable)
    }
}
