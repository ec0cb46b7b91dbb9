//! The terminal's modes. They are restored however watching ends: by a key, a signal, an error or a panic.

use std::io::{self, Stdout};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use signal_hook::consts::signal::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

/// The screen, in its modes as long as this is there.
pub(super) struct Screen {
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the screen. From here on, a panic restores it before it prints.
    pub(super) fn enter() -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
        enter()?;
        match Terminal::new(CrosstermBackend::new(io::stdout())) {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Stops the process as the terminal's own key does, and goes on when it is continued.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        leave();
        emulate_default_handler(SIGTSTP)?;
        enter()?;
        self.redraw()
    }

    /// Clears the screen, so that the next drawing is whole. The terminal's own `clear` asks for the cursor's position,
    /// which not every terminal answers.
    pub(super) fn redraw(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide).inspect_err(|_| leave())
}

/// Does what it can: nobody is left to report to.
fn leave() {
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Signals that have come.
pub(super) struct Signals {
    end: Arc<AtomicUsize>,
    suspend: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
}

impl Signals {
    /// From now on they are noted.
    pub(super) fn note() -> io::Result<Self> {
        let signals =
            Self { end: Arc::default(), suspend: Arc::default(), continued: Arc::default() };
        for signal in [SIGTERM, SIGHUP, SIGINT] {
            flag::register_usize(signal, Arc::clone(&signals.end), signal as usize)?;
        }
        flag::register(SIGTSTP, Arc::clone(&signals.suspend))?;
        flag::register(SIGCONT, Arc::clone(&signals.continued))?;
        Ok(signals)
    }

    /// The signal that is to end this, if one has come.
    pub(super) fn end(&self) -> Option<i32> {
        match self.end.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal as i32),
        }
    }

    /// Whether the process is to be stopped; once each time.
    pub(super) fn suspend(&self) -> bool {
        self.suspend.swap(false, Ordering::SeqCst)
    }

    /// Whether it was stopped and goes on; once each time.
    pub(super) fn continued(&self) -> bool {
        self.continued.swap(false, Ordering::SeqCst)
    }
}

/// Ends as the signal ends a process that does not handle it.
pub(super) fn end_by(signal: i32) {
    let _ = emulate_default_handler(signal);
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use pty_process::blocking::{self, Command};

    use super::*;

    /// Run by the next test, which gives it a terminal.
    #[test]
    #[ignore = "needs a terminal and panics"]
    fn panics_on_the_screen() {
        let _screen = Screen::enter().expect("a terminal");
        panic!("a panic of the test");
    }

    #[test]
    fn a_panic_restores_the_terminal_before_it_prints() {
        let (mut pty, pts) = blocking::open().expect("a pseudo-terminal");
        let name = "top::terminal::tests::panics_on_the_screen";
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args([name, "--exact", "--ignored", "--nocapture"])
            .env("TERM", "xterm-256color")
            .spawn(pts)
            .expect("it starts");
        let mut printed = Vec::new();
        // Reading fails when nobody has the other end any more.
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = pty.read(&mut bytes) {
            printed.extend_from_slice(&bytes[..count]);
        }
        assert!(!child.wait().expect("it ends").success());
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let place =
            |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text:?}: {printed:?}"));
        let (taken, left, told) =
            (place("\x1b[?1049h"), place("\x1b[?1049l"), place("a panic of the test"));
        assert!(taken < left && left < told, "{printed:?}");
        assert!(left < place("\x1b[?25h"), "the cursor is shown: {printed:?}");
        // In raw mode lines would end without a carriage return.
        assert!(printed[told..].starts_with("a panic of the test\r\n"), "{printed:?}");
    }
}
