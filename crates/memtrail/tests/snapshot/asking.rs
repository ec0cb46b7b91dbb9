//! Programs that are asked for snapshots while they run.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::{Recording, Snapshot};
use memtrail_test_support::programs::Program;
use memtrail_test_support::snapshot::Heap;
use tempfile::TempDir;

/// How long anything is waited for, before its absence is a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program under `memtrail run`, which has printed its process number.
pub(crate) struct Running {
    launcher: Child,
    /// The program's own number.
    pub(crate) pid: String,
    stdout: BufReader<std::process::ChildStdout>,
    pub(crate) recording: PathBuf,
    _folder: TempDir,
}

/// How a program that was asked came to its end.
pub(crate) struct Ended {
    /// What it printed behind its number.
    pub(crate) stdout: String,
    pub(crate) code: Option<i32>,
    /// What its recording says of snapshots.
    pub(crate) snapshots: Vec<Snapshot>,
}

impl Running {
    /// Starts a program of ours with these options of `memtrail run`, and waits for its number.
    pub(crate) fn start(program: &Program, options: &[&str]) -> Running {
        Self::start_after("true", program, options)
    }

    /// The same, after a command of the shell: `ulimit -v 4000`.
    pub(crate) fn start_after(shell: &str, program: &Program, options: &[&str]) -> Running {
        let folder = tempfile::tempdir().expect("a folder");
        let recording = folder.path().join("it.memtrail");
        let mut command = Command::new("bash");
        command.args(["-c", &format!("{shell}; exec \"$@\""), "bash"]);
        command
            .arg(env!("CARGO_BIN_EXE_memtrail"))
            .arg("run")
            .args(options)
            .arg("-q")
            .arg("-o")
            .arg(&recording)
            .arg("--");
        command.arg(&program.path).current_dir(folder.path());
        for (name, value) in &program.variables {
            command.env(name, value);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut launcher = command.spawn().expect("start memtrail run");
        let mut stdout = BufReader::new(launcher.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line of output");
        let pid = line.trim().to_owned();
        assert!(pid.parse::<u32>().is_ok(), "a process number, not {line:?}");
        Running { launcher, pid, stdout, recording, _folder: folder }
    }

    /// The number of the process that started it.
    pub(crate) fn launcher(&self) -> String {
        self.launcher.id().to_string()
    }

    /// Runs `memtrail snapshot` for it.
    pub(crate) fn ask(&self) -> Output {
        ask(&self.pid)
    }

    /// The same, and gives up after so many seconds.
    pub(crate) fn ask_within(&self, seconds: u32) -> Output {
        ask_with(&["--wait", &seconds.to_string()], &self.pid)
    }

    /// Asks, and reads what was written.
    pub(crate) fn snapshot(&self) -> Heap {
        let output = self.ask();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{output:?}");
        let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(answer["pid"].to_string(), self.pid);
        let path = answer["path"].as_str().expect("a path");
        assert!(Path::new(path).starts_with(&self.recording), "{path}");
        Heap::read(Path::new(path))
    }

    /// Waits until there is such a file in its recording.
    pub(crate) fn wait_for(&self, name: &str) {
        let started = Instant::now();
        while !self.recording.join(name).exists() {
            assert!(started.elapsed() < PATIENCE, "no {name}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(&self.pid).status();
        assert!(status.expect("kill").success());
    }

    /// Gives it a line of input, and waits for its end.
    pub(crate) fn end(self) -> Ended {
        self.end_with(|| ()).0
    }

    /// The same, and looks at what is there then.
    pub(crate) fn end_with<T>(mut self, look: impl FnOnce() -> T) -> (Ended, T) {
        // A program that reads none has closed the pipe.
        let _ = self.launcher.stdin.take().expect("piped").write_all(b"\n");
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).expect("output");
        let code = self.launcher.wait().expect("wait").code();
        (Ended { stdout, code, snapshots: snapshots_of(&self.recording) }, look())
    }
}

/// What a recording says of its snapshots.
pub(crate) fn snapshots_of(recording: &Path) -> Vec<Snapshot> {
    let description = Recording::open(recording).expect("a recording").description;
    description.and_then(|d| d.snapshots).unwrap_or_default()
}

/// `memtrail snapshot --json` of whatever is named.
pub(crate) fn ask(named: &str) -> Output {
    ask_with(&[], named)
}

fn ask_with(options: &[&str], named: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["snapshot", "--json"]).args(options).arg(named);
    command.output().expect("memtrail snapshot")
}

/// Processes that this one started, also those that have ended and that nobody has waited for.
pub(crate) fn children(pid: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}
