//! Programs that run under `memtrail run`, to be watched.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use tempfile::TempDir;

/// A program that prints its number and waits for lines.
pub(crate) struct Watched {
    launcher: Child,
    stdout: Option<BufReader<ChildStdout>>,
    pub(crate) pid: String,
    /// With its children: the folder of the family.
    pub(crate) recording: PathBuf,
    _folder: TempDir,
}

impl Watched {
    /// Starts `tests/programs/heap_grows.ml`, which has filled 32 MiB, or is about to, and waits for a line.
    pub(crate) fn start(compiler: &str) -> Self {
        let mut watched = Self::recorded(compiler, "heap_grows", Path::new("it.memtrail"), &[]);
        // What it prints last kills it (SIGPIPE), as nobody reads it.
        watched.stdout = None;
        watched
    }

    /// Starts `tests/programs/family_grows.ml`, which has filled 8 MiB, or is about to.
    pub(crate) fn start_family(compiler: &str) -> Self {
        Self::start_family_in(compiler, Path::new("it.family"))
    }

    /// The same, with recordings in a folder.
    pub(crate) fn start_family_in(compiler: &str, folder: &Path) -> Self {
        Self::recorded(compiler, "family_grows", folder, &["--children"])
    }

    fn recorded(compiler: &str, program: &str, output: &Path, options: &[&str]) -> Self {
        let program = build(&named(compiler), program);
        let folder = tempfile::tempdir().expect("a folder");
        let recording = folder.path().join(output);
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["run", "--rate", "1e-3", "--snapshot", "request", "-q"]);
        command.args(options).arg("-o");
        command.arg(&recording).arg("--").arg(&program.path);
        command.envs(program.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut launcher = command.spawn().expect("memtrail run");
        let mut stdout = BufReader::new(launcher.stdout.take().expect("piped"));
        let pid = number(&mut stdout);
        Self { launcher, stdout: Some(stdout), pid, recording, _folder: folder }
    }

    /// Has a family's program fork a child; the child's number.
    pub(crate) fn fork(&mut self) -> String {
        self.say("fork\n");
        number(self.stdout.as_mut().expect("of a family"))
    }

    /// Ends the last child.
    pub(crate) fn end_child(&mut self) {
        self.say("end\n");
    }

    fn say(&mut self, line: &str) {
        let stdin = self.launcher.stdin.as_mut().expect("piped");
        stdin.write_all(line.as_bytes()).expect("it reads");
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

/// The number that a process prints first.
fn number(stdout: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    stdout.read_line(&mut line).expect("its number");
    let pid = line.trim().to_owned();
    assert!(pid.parse::<u32>().is_ok(), "{line:?}");
    pid
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.end();
    }
}
