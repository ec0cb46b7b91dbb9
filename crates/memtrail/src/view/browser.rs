//! The user's browser, if there is one that can be seen.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// Whether a browser that opens now would stand before the person who typed the command.
fn is_there() -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    (set("DISPLAY") || set("WAYLAND_DISPLAY")) && !set("SSH_CONNECTION")
}

/// Opens `url` if there is a browser to open it with; says nothing if not, as the user has the
/// address on the screen.
pub(super) fn open(url: &str) {
    if !is_there() {
        return;
    }
    // A process group of its own: Ctrl-C is meant for us, not for a browser that was just started.
    let started = Command::new("xdg-open")
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    if let Ok(mut child) = started {
        std::thread::spawn(move || child.wait());
    }
}
