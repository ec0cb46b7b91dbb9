//! The processes of a family: what each of them and each generation allocated.

use memtrail_order::SortRows as _;
use memtrail_profile::Caveats;
use memtrail_profile::report::{Amount, Question, Report, Totals};
use memtrail_recording::collections::summary::Span;
use memtrail_recording::family::{Family, Member, Origin};
use memtrail_recording::{FileState, Recording, SMALLEST_WITH_LAST_SNAPSHOT, has_no_last_snapshot};
use memtrail_text::rounded::{bytes, grouped, percent, seconds};
use serde::Serialize;

use super::read::read;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::heap::table::Table;
use crate::outcome;
use crate::process::collections;
use crate::process::memory::{Moment, ResidentMemory};

/// Processes in the table, at most.
const MAX_ROWS: usize = 40;
/// Programs that are named of those that did nothing, at most.
const MAX_NAMED: usize = 5;

/// The processes of a family.
#[derive(Serialize)]
pub(super) struct FamilyReport {
    /// In the order in which they began.
    processes: Vec<Process>,
    generations: Vec<Generation>,
    /// Sums over all processes. Peaks are at different times: that of all together is the report's.
    allocated: Amount,
    promoted: Amount,
}

/// A process, or one of the programs that a process was.
#[derive(Serialize)]
struct Process {
    /// The folder of its recording, in the family's.
    recording: String,
    pid: Option<u32>,
    program: String,
    arguments: Vec<String>,
    /// The process id of its parent, if that is recorded.
    parent: Option<u32>,
    /// `first`, `forked`, `started`, or `replaced` for a program that its process became.
    origin: &'static str,
    generation: u32,
    /// When it began, since the first did.
    start_seconds: Option<f64>,
    /// How long it was recorded, up to its end if that was seen.
    duration_seconds: Option<f64>,
    /// How it ended, in words.
    outcome: Option<String>,
    running: bool,
    snapshots: usize,
    /// True if no snapshot was taken at its end, as it allocated too little.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_last_snapshot: bool,
    /// Absent if it did nothing, or cannot be read.
    totals: Option<Totals>,
    /// What its resident memory was used for when it was last measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Moment>,
    /// What its garbage collector did.
    #[serde(skip_serializing_if = "Option::is_none")]
    collections: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Serialize)]
struct Generation {
    #[serde(rename = "generation")]
    number: u32,
    processes: usize,
    allocated: Amount,
}

impl FamilyReport {
    /// Sums up each process by itself.
    pub(super) fn new(family: &Family, question: &Question) -> Self {
        let began = |member: &Member| Some(member.description()?.clock.start_unix_us);
        let first = family.members.iter().filter_map(began).min().unwrap_or(0);
        let processes = family.members.iter().map(|member| {
            let parent = member.parent.and_then(|parent| family.members[parent].pid());
            let description = member.description();
            let (totals, problem) = match &member.recording {
                Err(error) => (None, Some(error.to_string())),
                Ok(_) if member.did_nothing() => (None, None),
                Ok(recording) => match totals(recording, question) {
                    Ok(totals) => (Some(totals), recording.problem.clone()),
                    Err(problem) => (None, Some(problem)),
                },
            };
            let measured = member.recording.as_ref().ok();
            let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e6;
            let start = began(member);
            let end = description.and_then(|description| description.ended_unix_us);
            Process {
                recording: member.name.clone(),
                pid: member.pid(),
                program: member.program().to_owned(),
                arguments: description.map(|d| d.arguments.clone()).unwrap_or_default(),
                parent,
                origin: match member.origin {
                    Origin::First => "first",
                    Origin::Forked => "forked",
                    Origin::Started => "started",
                    Origin::Replaced => "replaced",
                },
                generation: member.generation,
                start_seconds: start.map(|start| seconds(first, start)),
                duration_seconds: start.zip(end).map(|(start, end)| seconds(start, end)),
                outcome: outcome::words(description.and_then(|d| d.outcome.as_ref())),
                running: description.is_some_and(|d| d.trace.state == FileState::Growing),
                snapshots: description.map_or(0, outcome::snapshots_taken),
                no_last_snapshot: description.is_some_and(has_no_last_snapshot),
                totals,
                memory: measured.and_then(ResidentMemory::of).map(|memory| memory.last),
                collections: measured.and_then(collections::of).map(|summary| summary.whole),
                problem,
            }
        });
        Self::sum(processes.collect())
    }

    fn sum(processes: Vec<Process>) -> Self {
        let (mut allocated, mut promoted) = (Amount::default(), Amount::default());
        let mut generations: Vec<Generation> = Vec::new();
        for process in &processes {
            let index = generations.iter().position(|one| one.number == process.generation);
            let index = index.unwrap_or_else(|| {
                let (number, allocated) = (process.generation, Amount::default());
                generations.push(Generation { number, processes: 0, allocated });
                generations.len() - 1
            });
            // A program that its process became is no process more.
            generations[index].processes += usize::from(process.origin != "replaced");
            if let Some(totals) = &process.totals {
                generations[index].allocated += totals.allocated;
                allocated += totals.allocated;
                promoted += totals.promoted;
            }
        }
        generations.sort_rows_by_key(|generation| generation.number);
        Self { processes, generations, allocated, promoted }
    }

    /// Draws the table: the largest processes in the order in which they began, and sums by generation.
    pub(super) fn draw(&self, canvas: &mut Canvas) {
        let mut by_size: Vec<&Process> =
            self.processes.iter().filter(|process| process.totals.is_some()).collect();
        by_size.sort_rows_by(|a, b| size(b).total_cmp(&size(a)));
        let least = by_size.get(MAX_ROWS).map_or(f64::NEG_INFINITY, |process| size(process));
        let headings = ["allocated", "peak", "at its end", "RSS", "GC", "from", "for", "pid"];
        let mut table = Table::new(&headings, "process");
        let mut shown = 0;
        for process in self.processes.iter().filter(|process| size(process) > least) {
            let Some(totals) = &process.totals else { continue };
            shown += 1;
            let resident = process.memory.as_ref().map(|now| now.peak_rss.unwrap_or(now.rss));
            let measured = process.collections.as_ref().filter(|span| !span.replaced);
            let time = |time: Option<f64>| time.map_or(String::new(), seconds);
            let figures = vec![
                bytes(totals.allocated.bytes),
                bytes(totals.peak.bytes),
                bytes(totals.live_at_end.bytes),
                resident.map_or(String::new(), |rss| bytes(rss as f64)),
                measured.map_or(String::new(), |span| percent(span.share)),
                time(process.start_seconds),
                if process.running { "runs on".to_owned() } else { time(process.duration_seconds) },
                process.pid.map_or(String::new(), |pid| pid.to_string()),
            ];
            let indent = "  ".repeat(process.generation.min(8) as usize);
            let origin = match process.origin {
                "forked" => " (fork)",
                "replaced" => " (same process)",
                _ => "",
            };
            let program = &process.program;
            let ending = process.outcome.as_ref();
            let ending = ending.map_or(String::new(), |words| format!(", {words}"));
            table.row(figures, format!("{indent}{program}{origin}{ending}"));
        }
        let all = grouped(self.processes.len() as u64);
        canvas.line(&[(PLAIN, &format!("{all} processes")), (FAINT, ", each by itself")]);
        table.print(canvas);
        if shown < by_size.len() {
            let more = grouped((by_size.len() - shown) as u64);
            canvas.paragraph(FAINT, 2, &format!("{more} more that allocated less"));
        }
        self.without_samples(canvas);
        let small = self.processes.iter().filter(|process| process.no_last_snapshot).count();
        if small > 0 {
            let least = bytes(SMALLEST_WITH_LAST_SNAPSHOT as f64);
            let line = format!(
                "{} without a snapshot: allocated less than {least}",
                grouped(small as u64)
            );
            canvas.paragraph(FAINT, 2, &line);
        }
        if self.generations.len() > 1 {
            for Generation { number, processes, allocated } in &self.generations {
                let plural = if *processes == 1 { "process" } else { "processes" };
                let processes = grouped(*processes as u64);
                let line = format!(
                    "generation {number}: {processes} {plural}, {} allocated",
                    bytes(allocated.bytes)
                );
                canvas.paragraph(FAINT, 2, &line);
            }
        }
        canvas.gap();
    }

    fn without_samples(&self, canvas: &mut Canvas) {
        let mut programs: Vec<(&str, usize)> = Vec::new();
        for process in self.processes.iter().filter(|process| process.totals.is_none()) {
            if let Some(problem) = &process.problem {
                let line = format!("{} cannot be read: {problem}", process.recording);
                canvas.paragraph(FAINT, 2, &line);
                continue;
            }
            match programs.iter_mut().find(|(program, _)| *program == process.program) {
                Some((_, number)) => *number += 1,
                None => programs.push((&process.program, 1)),
            }
        }
        if programs.is_empty() {
            return;
        }
        let all: usize = programs.iter().map(|(_, number)| number).sum();
        let named = programs.iter().take(MAX_NAMED).map(|(program, number)| match number {
            1 => (*program).to_owned(),
            number => format!("{program} ({number})"),
        });
        let mut named = named.collect::<Vec<_>>().join(", ");
        if programs.len() > MAX_NAMED {
            named.push_str(", …");
        }
        let line = format!("{} without samples: {named}", grouped(all as u64));
        canvas.paragraph(FAINT, 2, &line);
    }
}

fn size(process: &Process) -> f64 {
    process.totals.as_ref().map_or(-1.0, |totals| totals.allocated.bytes)
}

fn totals(recording: &Recording, question: &Question) -> Result<Totals, String> {
    let profile = read(recording).map_err(|failure| failure.message().to_owned())?;
    let question = Question { top: 0, points: 1, ..*question };
    Ok(Report::new(&profile, &question, &Caveats::default()).totals)
}
