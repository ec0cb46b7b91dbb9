//! What filters mean, block by block and word for word as memtrace's viewer defines them.

use std::collections::{BTreeMap, HashMap};

use memtrail_profile::filter::{
    Between, Clause, Collected, Condition, Died, FrameName, FrameScope, Heap, Moment, Name,
};
use memtrail_profile::names::{module, readable};
use memtrail_trace::{BlockId, Detail, Event, Reader, Source};

/// A block, as plainly as can be. Times in microseconds since the start.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) allocated: u64,
    pub(crate) promoted: Option<u64>,
    pub(crate) collected: Option<u64>,
    pub(crate) bytes: u64,
    pub(crate) samples: u64,
    pub(crate) source: Source,
    pub(crate) domain: u16,
    /// Outermost first.
    pub(crate) frames: Vec<Frame>,
    /// Sites of the innermost frame.
    pub(crate) innermost: usize,
}

/// Function and file.
pub(crate) type Frame = (String, String);

/// A trace, as plainly as can be.
pub(crate) struct PlainTrace {
    pub(crate) blocks: Vec<Plain>,
    pub(crate) end: u64,
    pub(crate) peak: (u64, u64),
}

impl PlainTrace {
    pub(crate) fn read(trace: &[u8]) -> Self {
        let reader = Reader::new(trace).unwrap();
        let start = reader.info().start.0;
        let mut blocks: Vec<Plain> = Vec::new();
        let mut ids: HashMap<BlockId, usize> = HashMap::new();
        let mut later = Vec::new();
        let mut end = 0;
        reader.for_each(Detail::Codes, |event, tables| match event {
            Event::Alloc(alloc) => {
                let sites = |code| tables.locations.of(code).iter();
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let frames = alloc.backtrace.iter().flat_map(|&code| sites(code)).map(|&site| {
                    let location = tables.locations.resolve(site);
                    (text(location.function), text(location.file))
                });
                ids.insert(alloc.id, blocks.len());
                end = end.max(alloc.time.0 - start);
                blocks.push(Plain {
                    allocated: alloc.time.0 - start,
                    promoted: None,
                    collected: None,
                    bytes: (alloc.length.0 + header(alloc.source)) * 8,
                    samples: alloc.samples,
                    source: alloc.source,
                    domain: alloc.domain.0,
                    frames: frames.collect(),
                    innermost: alloc.backtrace.last().map_or(0, |&code| sites(code).count()),
                });
            }
            Event::Promote(mark) => later.push((mark, false)),
            Event::Collect(mark) => later.push((mark, true)),
        });
        for (mark, collected) in later {
            let (block, time) = (&mut blocks[ids[&mark.id]], mark.time.0 - start);
            end = end.max(time);
            if collected {
                block.collected = Some(time);
            } else {
                block.promoted = Some(time);
            }
        }
        let whole: Vec<_> = blocks.iter().map(|b| Some((b.allocated, b.collected))).collect();
        let peak = peak(&blocks, &whole);
        Self { blocks, end, peak }
    }

    fn moment(&self, moment: Moment) -> u64 {
        match moment {
            Moment::Start => 0,
            Moment::Peak => self.peak.0,
            Moment::End => self.end,
            Moment::At(time) => time.0,
            Moment::Part(part) => (u128::from(self.end) * u128::from(part.0) / 1_000_000) as u64,
        }
    }

    fn range(&self, range: Between<Moment>) -> (Option<u64>, Option<u64>) {
        let [from, to] = [range.from, range.to].map(|end| end.map(|end| self.moment(end)));
        (from, to)
    }

    /// Whether a filter makes no sense for this trace.
    pub(crate) fn refuses(&self, conditions: &[Condition]) -> bool {
        let backwards = |range: Between<Moment>| {
            let (from, to) = self.range(range);
            from.zip(to).is_some_and(|(from, to)| from > to)
        };
        let wrong = |condition: &Condition| match &condition.clause {
            Clause::Allocated(ranges) | Clause::Live(ranges) => {
                ranges.iter().any(|&range| backwards(range))
            }
            Clause::Collected(values) => values
                .iter()
                .any(|value| matches!(value, Collected::Within(range) if backwards(*range))),
            _ => false,
        };
        let heaps = [Heap::Minor, Heap::Major, Heap::External];
        conditions.iter().any(wrong) || heaps.iter().all(|&heap| !watched(conditions, heap))
    }

    /// When each block begins and ceases to count, or that it does not.
    pub(crate) fn keep(&self, conditions: &[Condition]) -> Vec<Option<(u64, Option<u64>)>> {
        // Which frames each condition means, asked once for each.
        let mut meant: Vec<HashMap<Frame, bool>> = vec![HashMap::new(); conditions.len()];
        let mut keep = |block: &Plain| {
            let (born, died) = counts(conditions, block)?;
            let mut holds = conditions.iter().zip(&mut meant);
            holds
                .all(|(condition, meant)| self.holds(condition, meant, block, born, died))
                .then_some((born, died))
        };
        self.blocks.iter().map(&mut keep).collect()
    }

    fn holds(
        &self,
        condition: &Condition,
        meant: &mut HashMap<Frame, bool>,
        block: &Plain,
        born: u64,
        died: Option<u64>,
    ) -> bool {
        let in_range = |range: Between<Moment>, time: u64| {
            let (from, to) = self.range(range);
            from.is_none_or(|from| time >= from) && to.is_none_or(|to| time <= to)
        };
        let any = match &condition.clause {
            Clause::Allocated(ranges) => ranges.iter().any(|&range| in_range(range, born)),
            Clause::Live(ranges) => ranges.iter().any(|&range| {
                let (lower, upper) = self.range(range);
                let begun = upper.is_none_or(|upper| born <= upper);
                let collected_after = |time| died.is_none_or(|died| died > time);
                begun && lower.is_none_or(collected_after)
            }),
            Clause::Collected(values) => values.iter().any(|value| match value {
                Collected::Never => died.is_none(),
                Collected::Within(range) => in_range(*range, died.unwrap_or(self.end)),
            }),
            Clause::Lifetime(ranges) => {
                let lifetime = died.unwrap_or(self.end) - born;
                ranges.iter().any(|range| {
                    range.from.is_none_or(|from| lifetime >= from.0)
                        && range.to.is_none_or(|to| lifetime <= to.0)
                })
            }
            Clause::Size(ranges) => ranges.iter().any(|range| {
                range.from.is_none_or(|from| block.bytes >= from.0)
                    && range.to.is_none_or(|to| block.bytes <= to.0)
            }),
            // Decided before, and no condition.
            Clause::Heap(_) | Clause::Hide(_) | Clause::Collapse(_) => return true,
            Clause::Died(values) => values.contains(&match (block.collected, block.source) {
                (None, _) => Died::Never,
                (Some(_), Source::External) => Died::In(Heap::External),
                (Some(_), Source::Minor) if block.promoted.is_none() => Died::In(Heap::Minor),
                (Some(_), _) => Died::In(Heap::Major),
            }),
            Clause::Domain(domains) => domains.iter().any(|domain| domain.0 == block.domain),
            Clause::Thread(_) => panic!("traces have no threads"),
            Clause::Process(_) => panic!("traces of one process name none"),
            Clause::Frame(which, what, names) => {
                let frames = match which {
                    FrameScope::Any => &block.frames[..],
                    FrameScope::Innermost if block.innermost == 0 => &[],
                    FrameScope::Innermost => &block.frames[block.frames.len() - 1..],
                };
                let mut any = false;
                for frame in frames {
                    let asked = |name| matches(*what, name, frame);
                    any |= *meant.entry(frame.clone()).or_insert_with(|| names.iter().any(asked));
                }
                any
            }
        };
        any != condition.not
    }
}

fn matches(what: FrameName, name: &Name, (function, file): &Frame) -> bool {
    let test = |text: &str| match name {
        Name::Equals(name) => text == name,
        Name::Contains(part) => text.contains(part),
        Name::Matches(pattern) => regex::Regex::new(pattern).unwrap().is_match(text),
    };
    match what {
        FrameName::Function => test(function) || test(&readable(function)),
        FrameName::Module => match module(function) {
            "" => false,
            module => test(module) || test(&readable(module)),
        },
        FrameName::File => test(file),
    }
}

/// Whether a part of memory is watched: every "on" names it, and no "not on" does.
fn watched(conditions: &[Condition], heap: Heap) -> bool {
    conditions.iter().all(|condition| match &condition.clause {
        Clause::Heap(heaps) => heaps.contains(&heap) != condition.not,
        _ => true,
    })
}

/// From when until when a block counts, by the heaps that are watched.
fn counts(conditions: &[Condition], block: &Plain) -> Option<(u64, Option<u64>)> {
    let [minor, major, external] =
        [Heap::Minor, Heap::Major, Heap::External].map(|heap| watched(conditions, heap));
    let whole = (block.allocated, block.collected);
    match block.source {
        Source::External => external.then_some(whole),
        Source::Major => major.then_some(whole),
        Source::Minor if minor && major => Some(whole),
        // It counts as collected at its promotion.
        Source::Minor if minor => Some((block.allocated, block.promoted.or(block.collected))),
        // It counts from its promotion on.
        Source::Minor if major => block.promoted.map(|promoted| (promoted, block.collected)),
        Source::Minor => None,
    }
}

/// Samples that are live at a moment.
pub(crate) fn live(blocks: &[Plain], kept: &[Option<(u64, Option<u64>)>], time: u64) -> u64 {
    let there = |born, died: Option<u64>| born <= time && died.is_none_or(|died| died > time);
    let each = blocks.iter().zip(kept).filter_map(|(block, kept)| {
        kept.is_some_and(|(born, died)| there(born, died)).then_some(block.samples)
    });
    each.sum()
}

/// Words that stand before a block's own: memory outside the heap has none.
fn header(source: Source) -> u64 {
    match source {
        Source::External => 0,
        Source::Minor | Source::Major => 1,
    }
}

/// The first moment at which most is live, and how much.
pub(crate) fn peak(blocks: &[Plain], kept: &[Option<(u64, Option<u64>)>]) -> (u64, u64) {
    let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
    for (block, kept) in blocks.iter().zip(kept) {
        let Some((born, died)) = *kept else { continue };
        *changes.entry(born).or_default() += block.samples as i64;
        if let Some(died) = died {
            *changes.entry(died).or_default() -= block.samples as i64;
        }
    }
    let (mut live, mut peak) = (0, (0, 0));
    for (time, change) in changes {
        live += change;
        if live > peak.1 {
            peak = (time, live);
        }
    }
    (peak.0, peak.1 as u64)
}
