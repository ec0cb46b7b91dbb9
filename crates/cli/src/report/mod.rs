//! `memtrail report`: where memory was allocated, and what of it is still live.

mod args;
mod chain;
mod curve;
mod family;
mod json;
mod link;
mod markdown;
mod places;
mod read;
mod redacted;
mod sparkline;
mod text;
mod when;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::rc::Rc;

use jiff::tz::TimeZone;
use memtrail_profile::Profile;
use memtrail_profile::report::{Moment, Question, Report, TimeSelection};
use memtrail_profile::time::Elapsed;
use memtrail_text::rounded;

pub(crate) use self::args::Args;
use self::family::FamilyReport;
use self::read::{Process, read};
use self::when::{LiveAt, Span, When};
use crate::answer::JsonAnswer;
use crate::canvas;
use crate::caveats;
use crate::damage;
use crate::error::{Failure, Kind};
use crate::figure_files;
use crate::leaks::headline;
use crate::problems::Problems;
use crate::recording_cache::RecordingCache;
use crate::recording_source::RecordingSource;
use crate::snapshot_file::stored;

/// Points of the timeline in JSON.
const JSON_POINTS: usize = 200;

/// Figures of a recording for a report.
struct Found {
    recording: RecordingSource,
    profile: Rc<Profile>,
    selection: TimeSelection,
    report: Report,
    /// The processes, if it is a family's.
    family: Option<FamilyReport>,
    process: Process,
    /// Damage of the files of figures beside the trace.
    damaged: Vec<String>,
}

impl Found {
    /// The result of the command: a failure if the recording is damaged.
    fn verdict(&self) -> Result<ExitCode, Failure> {
        damage::with_figures(&self.recording, &self.profile.damage, &self.damaged)
    }

    /// The command that shows the same as a page.
    fn view(&self) -> String {
        link::command(&self.recording, &self.selection)
    }

    /// All of it for programs.
    fn document<'a>(&'a self, view: &'a str) -> json::Document<'a> {
        let Self { recording, report, family, process, damaged, .. } = self;
        json::document(recording, damaged, view, report, family.as_ref(), process)
    }
}

/// Finds the figures, with so many points of the timeline.
fn find(args: &Args, zone: &TimeZone, points: usize) -> Result<Found, Failure> {
    let recording = args.process.open(&args.recording)?;
    let profile = if recording.is_merged() {
        // The trace was merged anew.
        Rc::new(read(&recording)?)
    } else {
        args.cache.keep("profile".to_owned(), &[&recording.path], || read(&recording))?
    };
    let selection = select(args, &profile, zone)?;
    let question = Question { selection, by: args.by.into(), top: args.limit.0, points };
    let report = Report::new(&profile, &question, &caveats::reported(&recording));
    let family = recording.family.as_ref().map(|family| FamilyReport::new(family, &question));
    let process = Process::of(&recording, &profile);
    let damaged = figure_files::damaged(&recording);
    Ok(Found { recording, profile, selection, report, family, process, damaged })
}

/// The answer as JSON. What is opened is kept in a cache.
pub(crate) fn json(mut args: Args, cache: &RecordingCache) -> Result<JsonAnswer, Failure> {
    args.cache = cache.clone();
    let found = find(&args, &TimeZone::system(), JSON_POINTS)?;
    let mut problems = Problems::default();
    problems.add(found.verdict());
    let value = serde_json::to_value(found.document(&found.view()));
    let value = value.map_err(std::io::Error::from)?;
    Ok(JsonAnswer { value, problems: problems.into_failures() })
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let zone = TimeZone::system();
    let width = canvas::width(args.width);
    let points = if args.json { JSON_POINTS } else { curve::points(width) };
    let found = find(args, &zone, points)?;
    let Found { recording, selection, report, family, process, .. } = &found;
    if args.markdown {
        let mut report = report.clone();
        if args.redact {
            redacted::redact(&mut report, &stored::library_units(&recording.path));
        }
        let page = markdown::Page { report: &report, recording, is_redacted: args.redact };
        write!(anstream::stdout(), "{page}")?;
        return found.verdict();
    }
    let text = if args.json {
        json::render(&found.document(&found.view()))
    } else {
        // A family's verdict is on each of its processes.
        let verdict = if recording.family.is_none() { headline(recording) } else { None };
        let verdict = verdict.as_deref();
        let mut text =
            text::render(recording, report, family.as_ref(), process, verdict, width, &zone);
        let in_browser =
            (report.totals.allocated.samples > 0).then(|| link::command(recording, selection));
        let leaks = verdict.map(|_| link::leaks(recording));
        for (what, command) in [
            ("the evidence on leaks", leaks),
            ("in the browser", in_browser),
            ("what retains it", link::heap(recording)),
        ] {
            let (faint, plain) = (canvas::FAINT.render(), canvas::FAINT.render_reset());
            if let Some(command) = command {
                let _ = writeln!(text, "{faint}{what}:{plain} {command}");
            }
        }
        text
    };
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    found.verdict()
}

/// Places what was typed in the recording's time.
fn select(args: &Args, profile: &Profile, zone: &TimeZone) -> Result<TimeSelection, Failure> {
    let span = Span::new(profile.info.start.0, profile.end, zone.clone());
    let place = |when: When| span.place(when).map_err(|error| Failure::new(Kind::Usage, error));
    let live_at = match (args.live_at, args.allocated) {
        (Some(LiveAt::Peak), _) | (None, None) => Some(Moment::Peak),
        (Some(LiveAt::End), _) => Some(Moment::End),
        (Some(LiveAt::Time(when)), _) => Some(Moment::At(inside(place(when)?, &span)?)),
        (None, Some(_)) => None,
    };
    // A range may reach beyond the recording.
    let bound = |when: Option<When>| -> Result<_, Failure> {
        let at = when.map(place).transpose()?;
        Ok(at.map(|at| Elapsed(u64::try_from(at).unwrap_or(0))))
    };
    let (from, to) = args.allocated.map_or((None, None), |range| (range.0, range.1));
    let (from, to) = (bound(from)?, bound(to)?);
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        let message = format_args!(
            "nothing can be allocated from {} to {}",
            rounded::seconds(from.seconds()),
            rounded::seconds(to.seconds())
        );
        return Err(Failure::new(Kind::Usage, message).hint("the earlier time comes first: A..B"));
    }
    Ok(TimeSelection { live_at, from, to })
}

fn inside(at: i64, span: &Span) -> Result<Elapsed, Failure> {
    match u64::try_from(at) {
        Ok(at) if at <= span.end.0 => Ok(Elapsed(at)),
        _ => {
            let start = span.start.to_zoned(span.zone.clone());
            let end = jiff::SignedDuration::from_micros(i64::try_from(span.end.0).unwrap_or(0));
            let until = start.saturating_add(end);
            let message = format_args!(
                "the moment is outside the recording, which took {} ({} to {})",
                rounded::seconds(span.end.seconds()),
                start.strftime("%F %T"),
                until.strftime("%F %T %Z"),
            );
            Err(Failure::new(Kind::Usage, message).hint("`--live-at end` is its last moment"))
        }
    }
}
