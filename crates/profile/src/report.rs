//! A finished report: all numbers and names, nothing left to compute.
//!
//! Field names are stable and carry their unit. `_stderr` is the standard error of the field of
//! the same name without it ([`estimate`](crate::estimate)). Times in seconds count from the
//! trace's start.

use memtrail_trace::{FileId, FunctionId, StackId};
use serde::Serialize;

use crate::callers::{self, Caller, Limits, Step};
use crate::estimate::Sum;
use crate::names;
use crate::profile::Profile;
use crate::select::Selection;
use crate::sites::{By, Key, Places, Total};
use crate::time::Elapsed;
use crate::timeline::Timeline;

/// What to report on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Which blocks.
    pub selection: Asked,
    /// Grouped by what.
    pub by: By,
    /// The most places to name.
    pub top: usize,
    /// Points of the timeline.
    pub points: usize,
}

/// Which blocks are asked for, before the peak is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Live at this moment, if it matters.
    pub live_at: Option<Moment>,
    /// Allocated then or later.
    pub from: Option<Elapsed>,
    /// Allocated then or earlier.
    pub to: Option<Elapsed>,
}

/// A moment of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When most was live.
    Peak,
    /// The time of the last event.
    End,
    /// Some time.
    At(Elapsed),
}

/// Everything that a report says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The trace.
    pub trace: Trace,
    /// Totals over the whole trace.
    pub totals: Totals,
    /// Live memory over time, at equal distances.
    pub timeline: Vec<TimelinePoint>,
    /// Which blocks the places are about.
    pub selection: Selected,
    /// What places are: `site`, `function`, `module` or `file`.
    pub by: &'static str,
    /// The largest places, the largest first.
    pub places: Vec<Place>,
    /// How many places there are besides.
    pub other_places: usize,
    /// What these hold.
    pub other: Amount,
    /// What of the trace could not be made sense of.
    pub anomalies: Anomalies,
}

/// The trace, as it says itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// Path of the executable.
    pub executable: String,
    /// Process id.
    pub pid: u64,
    /// Name of the machine.
    pub host: String,
    /// What the user called the run.
    pub context: Option<String>,
    /// Settings of the runtime.
    pub runtime_parameters: String,
    /// When recording began, in microseconds since the Unix epoch.
    pub start_unix_us: u64,
    /// Until the last event.
    pub duration_seconds: f64,
    /// Probability that a word is sampled.
    pub samples_per_word: f64,
    /// Bytes that a sample stands for.
    pub bytes_per_sample: f64,
}

/// An amount of memory, headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Amount {
    /// Bytes.
    pub bytes: f64,
    /// Standard error of `bytes`.
    pub bytes_stderr: f64,
    /// Blocks.
    pub blocks: f64,
    /// Standard error of `blocks`.
    pub blocks_stderr: f64,
    /// Samples that this is estimated from.
    pub samples: u64,
    /// Blocks in the trace that this is estimated from.
    pub recorded_blocks: u64,
}

/// Totals over the whole trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Totals {
    /// All that was allocated.
    pub allocated: Amount,
    /// What of it moved from the minor to the major heap.
    pub promoted: Amount,
    /// What was live when most was.
    pub peak: Amount,
    /// When that was first.
    pub peak_seconds: f64,
    /// Of the peak, what was in the minor heap.
    pub peak_minor_bytes: f64,
    /// Of the peak, what was in the major heap.
    pub peak_major_bytes: f64,
    /// Of the peak, what was outside the OCaml heap.
    pub peak_external_bytes: f64,
    /// What was never collected.
    pub live_at_end: Amount,
}

/// Live memory at the end of a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimelinePoint {
    /// The end of the stretch.
    pub seconds: f64,
    /// In the minor heap.
    pub minor_bytes: f64,
    /// In the major heap.
    pub major_bytes: f64,
    /// Outside the OCaml heap.
    pub external_bytes: f64,
    /// The most that was live at any time in the stretch.
    pub most_bytes: f64,
}

/// Which blocks the places are about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Selected {
    /// `peak`, `end`, `time`, or `any` if it does not matter when they were live.
    pub live_at: &'static str,
    /// That moment.
    pub live_at_seconds: Option<f64>,
    /// Allocated then or later.
    pub allocated_from_seconds: Option<f64>,
    /// Allocated then or earlier.
    pub allocated_to_seconds: Option<f64>,
    /// All of them.
    pub total: Amount,
    /// Share of their bytes that was never collected, 0 to 1.
    pub never_collected_share: f64,
    /// Mean age of their bytes: see [`Total::mean_age`].
    pub mean_age_seconds: f64,
}

/// A place that allocates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// What to call it: a function, module or file, as people write it.
    pub name: String,
    /// The function, as the trace spells it.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// What of the selection was allocated here.
    pub amount: Amount,
    /// Its share of the selection's bytes, 0 to 1.
    pub share: f64,
    /// Share of its bytes that was never collected, 0 to 1.
    pub never_collected_share: f64,
    /// Mean age of its bytes: see [`Total::mean_age`].
    pub mean_age_seconds: f64,
    /// When it was allocated: bytes by tenth of the trace's time. Equal tenths of what is still
    /// live mean that it grows steadily.
    pub bytes_by_tenth_of_time: [f64; TENTHS],
    /// From where it is called, the heaviest first.
    pub callers: Vec<CallerChain>,
}

/// Parts that the trace's time is divided in to say when a place allocated.
pub const TENTHS: usize = 10;

/// Callers, innermost first; see [`callers`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallerChain {
    /// Share of the place's bytes that comes this way, 0 to 1.
    pub share: f64,
    /// These bytes.
    pub bytes: f64,
    /// Standard error of `bytes`.
    pub bytes_stderr: f64,
    /// The callers, innermost first, or the first of them.
    pub chain: Vec<Frame>,
    /// How many were left out after those.
    pub omitted: usize,
    /// The last caller, if any were left out.
    pub outermost: Option<Frame>,
    /// What comes in at the outer end.
    pub branches: Vec<CallerChain>,
}

/// A caller.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// The function, as people write it.
    pub name: String,
    /// The function, as the trace spells it.
    pub function: String,
    /// The source file.
    pub file: String,
    /// The line of the (heaviest) call.
    pub line: u32,
    /// Whether calls on other lines count, too.
    pub lines_differ: bool,
    /// Whether the function calls itself, perhaps by way of others.
    pub recursive: bool,
}

/// What of the trace could not be made sense of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Anomalies {
    /// Damage to the file that was read past.
    pub damage: u64,
    /// Events that contradict others.
    pub inconsistent_events: u64,
}

impl Report {
    /// Answers a question.
    pub fn new(profile: &Profile, question: &Question) -> Self {
        let timeline = Timeline::new(&profile.blocks, profile.end, question.points);
        let peak = timeline.peak.time;
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
            timeline: points(profile, &timeline),
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
                damage: profile.damage,
                inconsistent_events: profile.inconsistent.total(),
            },
        }
    }
}

impl Asked {
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
    let [minor, major, external] = kinds.map(|samples| profile.estimator.bytes_of(samples).value);
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

fn points(profile: &Profile, timeline: &Timeline) -> Vec<TimelinePoint> {
    let bytes = |samples| profile.estimator.bytes_of(samples).value;
    let point = |point: &crate::timeline::Point| TimelinePoint {
        seconds: point.time.seconds(),
        minor_bytes: bytes(point.minor),
        major_bytes: bytes(point.major),
        external_bytes: bytes(point.external),
        most_bytes: bytes(point.most),
    };
    timeline.points.iter().map(point).collect()
}

fn amount(profile: &Profile, sum: &Sum) -> Amount {
    let (bytes, blocks) = (profile.estimator.bytes(sum), profile.estimator.blocks(sum));
    Amount {
        bytes: bytes.value,
        bytes_stderr: bytes.stderr,
        blocks: blocks.value,
        blocks_stderr: blocks.stderr,
        samples: sum.samples,
        recorded_blocks: sum.recorded,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// What is gathered of the named places only.
#[derive(Default)]
struct Details {
    stacks: Vec<(StackId, u32)>,
    by_tenth: [u64; TENTHS],
}

impl Details {
    fn gather(
        profile: &Profile,
        selection: &Selection,
        places: &Places<'_>,
        named: &[(usize, Total)],
    ) -> Vec<Self> {
        let mut rank = vec![usize::MAX; places.keys().len()];
        let mut details: Vec<Self> = Vec::with_capacity(named.len());
        for (index, &(place, total)) in named.iter().enumerate() {
            rank[place] = index;
            let stacks = Vec::with_capacity(total.sum.recorded as usize);
            details.push(Self { stacks, ..Self::default() });
        }
        let span = profile.end.0.saturating_add(1);
        for row in selection.rows(&profile.blocks) {
            let stack = profile.blocks.stack(row);
            let Some(detail) = details.get_mut(rank[places.of_stack(profile, stack)]) else {
                continue;
            };
            let samples = profile.blocks.samples(row);
            let time = profile.blocks.allocated(row).0;
            let tenth = (u128::from(time) * TENTHS as u128 / u128::from(span)) as usize;
            detail.by_tenth[tenth.min(TENTHS - 1)] += samples;
            // A block of more samples than that is worth several entries.
            let mut left = samples;
            while left > 0 {
                let part = left.min(u32::MAX.into());
                detail.stacks.push((stack, part as u32));
                left -= part;
            }
        }
        details
    }

    /// Samples by distinct backtrace.
    fn by_stack(mut self) -> Vec<(StackId, u64)> {
        self.stacks.sort_unstable_by_key(|&(stack, _)| stack);
        let same = |a: &(StackId, u32), b: &(StackId, u32)| a.0 == b.0;
        let sum = |run: &[(StackId, u32)]| run.iter().map(|&(_, samples)| u64::from(samples)).sum();
        self.stacks.chunk_by(same).map(|run| (run[0].0, sum(run))).collect()
    }
}

/// Callers of a chain that are kept before some are left out.
const CHAIN: usize = 16;

/// Spells out ids.
struct Naming<'a> {
    profile: &'a Profile,
    places: &'a Places<'a>,
}

impl Naming<'_> {
    fn place(&self, &(place, ref amounts): &(usize, Total), detail: Details, all: &Total) -> Place {
        let key = self.places.keys()[place];
        let bytes = |samples| self.profile.estimator.bytes_of(samples).value;
        let bytes_by_tenth_of_time = detail.by_tenth.map(bytes);
        let callers = callers::callers(
            &self.profile.stacks,
            self.places,
            &self.profile.locations,
            key,
            &detail.by_stack(),
            Limits::default(),
        );
        let samples = amounts.sum.samples;
        let (name, function, file, line) = self.spell(key);
        Place {
            name,
            function,
            file,
            line,
            amount: amount(self.profile, &amounts.sum),
            share: share(samples, all.sum.samples),
            never_collected_share: share(amounts.never_collected, samples),
            mean_age_seconds: amounts.mean_age().seconds(),
            bytes_by_tenth_of_time,
            callers: callers.iter().map(|caller| self.caller(caller, samples)).collect(),
        }
    }

    fn spell(&self, key: Key) -> (String, Option<String>, Option<String>, Option<u32>) {
        match key {
            Key::Unknown => ("(no debug information)".into(), None, None, None),
            Key::Site(function, file, line) => {
                let function = self.function(function);
                (names::readable(&function), Some(function), Some(self.file(file)), Some(line))
            }
            Key::Function(function) => {
                let function = self.function(function);
                (names::readable(&function), Some(function), None, None)
            }
            Key::Module(module) => match self.places.module_name(module) {
                "" => ("(in no module)".into(), None, None, None),
                name => (names::readable(name), None, None, None),
            },
            Key::File(file) => {
                let file = self.file(file);
                (file.clone(), None, Some(file), None)
            }
        }
    }

    fn caller(&self, caller: &Caller, of: u64) -> CallerChain {
        let bytes = self.profile.estimator.bytes_of(caller.samples);
        let (first, rest) = match caller.chain.len() {
            len if len > CHAIN => caller.chain.split_at(CHAIN - 1),
            _ => (caller.chain.as_slice(), [].as_slice()),
        };
        CallerChain {
            share: share(caller.samples, of),
            bytes: bytes.value,
            bytes_stderr: bytes.stderr,
            chain: first.iter().map(|step| self.frame(step)).collect(),
            omitted: rest.len().saturating_sub(1),
            outermost: rest.last().map(|step| self.frame(step)),
            branches: caller.branches.iter().map(|branch| self.caller(branch, of)).collect(),
        }
    }

    fn frame(&self, step: &Step) -> Frame {
        let function = self.function(step.function);
        Frame {
            name: names::readable(&function),
            function,
            file: self.file(step.file),
            line: step.line,
            lines_differ: step.lines_differ,
            recursive: step.recursive,
        }
    }

    fn function(&self, function: FunctionId) -> String {
        String::from_utf8_lossy(self.profile.locations.functions().get(function)).into_owned()
    }

    fn file(&self, file: FileId) -> String {
        String::from_utf8_lossy(self.profile.locations.files().get(file)).into_owned()
    }
}
