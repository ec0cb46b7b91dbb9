//! `memtrail check`: a gate for continuous integration.

mod answer;
mod family;
mod gates;
mod judge;
mod junit;
mod markdown;
mod text;

use std::ffi::OsString;
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_recording::{Recording, successor};
use memtrail_text::Size;

use crate::canvas::{self, Canvas};
use crate::error::{Failure, Kind};
use crate::output::Output;
use crate::recording_facts;
use crate::recording_source::{Process, RecordingSource};
use crate::run::{self, End, NativeArgs, Request, SnapshotArgs};
use crate::shell_quote::shell_quote;
use crate::snapshot_file::MemoryArgs;
use crate::{html, json};
use answer::{Checked, Judged, Verdict};
use gates::Gates;

/// What a page for the build's artifacts may have.
const MAX_PAGE: Size = Size(20 << 20);

/// Run a program, and fail if it needs more memory than it may
///
/// The program is recorded as by `memtrail run`. Afterwards each limit is judged, and it is printed on standard
/// error why it passed or failed. Figures are estimates from samples, so limits are compared with confidence: a
/// program whose true figures keep all limits fails once in a thousand runs at most. What is too near to its limit
/// to tell passes with a note; a higher --rate tells more.
///
/// The recording is removed if all gates pass, unless -o or --keep is given.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail check --max-live 200M -- ./job input
  memtrail check --no-leak --max-growth '1%/min' -- ./server --requests 10000
  memtrail check --site 'Cache.*<=10M' --site 'in:Parser.parse<=50M' -- ./job
  memtrail check --baseline main.memtrail --max-increase 5% -- ./job
  memtrail check --max-total 2G --junit memory.xml --markdown memory.md --html memory.html -- ./job
  memtrail check --children --max-live 2G --no-leak -- make test
  memtrail check --max-live 200M --recording job.memtrail

Exit codes: 0 all gates passed; 4 a gate failed; 5 the program failed (by its exit code or a signal; it is not
judged then); 6 a gate could not be judged, or the program cannot be recorded; 2 and 3 as everywhere: the command
line is wrong, an input file is; 126 and 127 if the program cannot be executed or does not exist.")]
#[allow(clippy::struct_excessive_bools, reason = "one for each switch of the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    gates: Gates,

    /// Pass --no-leak if there is too little evidence to judge it (otherwise exit code 6)
    #[arg(long, requires = "no_leak")]
    allow_undecided: bool,

    /// Judge this recording; nothing is run
    #[arg(long, value_name = "REC", conflicts_with_all = ["command", "output", "keep", "rate", "children", "native", "seed"])]
    recording: Option<PathBuf>,

    /// The recording's folder, which is kept; it must not exist yet. With --children the folder to put recordings in
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Keep the recording even if all gates pass
    #[arg(long)]
    keep: bool,

    /// Samples per word allocated, as of `memtrail run` [default: 1e-4, adapted]
    #[arg(long, value_parser = run::parse_rate)]
    rate: Option<f64>,

    /// Record forked children and programs started by the program, too, as of `memtrail run`. Limits of sizes are of all
    /// processes together; --no-leak looks at each that has a heap snapshot
    #[arg(long)]
    children: bool,

    #[command(flatten)]
    native: NativeArgs,

    /// Choose the sampler's random numbers
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    snapshots: SnapshotArgs,

    #[command(flatten)]
    memory: MemoryArgs,

    #[expect(clippy::doc_markdown, reason = "help for terminals has no backticks around names")]
    /// Write the results as JUnit XML, a test case for each gate
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    junit: Option<PathBuf>,

    /// Write a summary in Markdown
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    markdown: Option<PathBuf>,

    /// Write the recording and the page that shows it, to which the other results refer
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    html: Option<PathBuf>,

    /// Print the results as one JSON object, on standard error; with --recording on standard output
    #[arg(long, help_heading = "Results")]
    json: bool,

    /// The program and its arguments
    #[arg(trailing_var_arg = true, required_unless_present = "recording", value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let gates = args.gates.resolve()?;
    let checked = match &args.recording {
        Some(path) => {
            let path = at_work(path);
            let source = Process::default().open(&path)?;
            let mut checked = Checked::new(program_of(&source));
            checked.recording = Some(path);
            judge_into(&mut checked, args, source, &gates)?;
            checked
        }
        None => run_and_judge(args, &gates)?,
    };
    write_results(args, &checked)?;
    print(args, &checked)?;
    Ok(checked.exit_code())
}

/// Runs the program, and judges its recording unless it failed.
fn run_and_judge(args: &Args, gates: &gates::Resolved) -> Result<Checked, Failure> {
    args.native.check(&args.snapshots)?;
    let program = args.command.first().map_or_else(String::new, |word| file_name(Path::new(word)));
    let mut checked = Checked::new(program);
    let request = Request {
        command: args.command.clone(),
        output: args.output.clone(),
        rate: args.rate,
        children: args.children,
        native: args.native.clone(),
        seed: args.seed,
        snapshots: args.snapshots.clone(),
        at_exit: gates.use_snapshots(),
    };
    let recorded = match run::record(request) {
        Ok(recorded) => recorded,
        Err(failure) if failure.kind() == Kind::Launch => {
            checked.could_not_judge(failure.message());
            return Ok(checked);
        }
        Err(failure) => return Err(with_recording(args, failure)),
    };
    let first = recorded.folders.first().map(|first| at_work(first));
    let folder = recorded.family.clone().filter(|_| first.is_some()).or(first);
    checked.recording.clone_from(&folder);
    match (recorded.end, &folder) {
        (End::Exited(0), Some(folder)) => {
            if let Some(why) = running(&recorded.folders)? {
                checked.could_not_judge(&why);
            } else {
                let source = Process::default().open(folder)?;
                judge_into(&mut checked, args, source, gates)?;
            }
        }
        (End::Exited(0), None) => checked.could_not_judge("the program was run, and not recorded"),
        (End::Exited(code), _) => checked.program_failed(&format!("exit code {code}")),
        (End::Killed(signal), _) => checked.program_failed(&format!("killed by signal {signal}")),
    }
    let is_wanted = args.keep || args.output.is_some();
    if matches!(checked.verdict, Verdict::Passed | Verdict::Undecided) && !is_wanted {
        recorded.remove()?;
        checked.recording = None;
    }
    Ok(checked)
}

/// The recording of the program that did the work: a wrapper script becomes it (`exec`).
fn at_work(folder: &Path) -> PathBuf {
    let successor = Recording::open(folder).ok().and_then(|first| successor(&first));
    successor.map_or_else(|| folder.to_path_buf(), |later| later.path)
}

/// The failure to start a program, with the command that was meant if a recording was named in place of one.
fn with_recording(args: &Args, failure: Failure) -> Failure {
    let [named] = args.command.as_slice() else { return failure };
    let is_start = matches!(failure.kind(), Kind::NotFound | Kind::NotExecutable);
    if !is_start || Recording::open(Path::new(named)).is_err() {
        return failure;
    }
    // The command is the last word.
    let words: Vec<OsString> = std::env::args_os().collect();
    let options = words.get(1..words.len().saturating_sub(1)).unwrap_or_default();
    let options = options.iter().filter(|word| *word != "--");
    let typed = options.fold("memtrail".to_owned(), |typed, word| {
        format!("{typed} {}", shell_quote(&word.to_string_lossy()))
    });
    let named = shell_quote(&named.to_string_lossy());
    failure.hint(format_args!("it is a recording: {typed} --recording {named}"))
}

/// Which process runs on, if one does: what it is going to need is not known yet.
fn running(folders: &[PathBuf]) -> Result<Option<String>, Failure> {
    for folder in folders {
        if recording_facts::grows(&Recording::open(folder)?) {
            return Ok(Some(format!("{}: the process runs on", folder.display())));
        }
    }
    Ok(None)
}

/// Judges a recording, and writes the page while the recording is there.
fn judge_into(
    checked: &mut Checked,
    args: &Args,
    source: RecordingSource,
    gates: &gates::Resolved,
) -> Result<(), Failure> {
    match judge(&source, gates, args.memory) {
        Ok(answer) => checked.judged(answer, args.allow_undecided),
        Err(failure) if failure.kind() == Kind::Unjudged => {
            checked.could_not_judge(failure.message());
        }
        Err(failure) => return Err(failure),
    }
    if let Some(path) = &args.html {
        let (recordings, _files) = source.shown()?;
        html::write(&recordings, path, MAX_PAGE, args.memory)?;
        checked.page = Some(path.clone());
    }
    Ok(())
}

/// Judges a recording, or all processes of a family. One that is not whole is not judged.
fn judge(
    source: &RecordingSource,
    gates: &gates::Resolved,
    memory: MemoryArgs,
) -> Result<Vec<Judged>, Failure> {
    let mut judged = if let Some(of) = &source.family {
        family::judge(source, of, gates, memory)?
    } else {
        let baseline = gates.baseline.as_deref();
        Judged::of_all(judge::ask(source, memory, &gates.gates, baseline, Vec::new(), 0)?)
    };
    // Without any sample, nothing is known of names.
    if source.description.as_ref().is_none_or(|known| known.trace.blocks > 0) {
        gates.mark_unmatched(&mut judged);
    }
    Ok(judged)
}

fn write_results(args: &Args, checked: &Checked) -> Result<(), Failure> {
    if let Some(path) = &args.junit {
        write(path, &junit::Suite { checked, file: path })?;
    }
    if let Some(path) = &args.markdown {
        write(path, &markdown::Summary { checked, file: path })?;
    }
    Ok(())
}

fn write(path: &Path, text: &impl fmt::Display) -> Result<(), Failure> {
    let output = Output::create(path)?;
    let text = text.to_string();
    (&output.file).write_all(text.as_bytes()).map_err(|error| output.failure(&error))?;
    output.keep()
}

fn print(args: &Args, checked: &Checked) -> Result<(), Failure> {
    // Standard output is the program's, if one was run.
    let is_alone = args.recording.is_some();
    if args.json {
        if is_alone {
            return json::print(checked);
        }
        json::report(checked);
        return Ok(());
    }
    let mut canvas = Canvas::new(canvas::width(None));
    text::draw(&mut canvas, checked);
    let text = canvas.finish();
    if is_alone {
        anstream::stdout().lock().write_all(text.as_bytes())?;
    } else {
        // Whoever closed it does not want to read it; the exit code says the most.
        let _ = anstream::stderr().lock().write_all(text.as_bytes());
    }
    Ok(())
}

fn program_of(recording: &Recording) -> String {
    let known = recording.description.as_ref().map(|known| known.program.clone());
    file_name(&known.map_or_else(|| recording.path.clone(), PathBuf::from))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
