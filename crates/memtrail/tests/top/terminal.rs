//! A terminal in which `memtrail top` runs: what would be seen on it, and keys.

use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{self, Pty};

/// How long anything is waited for, before its absence is a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal with a program in it.
pub(crate) struct Terminal {
    pty: Pty,
    pub(crate) child: Child,
    parser: vt100::Parser,
    output: Receiver<Vec<u8>>,
}

impl Terminal {
    /// Runs `memtrail top ARGS` in a terminal of this size.
    pub(crate) fn top(args: &[&str], rows: u16, columns: u16) -> Self {
        let (pty, pts) = blocking::open().expect("a pseudo-terminal");
        pty.resize(Size::new(rows, columns)).expect("its size");
        let child = blocking::Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .arg("top")
            .args(args)
            .env("TERM", "xterm-256color")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .spawn(pts)
            .expect("memtrail starts");
        let mut from = std::fs::File::from(copy(&pty));
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when nobody has the other end any more.
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { pty, child, parser: vt100::Parser::new(some(rows), some(columns), 0), output }
    }

    /// Types something.
    pub(crate) fn press(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).expect("keys");
    }

    /// Gives it another size.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        self.pty.resize(Size::new(rows, columns)).expect("another size");
        self.parser.screen_mut().set_size(some(rows), some(columns));
    }

    /// The lines of the screen.
    pub(crate) fn lines(&self) -> Vec<String> {
        let (_, columns) = self.parser.screen().size();
        self.parser.screen().rows(0, columns.get()).collect()
    }

    /// Waits until the screen shows what is wanted, and gives its lines.
    pub(crate) fn wait(&mut self, what: &str, is_there: impl Fn(&[String]) -> bool) -> Vec<String> {
        let started = Instant::now();
        loop {
            let lines = self.lines();
            if is_there(&lines) {
                return lines;
            }
            assert!(started.elapsed() < PATIENCE, "no {what} in\n{}", lines.join("\n"));
            match self.output.recv_timeout(Duration::from_millis(50)) {
                Ok(bytes) => self.parser.process(&bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let lines = self.lines();
                    assert!(is_there(&lines), "ended without {what}:\n{}", lines.join("\n"));
                    return lines;
                }
            }
        }
    }

    /// Waits until a line has a text.
    pub(crate) fn wait_for(&mut self, text: &str) -> Vec<String> {
        self.wait(text, |lines| lines.iter().any(|line| line.contains(text)))
    }

    /// Waits until the program in it has a state, as `proc(5)` names them.
    pub(crate) fn wait_for_state(&mut self, state: char) {
        let path = format!("/proc/{}/stat", self.child.id());
        let started = Instant::now();
        loop {
            let stat = std::fs::read_to_string(&path).expect("a process");
            let (_, rest) = stat.rsplit_once(") ").expect("a state");
            if rest.starts_with(state) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "not {state}: {stat}");
            self.take_output();
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Takes in what has been written.
    pub(crate) fn take_output(&mut self) {
        while let Ok(bytes) = self.output.try_recv() {
            self.parser.process(&bytes);
        }
    }

    /// Waits for the end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            self.take_output();
            if let Some(status) = self.child.try_wait().expect("wait") {
                // What it wrote last may still be on its way.
                while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
                    self.parser.process(&bytes);
                }
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "it does not end: {}", self.lines().join("\n"));
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether the program has the screen for itself.
    pub(crate) fn is_taken(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// Nothing is left of the program's modes: not on the screen, nor in what the terminal does with keys.
    pub(crate) fn assert_restored(&self) {
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor());
        let modes = Command::new("stty").arg("-a").stdin(Stdio::from(copy(&self.pty))).output();
        let modes = String::from_utf8(modes.expect("stty").stdout).expect("UTF-8");
        for mode in ["icanon", "echo", "isig", "opost"] {
            let has = |word: &str| {
                modes.split_whitespace().any(|other| other.trim_end_matches(';') == word)
            };
            assert!(has(mode) && !has(&format!("-{mode}")), "{mode}: {modes}");
        }
    }
}

/// A size, which is never 0.
fn some(size: u16) -> NonZero<u16> {
    NonZero::new(size).expect("a size")
}

fn copy(pty: &Pty) -> OwnedFd {
    pty.as_fd().try_clone_to_owned().expect("another descriptor")
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
