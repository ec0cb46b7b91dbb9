//! A program that runs under `memtrail run`, to be watched.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use tempfile::TempDir;

/// `tests/programs/heap_grows.ml`, which has filled 32 MiB, or is about to, and waits for a line.
pub(crate) struct Watched {
    launcher: Child,
    pub(crate) pid: String,
    pub(crate) recording: PathBuf,
    _folder: TempDir,
}

impl Watched {
    /// Starts it.
    pub(crate) fn start(compiler: &str) -> Self {
        let program = build(&named(compiler), "heap_grows");
        let folder = tempfile::tempdir().expect("a folder");
        let recording = folder.path().join("it.memtrail");
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["run", "--rate", "1e-3", "--snapshot", "request", "-q", "-o"]);
        command.arg(&recording).arg("--").arg(&program.path);
        command.envs(program.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut launcher = command.spawn().expect("memtrail run");
        let mut line = String::new();
        let stdout = launcher.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("its number");
        let pid = line.trim().to_owned();
        assert!(pid.parse::<u32>().is_ok(), "{line:?}");
        Self { launcher, pid, recording, _folder: folder }
    }

    /// Gives it the line that it waits for, and waits for its end.
    pub(crate) fn end(&mut self) {
        if let Some(mut stdin) = self.launcher.stdin.take() {
            // It may have ended by itself.
            let _ = stdin.write_all(b"\n");
        }
        let _ = self.launcher.wait();
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.end();
    }
}
