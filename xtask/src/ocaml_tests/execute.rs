//! One run of a program, for a bounded time, and what can be seen of it.

use std::io::Read;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::Outcome;

/// How long processes that a program left behind may go on printing.
const AFTERWARDS: Duration = Duration::from_secs(5);

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// As a shell has it; nothing if the time was over.
    pub(super) code: Option<i32>,
}

/// Runs it in the folder that it is in, as `ocamltest` does; `before` are words in front of it.
pub(super) fn execute(program: &Path, seconds: u32, before: &[String]) -> Outcome<Seen> {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", &seconds.to_string()]).args(before).arg(program);
    command.current_dir(program.parent().unwrap_or(Path::new("/")));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error: std::io::Error| format!("cannot run {}: {error}", program.display());
    let started = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    let stdout = child.stdout.take().map(read);
    let stderr = child.stderr.take().map(read);
    let status = child.wait().map_err(failed)?;
    let in_time = started.elapsed() < Duration::from_secs(seconds.into());
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    let code = code.filter(|_| in_time);
    let deadline = Instant::now() + AFTERWARDS;
    let collected = |stream: Option<Receiver<Vec<u8>>>| {
        stream.map_or_else(Vec::new, |stream| collect(&stream, deadline))
    };
    Ok(Seen { stdout: collected(stdout), stderr: collected(stderr), code })
}

/// A thread, as somebody may hold the stream open for ever.
fn read(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = stream.read(&mut bytes) {
            if sender.send(bytes[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

fn collect(stream: &Receiver<Vec<u8>>, deadline: Instant) -> Vec<u8> {
    let mut all = Vec::new();
    while let Ok(bytes) = stream.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        all.extend(bytes);
    }
    all
}
