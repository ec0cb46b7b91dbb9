//! `memtrail demo`: a program that leaks, recorded, and its leaks pointed at.

mod compiler;
mod findings;
mod retainers;
mod variables;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use memtrail_profile::Profile;
use memtrail_recording::Recording;
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::json;

/// The program. Its three leaks are what [`findings`] looks for.
const SOURCE: &str = include_str!("leaks.ml");

/// Build and record a small program with three leaks, and explain them
///
/// The program is a news server that is never restarted: it has a cache that never evicts, a queue
/// that falls behind, and a list of callbacks that retains closures. It runs for some seconds, and a
/// heap snapshot is taken at the end: for each leak, the demo shows what allocated and what retains it.
/// The recording stays in the current folder. Needs OCaml's native compiler, ocamlopt; if there is none,
/// it offers to install it (Debian, Ubuntu), or shows how to.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Install OCaml without asking if it is missing
    #[arg(short, long)]
    yes: bool,

    /// Samples per word allocated, as for `memtrail run`
    #[arg(long, default_value = "1e-3")]
    rate: String,

    /// Print the findings as JSON, and nothing else, on standard output
    #[arg(long)]
    json: bool,
}

/// The answer.
#[derive(Serialize)]
struct Answer<'f> {
    findings: &'f [findings::Finding],
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let ocamlopt = compiler::find(args.yes)?;
    let folder = Workshop::new()?;
    let program = compiler::compile(&ocamlopt, folder.path(), "leaks", SOURCE)?;
    let recording = PathBuf::from(format!("leaks-{}.memtrail", std::process::id()));
    message!("recording a news server with three leaks, for some seconds");
    record(&program, &args.rate, &recording)?;
    if let Err(why) = variables::name(memtrail()?, &program, &recording) {
        message!("memtrail: note: variables are shown by their numbers, not names: {why}");
    }

    let recorded = Recording::open(&recording)?;
    let profile = read(&recorded.trace)?;
    let findings = findings::find(recorded, &profile)?;
    if args.json {
        let answer = Answer { findings: &findings };
        json::write(&mut io::stdout().lock(), &answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    // The report comes from the command that the user will type.
    let mut report = memtrail()?;
    report.arg("report").arg(&recording).args(["--live-at", "end", "--limit", "5"]);
    let status = report.status().map_err(|e| cannot("start memtrail report", &e))?;
    if !status.success() {
        return Err(Failure::new(Kind::Work, format_args!("memtrail report ended with {status}")));
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "\nThe three leaks:")?;
    for (number, finding) in findings.iter().enumerate() {
        writeln!(out, "{}", wrapped(&format!("  {}. ", number + 1), &finding.description()))?;
        if let Some(retainer) = &finding.retained_by {
            writeln!(out, "{}", wrapped("     ", &retainer.description()))?;
        }
    }
    let name = recording.display();
    writeln!(
        out,
        "\nGo on with:\n  \
         memtrail leaks {name}\n  \
         memtrail view {name}\n  \
         memtrail report {name} --live-at end --by function\n  \
         memtrail heap roots {name}\n  \
         memtrail heap sites {name}\n  \
         memtrail run -- YOUR PROGRAM"
    )?;
    Ok(ExitCode::SUCCESS)
}

/// This program itself: the demo runs what a user would type.
fn memtrail() -> Result<Command, Failure> {
    let path = std::env::current_exe().map_err(|e| cannot("find memtrail itself", &e))?;
    Ok(Command::new(path))
}

fn record(program: &Path, rate: &str, recording: &Path) -> Result<(), Failure> {
    let mut command = memtrail()?;
    command
        .args(["run", "--quiet", "--snapshot", "exit", "--rate", rate, "-o"])
        .arg(recording)
        .arg("--")
        .arg(program);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.status().map_err(|e| cannot("start memtrail run", &e))?;
    if !status.success() {
        // It has said why.
        return Err(Failure::new(Kind::Work, format_args!("the program ended with {status}")));
    }
    if !recording.exists() {
        return Err(Failure::new(Kind::Work, "the program ran, but was not recorded")
            .hint(format_args!("memtrail run -- {} says why", program.display())));
    }
    Ok(())
}

fn read(trace: &Path) -> Result<Profile, Failure> {
    let bytes = fs::read(trace).map_err(|e| cannot(&format!("read {}", trace.display()), &e))?;
    Profile::read(&bytes, |_| ())
        .map_err(|error| Failure::new(Kind::Input, format_args!("{}: {error}", trace.display())))
}

/// A folder to compile in, removed at the end.
struct Workshop(PathBuf);

impl Workshop {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("memtrail-demo-{}", std::process::id()));
        // Fails if someone has prepared one for us.
        fs::create_dir(&path).map_err(|e| cannot(&format!("make {}", path.display()), &e))?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn cannot(what: &str, error: &io::Error) -> Failure {
    Failure::new(Kind::Work, format_args!("cannot {what}: {error}"))
}

/// The text in lines of at most 78 columns, the first one after `head`, the others below it. A
/// number stays with its unit.
fn wrapped(head: &str, text: &str) -> String {
    const JOINED: char = '\u{a0}';
    let units = ["%", "±", "B", "KiB", "MiB", "GiB"];
    let mut joined = String::new();
    for word in text.split(' ') {
        let unit = units.iter().any(|u| word.trim_end_matches(',') == *u) || word.starts_with('±');
        if !joined.is_empty() {
            joined.push(if unit { JOINED } else { ' ' });
        }
        joined.push_str(word);
    }
    let mut lines = vec![head.to_owned()];
    for word in joined.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        let columns = |text: &str| unicode_width::UnicodeWidthStr::width(text);
        if columns(line) + 1 + columns(word) > 78 {
            lines.push(format!("{}{word}", " ".repeat(head.len())));
        } else {
            if !line.ends_with(' ') {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n").replace(JOINED, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_wrapped_under_their_number() {
        let text = "word ".repeat(30);
        let lines = wrapped("  1. ", text.trim());
        assert!(lines.lines().all(|line| line.len() <= 78), "{lines}");
        assert_eq!(lines.lines().nth(1).map(|l| &l[..7]), Some("     wo"));
        assert_eq!(lines.split_whitespace().count(), 31);
    }

    #[test]
    fn numbers_stay_with_their_units() {
        for letters in 50..80 {
            let text = format!("{} 31.5 ±1.6 MiB, 24 % of it", "x".repeat(letters));
            let lines = wrapped("  1. ", &text);
            assert!(lines.contains("31.5 ±1.6 MiB,"), "{lines}");
            assert!(lines.contains("24 %"), "{lines}");
        }
    }
}
