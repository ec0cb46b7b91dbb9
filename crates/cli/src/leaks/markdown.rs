//! Leak suspects as Markdown, for bug reports.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use memtrail_engine::leaks::LeaksResponse;
use memtrail_text::rounded::{bytes, percent};

use super::text::{judged, next_line};
use crate::markdown::{code, escaped};
use crate::{recording_facts, shell_quote};

/// The suspects of a recording.
pub(super) struct Page<'l> {
    pub(super) leaks: &'l LeaksResponse,
    pub(super) recording: &'l Path,
    /// Damage of the snapshot, if the answer is about a part of it.
    pub(super) partial: Option<&'l str>,
}

impl Display for Page<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let leaks = self.leaks;
        let name = recording_facts::name(self.recording);
        writeln!(f, "## Leaks in {}\n", escaped(&name))?;
        if let Some(damage) = self.partial {
            writeln!(f, "**partial**: {}; all figures are of the part before\n", escaped(damage))?;
        }
        if leaks.suspects.is_empty() {
            writeln!(f, "{}\n", escaped(&leaks.conclusion.description))?;
        }
        let recording = judged(&shell_quote::path(Path::new(&name)), leaks);
        for (number, suspect) in (1..).zip(&leaks.suspects) {
            writeln!(f, "{number}. **{}**", escaped(&suspect.heading))?;
            for description in &suspect.descriptions {
                writeln!(f, "   - {}", escaped(description))?;
            }
            writeln!(f, "   - {}: {}", escaped(suspect.rule), escaped(&suspect.evidence))?;
            if let Some(command) = next_line(suspect, &recording) {
                writeln!(f, "   - next: {}", code(&command))?;
            }
        }
        if leaks.left_out > 0 {
            writeln!(f, "\n{} more are left out.", leaks.left_out)?;
        }
        if !leaks.summary.is_empty() {
            writeln!(f)?;
        }
        for description in &leaks.summary {
            writeln!(f, "{}  ", escaped(description))?;
        }
        if !leaks.cleared.is_empty() {
            writeln!(f, "\n| not suspected | size | share | reason |\n|---|---:|---:|---|")?;
        }
        for owner in &leaks.cleared {
            let (size, share) = (bytes(owner.bytes.0 as f64), percent(owner.share));
            let (name, reason) = (escaped(&owner.owner), escaped(&owner.reason));
            writeln!(f, "| {name} | {size} | {share} | {reason} |")?;
        }
        writeln!(f, "\nmemtrail {}", env!("CARGO_PKG_VERSION"))
    }
}
