//! The report as Markdown, for bug reports.

use std::fmt::{self, Display, Formatter};

use memtrail_profile::report::{Amount, Place, Report};
use memtrail_recording::Recording;
use memtrail_text::rounded::{bytes, count, percent, seconds};

use super::{chain, places};
use crate::markdown::escaped;
use crate::outcome;
use crate::rates;
use crate::recording_facts;

/// Columns of a chain of callers at most.
const CHAIN: usize = 120;

/// The report of a recording.
pub(super) struct Page<'r> {
    pub(super) report: &'r Report,
    pub(super) recording: &'r Recording,
    /// True if names were replaced, and the program is not to be named.
    pub(super) is_redacted: bool,
}

impl Display for Page<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let report = self.report;
        let (trace, totals, mark) = (&report.trace, &report.totals, report.caveats.mark());
        let program = trace.executable.rsplit('/').next().unwrap_or_default();
        let program = if self.is_redacted { "a program".into() } else { escaped(program) };
        writeln!(f, "## Memory of {program}\n")?;
        let description = self.recording.description.as_ref();
        let runtime =
            description.map_or(String::new(), |known| format!(", {}", known.runtime.name()));
        let rate = if trace.samples_per_word >= 1.0 {
            outcome::every_word(description)
        } else {
            let distance = bytes(trace.bytes_per_sample);
            format!("one sample per {distance}: estimates ± standard error")
        };
        let adapted =
            trace.adapted.as_ref().map(|adapted| format!("; {}", rates::adapted(adapted)));
        let adapted = adapted.unwrap_or_default();
        let ran = seconds(trace.duration_seconds);
        writeln!(f, "{}\n", escaped(&format!("{ran}{runtime}; {rate}{adapted}")))?;

        writeln!(f, "| | size | blocks |\n|---|---:|---:|")?;
        let mut row = |name: &str, amount: &Amount| {
            let (size, blocks) = (amount.bytes_estimate().size(), count(amount.blocks));
            writeln!(f, "| {name} | {mark}{size} | {mark}{blocks} |")
        };
        row("allocated", &totals.allocated)?;
        if !recording_facts::is_native(self.recording) {
            row("promoted", &totals.promoted)?;
        }
        row(&format!("live at peak, {}", seconds(totals.peak_seconds)), &totals.peak)?;
        row("live at the end", &totals.live_at_end)?;

        writeln!(f, "\n{}\n", escaped(&places::title(report)))?;
        if report.places.is_empty() {
            writeln!(f, "No sampled block is among these.")?;
        } else {
            let column = places::column(report);
            writeln!(f, "| | share | size | blocks | {column} | called by |")?;
            writeln!(f, "|---:|---:|---:|---:|---|---|")?;
        }
        for (number, place) in (1..).zip(&report.places) {
            let amount = &place.amount;
            let (share, size) = (percent(place.share), amount.bytes_estimate().size());
            let blocks = count(amount.blocks);
            let callers = place.callers.first().map(|first| {
                format!("{} {}", percent(first.share), chain::fit(first, CHAIN).trim_start())
            });
            let (name, callers) = (escaped(&name(place)), escaped(&callers.unwrap_or_default()));
            writeln!(
                f,
                "| {number} | {share} | {mark}{size} | {mark}{blocks} | {name} | {callers} |"
            )?;
        }
        if report.other_places > 0 {
            let size = report.other.bytes_estimate().size();
            writeln!(f, "\n{} other places: {mark}{size}", report.other_places)?;
        }
        for note in report.caveats.notes() {
            writeln!(f, "\nnote: {}", escaped(&note))?;
        }
        writeln!(f, "\nmemtrail {}", env!("CARGO_PKG_VERSION"))
    }
}

/// The place with its position.
fn name(place: &Place) -> String {
    match (&place.function, &place.file, place.line) {
        (Some(_), Some(file), Some(line)) => format!("{} {file}:{line}", place.name),
        (Some(_), Some(file), None) => format!("{} {file}", place.name),
        _ => place.name.clone(),
    }
}
