//! The first commands that a user types, on the recording that memtrail carries: no compiler and no server is needed.

mod doctor;
mod environments;
mod markdown;
mod stored_demo;

use std::path::Path;
use std::process::{Command, Output};

/// The stored recording of the demo, in a folder of its own.
struct Stored(tempfile::TempDir);

/// Its name.
const NAME: &str = "leaks-4711.memtrail";

impl Stored {
    fn unpack() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let words = ["demo", "--recorded", "--json", "-o", NAME];
        let output = memtrail(folder.path()).args(words).output().expect("memtrail starts");
        assert!(output.status.success(), "{output:?}");
        Self(folder)
    }

    /// A command in the folder of the recording.
    fn command(&self) -> Command {
        memtrail(self.0.path())
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command().args(words).output().expect("memtrail starts")
    }
}

fn memtrail(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.current_dir(folder).env_remove("COLUMNS").env("TZ", "UTC");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Standard output of a command that must succeed.
fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}
