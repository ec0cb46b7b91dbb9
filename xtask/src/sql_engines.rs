//! SQL engines that read the tables of `memtrail export --format parquet`, from Python's index of packages.
//!
//! They stay in the cache; `crates/memtrail/tests/view/lake.rs` runs them.

use std::fs;
use std::process::{Command, Stdio};

use crate::command::{Outcome, cache, run};

/// A library, its command line, and another engine with the format in which it gives rows.
const PACKAGES: [&str; 4] =
    ["duckdb==2.0.1", "duckdb-cli==1.5.6", "datafusion==55.0.0", "pyarrow==26.0.1"];
/// Name of the folder, which the tests have, too. Other versions get another number.
const FOLDER: &str = "sql-engines-1";

/// Brings what the cache does not have.
pub(crate) fn install() -> Outcome {
    let folder = cache()?.join(FOLDER);
    if folder.is_dir() {
        return Ok(());
    }
    let aside = cache()?.join(format!(".{FOLDER}.{}", std::process::id()));
    eprintln!("fetching {} into {}", PACKAGES.join(", "), folder.display());
    let mut pip = Command::new("pip3");
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]);
    pip.args(["--root-user-action", "ignore", "--target"]).arg(&aside).args(PACKAGES);
    let outcome = run(pip.stdin(Stdio::null()));
    if outcome.is_ok() && fs::rename(&aside, &folder).is_ok() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(&aside);
    // Another setup may have been faster.
    if folder.is_dir() { Ok(()) } else { outcome }
}
