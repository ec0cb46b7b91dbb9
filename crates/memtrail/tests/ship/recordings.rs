//! Copies of stored recordings, and the command on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const LEAKS: &str = "leaks-4711.memtrail";
pub(crate) const SERVER: &str = "server-4720.memtrail";

pub(crate) fn memtrail(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    for name in ["MEMTRAIL_SHIP_TOKEN", "MEMTRAIL_SHIP_USER", "MEMTRAIL_SHIP_PASSWORD"] {
        command.env_remove(name);
    }
    command.env("NO_PROXY", "*").args(args);
    command
}

pub(crate) fn ship(path: &Path, url: &str, more: &[&str]) -> Output {
    let mut command = memtrail(&["ship", path.to_str().unwrap(), "--to", url, "--every", "100ms"]);
    command.args(["--retry-at-most", "100ms"]).args(more).output().unwrap()
}

pub(crate) fn folder(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings");
    for name in names {
        let to = folder.path().join(name);
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(stored.join(name)).unwrap().flatten() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    folder
}

pub(crate) fn recording() -> (TempDir, PathBuf) {
    let folder = folder(&[LEAKS]);
    let path = folder.path().join(LEAKS);
    (folder, path)
}

pub(crate) fn json(args: &[&str]) -> Value {
    let output = memtrail(args).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

pub(crate) fn status(path: &Path) -> Value {
    let status = json(&["ship", "--status", "--json", path.to_str().unwrap()]);
    status["recordings"][0]["destinations"][0].clone()
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Makes a recording look as if this process were its program, and still ran.
pub(crate) fn revive(path: &Path) {
    let file = path.join("recording.json");
    let mut description: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    description["trace"]["state"] = "growing".into();
    description["pid"] = std::process::id().into();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    description["host"] = host.trim().into();
    description.as_object_mut().unwrap().remove("ended_unix_us");
    fs::write(&file, description.to_string()).unwrap();
}
