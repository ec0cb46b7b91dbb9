//! Runs the user's `duckdb`.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use tempfile::NamedTempFile;

use crate::error::{Failure, Kind};
use crate::plain_text::PlainText;

/// Name of the program.
const PROGRAM: &str = "duckdb";

/// The program on `PATH`.
pub(super) fn find() -> Result<PathBuf, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join(PROGRAM));
    all.find(|file| fs::metadata(file).is_ok_and(|meta| meta.is_file())).ok_or_else(|| {
        Failure::new(Kind::Work, "there is no duckdb on PATH")
            .hint("pip install duckdb-cli, or see https://duckdb.org/install")
    })
}

/// Opens the prompt.
pub(super) fn prompt(program: &Path, views: &str) -> Result<ExitCode, Failure> {
    let file = file_of(views)?;
    let mut command = Command::new(program);
    let status = command.arg("-cmd").arg(reading(file.path())).status().map_err(cannot_run)?;
    Ok(code(status))
}

/// Prints the rows of a query as a table. They may hold names from recordings, which must not control the terminal.
pub(super) fn print(program: &Path, views: &str, query: &str) -> Result<ExitCode, Failure> {
    let mut out = PlainText::new(io::stdout().lock());
    run(program, views, query, "-box", |bytes| out.write_all(bytes).and_then(|()| out.flush()))
}

/// The rows of the last statement of a query, and the exit code.
pub(super) fn rows(
    program: &Path,
    views: &str,
    query: &str,
) -> Result<(Vec<serde_json::Value>, ExitCode), Failure> {
    let mut text = Vec::new();
    let code = run(program, views, query, "-json", |bytes| {
        text.extend_from_slice(bytes);
        Ok(())
    })?;
    let answers = serde_json::Deserializer::from_slice(&text).into_iter();
    let answers: Result<Vec<Vec<serde_json::Value>>, _> = answers.collect();
    let mut answers = answers.map_err(|error| {
        Failure::new(Kind::Work, format_args!("duckdb's rows are not JSON: {error}"))
            .hint("leave --json out to see them")
    })?;
    Ok((answers.pop().unwrap_or_default(), code))
}

fn run(
    program: &Path,
    views: &str,
    query: &str,
    form: &str,
    mut put: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<ExitCode, Failure> {
    let file = file_of(views)?;
    let mut command = Command::new(program);
    command.args(["-batch", "-bail", form, "-cmd"]).arg(reading(file.path()));
    command.arg("-c").arg(query).stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).env("NO_COLOR", "1");
    let mut child = command.spawn().map_err(cannot_run)?;
    let errors = child.stderr.take();
    // Both pipes are read at once: a full one would stop duckdb.
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut errors) = errors {
            let _ = errors.read_to_end(&mut text);
        }
        text
    });
    let mut rows = Vec::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_end(&mut rows).map_err(cannot_run)?;
    }
    let status = child.wait().map_err(cannot_run)?;
    put(&rows)?;
    let errors = errors.join().unwrap_or_default();
    if !status.success() {
        let text = String::from_utf8_lossy(&errors);
        // It ends with 1 if it refuses a query.
        if status.code() != Some(1) {
            let text = format!("duckdb did not answer ({status}): {}", text.trim());
            return Err(Failure::new(Kind::Work, text.trim_end_matches([':', ' ']).to_owned())
                .hint("duckdb --version tells whether it can be started"));
        }
        return Err(Failure::new(Kind::Usage, format_args!("duckdb: {}", text.trim()))
            .hint("tables and columns: memtrail sql --help, and `describe TABLE`"));
    }
    message_of(&errors);
    Ok(ExitCode::SUCCESS)
}

/// Passes on what duckdb reports beside its rows.
fn message_of(errors: &[u8]) {
    let text = String::from_utf8_lossy(errors);
    if !text.trim().is_empty() {
        message!("{}", text.trim());
    }
}

/// A file with the statements, which only its owner reads.
fn file_of(views: &str) -> Result<NamedTempFile, Failure> {
    let written = NamedTempFile::new().and_then(|mut file| {
        file.write_all(views.as_bytes())?;
        Ok(file)
    });
    written.map_err(|error| {
        Failure::new(Kind::Work, format_args!("cannot write a temporary file: {error}"))
    })
}

/// The command of duckdb's that reads statements from a file.
fn reading(file: &Path) -> OsString {
    let mut command = OsString::from(".read \"");
    command.push(file);
    command.push("\"");
    command
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn cannot_run(error: io::Error) -> Failure {
    Failure::new(Kind::Work, format_args!("cannot run duckdb: {error}"))
}

fn code(status: ExitStatus) -> ExitCode {
    ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))
}
