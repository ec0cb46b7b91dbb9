//! Processes that were forked from a recorded program and outlive it, as daemons do.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use memtrail_recording::session::{Options, State, Status};
use memtrail_text::rounded::grouped;

use crate::outcome::FORKS_ARE_RECORDED;
use crate::shell_quote;

/// Processes that are listed, at most.
const LISTED: usize = 4;

/// Time in which a daemon that has forked once forks again.
const SETTLING: Duration = Duration::from_millis(10);

/// The forked processes that run on, as [`of_session`] finds them. A daemon forks twice, and its first fork ends at once: only the
/// second one is found. A snapshot of the program may still be written by a frozen copy of it, which is no fork. `look` lists
/// the running processes again, without such copies.
pub(super) fn settled(
    running: &[u32],
    statuses: &[Status],
    root: u32,
    look: impl FnOnce() -> Vec<u32>,
) -> Vec<u32> {
    let found = of_session(running, statuses, root);
    if found.is_empty() {
        return found;
    }
    thread::sleep(SETTLING);
    of_session(&look(), statuses, root)
}

/// The forked processes that run on, without a recording so far. `running`: all processes of the session that run.
///
/// An agent reports a fork at a sample in it, which may come later, or never. The fork has the session's options mapped from
/// its first moment on, as its parent had.
fn of_session(running: &[u32], statuses: &[Status], root: u32) -> Vec<u32> {
    let has_recording =
        statuses.iter().any(|status| matches!(status.state, State::Recording { .. }));
    let is_known =
        |pid: u32| statuses.iter().any(|status| status.pid == pid && status.state != State::Forked);
    let mut found: Vec<u32> = running
        .iter()
        .copied()
        .filter(|&pid| has_recording && pid != root && !is_known(pid))
        .collect();
    found.sort_unstable();
    found
}

/// The processes that were forked, allocated and have ended, without a recording, by what their agents reported.
pub(super) fn ended(running: &[u32], statuses: &[Status]) -> Vec<u32> {
    let is_ended =
        |status: &&Status| status.state == State::Forked && !running.contains(&status.pid);
    statuses.iter().filter(is_ended).map(|status| status.pid).collect()
}

/// The note in the recording of a native program: its forks, those that outlived it and those that ended, are recorded only if
/// that is asked for.
pub(super) fn note(forks: &[u32], ended: &[u32]) -> Option<String> {
    let subject = match forks {
        [] if ended.is_empty() => return None,
        [] => match ended {
            [pid] => format!("process {pid} was forked from the program; it is"),
            all => format!("processes {} were forked from the program; they are", list(all)),
        },
        [pid] => format!("process {pid} was forked from the program and outlived it; it is"),
        all => format!(
            "processes {} were forked from the program and outlived it; they are",
            list(all)
        ),
    };
    Some(format!("{subject} not recorded: {FORKS_ARE_RECORDED}"))
}

/// A line on a fork of an OCaml program: it takes the place of the recorded process, which has ended.
pub(super) fn announcement(options: &Options, program: &str, pid: u32) -> String {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let folder = options.folder_of_fork(&name, pid);
    format!(
        "process {pid} was forked from the program and runs on; its recording will be {}",
        shell_quote::path(&folder)
    )
}

/// `3, 4, 5, 6 and 2 others`.
fn list(pids: &[u32]) -> String {
    let (listed, others) = pids.split_at(LISTED.min(pids.len()));
    let mut text = listed.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    if !others.is_empty() {
        let _ = write!(text, " and {} others", grouped(others.len() as u64));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(pid: u32, state: State) -> Status {
        Status { pid, image: 0, program: "/bin/d".into(), state }
    }

    fn recording() -> State {
        State::Recording { folder: "d.memtrail".into(), failure: None }
    }

    #[test]
    fn forks_are_found_before_they_report() {
        let statuses =
            [status(10, recording()), status(13, State::Forked), status(14, State::Passed)];
        assert_eq!(of_session(&[14, 13, 12, 10], &statuses, 10), [12, 13]);
        // With a recording of its own, it is announced by that.
        let statuses = [status(10, recording()), status(12, recording())];
        assert!(of_session(&[12], &statuses, 10).is_empty());
        assert!(of_session(&[12], &[], 10).is_empty(), "nothing was recorded");
    }

    /// Workers that had ended when the program did were passed over in silence.
    #[test]
    fn forks_that_ended_are_named_too() {
        let statuses =
            [status(10, recording()), status(13, State::Forked), status(14, State::Forked)];
        assert_eq!(ended(&[14], &statuses), [13]);
        let note = note(&[], &[13]).expect("a note");
        assert!(
            note.starts_with("process 13 was forked from the program; it is not recorded: "),
            "{note}"
        );
    }

    #[test]
    fn very_many_forks_are_counted() {
        let note = note(&[1, 2, 3, 4, 5, 6], &[]).expect("a note");
        assert!(note.starts_with("processes 1, 2, 3, 4 and 2 others were forked"), "{note}");
    }
}
