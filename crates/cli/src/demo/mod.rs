//! `memtrail demo`: a program that leaks, recorded, and its leaks pointed at.

mod compiler;
mod findings;
mod recorded;
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

/// Explain the three leaks of a small program
///
/// The program is a news server that is never restarted. It has a cache that never evicts, a queue
/// that falls behind, and a list of callbacks that retains closures. With OCaml's compiler (ocamlopt) the
/// demo builds the program and records it for some seconds, with a heap snapshot at its end. Then it shows for each
/// leak what allocated and what retains it. Without the compiler it shows the leaks and the largest owners
/// in a recording that memtrail carries. The recording stays in the current folder.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Show the recording that memtrail carries, also if there is a compiler
    #[arg(long, conflicts_with_all = ["yes", "rate"])]
    recorded: bool,

    /// Install OCaml's compiler if it is missing (Debian, Ubuntu)
    #[arg(short, long)]
    yes: bool,

    /// Samples per word allocated, as for `memtrail run`
    #[arg(long, default_value = "1e-3")]
    rate: String,

    /// Folder of the recording [default: leaks-<pid>.memtrail]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

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
    let default = || PathBuf::from(format!("leaks-{}.memtrail", std::process::id()));
    let recording = args.output.clone().unwrap_or_else(default);
    let compiler = if args.recorded { None } else { compiler::find() };
    let compiler = match compiler {
        None if args.yes => Some(compiler::install()?),
        found => found,
    };
    match &compiler {
        Some(ocamlopt) => build_and_record(ocamlopt, &args.rate, &recording)?,
        None => recorded::unpack_into(&recording)
            .map_err(|e| cannot(&format!("write {}", recording.display()), &e))?,
    }
    if args.json {
        let findings = find(&recording)?;
        json::write(&mut io::stdout().lock(), &Answer { findings: &findings })?;
        return Ok(ExitCode::SUCCESS);
    }
    if compiler.is_some() {
        explain(&recording)?;
    } else {
        if !args.recorded {
            message!(
                "memtrail: there is no ocamlopt on PATH: this is a stored recording of the demo's server"
            );
            message!(
                "hint: to record the server here, install OCaml: {}",
                compiler::installation()
            );
        }
        play(&recording)?;
        writeln!(
            anstream::stdout().lock(),
            "\nThe third leak, the queue Leaks.Outbox.pending, takes more than two snapshots: see above why it cannot be judged."
        )?;
    }
    let name = crate::shell_quote::path(&recording);
    writeln!(
        anstream::stdout().lock(),
        "\nGo on with:\n  \
         memtrail view {name}\n  \
         memtrail leaks {name}\n  \
         memtrail report {name} --live-at end --by function\n  \
         memtrail heap sites {name}\n  \
         memtrail run -- YOUR PROGRAM"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn build_and_record(ocamlopt: &Path, rate: &str, recording: &Path) -> Result<(), Failure> {
    let folder = Workshop::new()?;
    let program = compiler::compile(ocamlopt, folder.path(), "leaks", SOURCE)?;
    message!("recording a news server with three leaks, for some seconds");
    record(&program, rate, recording)?;
    if let Err(why) = variables::name(memtrail()?, &program, recording) {
        message!("memtrail: note: variables are shown by their numbers, not names: {why}");
    }
    Ok(())
}

fn find(recording: &Path) -> Result<Vec<findings::Finding>, Failure> {
    let recorded = Recording::open(recording)?;
    let profile = read(&recorded.trace)?;
    findings::find(recorded, &profile)
}

/// Shows what is live at the end, and the three leaks in a few sentences.
fn explain(recording: &Path) -> Result<(), Failure> {
    let findings = find(recording)?;
    ask(recording, &["report"], &["--live-at", "end", "--limit", "5"])?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "\nThe three leaks:")?;
    for (number, finding) in findings.iter().enumerate() {
        writeln!(out, "{}", wrapped(&format!("  {}. ", number + 1), &finding.description()))?;
        if let Some(retainer) = &finding.retained_by {
            writeln!(out, "{}", wrapped("     ", &retainer.description()))?;
        }
    }
    Ok(())
}

/// Shows the leak suspects and the largest owners, each below its command.
fn play(recording: &Path) -> Result<(), Failure> {
    let name = crate::shell_quote::path(recording);
    writeln!(anstream::stdout(), "$ memtrail leaks {name}")?;
    ask(recording, &["leaks"], &[])?;
    writeln!(anstream::stdout(), "\n$ memtrail heap roots {name} --limit 4")?;
    ask(recording, &["heap", "roots"], &["--limit", "4"])
}

/// Runs the command that the user will type.
fn ask(recording: &Path, command: &[&str], options: &[&str]) -> Result<(), Failure> {
    let mut child = memtrail()?;
    child.args(command).arg(recording).args(options);
    let name = command.join(" ");
    let status = child.status().map_err(|e| cannot(&format!("start memtrail {name}"), &e))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(Kind::Work, format_args!("memtrail {name} ended with {status}")))
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
    Profile::read(&bytes, &mut |_| ())
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
