//! Leak suspects of a family: those of all its processes, ranked together.

use std::path::{Path, PathBuf};

use memtrail_engine::leaks::{self, Conclusion, LeaksResponse, Suspect};
use memtrail_order::SortRows as _;
use memtrail_recording::Recording;
use memtrail_text::rounded::grouped;
use serde::Serialize;

use super::args::Args;
use super::look::{Found, look};
use super::text::{draw_more_suspects, draw_suspect, judged};
use crate::answer::{Answer, Recipient};
use crate::canvas::{FAINT, PLAIN, STRONG, WARNING};
use crate::error::Failure;
use crate::problems::Problems;
use crate::recording_facts;
use crate::references::draw;
use crate::shell_quote;

/// What `--json` prints.
#[derive(Default, Serialize)]
struct FamilyLeaks {
    /// The verdict on all processes.
    conclusion: Conclusion,
    /// Of all processes, the largest growth first.
    suspects: Vec<OfProcess>,
    /// Suspects that the limit left out.
    left_out: usize,
    /// What was found in each process.
    processes: Vec<ProcessLeaks>,
}

#[derive(Serialize)]
struct OfProcess {
    /// The folder of the process's recording.
    recording: String,
    /// The arguments of commands that show the suspect.
    #[serde(skip)]
    arguments: String,
    #[serde(flatten)]
    suspect: Suspect,
}

#[derive(Serialize)]
struct ProcessLeaks {
    /// The folder of its recording.
    recording: String,
    pid: Option<u32>,
    program: Option<String>,
    /// Its suspects are in the list of all.
    #[serde(flatten)]
    leaks: LeaksResponse,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
}

pub(super) fn answer<R: Recipient>(
    args: &Args,
    recordings: &[PathBuf],
    recipient: R,
) -> Result<R::Received, Failure> {
    let mut found = FamilyLeaks::default();
    let (mut problems, mut damage, mut notes) = (Problems::default(), Vec::new(), Vec::new());
    let mut untyped = 0;
    for path in recordings {
        let Found { leaks: mut found_here, partial, caveats, unnamed, verdict } = look(args, path)?;
        damage.extend(partial.clone());
        untyped += u64::from(unnamed.is_any());
        for note in caveats.notes() {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        if let Err(failure) = verdict {
            problems.tell(failure);
        }
        let recording = path.display().to_string();
        let suspects = std::mem::take(&mut found_here.suspects).into_iter();
        found.left_out += std::mem::take(&mut found_here.left_out);
        let arguments = judged(&shell_quote::path(path), &found_here);
        let of_process = |suspect| {
            let (recording, arguments) = (recording.clone(), arguments.clone());
            OfProcess { recording, arguments, suspect }
        };
        found.suspects.extend(suspects.map(of_process));
        let description = Recording::open(path).ok().and_then(|recording| recording.description);
        found.processes.push(ProcessLeaks {
            recording,
            pid: description.as_ref().map(|description| description.pid),
            program: description.map(|description| description.program),
            leaks: found_here,
            partial,
        });
    }
    let grown = |of: &OfProcess| of.suspect.growth.grown;
    found.suspects.sort_rows_by(|a, b| grown(b).total_cmp(&grown(a)));
    let verdicts: Vec<_> =
        found.processes.iter().map(|process| process.leaks.conclusion.verdict).collect();
    found.conclusion = Conclusion::of_processes(&verdicts);
    found.left_out += found.suspects.len().saturating_sub(args.limit.0);
    found.suspects.truncate(args.limit.0);
    let damage = (!damage.is_empty()).then(|| damage.join("; "));
    let answer = Answer { value: &found, damage, problems };
    recipient.receive(&args.form, answer, |canvas| {
        if found.suspects.is_empty() {
            canvas.paragraph(STRONG, 2, &found.conclusion.description);
        }
        for (number, OfProcess { recording, arguments, suspect }) in (1..).zip(&found.suspects) {
            let path = Path::new(recording);
            let name = recording_facts::name(path);
            canvas.line(&[(FAINT, &format!("   in {name}"))]);
            draw_suspect(canvas, number, suspect, arguments);
            canvas.gap();
        }
        draw_more_suspects(canvas, found.left_out);
        for process in &found.processes {
            let name = recording_facts::name(Path::new(&process.recording));
            let all = format!("{name}: {}", leaks::of_process(&process.leaks));
            canvas.paragraph(PLAIN, 2, &all);
            if let Some(unreachable) = &process.leaks.unreachable {
                draw::unreachable(canvas, unreachable);
            }
        }
        if let Some(advice) = leaks::advice(found.processes.iter().map(|of| &of.leaks)) {
            canvas.paragraph(WARNING, 2, &format!("note: {advice}"));
        }
        if untyped > 0 {
            let note = format!(
                "some variables of {} have no names and types; why: memtrail types RECORDING",
                if untyped == 1 {
                    "1 process".into()
                } else {
                    format!("{} processes", grouped(untyped))
                }
            );
            canvas.paragraph(WARNING, 2, &format!("note: {note}"));
        }
        for note in &notes {
            canvas.paragraph(WARNING, 2, &format!("note: {note}"));
        }
    })
}
