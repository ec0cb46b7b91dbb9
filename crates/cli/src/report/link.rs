//! Commands that lead further: the report as a page, the evidence on leaks, what retains memory.

use std::time::Duration;

use memtrail_profile::report::{Moment, TimeSelection};
use memtrail_profile::time::Elapsed;
use memtrail_recording::{Recording, Snapshot, SnapshotOutcome};
use memtrail_text::exact::typed_duration;

use crate::shell_quote;

/// `memtrail view server-4711.memtrail --filter live:peak`
pub(super) fn command(recording: &Recording, asked: &TimeSelection) -> String {
    let mut text = format!("memtrail view {}", shell_quote::path(&recording.path));
    for filter in filters(asked) {
        text.push_str(" --filter ");
        text.push_str(&shell_quote::shell_quote(&filter));
    }
    text
}

/// `memtrail leaks server-4711.memtrail`
pub(super) fn leaks(recording: &Recording) -> String {
    format!("memtrail leaks {}", shell_quote::path(&recording.path))
}

/// `memtrail heap roots server-4711.memtrail`, if there are snapshots of the heap.
pub(super) fn heap(recording: &Recording) -> Option<String> {
    // References of a native program are not of a heap.
    let description = recording.description.as_ref().filter(|known| !known.runtime.is_native())?;
    let snapshots = description.snapshots.as_ref()?;
    let there = |snapshot: &Snapshot| matches!(snapshot.outcome, SnapshotOutcome::Complete { .. });
    snapshots
        .iter()
        .any(there)
        .then(|| format!("memtrail heap roots {}", shell_quote::path(&recording.path)))
}

/// The same question, in the page's words.
fn filters(asked: &TimeSelection) -> Vec<String> {
    let mut filters = Vec::new();
    filters.extend(asked.live_at.map(|moment| match moment {
        Moment::Peak => "live:peak".to_owned(),
        Moment::End => "live:end".to_owned(),
        Moment::At(time) => format!("live:{}", seconds(time)),
    }));
    let side = |time: Option<Elapsed>| time.map_or(String::new(), seconds);
    if asked.from.is_some() || asked.to.is_some() {
        filters.push(format!("allocated:{}..{}", side(asked.from), side(asked.to)));
    }
    filters
}

fn seconds(time: Elapsed) -> String {
    typed_duration(Duration::from_micros(time.0))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use memtrail_profile::filter::Filter;

    use super::*;

    #[test]
    fn the_view_asks_what_the_report_asked() {
        let path = PathBuf::from("my server.memtrail");
        let recording = Recording {
            trace: path.clone(),
            rates: path.clone(),
            threads: path.clone(),
            path,
            description: None,
            problem: None,
        };
        let at = |us| Some(Elapsed(us));
        for (asked, filters) in [
            (TimeSelection::default(), ""),
            (
                TimeSelection { live_at: Some(Moment::Peak), ..TimeSelection::default() },
                " --filter live:peak",
            ),
            (
                TimeSelection {
                    live_at: Some(Moment::End),
                    from: at(1_500_000),
                    to: at(60_000_000),
                },
                " --filter live:end --filter allocated:1.5s..60s",
            ),
            (
                TimeSelection { live_at: Some(Moment::At(Elapsed(1))), from: None, to: at(0) },
                " --filter live:0.000001s --filter allocated:..0s",
            ),
        ] {
            let expected = format!("memtrail view 'my server.memtrail'{filters}");
            assert_eq!(command(&recording, &asked), expected);
            Filter::parse(&super::filters(&asked)).unwrap();
        }
    }
}
