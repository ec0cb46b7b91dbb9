//! A program at work that is attached and detached.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::rc::Rc;

use memtrail_test_support::programs::Program;
use tempfile::TempDir;

/// A program that was started without memtrail, and has printed its number.
pub(crate) struct Server {
    process: Child,
    stdout: BufReader<ChildStdout>,
    /// Its working folder, with its recordings.
    pub(crate) folder: Rc<TempDir>,
}

impl Server {
    pub(crate) fn start(program: &Program) -> Self {
        Self::start_with(program, &[])
    }

    pub(crate) fn start_with(program: &Program, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(&program.path);
        command.args(arguments).current_dir(folder.path()).envs(program.variables.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("start the program");
        let mut stdout = BufReader::new(process.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line of output");
        assert_eq!(line.trim().parse(), Ok(process.id()), "its number");
        Self { process, stdout, folder: Rc::new(folder) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// A recording that is not there yet.
    pub(crate) fn recording(&self, number: u32) -> PathBuf {
        self.folder.path().join(format!("{number}.memtrail"))
    }

    /// Attaches, and fails unless the recording has begun.
    pub(crate) fn attach(&self, recording: &Path, options: &[&str]) {
        self.attach_with(recording, options, None);
    }

    /// Attaches with a variable of memtrail's environment.
    pub(crate) fn attach_with(
        &self,
        recording: &Path,
        options: &[&str],
        variable: Option<(&str, PathBuf)>,
    ) {
        let output = memtrail(&["attach", &self.pid().to_string(), "-o"])
            .arg(recording)
            .args(options)
            .args(["--wait", "60s"])
            .envs(variable)
            .output()
            .expect("memtrail");
        assert!(output.status.success(), "{output:?}");
        assert!(recording.join("recording.json").exists(), "{output:?}");
    }

    /// Detaches, and fails unless nothing of the agent runs any more.
    pub(crate) fn detach(&self) {
        let output = memtrail(&["detach", &self.pid().to_string(), "--wait", "60s", "--json"])
            .output()
            .expect("memtrail");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(r#""state":"detached""#), "{output:?}");
        assert_eq!(own_threads(self.pid()), 0, "threads of the agent run on");
    }

    /// Waits until a recording that was ended is complete.
    pub(crate) fn detach_if_attached(&self) {
        let pid = self.pid().to_string();
        let output = memtrail(&["detach", &pid, "--wait", "60s"]).output().expect("memtrail");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() || text.contains("is not recorded"), "{text}");
    }

    /// Kills the program.
    pub(crate) fn kill(&self) {
        let mut kill = Command::new("kill");
        assert!(kill.args(["-KILL", &self.pid().to_string()]).status().expect("kill").success());
    }

    /// Has the program allocate, and gives what it counted: functions and words.
    pub(crate) fn allocate(&mut self, times: u32) -> Vec<(String, f64)> {
        let counted = self.ask(&times.to_string());
        assert_eq!(counted.len(), 3, "{counted:?}");
        counted
    }

    /// Passes a line on to the program, and gives what it counted.
    pub(crate) fn ask(&mut self, line: &str) -> Vec<(String, f64)> {
        writeln!(self.process.stdin.as_mut().expect("piped"), "{line}").expect("written");
        let mut counted = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).expect("a line"), 0, "it has ended");
            let Some((function, words)) = line.trim().split_once(' ') else { break };
            counted.push((function.to_owned(), words.parse().expect("a number")));
        }
        counted
    }

    /// Has the program fork a child that allocates and ends.
    pub(crate) fn fork(&mut self) {
        writeln!(self.process.stdin.as_mut().expect("piped"), "fork").expect("written");
        let mut lines = String::new();
        while !lines.ends_with("end\n") {
            assert_ne!(self.stdout.read_line(&mut lines).expect("a line"), 0, "{lines}");
        }
        assert_eq!(lines, "a child ended with 7\nend\n");
    }

    /// Ends the program, which checks all that it has.
    pub(crate) fn end(mut self) {
        drop(self.process.stdin.take());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("its output");
        let mut errors = String::new();
        let stderr = self.process.stderr.take().expect("piped");
        BufReader::new(stderr).read_to_string(&mut errors).expect("its errors");
        let status = self.process.wait().expect("its end");
        assert_eq!((rest.as_str(), errors.as_str()), ("all is as it was\n", ""), "{status}");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn memtrail(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Threads of the agent in a process.
pub(crate) fn own_threads(pid: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.trim() == "memtrail").count()
}

/// The code of a process's executable, as it is in memory.
pub(crate) fn code_of(pid: u32, program: &Program) -> Vec<u8> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("it runs");
    let memory = fs::File::open(format!("/proc/{pid}/mem")).expect("it can be read");
    let path = program.path.to_str().expect("text");
    let mut code = Vec::new();
    for line in maps.lines().filter(|line| line.contains("r-xp") && line.ends_with(path)) {
        let (start, end) =
            line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
        let number = |text| u64::from_str_radix(text, 16).expect("an address");
        let mut part = vec![0; (number(end) - number(start)) as usize];
        memory.read_exact_at(&mut part, number(start)).expect("it is there");
        code.extend(part);
    }
    assert!(code.len() >= 4096);
    code
}

/// Fails unless a command was refused with this message and this hint.
pub(crate) fn assert_refused(output: &Output, message: &str, hint: &str) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(2 | 3)), "{output:?}");
    assert!(text.contains(message), "{text}");
    assert!(text.lines().any(|line| line.starts_with("hint: ") && line.contains(hint)), "{text}");
}
