//! The README's picture: what a real report prints, as an SVG.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anstyle_svg::Term;

use crate::command::{Outcome, output, repository, run};

const PICTURE: &str = "docs/report.svg";

/// Record the demo program, report on it, and draw what the terminal shows.
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
    let words = ["report", &recording, "--live-at", "end", "--top", "6"];
    let report = output(&mut memtrail(&words))?;
    let text = format!("$ memtrail {}\n{report}\n", words.join(" "));
    let picture = repository().join(PICTURE);
    let docs = repository().join("docs");
    fs::create_dir_all(&docs).map_err(|e| format!("cannot create {}: {e}", docs.display()))?;
    fs::write(&picture, Term::new().render_svg(&text))
        .map_err(|e| format!("cannot write {}: {e}", picture.display()))?;
    println!("{text}\nwritten: {}", picture.display());
    Ok(())
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
