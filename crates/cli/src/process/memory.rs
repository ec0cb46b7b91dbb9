//! What the process's resident memory was used for, and what would return it: the last figures of the
//! recording's file `memory`.

use memtrail_profile::Profile;
use memtrail_profile::malloc_use::{MallocBlocks, MallocUse};
use memtrail_profile::time::Elapsed;
use memtrail_recording::memory::advice::{Remedy, RuntimeSettings, advise};
use memtrail_recording::memory::table::{MemoryTable, Part, Row};
use memtrail_recording::memory::{MEMORY_FILE, parse};
use memtrail_recording::{Description, Recording};
use memtrail_text::rounded::{bytes, percent, ratio, seconds};
use serde::Serialize;

use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, clean};
use crate::recording_facts;

/// Moments of figures over time, at most.
pub(super) const MAX_MOMENTS: usize = 200;
/// Call sites of each kind that are named.
const MAX_SITES: usize = 5;

/// Resident memory as the recording saw it last.
#[derive(Serialize)]
pub(crate) struct ResidentMemory {
    #[serde(flatten)]
    pub(crate) last: Moment,
    /// What the row of `malloc` is in use for, by samples, if its calls are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    malloc: Option<MallocUse>,
    /// What would return memory.
    pub(crate) advice: Vec<Advice>,
    /// The same over time: moments in their order, not all of a long recording's.
    pub(crate) over_time: Vec<Moment>,
}

/// Resident memory at a moment.
#[derive(Serialize)]
pub(crate) struct Moment {
    /// Since the recording began.
    pub(crate) seconds: f64,
    /// By the kernel's counter.
    pub(crate) rss: u64,
    /// The most until then.
    pub(crate) peak_rss: Option<u64>,
    /// Swapped out, besides.
    swapped: Option<u64>,
    /// What for; together `sum`, which is `rss` but for what changed meanwhile.
    pub(crate) rows: Vec<Row>,
    sum: u64,
    /// Seconds of CPU time of the process until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_seconds: Option<f64>,
}

impl Moment {
    fn of(&self, part: Part) -> u64 {
        self.rows.iter().find(|row| row.part == part).map_or(0, |row| row.bytes)
    }
}

#[derive(Serialize)]
pub(crate) struct Advice {
    #[serde(flatten)]
    remedy: Remedy,
    pub(crate) text: String,
}

impl ResidentMemory {
    /// What the recording's file says; none if it has none, or is of several processes.
    pub(crate) fn of(recording: &Recording) -> Option<Self> {
        if recording.is_merged() || recording.description.is_none() {
            return None;
        }
        let file = std::fs::read(recording.path.join(MEMORY_FILE)).ok()?;
        // What is before an unreadable line is right all the same.
        let (figures, _) = parse(&file);
        let tables: Vec<MemoryTable> = figures.iter().filter_map(MemoryTable::new).collect();
        let last = tables.last()?;
        let runtime = recording.description.as_ref().map(settings);
        let remedies = runtime.map_or_else(Vec::new, |runtime| advise(last, runtime));
        let step = tables.len().div_ceil(MAX_MOMENTS);
        // Such that the last one is among them.
        let first = (tables.len() - 1) % step;
        Some(Self {
            last: last.into(),
            malloc: None,
            advice: remedies.into_iter().map(Advice::from).collect(),
            over_time: tables.iter().skip(first).step_by(step).map(Moment::from).collect(),
        })
    }

    /// With what the samples say of memory from `malloc`, if its calls are recorded.
    pub(crate) fn with_samples(mut self, recording: &Recording, profile: &Profile) -> Self {
        let blocks = if recording_facts::is_native(recording) {
            MallocBlocks::All
        } else if recording_facts::has_malloc(recording) {
            MallocBlocks::BesideHeap
        } else {
            return self;
        };
        let at = Elapsed((self.last.seconds * 1e6) as u64);
        let (in_use, other) = (self.malloc_in_use(), self.last.of(Part::Other));
        let found = MallocUse::new(profile, blocks, at, in_use, MAX_SITES);
        self.malloc = found.filter(|malloc| malloc.fits(in_use, other));
        self
    }

    /// What `malloc` has in use.
    pub(crate) fn malloc_in_use(&self) -> u64 {
        self.last.of(Part::MallocUsed)
    }

    /// The table, for people.
    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        let Moment { seconds: at, rss, peak_rss, swapped, rows, .. } = &self.last;
        let size = |size: u64| bytes(size as f64);
        let peak = peak_rss.map(|peak| format!(", at most {}", size(peak)));
        let swapped = swapped.filter(|&swapped| swapped > 0);
        let swapped = swapped.map(|swapped| format!(", {} swapped out besides", size(swapped)));
        let (peak, swapped) = (peak.unwrap_or_default(), swapped.unwrap_or_default());
        let note = format!("  after {}{peak}{swapped}", seconds(*at));
        let total = format!("{:>14}", size(*rss));
        canvas.line(&[(PLAIN, "resident memory "), (STRONG, &total), (FAINT, &note)]);
        for Row { part, bytes } in rows.iter().filter(|row| row.bytes > 0) {
            let share = percent(ratio(*bytes as f64, *rss as f64));
            let text = format!("{:>30}{share:>7}  {}", size(*bytes), part.name());
            canvas.line(&[(PLAIN, &text)]);
            if *part == Part::MallocUsed
                && let Some(malloc) = &self.malloc
            {
                draw_malloc(canvas, malloc);
            }
        }
        for advice in &self.advice {
            canvas.item(PLAIN, "  ", 4, &advice.text);
        }
        canvas.gap();
    }
}

/// What is below the row of `malloc`.
fn draw_malloc(canvas: &mut Canvas, malloc: &MallocUse) {
    let mut line = |size: u64, indent: usize, name: &str| {
        let text = format!("{:>30}{:indent$}{}", bytes(size as f64), "", clean(name));
        canvas.line(&[(FAINT, &text)]);
    };
    for of in &malloc.allocators {
        line(of.bytes, 11, &of.name);
        let mut rest = of.bytes;
        for site in &of.sites {
            rest = rest.saturating_sub(site.bytes);
            line(site.bytes, 13, &site.site);
        }
        if of.other_sites > 0 {
            let plural = if of.other_sites == 1 { "" } else { "s" };
            line(rest, 13, &format!("{} other call site{plural}", of.other_sites));
        }
    }
    line(malloc.rest, 11, "not sampled, and malloc's own");
}

fn settings(description: &Description) -> RuntimeSettings<'_> {
    let runtime = &description.runtime;
    RuntimeSettings { version: &runtime.version, parameters: &runtime.parameters }
}

impl From<&MemoryTable> for Moment {
    fn from(table: &MemoryTable) -> Self {
        Self {
            seconds: table.elapsed.as_secs_f64(),
            rss: table.rss.0,
            peak_rss: table.peak_rss.map(|bytes| bytes.0),
            swapped: table.swapped.map(|bytes| bytes.0),
            rows: table.rows.clone(),
            sum: table.sum(),
            cpu_seconds: table.cpu.map(|cpu| cpu.as_secs_f64()),
        }
    }
}

impl From<Remedy> for Advice {
    fn from(remedy: Remedy) -> Self {
        let size = |size: u64| bytes(size as f64);
        let text = match remedy {
            Remedy::Compact { bytes, kept: 0 } => format!(
                "Gc.compact would return up to {}: so much of the major heap is free",
                size(bytes)
            ),
            Remedy::Compact { bytes, kept } => format!(
                "Gc.compact would return about {}: {} of the major heap is free, of which the compactor of \
                 OCaml 4 keeps {} by space_overhead",
                size(bytes - kept),
                size(bytes),
                size(kept)
            ),
            Remedy::LaterOcaml { bytes } => format!(
                "{} of the major heap is free; OCaml 5.0 and 5.1 cannot return it, Gc.compact of OCaml 5.2 \
                 and later does",
                size(bytes)
            ),
            Remedy::MallocTrim { bytes } => format!(
                "malloc_trim would return up to {}, perhaps nothing: malloc keeps so much after free, and \
                 returns whole pages alone; how many are wholly free is not recorded",
                size(bytes)
            ),
            Remedy::SpaceOverhead { bytes, value, default } => format!(
                "a smaller space_overhead would leave less free than these {}: it is {value} (o={value} \
                 in OCAMLRUNPARAM), the default is {default}",
                size(bytes)
            ),
        };
        Self { remedy, text }
    }
}
