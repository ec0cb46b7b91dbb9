//! The three leaks, as the recording shows them: where the memory was allocated, what keeps it.

use memtrail_profile::Profile;
use memtrail_profile::estimate::{Estimate, Sum};
use memtrail_profile::select::Selection;
use memtrail_profile::sites::{By, Key, Places, Total};
use memtrail_recording::Recording;
use memtrail_text::rounded::percent;
use serde::Serialize;

use super::retainers::{self, Retainer};
use crate::error::{Failure, Kind};

/// What is known beforehand: which function allocates what stays, and why it stays. How much it
/// is, and how much of it, the recording says.
const LEAKS: [(&str, &str, &str); 3] = [
    (
        "Leaks.Session_cache.load",
        "a cache that never evicts",
        "sessions go into a table and nothing takes them out",
    ),
    (
        "Leaks.Outbox.compose",
        "a queue that falls behind",
        "letters are queued faster than they are sent",
    ),
    (
        "Leaks.Connection.open_",
        "a closure kept by a callback list",
        "the callback of each connection keeps its buffer",
    ),
];

/// One leak.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Finding {
    /// What kind of leak it is.
    kind: &'static str,
    /// Function that allocates what stays.
    function: String,
    /// Its file and line.
    place: String,
    /// Bytes live at the end.
    live_bytes: f64,
    /// Standard error of `live_bytes`.
    live_bytes_stderr: f64,
    /// Part of all that is live at the end.
    share_of_live: f64,
    /// Part of all that the function ever allocated.
    share_kept: f64,
    /// Why it stays.
    why: &'static str,
    /// What keeps it.
    pub(super) retained_by: Option<Retainer>,
}

impl Finding {
    pub(super) fn description(&self) -> String {
        let Self { kind, function, place, why, .. } = self;
        let kept = if self.share_kept > 0.995 {
            "all that it ever made".to_owned()
        } else {
            format!("{} of what it ever made", percent(self.share_kept))
        };
        format!(
            "{}: {} ({place}) holds {}, {} of what is live at the end and {kept}: {why}.",
            capitalised(kind),
            function.trim_start_matches("Leaks."),
            Estimate { value: self.live_bytes, stderr: self.live_bytes_stderr }.size(),
            percent(self.share_of_live),
        )
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Looks the three up in the recording, of which this is the trace.
pub(super) fn find(recording: Recording, profile: &Profile) -> Result<Vec<Finding>, Failure> {
    let places = Places::new(&profile.locations, By::Site);
    let live = places.totals(profile, &Selection::live_at(profile.end));
    let ever = places.totals(profile, &Selection::ALL);
    let mut all = Sum::default();
    for (_, total) in &live {
        all.add(&total.sum);
    }
    let all = profile.estimator.bytes(&all).value;
    let retained_by = retainers::find(recording, &LEAKS.map(|(function, ..)| function))?;
    LEAKS
        .into_iter()
        .zip(retained_by)
        .map(|((function, kind, why), retained_by)| {
            let of = |totals: &[(usize, Total)]| sum_of(profile, &places, totals, function);
            let ((now, place), (ever, _)) = (of(&live), of(&ever));
            let place = place.ok_or_else(|| {
                Failure::new(Kind::Work, format_args!("the recording shows nothing of {function}"))
                    .hint("a higher --rate samples more")
            })?;
            Ok(Finding {
                kind,
                function: function.to_owned(),
                place,
                live_bytes: now.value,
                live_bytes_stderr: now.stderr,
                share_of_live: now.value / all,
                share_kept: now.value / ever.value,
                why,
                retained_by,
            })
        })
        .collect()
}

/// What a function's sites hold together, and the place of the largest.
fn sum_of(
    profile: &Profile,
    places: &Places<'_>,
    totals: &[(usize, Total)],
    function: &str,
) -> (Estimate, Option<String>) {
    let locations = &profile.locations;
    let mut sum = Sum::default();
    let mut largest = None;
    for (index, total) in totals {
        if let Some(&Key::Site(id, file, line)) = places.keys().get(*index)
            && locations.functions().get(id) == function.as_bytes()
        {
            sum.add(&total.sum);
            let file = String::from_utf8_lossy(locations.files().get(file));
            largest.get_or_insert_with(|| format!("{file}:{line}"));
        }
    }
    (profile.estimator.bytes(&sum), largest)
}
