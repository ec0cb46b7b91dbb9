//! Unpack a compiler that other suites of Debian have, so that it runs here and its programs do, too.
//!
//! The compiler may need a newer C library than this system has. It runs with the one that is unpacked beside it, and in
//! an emulator if it is for another processor. The system's linker links its programs with the system's C library. The
//! archives of OCaml's runtime get two functions that newer headers refer to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::bytecode;
use crate::command::{Outcome, run};
use crate::debian::Suites;

/// Binary packages of one version; OCaml 4 has fewer.
const PACKAGES: [&str; 6] = [
    "ocaml",
    "ocaml-base",
    "libstdlib-ocaml",
    "libstdlib-ocaml-dev",
    "libcompiler-libs-ocaml-dev",
    "ocaml-compiler-libs",
];
/// The C library that the compiler runs with.
const LIBRARIES: [&str; 3] = ["libc6", "libgcc-s1", "libzstd1"];

/// glibc 2.38's headers have C23's functions under names of their own.
const NEWER_FUNCTIONS: &str = "\
#include <stdarg.h>
long strtol(const char *, char **, int);
int vsscanf(const char *, const char *, va_list);
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int read = vsscanf(text, format, arguments);
  va_end(arguments);
  return read;
}
";

/// A kind of machine that OCaml's programs are for.
pub(crate) struct Machine {
    /// As Debian names it; none is this machine's.
    pub(crate) architecture: Option<&'static str>,
    /// In front of the names of `gcc` and `ar`.
    pub(crate) tools: &'static str,
    /// In front of the compiler's command line.
    pub(crate) emulator: &'static str,
    /// Suites of Debian that its compilers come from.
    pub(crate) suites: &'static [&'static str],
}

/// This machine. Its suites are those with newer packages than a release.
pub(super) const HERE: Machine = Machine {
    architecture: None,
    tools: "",
    emulator: "",
    suites: &["testing", "sid", "experimental"],
};

/// Unpacks the newest version of a series, such as `5.4`, into `prefix`; `work` is for the lists and archives.
pub(crate) fn from_debian(series: &str, machine: &Machine, prefix: &Path, work: &Path) -> Outcome {
    let suites = Suites::fetch(work, machine.suites, machine.architecture)?;
    let version = suites.newest(PACKAGES[0], &format!("{series}."))?;
    let there = PACKAGES.iter().filter(|package| suites.newest(package, &version).is_ok());
    let ocaml = there.map(|package| format!("{package}={version}"));
    let packages: Vec<_> = ocaml.chain(LIBRARIES.map(str::to_owned)).collect();
    let root = prefix.join("root");
    suites.unpack(&packages, &root)?;
    let usr = root.join("usr/lib");
    let libraries = child_with(&usr, "libc.so.6")?;
    // OCaml 4 is not below the machine's folder.
    let standard = child_with(&libraries.join("ocaml"), "stdlib.cmxa")
        .or_else(|_| child_with(&usr, "stdlib.cmxa"))?;
    link_with_the_older_library(machine, &standard, work)?;
    let (bin, programs) = (prefix.join("bin"), root.join("usr/bin"));
    fs::create_dir_all(&bin).map_err(|e| format!("cannot create {}: {e}", bin.display()))?;
    let start = format!(
        "{} '{}' --library-path '{}' '{}'",
        machine.emulator,
        loader(&libraries)?.display(),
        libraries.display(),
        programs.display()
    );
    let gcc = format!("{}gcc", machine.tools);
    let mut interpreter = Command::new("sh");
    interpreter.arg("-c").arg(format!("exec {start}/ocamlrun \"$@\"")).arg("ocamlrun");
    bytecode::link_interpreter(&gcc, &mut interpreter, &standard, &bin, work)?;
    let compile = format!("{start}/ocamlc.opt");
    let ocamlc = bytecode::script(&compile, &standard.join("stublibs"), &bin);
    write_script(&bin.join("ocamlc"), &standard, &ocamlc)?;
    write_script(&bin.join("ocamlopt"), &standard, &format!("exec {start}/ocamlopt.opt \"$@\"\n"))
}

/// Writes an executable script that knows where the standard library is.
fn write_script(path: &Path, standard: &Path, commands: &str) -> Outcome {
    let script = format!("#!/bin/sh\nexport OCAMLLIB='{}'\n{commands}", standard.display());
    fs::write(path, script)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)))
        .map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// The folder in `parent` that has an entry `name`.
fn child_with(parent: &Path, name: &str) -> Outcome<PathBuf> {
    let entries = fs::read_dir(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
    let mut paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let found = paths.find(|path| path.join(name).exists());
    found.ok_or_else(|| format!("the packages have no {name} in {}", parent.display()))
}

fn link_with_the_older_library(machine: &Machine, standard: &Path, work: &Path) -> Outcome {
    let (gcc, ar) = (format!("{}gcc", machine.tools), format!("{}ar", machine.tools));
    let source = work.join("newer_functions.c");
    fs::write(&source, NEWER_FUNCTIONS)
        .map_err(|e| format!("cannot write {}: {e}", source.display()))?;
    run(Command::new(&gcc).args(["-O1", "-fPIC", "-c", "newer_functions.c"]).current_dir(work))?;
    let object = work.join("newer_functions.o");
    for runtime in ["libasmrun", "libcamlrun"] {
        for variant in ["", "_pic", "d", "i"] {
            let archive = standard.join(format!("{runtime}{variant}.a"));
            run(Command::new(&ar).arg("r").arg(&archive).arg(&object))?;
        }
        link_shared(&gcc, &standard.join(format!("{runtime}_pic.a")), standard, runtime)?;
    }
    // Up to OCaml 5.0 it is `libunix.a`, and such packages are old enough for any C library.
    let unix = standard.join("libunixbyt.a");
    if unix.exists() {
        link_shared(&gcc, &unix, &standard.join("stublibs"), "dllunixbyt")?;
    }
    Ok(())
}

/// Links an archive into each shared library of a folder whose name begins with `stem`: 5.5 adds the machine to it.
fn link_shared(gcc: &str, archive: &Path, folder: &Path, stem: &str) -> Outcome {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let is_library = entry.path().extension().is_some_and(|extension| extension == "so");
        if !name.starts_with(stem) || !is_library || is_link {
            continue;
        }
        let mut link = Command::new(gcc);
        link.args(["-shared", "-o"]).arg(entry.path()).arg("-Wl,--whole-archive").arg(archive);
        run(link.args(["-Wl,--no-whole-archive", "-lm", "-lpthread"]))?;
    }
    Ok(())
}

/// The C library's loader, whose name and folder differ between machines.
pub(crate) fn loader(libraries: &Path) -> Outcome<PathBuf> {
    let folders = [Some(libraries), libraries.parent()];
    for folder in folders.into_iter().flatten() {
        let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        let found = paths.find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-linux-"))
        });
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(format!("there is no loader in {}", libraries.display()))
}
