//! `memtrail ship --status`: what was shipped of recordings, and what waits.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use memtrail_recording::{Recording, is_alive};
use memtrail_text::rounded::{bytes, seconds};
use serde::Serialize;

use super::args::LAKE;
use super::sources::{is_folder_of_recordings, recordings};
use super::state::{self, State, now_unix_us};
use crate::canvas::{self, Canvas, PLAIN, STRONG};
use crate::error::Failure;
use crate::json;

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Status {
    recordings: Vec<OfRecording>,
}

#[derive(Debug, Serialize)]
struct OfRecording {
    recording: String,
    destinations: Vec<OfDestination>,
}

/// Times in seconds, from the recording's start.
#[derive(Debug, Serialize)]
pub(super) struct OfDestination {
    destination: String,
    shipped_to: f64,
    windows: u64,
    empty: u64,
    refused: u64,
    alloc_bytes: u64,
    pub(super) waiting: u64,
    pub(super) lag: f64,
    is_over: bool,
    last_shipped_unix_us: Option<u64>,
    last_error: Option<state::ErrorNote>,
}

pub(super) fn run(path: &Path, is_json: bool) -> Result<ExitCode, Failure> {
    let paths = recordings(path, is_folder_of_recordings(path))?;
    let mut status = Status { recordings: Vec::new() };
    let mut code = ExitCode::SUCCESS;
    for path in paths {
        match of(&path) {
            Ok(of) => status.recordings.push(of),
            Err(failure) => code = failure.report(),
        }
    }
    if is_json {
        json::print(&status)?;
    } else {
        print(&status)?;
    }
    Ok(code)
}

fn of(path: &Path) -> Result<OfRecording, Failure> {
    let recording = Recording::open(path)?;
    let states = state::of_recording(path)?;
    let destinations = states.into_iter().map(|state| destination(&recording, state)).collect();
    Ok(OfRecording { recording: path.display().to_string(), destinations })
}

/// State of a recording by a destination.
pub(super) fn destination(recording: &Recording, state: State) -> OfDestination {
    // By the wall clock: an estimate, by which nothing is shipped.
    let until = recording.description.as_ref().map_or(0, |known| {
        known.ended_unix_us.or_else(|| is_alive(known.pid).then(now_unix_us)).unwrap_or(0)
    });
    let length = until.saturating_sub(state.start_unix_us);
    let lag = if state.is_over { 0 } else { length.saturating_sub(state.shipped_to_us) };
    // The last window of a recording that has ended may be shorter.
    let has_ended = recording.description.as_ref().is_some_and(|it| it.ended_unix_us.is_some());
    let every = state.every_us.max(1);
    OfDestination {
        shipped_to: state.shipped_to_us as f64 / 1e6,
        windows: state.windows,
        empty: state.empty,
        refused: state.refused,
        alloc_bytes: state.alloc_bytes,
        waiting: if has_ended { lag.div_ceil(every) } else { lag / every },
        lag: lag as f64 / 1e6,
        is_over: state.is_over,
        last_shipped_unix_us: state.last_shipped_unix_us,
        last_error: state.last_error,
        destination: state.destination,
    }
}

fn print(status: &Status) -> Result<(), Failure> {
    let mut canvas = Canvas::new(canvas::width(None));
    for of in &status.recordings {
        canvas.line(&[(STRONG, &of.recording)]);
        if of.destinations.is_empty() {
            canvas.paragraph(PLAIN, 2, "nothing was shipped");
        }
        for to in &of.destinations {
            let state = match to.is_over {
                true if to.refused > 0 => "ended, and not all was taken",
                true => "all shipped",
                false => "under way",
            };
            let shipped_to = seconds(to.shipped_to);
            if to.destination.starts_with(LAKE) {
                let text = format!(
                    "{}: {state}. Exported up to {shipped_to}; exports: {}, failed: {}.",
                    to.destination, to.windows, to.refused,
                );
                canvas.paragraph(PLAIN, 2, &text);
                draw_error(&mut canvas, to);
                continue;
            }
            let text = format!(
                "{}: {state}. {} windows shipped, up to {}; {} allocated in them. {} wait, {} refused, {} empty.",
                to.destination,
                to.windows,
                shipped_to,
                bytes(to.alloc_bytes as f64),
                to.waiting,
                to.refused,
                to.empty,
            );
            canvas.paragraph(PLAIN, 2, &text);
            draw_error(&mut canvas, to);
        }
    }
    let mut out = anstream::stdout().lock();
    out.write_all(canvas.finish().as_bytes())?;
    out.flush()?;
    Ok(())
}

fn draw_error(canvas: &mut Canvas, to: &OfDestination) {
    if let Some(error) = &to.last_error {
        canvas.paragraph(PLAIN, 2, &format!("last error: {}", error.message));
    }
}
