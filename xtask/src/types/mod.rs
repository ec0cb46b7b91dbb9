//! The page's types of what the engine and the server send: generated from their structs.

mod layout;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::command::{Outcome, built, output, repository};

/// Relative to the repository.
const FILE: &str = "web/src/generated/responses.ts";
/// Its first line.
const HEADING: &str = "/** What the engine and the server send. Written by `cargo xtask types`. */";

/// Write them.
pub(crate) fn write() -> Outcome {
    let path = path();
    fs::write(&path, text()?).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Compare them with what would be written.
pub(crate) fn check() -> Outcome {
    let path = path();
    let found =
        fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    if found == text()? {
        Ok(())
    } else {
        Err(format!("{FILE} is not what the structs give; `cargo xtask types` writes it"))
    }
}

fn path() -> PathBuf {
    repository().join(FILE)
}

fn text() -> Outcome<String> {
    let mut program = Command::new(built("example", "types")?);
    let mut text = format!("{HEADING}\n");
    for declaration in output(&mut program)?.split("\n\n") {
        text.push('\n');
        text.push_str(&layout::lines(declaration));
    }
    Ok(text)
}
