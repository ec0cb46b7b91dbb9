//! Puts a report together.

use super::amount::{amount, share};
use super::details::Details;
use super::naming::Naming;
use super::{
    Anomalies, Moment, Question, Report, Selected, TimeSelection, TimelinePoint, Totals, Trace,
};
use crate::caveats::Caveats;
use crate::estimate::Sum;
use crate::live_series::Point;
use crate::profile::Profile;
use crate::select::Selection;
use crate::sites::{By, Places, Total};
use crate::time::Elapsed;

impl Report {
    /// Answers a question. `reported` is what the recorder says of the figures.
    pub fn new(profile: &Profile, question: &Question, reported: &Caveats) -> Self {
        let peak = profile.live_series.peak().time;
        let selection = question.selection.resolve(peak, profile.end);
        let places = Places::new(&profile.locations, question.by);
        let totals = places.totals(profile, &selection);
        let mut total = Total::default();
        for (_, place) in &totals {
            total.add(place);
        }
        let named = totals.len().min(question.top);
        let mut other = Sum::default();
        for (_, place) in &totals[named..] {
            other.add(&place.sum);
        }
        let details = Details::gather(profile, &selection, &places, &totals[..named]);
        let naming = Naming { profile, places: &places };
        let places_named = totals[..named]
            .iter()
            .zip(details)
            .map(|(place, detail)| naming.place(place, detail, &total))
            .collect();
        Self {
            trace: describe(profile),
            totals: whole(profile, peak),
            timeline: points(profile, question.points),
            selection: Selected {
                live_at: match question.selection.live_at {
                    None => "any",
                    Some(Moment::Peak) => "peak",
                    Some(Moment::End) => "end",
                    Some(Moment::At(_)) => "time",
                },
                live_at_seconds: selection.live_at.map(Elapsed::seconds),
                allocated_from_seconds: question.selection.from.map(Elapsed::seconds),
                allocated_to_seconds: question.selection.to.map(Elapsed::seconds),
                total: amount(profile, &total.sum),
                never_collected_share: share(total.never_collected, total.sum.samples),
                mean_age_seconds: total.mean_age().seconds(),
            },
            by: match question.by {
                By::Site => "site",
                By::Function => "function",
                By::Module => "module",
                By::File => "file",
            },
            places: places_named,
            other_places: totals.len() - named,
            other: amount(profile, &other),
            anomalies: Anomalies {
                damage: profile.damage.serious(),
                inconsistent_events: profile.inconsistent.total(),
            },
            caveats: profile.caveats(reported),
        }
    }
}

impl TimeSelection {
    fn resolve(self, peak: Elapsed, end: Elapsed) -> Selection {
        Selection {
            from: self.from.unwrap_or(Selection::ALL.from),
            to: self.to.unwrap_or(Selection::ALL.to),
            live_at: self.live_at.map(|moment| match moment {
                Moment::Peak => peak,
                Moment::End => end,
                Moment::At(time) => time,
            }),
        }
    }
}

fn describe(profile: &Profile) -> Trace {
    let info = &profile.info;
    Trace {
        executable: info.executable.clone(),
        pid: info.pid,
        host: info.host.clone(),
        context: info.context.clone().filter(|context| !context.is_empty()),
        runtime_parameters: info.runtime_params.clone(),
        start_unix_us: info.start.0,
        duration_seconds: profile.end.seconds(),
        samples_per_word: profile.estimator.rate().0,
        bytes_per_sample: profile.estimator.bytes_per_sample(),
        adapted: profile.adapted,
    }
}

fn whole(profile: &Profile, peak: Elapsed) -> Totals {
    let blocks = &profile.blocks;
    let [mut allocated, mut promoted, mut live_at_end] = [Sum::default(); 3];
    let (mut at_peak, mut kinds) = (Sum::default(), [0_u64; 3]);
    for row in blocks.rows() {
        let mut block = Sum::default();
        profile.estimator.add_row(&mut block, blocks, row);
        allocated.add(&block);
        let moved = blocks.promoted(row);
        if moved.is_some() {
            promoted.add(&block);
        }
        if blocks.collected(row).is_none() {
            live_at_end.add(&block);
        }
        if blocks.live_at(row, peak) {
            at_peak.add(&block);
            let kind = blocks.source(row) as usize;
            let kind = if kind == 0 && moved.is_some_and(|time| time <= peak) { 1 } else { kind };
            kinds[kind] += block.samples;
        }
    }
    let [minor, major, external] = kinds.map(|samples| profile.estimator.bytes_of(samples));
    Totals {
        allocated: amount(profile, &allocated),
        promoted: amount(profile, &promoted),
        peak: amount(profile, &at_peak),
        peak_seconds: peak.seconds(),
        peak_minor_bytes: minor,
        peak_major_bytes: major,
        peak_external_bytes: external,
        live_at_end: amount(profile, &live_at_end),
    }
}

fn points(profile: &Profile, count: usize) -> Vec<TimelinePoint> {
    let bytes = |samples| profile.estimator.bytes_of(samples);
    let point = |point: &Point| TimelinePoint {
        seconds: point.time.seconds(),
        minor_bytes: bytes(point.minor),
        major_bytes: bytes(point.major),
        external_bytes: bytes(point.external),
        most_bytes: bytes(point.most),
    };
    profile.live_series.evenly(profile.end, count).iter().map(point).collect()
}
