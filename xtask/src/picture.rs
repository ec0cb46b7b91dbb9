//! The pictures of README and manual: what a real report prints, as an SVG, and the viewer's pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anstyle_svg::Term;

use crate::command::{Outcome, output, repository, run};
use crate::web;

const PICTURE: &str = "docs/report.svg";
const DEMO: &str = "crates/cli/src/demo/leaks.ml";
/// In the demo's program: what keeps a closure for each connection, and what would keep none.
const LEAK: (&str, &str) = ("    Listeners.subscribe (", "    ignore (");

/// Record the demo program, report on it, and draw what the terminal and the browser show.
pub(crate) fn draw() -> Outcome {
    let cargo = ["run", "--quiet", "--release", "--package", "memtrail", "--"];
    let folder = crate::command::cache()?.join("picture");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let memtrail = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        let manifest = repository().join("Cargo.toml");
        command.args(&cargo[..2]).arg("--manifest-path").arg(manifest).args(&cargo[2..]);
        command.args(arguments).current_dir(&folder);
        // As on a terminal of 80 columns.
        command.env("CLICOLOR_FORCE", "1").env("COLUMNS", "80");
        command
    };
    run(memtrail(&["demo", "--yes"]).stdout(Stdio::null()))?;
    let recording = recording_in(&folder)?;
    let words = ["report", &recording, "--live-at", "end", "--limit", "6"];
    let report = output(&mut memtrail(&words))?;
    let text = format!("$ memtrail {}\n{report}\n", words.join(" "));
    let picture = repository().join(PICTURE);
    let docs = repository().join("docs");
    fs::create_dir_all(&docs).map_err(|e| format!("cannot create {}: {e}", docs.display()))?;
    fs::write(&picture, Term::new().render_svg(&text))
        .map_err(|e| format!("cannot write {}: {e}", picture.display()))?;
    println!("{text}\nwritten: {}", picture.display());
    let mended = mended(&folder)?;
    run(memtrail(&["run", "-q", "-o", "mended.memtrail", "--"]).arg(mended))?;
    web::pictures(&[folder.join("mended.memtrail"), folder.join(&recording)])
}

/// The demo's program without one of its leaks, compiled.
fn mended(folder: &Path) -> Outcome<PathBuf> {
    let source = repository().join(DEMO);
    let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    let (leak, instead) = LEAK;
    if !text.contains(leak) {
        return Err(format!("{}: there is no {leak:?}", source.display()));
    }
    let file = folder.join("leaks.ml");
    fs::write(&file, text.replace(leak, instead))
        .map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    let arguments = ["ocamlopt", "-g", "-package", "unix", "-linkpkg", "-o", "leaks", "leaks.ml"];
    run(Command::new("ocamlfind").args(arguments).current_dir(folder))?;
    Ok(folder.join("leaks"))
}

/// The name of the one recording in the folder.
fn recording_in(folder: &Path) -> Outcome<String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find(|name| name.ends_with(".memtrail"))
        .ok_or_else(|| format!("the demo left no recording in {}", folder.display()))
}
