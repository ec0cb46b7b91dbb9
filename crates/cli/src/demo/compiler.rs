//! Finds or installs OCaml's native compiler, and compiles the demo's program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Failure, Kind};

/// The compiler on `PATH`.
pub(super) fn find() -> Option<PathBuf> {
    on_path("ocamlopt")
}

/// The command that installs the compiler here.
pub(super) fn installation() -> String {
    if on_path("apt-get").is_some() {
        return apt_get().join(" ");
    }
    "`opam init` (any system), `dnf install ocaml` (Fedora), `pacman -S ocaml` (Arch), `apk add ocaml` (Alpine)"
        .into()
}

fn apt_get() -> Vec<&'static str> {
    let root =
        fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    let sudo = if root { None } else { Some("sudo") };
    let words = ["apt-get", "install", "--no-install-recommends", "ocaml-nox"];
    sudo.into_iter().chain(words).collect()
}

/// Installs the compiler, and returns its path.
pub(super) fn install() -> Result<PathBuf, Failure> {
    let missing = || Failure::new(Kind::Work, "there is no ocamlopt on PATH");
    if on_path("apt-get").is_none() {
        return Err(missing().hint(format_args!("install OCaml: {}", installation())));
    }
    let mut words = apt_get();
    let line = words.join(" ");
    message!("running: {line}");
    words.push("--yes");
    let status = Command::new(words[0]).args(&words[1..]).stdin(Stdio::inherit()).status();
    match status {
        Ok(status) if status.success() => on_path("ocamlopt")
            .ok_or_else(|| missing().hint("the package was installed, but brought none")),
        Ok(status) => Err(Failure::new(Kind::Work, format_args!("{line} ended with {status}"))
            .hint("apt-get update, then try again")),
        Err(error) => Err(Failure::new(Kind::Work, format_args!("cannot start {line}: {error}"))),
    }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// Compiles a program of one file with debug information.
pub(super) fn compile(
    ocamlopt: &Path,
    folder: &Path,
    name: &str,
    source: &str,
) -> Result<PathBuf, Failure> {
    let file = format!("{name}.ml");
    let write = fs::write(folder.join(&file), source);
    write.map_err(|e| Failure::new(Kind::Work, format_args!("cannot write {file}: {e}")))?;
    let output = Command::new(ocamlopt)
        // The names and types of its variables are in the .cmt file that this leaves.
        .args(["-g", "-bin-annot", "-o", name, &file])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| {
            Failure::new(Kind::Work, format_args!("cannot start {}: {e}", ocamlopt.display()))
        })?;
    if output.status.success() {
        Ok(folder.join(name))
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        let message = format_args!("{} failed: {}", ocamlopt.display(), said.trim_end());
        Err(Failure::new(Kind::Work, message)
            .hint("the demo needs OCaml 4.11 or later, and a C compiler to link with"))
    }
}
