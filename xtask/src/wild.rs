//! Programs of other people that the tests record, from the registries they are published in.
//!
//! They stay in the cache, each under its name and version; `crates/memtrail/tests/wild` runs them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{Outcome, cache, output, run};

/// OCaml 4.14, and 5.2, from npm.
const FLOWS: [&str; 2] = ["flow-bin@0.200.1", "flow-bin@0.250.0"];
/// OCaml 5.4, from Python's index of packages. Not installed: the wheel holds a program and the libraries beside it.
const SEMGREP: &str = "semgrep==1.185.0";

/// Brings what the cache does not have.
pub(crate) fn install() -> Outcome {
    let wild = cache()?.join("wild");
    for flow in FLOWS {
        ensure(&wild, flow, |folder| fetch_flow(folder, flow))?;
    }
    ensure(&wild, SEMGREP, fetch_semgrep)
}

/// A folder of that name; it is made aside and renamed, so that it is whole or not there.
fn ensure(wild: &Path, name: &str, fetch: impl FnOnce(&Path) -> Outcome) -> Outcome {
    let folder = wild.join(name);
    if folder.is_dir() {
        return Ok(());
    }
    let aside = wild.join(format!(".{name}.{}", std::process::id()));
    let failed = |error: std::io::Error| format!("cannot make {}: {error}", folder.display());
    fs::create_dir_all(&aside).map_err(failed)?;
    eprintln!("fetching {name} into {}", folder.display());
    let outcome = fetch(&aside);
    if outcome.is_ok() && fs::rename(&aside, &folder).is_ok() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(&aside);
    // Another setup may have been faster.
    if folder.is_dir() { Ok(()) } else { outcome }
}

fn fetch_flow(folder: &Path, package: &str) -> Outcome {
    let archive = output(quiet("npm").args(["pack", "--silent", package]).current_dir(folder))?;
    let archive = archive.lines().last().unwrap_or_default();
    let machine = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux64" };
    let (_, version) = package.rsplit_once('@').unwrap_or_default();
    let member = format!("package/flow-{machine}-v{version}/flow");
    let mut tar = quiet("tar");
    tar.args(["xzf", archive, "--strip-components", "2", &member]);
    run(tar.current_dir(folder))?;
    remove(folder, archive)
}

fn fetch_semgrep(folder: &Path) -> Outcome {
    let mut pip = quiet("pip3");
    pip.args(["download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    run(pip.args(["--only-binary=:all:", "--dest", ".", SEMGREP]).current_dir(folder))?;
    // Wheels are zip files.
    let script = "import glob, zipfile\n\
        for wheel in glob.glob('*.whl'):\n    \
            with zipfile.ZipFile(wheel) as archive:\n        \
                for member in archive.infolist():\n            \
                    at = member.filename.find('/semgrep/bin/')\n            \
                    if at >= 0 and not member.is_dir():\n                \
                        member.filename = member.filename[at + len('/semgrep/bin/'):]\n                \
                        archive.extract(member)\n";
    run(quiet("python3").args(["-c", script]).current_dir(folder))?;
    run(quiet("chmod").args(["755", "semgrep-core"]).current_dir(folder))?;
    let wheels = fs::read_dir(folder).map_err(|e| e.to_string())?.filter_map(Result::ok);
    wheels
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .try_for_each(|path| remove(folder, &path.to_string_lossy()))
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}

fn remove(folder: &Path, name: &str) -> Outcome {
    fs::remove_file(folder.join(name)).map_err(|error| format!("cannot remove {name}: {error}"))
}
