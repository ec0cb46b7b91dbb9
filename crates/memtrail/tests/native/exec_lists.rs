//! Programs that become others by `execl`, `execlp`, `execle` and `fexecve`.

use memtrail_recording::PREDECESSORS;
use memtrail_test_support::contents::recordings_in;
use memtrail_test_support::running::{Case, Recorded};

use super::compile;

/// Programs that the process was, each recorded: the last one, and those before it.
fn programs(recorded: &Recorded) -> usize {
    let before = recorded.recording.join(PREDECESSORS);
    let before = if before.exists() { recordings_in(&before).len() } else { 0 };
    recordings_in(recorded.recording.parent().unwrap()).len() + before
}

/// Without `--children`, `execv` was followed and these were not: the recording ended there.
#[test]
fn arguments_one_by_one_lead_to_the_next_program_as_an_array_does() {
    let program = compile("exec_lists.c", &[]);
    for (way, recordings) in [("l", 2), ("p", 2), ("e", 2), ("f", 2), ("m", 1)] {
        let case = Case::command(&program.path, &[way]).options(&["--native", "--rate", "1"]);
        let recorded = case.same();
        assert_eq!(recorded.seen.status.code(), Some(3), "{way}");
        assert_eq!(programs(&recorded), recordings, "{way}");
    }
}

/// `execveat` and the system calls themselves were not followed either.
#[test]
fn a_folder_or_the_system_call_leads_to_the_next_program() {
    let program = compile("exec_lists.c", &[]);
    for way in ["a", "k", "n", "s", "t"] {
        let case = Case::command(&program.path, &[way]).options(&["--native", "--rate", "1"]);
        let recorded = case.same();
        assert_eq!(recorded.seen.stdout(), "done ONLY\n", "{way}");
        assert_eq!(recorded.seen.status.code(), Some(3), "{way}");
        assert_eq!(programs(&recorded), 2, "{way}");
    }
}
