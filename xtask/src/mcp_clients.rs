//! Official clients of the Model Context Protocol, from the indices of Python and Node.
//!
//! They stay in the cache; `crates/memtrail/tests/mcp/clients.rs` runs them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{Outcome, cache, run};

/// The client library.
const PYTHON: &str = "mcp==2.3.0";
/// The Inspector, of which the command line is used, in its last version that runs with Node 20.
const INSPECTOR: &str = "@modelcontextprotocol/inspector@1.0.3";
/// Name of the folder, which the tests have, too. Other versions get another number.
const FOLDER: &str = "mcp-clients-1";

/// Brings what the cache does not have.
pub(crate) fn install() -> Outcome {
    let folder = cache()?.join(FOLDER);
    if folder.is_dir() {
        return Ok(());
    }
    let aside = cache()?.join(format!(".{FOLDER}.{}", std::process::id()));
    eprintln!("fetching {PYTHON} and {INSPECTOR} into {}", folder.display());
    let outcome = fetch(&aside);
    if outcome.is_ok() && fs::rename(&aside, &folder).is_ok() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(&aside);
    // Another setup may have been faster.
    if folder.is_dir() { Ok(()) } else { outcome }
}

fn fetch(folder: &Path) -> Outcome {
    let mut pip = Command::new("pip3");
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]);
    pip.args(["--root-user-action", "ignore", "--target"]).arg(folder.join("python")).arg(PYTHON);
    run(pip.stdin(Stdio::null()))?;
    let inspector = folder.join("inspector");
    fs::create_dir_all(&inspector).map_err(|e| format!("{}: {e}", inspector.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", INSPECTOR]);
    run(npm.current_dir(&inspector).stdin(Stdio::null()))
}
