//! Runs the helper. A damaged file may end it, or make it loop: then it is started again for the units
//! that are left.

use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::digest::Digest;
use crate::problem::{Problem, Reason};
use crate::read::{HelperMessage, helper_output};
use crate::unit::Layout;

/// A helper that writes nothing for so long is ended. A unit takes some ten milliseconds, but all terms of coqc, which are
/// written at the end, some seconds: many times that on a machine that has much else to do.
const MAX_SILENCE: Duration = Duration::from_secs(300);

/// A helper that writes more is ended. Coq's 600 units take some ten million bytes.
const MAX_OUTPUT: usize = 1 << 29;

/// A unit to be looked for in files.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) unit: String,
    pub(crate) interface: Digest,
    pub(crate) files: Vec<PathBuf>,
}

/// What was found of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) layout: Option<Layout>,
    pub(crate) problems: Vec<Problem>,
}

/// An answer to each request.
pub(crate) fn run(helper: &Path, requests: &[Request]) -> io::Result<Vec<Answer>> {
    let mut answers = Vec::with_capacity(requests.len());
    while answers.len() < requests.len() {
        let left = &requests[answers.len()..];
        let (output, ended_well) = run_once(helper, None, left)?;
        let done = gather(&output, left, ended_well);
        answers.extend(done);
    }
    Ok(answers)
}

/// The answers in the helper's output: at least one.
fn gather(output: &[u8], requests: &[Request], ended_well: bool) -> Vec<Answer> {
    let (all, error) = helper_output(output);
    let mut answers: Vec<Answer> = Vec::new();
    for message in all {
        match message {
            HelperMessage::Begun(_) => answers.push(Answer::default()),
            HelperMessage::Rejected(problem) => {
                if let Some(answer) = answers.last_mut() {
                    answer.problems.push(problem);
                }
            }
            HelperMessage::Found { unit, layout } => {
                let number = answers.len().wrapping_sub(1);
                let expected = requests.get(number).is_some_and(|request| request.unit == unit);
                if let (Some(answer), true) = (answers.last_mut(), expected) {
                    answer.layout = Some(layout);
                }
            }
            HelperMessage::Contents { .. } => {}
        }
    }
    answers.truncate(requests.len());
    if ended_well && error.is_none() {
        answers.resize_with(requests.len(), Answer::default);
        return answers;
    }
    // It ended within the last unit that it began.
    if answers.is_empty() {
        answers.push(Answer::default());
    }
    let last = answers.len() - 1;
    let answer = &mut answers[last];
    if answer.layout.is_none() {
        answer.problems.extend(requests[last].files.iter().map(|file| Problem {
            file: file.to_string_lossy().into_owned(),
            reason: Reason::Damaged,
            detail: "reading the files of this unit ended the reader".into(),
        }));
    }
    answers
}

/// Its output, and whether it ended as it should.
pub(super) fn run_once(
    helper: &Path,
    argument: Option<&str>,
    requests: &[Request],
) -> io::Result<(Vec<u8>, bool)> {
    let mut child = Command::new(helper)
        .args(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let input = input(requests);
    let stdin = child.stdin.take();
    // Fails if the helper ends before it has read all, which its output shows.
    let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let output = read_all(&mut child);
    let ended_well = child.wait()?.success();
    let _ = writer.join();
    Ok((output, ended_well))
}

/// Fields that end with a zero byte, as `ocaml/main.ml` reads them.
fn input(requests: &[Request]) -> Vec<u8> {
    let mut input = Vec::new();
    let mut field = |bytes: &[u8]| {
        input.extend(bytes.iter().copied().filter(|&byte| byte != 0));
        input.push(0);
    };
    for request in requests {
        field(request.unit.as_bytes());
        field(request.interface.to_string().as_bytes());
        field(request.files.len().to_string().as_bytes());
        for file in &request.files {
            field(file.as_os_str().as_bytes());
        }
    }
    input
}

fn read_all(child: &mut Child) -> Vec<u8> {
    let Some(mut stdout) = child.stdout.take() else { return Vec::new() };
    let (sender, receiver) = channel();
    let reader = thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        while let Ok(length @ 1..) = stdout.read(&mut piece) {
            if sender.send(piece[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    let (output, to_be_ended) = collect(&receiver);
    if to_be_ended {
        // It may have ended by itself meanwhile.
        let _ = child.kill();
    }
    drop(receiver);
    let _ = reader.join();
    output
}

/// The output, and whether the helper is to be ended: it writes nothing, or too much.
fn collect(receiver: &Receiver<Vec<u8>>) -> (Vec<u8>, bool) {
    let mut output = Vec::new();
    loop {
        match receiver.recv_timeout(MAX_SILENCE) {
            Ok(_) if output.len() > MAX_OUTPUT => return (output, true),
            Ok(piece) => output.extend(piece),
            Err(RecvTimeoutError::Timeout) => return (output, true),
            Err(RecvTimeoutError::Disconnected) => return (output, false),
        }
    }
}
