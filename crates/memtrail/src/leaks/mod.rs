//! `memtrail leaks`: leak suspects, in plain descriptions.

mod family;
mod headline;
mod look;
mod markdown;
mod suppressed;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_engine::leaks::{LeaksResponse, Suspect};
use memtrail_recording::Recording;
use memtrail_text::rounded::{bytes, percent};

use crate::answer::{Answer, Form, JsonAnswer, JsonMaker, Printer, Recipient};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, WARNING};
use crate::error::{Failure, Kind};
use crate::heap::joined::WhichRecording;
use crate::limit::{Limit, draw_left_out};
use crate::problems::Problems;
use crate::recording_cache::RecordingCache;
use crate::recording_facts;
use crate::references::draw as references;
use crate::snapshot_file::{self, MemoryArgs};
use crate::{json, shell_quote};
pub(crate) use headline::headline;
use look::{Found, look};
pub(crate) use suppressed::Suppressions;

/// List leak suspects: what grows, who allocated it, what owns it
///
/// A suspect is a variable, stack or other root that grows with the work of the program: bytes allocated, not seconds. It
/// is judged by its exact sizes in all snapshots. With fewer than five, birth dates decide: the blocks that a leak keeps are
/// from all parts of the work, those of a warm-up are early, those of a cache late. A cache that was filled at the start is
/// no suspect, nor is memory that comes and goes. If there is no suspect, the largest owners are listed with the reason.
///
/// Of a program in C, C++ or Rust (`memtrail run --native`) a suspect is a call site that allocates ever more than is
/// freed. With `--snapshot exit`, blocks to which nothing refers are listed before, by a conservative scan. Of an OCaml
/// program with its memory from malloc (`memtrail run --native=also`) both are judged.
///
/// Of a folder of several processes, the suspects of all are listed, the largest growth first.
///
/// Functions that are named are the program's own: the nearest on the stack to the allocation in a library.
/// Variables have names and types as far as the compiler's files are found (`memtrail types REC` shows how far).
#[derive(clap::Args)]
#[command(after_help = "\
  memtrail run -- ./server                     record it, and end it by Ctrl-C
  memtrail leaks server-4711.memtrail          what leaks
  memtrail why server-4711.memtrail NAME       what retains what a function allocated
  memtrail snapshot PID                        one more heap snapshot, of a server that runs")]
pub(crate) struct Args {
    #[command(flatten)]
    which: WhichRecording,
    /// Maximum number of suspects; 0 for all
    #[arg(long, value_name = "N", default_value = "10")]
    limit: Limit,
    #[command(flatten)]
    known: Suppressions,
    #[command(flatten)]
    form: Form,
    /// Print the suspects as Markdown, for a bug report
    #[arg(long, conflicts_with_all = ["json", "width", "evidence"])]
    markdown: bool,
    /// Print the evidence that was judged, as one JSON object: sizes by snapshot and dates of samples
    #[arg(long, conflicts_with_all = ["json"])]
    evidence: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let recordings = args.which.all()?;
    match recordings.as_slice() {
        [only] if args.evidence || args.markdown => write(args, only),
        _ if args.markdown => {
            Err(Failure::new(Kind::Usage, "--markdown shows the suspects of one process")
                .hint("choose it with --process PID"))
        }
        all => answer(args, all, Printer),
    }
}

/// The answer as JSON. What is opened is kept in a cache.
pub(crate) fn json(mut args: Args, cache: &RecordingCache) -> Result<JsonAnswer, Failure> {
    args.which.keep_in(cache);
    answer(&args, &args.which.all()?, JsonMaker)
}

fn answer<R: Recipient>(
    args: &Args,
    recordings: &[PathBuf],
    recipient: R,
) -> Result<R::Received, Failure> {
    match recordings {
        [only] => one(args, only, recipient),
        several => family::answer(args, several, recipient),
    }
}

/// All suspects of a recording, as they are judged. One without anything to judge has none.
pub(crate) fn suspects(path: &Path, memory: MemoryArgs) -> Result<Vec<Suspect>, Failure> {
    let recording = Recording::open(path)?;
    let has_sites =
        recording_facts::has_malloc(&recording) || recording_facts::is_native(&recording);
    if snapshot_file::of_recording(path).is_empty() && !has_sites {
        return Ok(Vec::new());
    }
    let mut which = WhichRecording::all_of(path);
    which.memory = memory;
    Ok(look::look_at(&which, path, usize::MAX)?.leaks.suspects)
}

/// Writes the evidence of a recording, or Markdown.
fn write(args: &Args, path: &Path) -> Result<ExitCode, Failure> {
    let Found { leaks, partial, verdict, .. } = look(args, path)?;
    if args.evidence {
        json::print(&leaks.evidence)?;
    } else {
        let page = markdown::Page { leaks: &leaks, recording: path, partial: partial.as_deref() };
        write!(anstream::stdout(), "{page}")?;
    }
    verdict
}

fn one<R: Recipient>(args: &Args, path: &Path, recipient: R) -> Result<R::Received, Failure> {
    let Found { leaks, partial, caveats, lacks_names, verdict } = look(args, path)?;
    let recording = shell_quote::path(path);
    let mut problems = Problems::default();
    problems.add(verdict);
    let answer = Answer { value: &leaks, damage: partial, problems };
    recipient.receive(&args.form, answer, |canvas| {
        if let Some(unreachable) = &leaks.unreachable {
            references::unreachable(canvas, unreachable);
            canvas.gap();
        }
        draw(canvas, &leaks, &recording);
        if lacks_names {
            let note = format!(
                "the program's variables have no names and types; why: memtrail types {recording}"
            );
            canvas.paragraph(WARNING, 2, &format!("note: {note}"));
        }
        for note in caveats.notes() {
            canvas.paragraph(WARNING, 2, &format!("note: {note}"));
        }
    })
}

/// Prints suspects; `recording` is what commands are to be called with.
pub(crate) fn draw(canvas: &mut Canvas, leaks: &LeaksResponse, recording: &str) {
    if leaks.suspects.is_empty() {
        canvas.paragraph(STRONG, 2, &leaks.conclusion.description);
    }
    for (number, suspect) in (1..).zip(&leaks.suspects) {
        draw_suspect(canvas, number, suspect, recording);
        canvas.gap();
    }
    draw_more_suspects(canvas, leaks.left_out);
    for description in &leaks.summary {
        canvas.paragraph(PLAIN, 2, description);
    }
    if !leaks.cleared.is_empty() {
        canvas.gap();
        canvas.line(&[(PLAIN, "not suspected, by size:")]);
    }
    for owner in &leaks.cleared {
        let size = bytes(owner.bytes.0 as f64);
        let text = format!("  {}, {size}, {}: {}", owner.owner, percent(owner.share), owner.reason);
        canvas.item(FAINT, "  ", 4, &text);
    }
}

fn draw_more_suspects(canvas: &mut Canvas, left_out: usize) {
    draw_left_out(canvas, left_out, if left_out == 1 { "suspect" } else { "suspects" });
}

/// The command that leads further from a suspect, with the arguments that it needs.
fn next_line(suspect: &Suspect, recording: &str) -> Option<String> {
    let has_samples = suspect.alive + suspect.freed > 0 || !suspect.allocated.is_empty();
    let next = next_command(suspect.next.as_deref(), suspect.kind, &suspect.owner, has_samples);
    let (command, name) = next?;
    Some(format!("memtrail {command} {recording} {}", shell_quote::shell_quote(name)))
}

fn draw_suspect(canvas: &mut Canvas, number: usize, suspect: &Suspect, recording: &str) {
    canvas.item(STRONG, &format!("{number:2} "), 3, &suspect.heading);
    for description in &suspect.descriptions {
        canvas.item(PLAIN, "   ", 5, description);
    }
    canvas.item(FAINT, "   ", 5, &format!("{}: {}", suspect.rule, suspect.evidence));
    if let Some(command) = next_line(suspect, recording) {
        // Whole, to be copied, on however many lines.
        canvas.item(PLAIN, "   ", 5, &format!("next: {command}"));
    }
}

/// What to ask next: what retains what the program's own function allocated; or, of what a library allocated from its
/// event loop, which calls allocated what the variable owns. Without samples it is what else leads to the variable's memory.
pub(crate) fn next_command<'a>(
    function: Option<&'a str>,
    kind: &str,
    owner: &'a str,
    has_samples: bool,
) -> Option<(&'static str, &'a str)> {
    let is_variable = ["global", "static"].contains(&kind);
    let of_variable = if has_samples { "who" } else { "heap roots" };
    function.map(|function| ("why", function)).or(is_variable.then_some((of_variable, owner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the page that leaks its visitors, neither suspect said what to do next.
    #[test]
    fn of_what_a_library_allocated_its_variable_is_asked_for() {
        let table = "Eliom_comet / field 63";
        assert_eq!(next_command(None, "global", table, true), Some(("who", table)));
        assert_eq!(
            next_command(Some("Feed.page"), "global", table, true),
            Some(("why", "Feed.page"))
        );
        assert_eq!(next_command(None, "global", table, false), Some(("heap roots", table)));
        assert_eq!(next_command(None, "stack", "Server.main", true), None);
        assert_eq!(next_command(None, "site", "read_body", true), None);
    }
}
