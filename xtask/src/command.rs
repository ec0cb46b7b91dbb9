//! Run other programs, and say what went wrong with them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a chore answers: nothing, or the message for the person who ran it.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// The command as a person would type it.
fn typed(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

/// Run with our own streams; any other end than exit code 0 is an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let line = typed(command);
    let status = command.status().map_err(|e| format!("cannot start `{line}`: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` ended with {status}")) }
}

/// Run and give what it printed, without the last newline.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let line = typed(command);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot start `{line}`: {e}"))?;
    if !output.status.success() {
        return Err(format!("`{line}` ended with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Where on `PATH` a program stands.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// The root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Packages and features of all test steps: with one set, nothing is built twice.
pub(crate) const WORKSPACE: [&str; 3] = ["--workspace", "--features", "memtrail-server/typescript"];

/// Build `memtrail` as the tests use it, and give its path.
pub(crate) fn memtrail() -> Outcome<String> {
    built("bin", "memtrail")
}

/// Build the workspace's programs as the tests use them, and give the path of one.
pub(crate) fn built(kind: &str, name: &str) -> Outcome<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(repository()).args(["build", "--quiet", "--bins", "--examples"]);
    let messages = output(cargo.args(WORKSPACE).arg("--message-format=json"))?;
    let executable = messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let target = &message["target"];
        let found = target["name"] == name && target["kind"][0] == kind;
        if found { message["executable"].as_str().map(str::to_owned) } else { None }
    });
    executable.ok_or_else(|| format!("cargo does not say where it has built {name}"))
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => repository().join("target"),
    }
}

/// `$XDG_CACHE_HOME/memtrail`, or `~/.cache/memtrail`: kept between runs, outside the repository.
pub(crate) fn cache() -> Outcome<PathBuf> {
    let base = match std::env::var_os("XDG_CACHE_HOME") {
        Some(dir) if Path::new(&dir).is_absolute() => PathBuf::from(dir),
        _ => {
            let home = std::env::home_dir()
                .ok_or("neither XDG_CACHE_HOME nor HOME is set: nowhere to build compilers")?;
            home.join(".cache")
        }
    };
    Ok(base.join("memtrail"))
}
