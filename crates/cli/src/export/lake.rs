//! `memtrail export --format parquet`: recordings as tables of a lake.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_lake::files::WrittenFile;
use memtrail_lake::identity::Hasher;
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::key;
pub(crate) use super::tables::Options;
use super::tables::{Exported, NotExported, Tables};
use crate::error::{Failure, Kind};
use crate::json;
use crate::output::is_standard;
use crate::recording_source::Process;
use crate::spinner::with_spinner;

/// The output of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    lake: String,
    recordings: Vec<OfRecording>,
    skipped: Vec<Skipped>,
    rows: u64,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct OfRecording {
    recording: String,
    recording_id: i64,
    files: Vec<OfFile>,
}

#[derive(Debug, Serialize)]
struct OfFile {
    table: &'static str,
    file: String,
    rows: u64,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct Skipped {
    recording: String,
    reason: String,
}

/// Exports recordings, and prints what was written. Those that cannot be read are named and left out.
pub(crate) fn run(
    recordings: &[PathBuf],
    process: Process,
    options: Options<'_>,
    is_json: bool,
) -> Result<ExitCode, Failure> {
    let (report, code) = export(recordings, process, options)?;
    if is_json {
        json::print(&report)?;
    } else {
        let number = report.recordings.len();
        message!(
            "memtrail: {}: {} {}, {} rows, {}",
            options.lake.display(),
            grouped(number as u64),
            if number == 1 { "recording" } else { "recordings" },
            grouped(report.rows),
            bytes(report.bytes as f64),
        );
    }
    Ok(code)
}

/// Exports recordings into a lake.
pub(crate) fn export(
    recordings: &[PathBuf],
    process: Process,
    options: Options<'_>,
) -> Result<(Report, ExitCode), Failure> {
    if is_standard(options.lake) {
        return Err(Failure::new(Kind::Usage, "a lake is a folder, not standard output")
            .hint("memtrail export --format parquet -o lake REC"));
    }
    let hasher =
        if options.redact { Hasher::keyed(key::of(options.lake)?) } else { Hasher::default() };
    let mut report = Report {
        lake: options.lake.display().to_string(),
        recordings: Vec::new(),
        skipped: Vec::new(),
        rows: 0,
        bytes: 0,
    };
    let mut code = ExitCode::SUCCESS;
    let tables = Tables { options, hasher: &hasher };
    let mut skip = |report: &mut Report, path: &Path, failure: Failure| -> Result<(), Failure> {
        // A lake that cannot be written is no fault of a recording.
        if failure.kind() != Kind::Input {
            return Err(failure);
        }
        let reason = failure.message().to_owned();
        let left_out =
            Failure::new(Kind::Input, format_args!("{reason}; {} is left out", path.display()));
        code = match failure.hint_text() {
            Some(hint) => left_out.hint(hint).report(),
            None => left_out.report(),
        };
        report.skipped.push(Skipped { recording: path.display().to_string(), reason });
        Ok(())
    };
    for path in recordings {
        let members = match process.each(path) {
            Ok(members) => members,
            Err(failure) => {
                skip(&mut report, path, failure)?;
                continue;
            }
        };
        for member in members {
            let message = format!("exporting {}", member.display());
            match with_spinner(message, || tables.export(&member)) {
                Ok(exported) => report.add(&member, exported),
                Err(NotExported::Failed(failure)) => skip(&mut report, &member, failure)?,
                Err(NotExported::IsThere(error)) => {
                    let (recording, reason) = (member.display().to_string(), error.to_string());
                    message!("memtrail: note: {recording}: {reason}; its rows are kept");
                    report.skipped.push(Skipped { recording, reason });
                }
            }
        }
    }
    Ok((report, code))
}

impl Report {
    fn add(&mut self, path: &Path, exported: Exported) {
        let Exported { id, files } = exported;
        self.rows += files.iter().map(|file| file.rows).sum::<u64>();
        self.bytes += files.iter().map(|file| file.bytes).sum::<u64>();
        let files = files.into_iter().map(|file| {
            let WrittenFile { table, path, rows, bytes } = file;
            OfFile { table: table.name(), file: path.display().to_string(), rows, bytes }
        });
        self.recordings.push(OfRecording {
            recording: path.display().to_string(),
            recording_id: id,
            files: files.collect(),
        });
    }

    /// True if no recording was exported.
    pub(crate) fn is_empty(&self) -> bool {
        self.recordings.is_empty()
    }
}
