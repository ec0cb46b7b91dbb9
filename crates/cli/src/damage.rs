//! What is printed of a damaged trace, after all that could be read has been put out.

use std::path::Path;
use std::process::ExitCode;

use memtrail_recording::{FileState, Outcome, Recording};
use memtrail_trace::Anomalies;

use crate::error::{Failure, Kind};
use crate::shell_quote;

/// Anomalies that are spelled out.
const SHOWN: usize = 5;

/// What is not known of a recording without its description.
pub(crate) const UNKNOWN: &str = "unknown are the program's arguments, how it ended, whether the \
     trace is complete, and its threads";

/// Success, or the failure that says what of the recording is damaged.
pub(crate) fn verdict(recording: &Recording, anomalies: &Anomalies) -> Result<ExitCode, Failure> {
    let trace = of_trace(recording, anomalies);
    let Some(problem) = &recording.problem else { return trace };
    if let Err(failure) = trace {
        failure.report();
    }
    let failure = Failure::new(Kind::Input, problem);
    Err(if recording.is_merged() {
        failure.hint("the other processes were used")
    } else {
        failure.hint(format_args!("the trace was used; {UNKNOWN}"))
    })
}

/// The failure about a description that cannot be read, of which a command needs what it tells.
pub(crate) fn of_description(path: &Path, problem: &str) -> Failure {
    let is_malformed = problem.starts_with("malformed ");
    let state = if is_malformed { "is damaged" } else { "cannot be used" };
    let message = format_args!("{}: recording.json {state}: {problem}", path.display());
    let shown = shell_quote::path(path);
    Failure::new(Kind::Input, message)
        .hint(format_args!("its trace can be read: memtrail report {shown}"))
}

/// The verdict on a trace, or the error about an unreadable file beside it.
pub(crate) fn beside(
    unreadable: Option<Failure>,
    verdict: Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let Some(failure) = unreadable else { return verdict };
    if let Err(damaged) = verdict {
        damaged.report();
    }
    Err(failure)
}

/// The same where the files of figures beside the trace were used, too, of which these are damaged.
pub(crate) fn with_figures(
    recording: &Recording,
    anomalies: &Anomalies,
    figures: &[String],
) -> Result<ExitCode, Failure> {
    let mut verdict = verdict(recording, anomalies);
    for problem in figures {
        if let Err(failure) = verdict {
            failure.report();
        }
        verdict = Err(Failure::new(Kind::Input, problem).hint("the lines before that were used"));
    }
    verdict
}

/// The same of its trace alone.
pub(crate) fn of_trace(recording: &Recording, anomalies: &Anomalies) -> Result<ExitCode, Failure> {
    let serious = anomalies.serious();
    if serious == 0 || (may_be_cut(recording) && serious == anomalies.cut_tail()) {
        return Ok(ExitCode::SUCCESS);
    }
    let list = list(anomalies).take(SHOWN).collect::<Vec<_>>();
    let more = serious - list.len() as u64;
    let more = if more == 0 { String::new() } else { format!("\n  … and {more} more") };
    let path = recording.trace.display();
    let message = format!("{path} is damaged\n  {}{more}", list.join("\n  "));
    Err(Failure::new(Kind::Input, message).hint("all that could be read was used"))
}

/// What is wrong, and where, the first in the file first.
pub(crate) fn list(anomalies: &Anomalies) -> impl Iterator<Item = String> + '_ {
    anomalies.list().iter().filter(|anomaly| !anomaly.cause.is_harmless()).map(ToString::to_string)
}

/// Whether the end of the trace may be missing without anything being wrong with the file: its
/// process still writes, or died while it did.
fn may_be_cut(recording: &Recording) -> bool {
    recording.description.as_ref().is_some_and(|description| {
        matches!(description.trace.state, FileState::Growing | FileState::Cut)
            || matches!(description.outcome, Some(Outcome::Killed { .. }))
    })
}
