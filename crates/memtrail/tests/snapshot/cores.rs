//! Core files of running programs, and snapshots of them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use memtrail_recording::Recording;
use memtrail_test_support::programs::Program;
use memtrail_test_support::snapshot::Heap;
use tempfile::TempDir;

/// A program that memtrail does not know of, which has printed a line. It ends with this value.
pub(crate) struct Plain {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The line that it has printed last.
    pub(crate) line: String,
    /// An empty folder, in which it runs.
    pub(crate) folder: TempDir,
}

impl Plain {
    pub(crate) fn start(program: &Program, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("bash");
        command.args(["-c", "ulimit -c unlimited; exec \"$@\"", "bash"]).arg(&program.path);
        command.args(arguments).current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("start the program");
        let stdin = child.stdin.take().expect("piped");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut plain = Self { child, stdin, stdout, line: String::new(), folder };
        plain.read_line();
        plain
    }

    fn read_line(&mut self) {
        self.line.clear();
        self.stdout.read_line(&mut self.line).expect("a line of output");
    }

    /// Gives it a line of input, and waits for a line of output.
    pub(crate) fn next_line(&mut self) {
        self.send_line();
        self.read_line();
    }

    /// Gives it a line of input.
    pub(crate) fn send_line(&mut self) {
        self.stdin.write_all(b"\n").expect("a line of input");
    }

    /// True if it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("wait").is_some()
    }

    /// Waits for its end: all further output, and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("output");
        (rest, self.child.wait().expect("wait").code())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A core file by gdb, which the program survives.
    pub(crate) fn gcore(&self) -> PathBuf {
        gcore(self.pid(), self.folder.path())
    }

    /// The core file that the kernel writes as the program is killed.
    pub(crate) fn kernel_core(&mut self) -> PathBuf {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args(["-ABRT", &pid]).status().expect("kill").success());
        self.child.wait().expect("wait");
        let entries = fs::read_dir(self.folder.path()).expect("a folder").flatten();
        let mut paths = entries.map(|entry| entry.path());
        let core = paths.find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("core"))
        });
        let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
        core.unwrap_or_else(|| {
            panic!("the kernel passes core files on ({pattern:?}): sysctl kernel.core_pattern=core")
        })
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A core file of any process.
pub(crate) fn gcore(pid: u32, folder: &Path) -> PathBuf {
    let stem = folder.join("gcore");
    let output = Command::new("gcore").arg("-o").arg(&stem).arg(pid.to_string()).output();
    let output = output.expect("gcore, which comes with gdb");
    let core = folder.join(format!("gcore.{pid}"));
    assert!(core.exists(), "{output:?}");
    core
}

/// Runs `memtrail snapshot --core`.
pub(crate) fn read(core: &Path, arguments: &[&str], recording: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["snapshot", "--core"]).arg(core).args(arguments).arg("-o").arg(recording);
    command.output().expect("memtrail snapshot")
}

/// The heap in a core file, by a recording that is made of it, and the notes of that.
pub(crate) fn heap_of(core: &Path, arguments: &[&str]) -> (Heap, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("it.memtrail");
    let output = read(core, arguments, &recording);
    assert!(output.status.success(), "{output:?}");
    let heap = Heap::read(&recording.join("0001.heap"));
    let description = Recording::open(&recording).expect("a recording").description;
    (heap, description.expect("a description").notes)
}

/// Runs `memtrail snapshot` for a process that memtrail did not start.
pub(crate) fn snapshot_process(pid: u32, arguments: &[&str], recording: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["snapshot", &pid.to_string()]).args(arguments).arg("-o").arg(recording);
    command.output().expect("memtrail snapshot")
}

/// The heap of such a process, by a recording that is made of it, and the notes of that.
pub(crate) fn heap_of_process(pid: u32) -> (Heap, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("it.memtrail");
    let output = snapshot_process(pid, &[], &recording);
    assert!(output.status.success(), "{output:?}");
    let heap = Heap::read(&recording.join("0001.heap"));
    let description = Recording::open(&recording).expect("a recording").description;
    (heap, description.expect("a description").notes)
}

/// Fails unless a command ended with exit code 3, this message and this hint.
pub(crate) fn assert_refused(output: &Output, message: &str, hint: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("memtrail: ") && lines[0].contains(message), "{text}");
    assert!(lines[1].starts_with("hint: ") && lines[1].contains(hint), "{text}");
}
