//! Find OCaml's native compiler, or bring it.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Failure, Kind};

/// The compiler on `PATH`, installed first if the user agrees.
pub(super) fn find(yes: bool) -> Result<PathBuf, Failure> {
    if let Some(found) = on_path("ocamlopt") {
        return Ok(found);
    }
    let missing = || Failure::new(Kind::Work, "there is no ocamlopt on PATH");
    if on_path("apt-get").is_none() {
        return Err(missing().hint(
            "install OCaml and try again: `opam init` (any system), `dnf install ocaml` (Fedora), \
             `pacman -S ocaml` (Arch), `apk add ocaml` (Alpine)",
        ));
    }
    let root =
        fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    let mut words = vec!["apt-get", "install", "--no-install-recommends", "ocaml-nox"];
    if !root {
        words.insert(0, "sudo");
    }
    let line = words.join(" ");
    if !yes && !agrees(&line)? {
        return Err(missing().hint(format_args!("{line}")));
    }
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

/// Asks on the terminal; without one the answer is no.
fn agrees(line: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    crate::message::print_as_it_is(&format!(
        "The demo needs OCaml's compiler, and there is none. Run `{line}`? [Y/n] "
    ));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "" | "y" | "yes"))
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
