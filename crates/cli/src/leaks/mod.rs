//! `memtrail leaks`: leak suspects, in plain descriptions.

mod args;
mod family;
mod headline;
mod look;
mod markdown;
mod suppressed;
mod text;
mod unnamed;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_engine::leaks::Suspect;
use memtrail_recording::Recording;

use crate::answer::{Answer, JsonAnswer, JsonMaker, Printer, Recipient};
use crate::canvas::WARNING;
use crate::error::{Failure, Kind};
use crate::heap::joined::RecordingArgs;
use crate::problems::Problems;
use crate::recording_cache::RecordingCache;
use crate::recording_facts;
use crate::references::draw as references;
use crate::snapshot_file::{self, MemoryArgs};
use crate::{json, shell_quote};
pub(crate) use args::Args;
pub(crate) use headline::headline;
use look::{Found, look};
pub(crate) use suppressed::Suppressions;
pub(crate) use text::{draw, next_command};

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
    let mut which = RecordingArgs::all_of(path);
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
    let Found { leaks, partial, caveats, unnamed, verdict } = look(args, path)?;
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
        if let Some(note) = unnamed.note() {
            let note = format!("note: {note}; why: memtrail types {recording}");
            canvas.paragraph(WARNING, 2, &note);
        }
        for note in caveats.notes() {
            canvas.paragraph(WARNING, 2, &format!("note: {note}"));
        }
    })
}
