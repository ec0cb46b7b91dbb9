//! Build a compiler from the sources that the npm registry has.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::command::{Outcome, output, run};

/// Options of `configure` for every compiler: the tests need none of it.
pub(super) const OPTIONS: &[&str] = &[
    "--disable-ocamldoc",
    "--disable-debugger",
    "--disable-ocamltest",
    "--disable-stdlib-manpages",
];

/// Builds `package` in the folder `build` with further options, and installs it into `prefix`.
pub(super) fn from_sources(
    package: &str,
    options: &[&str],
    prefix: &Path,
    build: &Path,
) -> Outcome {
    fs::create_dir_all(build).map_err(|e| format!("cannot create {}: {e}", build.display()))?;
    let archive =
        output(Command::new("npm").args(["pack", "--silent", package]).current_dir(build))?;
    let archive = archive.lines().last().unwrap_or_default();
    run(Command::new("tar").args(["xzf", archive]).current_dir(build))?;
    let source = build.join("package");
    let log_path = build.join("log");
    let log = File::create(&log_path)
        .map_err(|e| format!("cannot create {}: {e}", log_path.display()))?;
    let step = |program: &str, arguments: &[&str]| -> Outcome {
        let out = log.try_clone().map_err(|e| format!("{}: {e}", log_path.display()))?;
        let err = log.try_clone().map_err(|e| format!("{}: {e}", log_path.display()))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&source);
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        run(&mut command).map_err(|e| format!("{e}\n  see {}", log_path.display()))
    };
    // Archives of the npm registry do not always keep the executable bit.
    let prefix = prefix.to_string_lossy();
    let mut configure = vec!["configure", "--prefix", &*prefix];
    configure.extend(OPTIONS.iter().chain(options));
    step("sh", &configure)?;
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    step("make", &[&format!("-j{jobs}")])?;
    step("make", &["install"])
}
