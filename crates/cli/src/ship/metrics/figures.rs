//! Figures of a recording: what is live now, by site and by owner, and what the process has resident.

use std::path::Path;
use std::time::UNIX_EPOCH;

use memtrail_profile::Caveats;
use memtrail_profile::report::{Moment, Question, Report, TimeSelection};
use memtrail_profile::sites::By;
use memtrail_profile::time::Elapsed;
use memtrail_recording::Recording;

use super::super::labels::{self, Given, Labels};
use super::super::shipping::Shipping;
use super::super::status;
use super::super::tail::{Step, Tail};
use super::exposition::{
    DURATION, EMPTY, Exposition, INTERVAL, JUDGED_TIME, LAG, LIVE, LOST, Metric, OWNER_LIVE,
    REFUSED, RESIDENT, RESIDENT_PART, RUNNING, SHIPPED, SITE_LIVE, SNAPSHOT_TIME, SNAPSHOTS,
    SUSPECT, SUSPECTS, WAITING,
};
use super::judgement::{Extent, Judgement};
use crate::error::Failure;
use crate::process::memory::ResidentMemory;
use crate::{rates, recording_facts, references, snapshot_file};

/// Name of the row for all that a list leaves out.
const OTHERS: &str = "(others)";

/// Options of the user.
#[derive(Clone, Copy)]
pub(in crate::ship) struct Wanted {
    /// Rows of each list.
    pub(in crate::ship) top: usize,
    pub(in crate::ship) is_once: bool,
    pub(in crate::ship) is_folder: bool,
}

/// A recording and its figures.
pub(super) struct Figures {
    recording: Option<Recording>,
    tail: Tail,
    live: Option<Report>,
    judgement: Judgement,
    top: usize,
    is_closed: bool,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            recording: None,
            tail: Tail::new(),
            live: None,
            judgement: Judgement::default(),
            top: 0,
            is_closed: false,
        }
    }
}

impl Figures {
    /// Reads on to the trace's end, and looks at what else is new.
    pub(super) fn update(&mut self, path: &Path, wanted: Wanted) -> Result<(), Failure> {
        // The state first: all is there once it shows that the recording is complete.
        let recording = Recording::open(path)?;
        self.is_closed = self.tail.is_closed(&recording, wanted.is_once);
        let mut has_more = false;
        while !self.tail.is_finished {
            match self.tail.read(&recording, self.is_closed, |_| 0)? {
                Step::AtEnd => break,
                Step::Advanced => {
                    has_more = true;
                    // Only what lives is asked for.
                    if self.tail.is_full() {
                        self.tail.forget(Elapsed(self.tail.latest()));
                    }
                }
                Step::More | Step::Bound => {}
            }
        }
        if (has_more || self.live.is_none())
            && let Some(profile) = self.tail.profile()
        {
            let live_at_end =
                TimeSelection { live_at: Some(Moment::End), ..TimeSelection::default() };
            let top = if wanted.top == 0 { usize::MAX } else { wanted.top };
            let question = Question { selection: live_at_end, by: By::Function, top, points: 0 };
            self.live = Some(Report::new(profile, &question, &Caveats::default()));
        }
        let snapshot = snapshot_file::of_recording(path).last().map(|(number, _)| *number);
        let extent = Extent { snapshot, end: self.tail.latest() };
        self.judgement.update(path, extent, wanted.top, wanted.is_once);
        (self.recording, self.top) = (Some(recording), wanted.top);
        Ok(())
    }

    /// True if nothing more will come.
    pub(super) fn has_ended(&self) -> bool {
        self.is_closed
    }

    /// Ends what is under way.
    pub(super) fn stop(&mut self) {
        self.judgement.stop();
    }

    /// Adds the metrics of the recording.
    pub(super) fn write(
        &self,
        exposition: &mut Exposition,
        given: Given<'_>,
        shipping: Option<&dyn Shipping>,
    ) {
        let Some(recording) = &self.recording else { return };
        let own = labels::for_prometheus(labels::of(recording, given));
        let mut add = |metric: Metric, more: &[(&str, &str)], value: f64| {
            exposition.add(metric, with(&own, more), value);
        };
        let name = |text: &str| match given.redaction {
            Some(redaction) => redaction.name(text, &recording.path),
            None => text.to_owned(),
        };
        add(RUNNING, &[], f64::from(u8::from(!self.is_closed)));
        if let Some(report) = &self.live {
            let present = recording_facts::present(recording);
            let ran = present.map_or(0.0, |present| present.seconds);
            add(DURATION, &[], report.trace.duration_seconds.max(ran));
            add(LIVE, &[], report.totals.live_at_end.bytes);
            for place in &report.places {
                add(SITE_LIVE, &[("site", &name(&place.name))], place.amount.bytes);
            }
            if report.other_places > 0 {
                add(SITE_LIVE, &[("site", OTHERS)], report.other.bytes);
            }
            let halvings = rates::present(recording);
            add(INTERVAL, &[], report.trace.bytes_per_sample * f64::from(1_u32 << halvings));
        }
        if let Some(known) = &recording.description {
            add(LOST, &[], known.trace.lost as f64);
        }
        let mut snapshots = snapshot_file::of_recording(&recording.path);
        if recording_facts::is_native(recording) {
            snapshots = references::of_recording(&recording.path);
        }
        add(SNAPSHOTS, &[], snapshots.len() as f64);
        let written = snapshots.last().and_then(|(_, path)| path.metadata().ok()?.modified().ok());
        if let Some(at) = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok()) {
            add(SNAPSHOT_TIME, &[], at.as_secs_f64().round());
        }
        if let Some(memory) = ResidentMemory::of(recording) {
            add(RESIDENT, &[], memory.last.rss as f64);
            for row in &memory.last.rows {
                let part = serde_json::to_value(row.part).unwrap_or_default();
                let part = part.as_str().unwrap_or_default();
                add(RESIDENT_PART, &[("part", part)], row.bytes as f64);
            }
        }
        if let Some(judged) = &self.judgement.judged {
            add(JUDGED_TIME, &[], judged.unix_seconds.round());
            add(SUSPECTS, &[], judged.suspects.len() as f64);
            let most = if self.top == 0 { usize::MAX } else { self.top };
            for suspect in judged.suspects.iter().take(most) {
                let (owner, rule) = (name(&suspect.owner), &suspect.rule);
                let labels = [("class", suspect.class.as_str()), ("owner", &owner), ("rule", rule)];
                add(SUSPECT, &labels, suspect.bytes() as f64);
            }
            for owner in judged.owners.iter().flat_map(|owners| &owners.rows) {
                let labels = [("kind", owner.kind.as_str()), ("owner", &name(&owner.name()))];
                add(OWNER_LIVE, &labels, owner.bytes() as f64);
            }
            let others = judged.owners.as_ref().map_or(0, super::judgement::Owners::others);
            if others > 0 {
                add(OWNER_LIVE, &[("kind", OTHERS), ("owner", OTHERS)], others as f64);
            }
        }
        let shipped = shipping.and_then(|to| Some((to.destination(), to.state(&recording.path)?)));
        if let Some((destination, state)) = shipped {
            let to = [("destination", destination.as_str())];
            add(SHIPPED, &to, state.windows as f64);
            add(EMPTY, &to, state.empty as f64);
            add(REFUSED, &to, state.refused as f64);
            let status = status::destination(recording, state.clone());
            add(WAITING, &to, status.waiting as f64);
            add(LAG, &to, status.lag);
        }
    }
}

/// Labels of a series. Those of a metric win over those of the recording.
fn with(own: &Labels, more: &[(&str, &str)]) -> Labels {
    let is_free = |name: &str| more.iter().all(|(taken, _)| *taken != name);
    let mut labels: Labels = own.iter().filter(|(name, _)| is_free(name)).cloned().collect();
    labels.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    labels.sort();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_of_the_user_cannot_stand_twice() {
        let own = vec![("owner".to_owned(), "me".to_owned()), ("zone".to_owned(), "a".to_owned())];
        let labels = with(&own, &[("owner", "Cache.table")]);
        let expected = [("owner", "Cache.table"), ("zone", "a")];
        assert_eq!(labels, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
