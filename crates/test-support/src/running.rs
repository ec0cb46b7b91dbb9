//! Run a program with and without `memtrail run`, and compare what anyone could see of it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::contents::recordings_in;
use crate::executable::memtrail;
use crate::programs::Program;

/// No test waits longer for a program: one that hangs must fail, not stop the suite.
const PATIENCE: Duration = Duration::from_secs(180);

/// What can be seen of a program from outside.
#[derive(Clone, PartialEq, Eq)]
pub struct Seen {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: ExitStatus,
}

impl Seen {
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} (code {:?}, signal {:?})",
            self.status,
            self.status.code(),
            self.status.signal()
        )?;
        writeln!(f, "--- stdout\n{}--- stderr\n{}---", self.stdout(), self.stderr())
    }
}

/// A program with its arguments, standard input and surroundings.
#[must_use]
pub struct Case {
    words: Vec<OsString>,
    stdin: Vec<u8>,
    variables: Vec<(String, String)>,
    /// A shell command run before, in the process that becomes the program: `ulimit -n 20`.
    prelude: Option<String>,
    options: Vec<OsString>,
    /// Working folder, the same with and without us.
    pub folder: TempDir,
    recordings: Rc<TempDir>,
}

/// A run under `memtrail run`.
pub struct Recorded {
    pub seen: Seen,
    /// Given with `-o`.
    pub recording: PathBuf,
    /// Where it lies until the last of those who look is gone.
    _folder: Rc<TempDir>,
}

impl Case {
    /// A program of ours.
    pub fn new(program: &Program, arguments: &[&str]) -> Case {
        let mut case = Case::command(&program.path, arguments);
        case.variables.clone_from(&program.variables);
        case
    }

    /// Any command.
    pub fn command(program: impl AsRef<OsStr>, arguments: &[&str]) -> Case {
        let mut words = vec![program.as_ref().to_owned()];
        words.extend(arguments.iter().map(OsString::from));
        Case {
            words,
            stdin: Vec::new(),
            variables: Vec::new(),
            prelude: None,
            options: vec!["--rate".into(), "1e-3".into()],
            folder: tempfile::tempdir().expect("a working folder"),
            recordings: Rc::new(tempfile::tempdir().expect("a folder for recordings")),
        }
    }

    /// Standard input: these bytes, then its end.
    pub fn stdin(mut self, bytes: &[u8]) -> Case {
        self.stdin = bytes.to_vec();
        self
    }

    /// Options of `memtrail run` besides `-q` and `-o`, in place of `--rate 1e-3`.
    pub fn options(mut self, options: &[&str]) -> Case {
        self.options = options.iter().map(OsString::from).collect();
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Case {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn prelude(mut self, shell: &str) -> Case {
        self.prelude = Some(shell.to_owned());
        self
    }

    fn prepared(&self, words: &[OsString]) -> Command {
        let mut command = match &self.prelude {
            None => Command::new(&words[0]),
            Some(shell) => {
                let mut command = Command::new("bash");
                command.arg("-c").arg(format!("{shell}; exec \"$@\"")).arg("bash").arg(&words[0]);
                command
            }
        };
        command.args(&words[1..]).current_dir(self.folder.path());
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// The command line of a recorded run.
    fn recorded_words(&self, recording: Option<&Path>) -> Vec<OsString> {
        let mut words = vec![memtrail().into_os_string(), "run".into()];
        words.extend(self.options.iter().cloned());
        words.push("-q".into());
        if let Some(recording) = recording {
            words.extend(["-o".into(), recording.into()]);
        }
        words.push("--".into());
        words.extend(self.words.iter().cloned());
        words
    }

    /// Run it as it is.
    pub fn plain(&self) -> Seen {
        watch(self.prepared(&self.words), &self.stdin)
    }

    /// Run it under `memtrail run`.
    pub fn recorded(&self) -> Recorded {
        let recording = self.new_recording();
        let seen = watch(self.prepared(&self.recorded_words(Some(&recording))), &self.stdin);
        Recorded { seen, recording, _folder: Rc::clone(&self.recordings) }
    }

    /// Run it under `memtrail run` without `-o`: recordings get their own names, in the working
    /// folder.
    pub fn recorded_in_folder(&self) -> (Seen, Vec<PathBuf>) {
        let seen = watch(self.prepared(&self.recorded_words(None)), &self.stdin);
        (seen, recordings_in(self.folder.path()))
    }

    /// Start it under `memtrail run` and give the process, for tests that disturb it.
    pub fn start_recorded(&self) -> (std::process::Child, PathBuf) {
        let recording = self.new_recording();
        // A test run in the background ignores these signals, and what is ignored stays ignored.
        let mut words = vec!["env".into(), "--default-signal=INT,QUIT".into()];
        words.extend(self.recorded_words(Some(&recording)));
        let mut command = self.prepared(&words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (command.process_group(0).spawn().expect("start memtrail run"), recording)
    }

    fn new_recording(&self) -> PathBuf {
        let count = fs::read_dir(self.recordings.path()).map_or(0, Iterator::count);
        self.recordings.path().join(format!("{count}.memtrail"))
    }

    /// Run both ways; everything visible must be equal. Gives the recorded run.
    pub fn same(&self) -> Recorded {
        let plain = self.plain();
        let recorded = self.recorded();
        assert!(
            plain == recorded.seen,
            "{:?} differs: only without memtrail: {:#?}\nonly with memtrail: {:#?}\n{}",
            self.words,
            only_in(&plain, &recorded.seen),
            only_in(&recorded.seen, &plain),
            recorded.recording.display()
        );
        recorded
    }
}

/// What one run shows and another does not; all of it when only the order differs.
fn only_in(one: &Seen, other: &Seen) -> Vec<String> {
    let lines = |seen: &Seen| {
        let text = format!("{seen:?}");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (all, known) = (lines(one), lines(other));
    let only: Vec<_> = all.iter().filter(|line| !known.contains(line)).cloned().collect();
    if only.is_empty() { all } else { only }
}

/// Run to its end, with all output.
fn watch(mut command: Command, stdin: &[u8]) -> Seen {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let group = child.id();
    let mut into = child.stdin.take().expect("piped");
    let bytes = stdin.to_vec();
    // A program that ends without reading everything closes the pipe on us: that is its right.
    let writer = thread::spawn(move || drop(into.write_all(&bytes)));
    let stdout = drain(child.stdout.take().expect("piped"));
    let stderr = drain(child.stderr.take().expect("piped"));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("wait") {
            break status;
        }
        if started.elapsed() > PATIENCE {
            let _ = Command::new("kill").args(["-9", "--", &format!("-{group}")]).status();
            let _ = child.wait();
            panic!("{command:?} did not end");
        }
        thread::sleep(Duration::from_millis(1));
    };
    writer.join().expect("writer of standard input");
    Seen { stdout: stdout.join().expect("stdout"), stderr: stderr.join().expect("stderr"), status }
}

fn drain(mut from: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("read output");
        bytes
    })
}
