//! Recordings, compressed, and subsampled where they would not fit.

use memtrail_engine::Description;
use memtrail_engine::describe::Subsampled;
use memtrail_recording::Recording;
use memtrail_trace::subsample::{Fitted, NewIds, Room, to_fit};
use memtrail_trace::{Anomalies, Bytes, Detail, Event, Reader};

use super::attribute::attribute;
use super::gzip::{estimate, gzip};
use super::privacy::Privacy;
use super::{answers, references, snapshots};
use crate::error::{Failure, Kind};
use crate::loading;
use crate::recording_facts;
use crate::snapshot_file::{self, MemoryArgs};
use crate::trace_file;
use crate::types::lookup;

/// The most blocks that a browser should be asked to hold: some 64 bytes each.
const MAX_BLOCKS: u64 = 10_000_000;
/// Attempts to subsample a trace anew because it compresses worse than was estimated.
const ATTEMPTS: u32 = 6;
/// The least bytes of all traces together: below that nothing is left to see.
const LEAST: u64 = 16 << 10;

/// A recording as it is in the page.
pub(super) struct Packed {
    pub(super) description: Description,
    /// The trace, gzipped.
    pub(super) trace: Vec<u8>,
    /// Its heap snapshots.
    pub(super) snapshots: Vec<snapshots::Packed>,
    /// Answers about the last of them, if that is not in the page.
    pub(super) answers: Vec<answers::Answer>,
    /// Bytes that all of it would take in the page, estimated.
    pub(super) wanted: u64,
    /// What refers to its blocks from `malloc`, if that was looked for.
    pub(super) references: Option<references::Packed>,
    /// What is wrong with the trace that was read.
    pub(super) damage: Anomalies,
    /// Whether its snapshots have contents of strings that the page is not given.
    pub(super) withheld: bool,
}

impl Packed {
    fn of(description: Description, trace: Vec<u8>, damage: Anomalies) -> Self {
        let (snapshots, answers, references) = (Vec::new(), Vec::new(), None);
        let (wanted, withheld) = (0, false);
        Self { description, trace, snapshots, answers, wanted, references, damage, withheld }
    }
}

/// Packs recordings so that the page with all of them has at most `most` bytes; without them it has `bare`.
pub(super) fn pack(
    recordings: &[Recording],
    most: u64,
    bare: u64,
    privacy: Privacy,
    memory: MemoryArgs,
) -> Result<Vec<Packed>, Failure> {
    let room = most.saturating_sub(bare);
    if room < LEAST {
        let message = format_args!("a page of {most} bytes has no room for a recording");
        return Err(Failure::new(Kind::Usage, message)
            .hint(format_args!("the page alone has {bare} bytes; name a larger --max-size")));
    }
    // In base64 three bytes become four.
    let mut room = room / 4 * 3;
    // What the page shows first.
    let each = room / 2 / recordings.len().max(1) as u64;
    let references: Vec<Option<references::Packed>> =
        recordings.iter().map(|recording| references::pack(recording, each, privacy)).collect();
    room -= references.iter().flatten().map(|packed| packed.bytes.len() as u64).sum::<u64>();
    let descriptions: Vec<Description> = recordings.iter().map(described).collect();
    for (number, description) in descriptions.iter().enumerate() {
        let text = attribute("description", &privacy.description(number, description.clone()));
        room = room.saturating_sub(text.len() as u64 / 4 * 3);
    }
    let traces = recordings.iter().map(|recording| Ok(privacy.trace(open(recording)?)));
    let traces = traces.collect::<Result<Vec<_>, Failure>>()?;
    let estimates: Vec<u64> = traces.iter().map(|trace| estimate(trace)).collect();
    let sizes: u64 = estimates.iter().sum();
    // Traces can be subsampled, snapshots cannot: half of the room is theirs if they need it.
    let snapshots = snapshots::pack(recordings, room - sizes.min(room / 2), privacy, memory);
    room -= snapshots
        .iter()
        .flat_map(|(all, _)| all)
        .map(snapshots::Packed::size)
        .sum::<u64>()
        .min(room / 2);
    let mut answers = Vec::new();
    let asked = recordings.iter().zip(&descriptions).zip(&traces).zip(&snapshots);
    for (((recording, description), trace), (packed, _)) in asked {
        let has_last = packed.last().is_none_or(snapshots::Packed::is_included);
        let found = if has_last {
            Vec::new()
        } else {
            let description = privacy.description(0, description.clone());
            answers::of_last(recording, trace, description, privacy, memory)
        };
        let bytes: usize = found.iter().map(|answer| answer.bytes.len()).sum();
        room = room.saturating_sub(bytes as u64);
        answers.push(found);
    }
    let mut packed = Vec::new();
    let found = snapshots.into_iter().zip(references);
    let traces = recordings.iter().zip(descriptions).zip(&traces).zip(estimates);
    for (number, ((trace, found), answers)) in traces.zip(found).zip(answers).enumerate() {
        let (((recording, description), trace), estimated) = trace;
        let ((mut snapshots, withheld), mut references) = found;
        // Each gives up the same part of itself.
        let share = if sizes <= room {
            u64::MAX
        } else {
            (room as f64 * estimated as f64 / sizes as f64) as u64
        };
        let (one, ids) = one(recording, description, trace, estimated, share)?;
        if let Some(ids) = ids {
            for snapshot in &mut snapshots {
                snapshot.renumber(&ids);
            }
            if let Some(references) = &mut references {
                references.renumber(&ids);
            }
        }
        let description = privacy.description(number, one.description);
        // A snapshot takes about two thirds of its file in the page.
        let left_out = snapshots.iter().filter(|one| !one.is_included());
        let left_out: u64 = left_out.map(|one| one.facts.file_bytes / 3 * 2).sum();
        let included: u64 = snapshots.iter().map(snapshots::Packed::size).sum();
        let wanted = (estimated + included + left_out) / 3 * 4;
        packed.push(Packed {
            description,
            snapshots,
            answers,
            wanted,
            references,
            withheld,
            ..one
        });
    }
    Ok(packed)
}

fn open(recording: &Recording) -> Result<trace_file::Bytes, Failure> {
    if recording_facts::is_snapshot_alone(recording) {
        return Ok(Box::new(Vec::new()));
    }
    trace_file::open(recording).map_err(|error| Failure::unreadable(&recording.trace, &error))
}

/// Describes a recording, with the names that are found for it.
fn described(recording: &Recording) -> Description {
    if recording_facts::is_snapshot_alone(recording) {
        let facts = snapshot_file::facts(&recording.path, None);
        return loading::describe_snapshot(&recording.path, &facts);
    }
    lookup::look_up(&recording.path);
    loading::describe(recording)
}

/// Packs one recording into `room` bytes. If it is subsampled for that, its blocks have other numbers.
fn one(
    recording: &Recording,
    mut description: Description,
    trace: &[u8],
    estimated: u64,
    room: u64,
) -> Result<(Packed, Option<NewIds>), Failure> {
    if recording_facts::is_snapshot_alone(recording) {
        return Ok((Packed::of(description, Vec::new(), Anomalies::default()), None));
    }
    let no_trace = |error: memtrail_trace::Error| loading::no_trace(&recording.trace, &error);
    let reader = Reader::new(trace).map_err(no_trace)?;
    if estimated <= room {
        let mut blocks = 0;
        let decoded = reader.for_each(Detail::Marks, |event, _| {
            blocks += u64::from(matches!(event, Event::Alloc(_)));
        });
        let whole = (blocks <= MAX_BLOCKS).then(|| gzip(trace));
        if let Some(whole) = whole.filter(|whole| whole.len() as u64 <= room) {
            return Ok((Packed::of(description, whole, decoded.anomalies), None));
        }
    }
    let rates = description.rates.clone().map(Into::into).unwrap_or_default();
    // The estimate may be a little less than the size.
    let (mut bytes, mut whole, mut attempts) = (room, estimated, ATTEMPTS);
    let (fitted, zipped) = loop {
        let into = Room { bytes: Bytes(bytes), blocks: MAX_BLOCKS };
        let measure = |trace: &[u8]| Bytes(estimate(trace));
        let fitted = to_fit(&reader, &rates, into, Bytes(whole), &measure).map_err(|error| {
            let path = recording.trace.display();
            Failure::new(Kind::Work, format_args!("cannot subsample {path}: {error}"))
        })?;
        let zipped = gzip(&fitted.trace);
        attempts -= 1;
        if zipped.len() as u64 <= room || attempts == 0 {
            break (fitted, zipped);
        }
        // By this the first factor of the next attempt is as much larger as the trace was too large.
        whole = (fitted.factor * bytes as f64) as u64;
        bytes = (bytes as f64 * room as f64 / zipped.len() as f64 * 0.98) as u64;
    };
    let Fitted { kept, of, damage, ids, .. } = fitted;
    description.subsampled = Some(Subsampled { kept, of });
    // Threads and rates are stored by the numbers of blocks, which are others now.
    description.threads = None;
    description.rates = None;
    Ok((Packed::of(description, zipped, damage), Some(ids)))
}
