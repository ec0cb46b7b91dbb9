//! The report for programs: one JSON object.
//!
//! `format` is raised when the meaning of a field changes or a field goes; new fields may come
//! without that. `recording` says what was read, `report` is
//! [`memtrail_profile::report::Report`], where every field is documented.

use memtrail_profile::report::Report;
use memtrail_recording::Description;
use memtrail_recording::collections::summary::Summary;
use serde::Serialize;

use super::family::FamilyReport;
use super::read::Process;
use crate::process::memory::ResidentMemory;

/// Version of the object.
const FORMAT: u32 = 1;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    format: u32,
    memtrail: &'static str,
    recording: Recording<'a>,
    /// The command that shows the same as a page.
    view: &'a str,
    /// The processes, if it is a family's.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a FamilyReport>,
    /// What its resident memory was used for, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<&'a ResidentMemory>,
    /// What its garbage collector did, if that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    collections: Option<&'a Summary>,
    report: &'a Report,
}

#[derive(Serialize)]
struct Recording<'a> {
    path: String,
    /// `recording.json`; a bare trace has none.
    description: Option<&'a Description>,
    /// Why there is none, although there is a file for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    /// What is damaged of the files of figures beside the trace.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    damaged: &'a [String],
}

/// The whole object.
pub(super) fn document<'a>(
    recording: &'a memtrail_recording::Recording,
    damaged: &'a [String],
    view: &'a str,
    report: &'a Report,
    family: Option<&'a FamilyReport>,
    process: &'a Process,
) -> Document<'a> {
    Document {
        format: FORMAT,
        memtrail: env!("CARGO_PKG_VERSION"),
        recording: Recording {
            path: recording.path.display().to_string(),
            description: recording.description.as_ref(),
            problem: recording.problem.as_deref(),
            damaged,
        },
        view,
        family,
        memory: process.memory.as_ref(),
        collections: process.collections.as_ref(),
        report,
    }
}

/// The object as text, indented, with a line end.
pub(super) fn render(document: &Document<'_>) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("numbers and strings can always be written") + "\n"
}
