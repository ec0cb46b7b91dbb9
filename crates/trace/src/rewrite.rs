//! Writes the events of one trace into another, and lets some of them go on the way.

use std::io::{self, Write};
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::info::{Location, TraceInfo};
use crate::new_ids::{Fate, NewIds};
use crate::read::{Alloc, Decoded, Detail, Event, Mark, Reader, Tables};
use crate::units::{BlockId, Code, Timestamp};
use crate::write::{AllocEvent, TraceWriter};

/// What becomes of a trace on its way.
pub trait Rewrite {
    /// The first packet of the new trace.
    fn info(&self, old: &TraceInfo) -> TraceInfo;
    /// A block as it is to be written; `None` drops it, and all that happens to it.
    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent>;
    /// Learns that a block that was let through has another number in the new trace.
    fn renumbered(&mut self, old: BlockId, new: BlockId) {
        let _ = (old, new);
    }
    /// Number of times that the trace's rate was halved for a block that was let through, if the new trace is to say so.
    fn halvings(&self, alloc: &Alloc<'_>) -> Option<u8> {
        alloc.halvings
    }
    /// The time of an event.
    fn time(&self, time: Timestamp) -> Timestamp {
        time
    }
    /// Whether call stacks are kept.
    const STACKS: bool;
    /// True if blocks keep their ids, also in a trace from which some are missing.
    const KEEPS_IDS: bool = false;
    /// What is kept of the call stack, the outermost frame first, of the block that was let through last.
    fn backtrace<'a>(&self, backtrace: &'a [Code]) -> &'a [Code] {
        backtrace
    }
    /// What stands at a code, instead of what stood there; `None` leaves that. It is asked after the first
    /// block with this code in its backtrace was let through.
    fn locations(&self, code: Code) -> Option<Vec<Location<'_>>> {
        let _ = code;
        None
    }
}

/// Copies what `rewrite` lets through to `out`, which is given back. `progress` is called for each
/// event read.
///
/// # Errors
/// Those of `out`.
pub fn rewrite<R: Rewrite, W: Write>(
    reader: &Reader<'_>,
    out: W,
    rewrite: &mut R,
    mut progress: impl FnMut(),
) -> io::Result<(W, Decoded)> {
    let info = rewrite.info(reader.info());
    let writer = if R::KEEPS_IDS && reader.is_thinned() {
        TraceWriter::keeping_ids(out, &info)?
    } else {
        TraceWriter::new(out, &info)?
    };
    let (ids, early) = (NewIds::default(), FxHashMap::default());
    let mut copying = Copying { rewrite, writer, ids, early };
    let detail = if R::STACKS { Detail::Codes } else { Detail::Marks };
    let read = reader.try_for_each(detail, |event, tables| {
        progress();
        match copying.event(&event, tables) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    });
    match read {
        ControlFlow::Continue(decoded) => Ok((copying.writer.finish()?, decoded)),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Copying<'a, R, W> {
    rewrite: &'a mut R,
    writer: TraceWriter<W>,
    ids: NewIds,
    /// What happened to blocks that are yet to come: domains are not merged.
    early: FxHashMap<BlockId, Early>,
}

#[derive(Default)]
struct Early {
    promoted: Option<Mark>,
    collected: Option<Mark>,
}

impl<R: Rewrite, W: Write> Copying<'_, R, W> {
    fn event(&mut self, event: &Event<'_>, tables: &Tables) -> io::Result<()> {
        match event {
            Event::Alloc(alloc) => self.alloc(alloc, tables),
            Event::Promote(mark) => match self.ids.get(mark.id) {
                Fate::Kept(id) => {
                    self.writer.promote(mark.domain, self.rewrite.time(mark.time), id)
                }
                Fate::Dropped => Ok(()),
                Fate::Unknown => {
                    self.early.entry(mark.id).or_default().promoted.get_or_insert(*mark);
                    Ok(())
                }
            },
            Event::Collect(mark) => match self.ids.take(mark.id) {
                Fate::Kept(id) => {
                    self.writer.collect(mark.domain, self.rewrite.time(mark.time), id)
                }
                Fate::Dropped => Ok(()),
                Fate::Unknown => {
                    self.early.entry(mark.id).or_default().collected.get_or_insert(*mark);
                    Ok(())
                }
            },
        }
    }

    fn alloc(&mut self, a: &Alloc<'_>, tables: &Tables) -> io::Result<()> {
        let early = self.early.remove(&a.id).unwrap_or_default();
        let Some(event) = self.rewrite.alloc(a) else {
            self.ids.insert(a.id, None);
            return Ok(());
        };
        let rewrite = &*self.rewrite;
        let backtrace = if R::STACKS { rewrite.backtrace(a.backtrace) } else { &[] };
        let locations = &tables.locations;
        let time = rewrite.time(a.time);
        let halvings = rewrite.halvings(a);
        let locate = |code, to: &mut Vec<_>| match rewrite.locations(code) {
            Some(replaced) => to.extend(replaced),
            None => to.extend(locations.of(code).iter().map(|&site| locations.resolve(site))),
        };
        let id = if self.writer.keeps_ids() {
            self.writer.alloc_as(a.id, halvings, a.domain, time, &event, backtrace, locate)?;
            a.id
        } else {
            self.writer.set_halvings(a.domain, halvings)?;
            self.writer.alloc(a.domain, time, &event, backtrace, locate)?
        };
        self.ids.insert(a.id, Some(id));
        self.rewrite.renumbered(a.id, id);
        let Early { promoted, collected } = early;
        for event in promoted.map(Event::Promote).into_iter().chain(collected.map(Event::Collect)) {
            self.event(&event, tables)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Source;
    use crate::units::{DomainId, SampleRate, Words};
    use crate::write::{StreamWriter, Version, info_packet};

    struct Everything;

    impl Rewrite for Everything {
        const STACKS: bool = true;

        fn info(&self, old: &TraceInfo) -> TraceInfo {
            old.clone()
        }

        fn alloc(&mut self, a: &Alloc<'_>) -> Option<AllocEvent> {
            Some(AllocEvent { length: a.length, samples: a.samples, source: a.source })
        }
    }

    #[test]
    fn a_block_that_another_domain_collected_before_it_came_stays_collected() {
        let info = TraceInfo {
            sample_rate: SampleRate(1e-3),
            word_bits: 64,
            executable: "early".into(),
            host: String::new(),
            runtime_params: String::new(),
            pid: 1,
            start: Timestamp(1_000_000),
            context: None,
        };
        let stream = |domain, first| {
            let buf = vec![0; 1 << 15];
            StreamWriter::new(buf, Version::V3, 1, DomainId(domain), info.start, BlockId(first))
        };
        let mut buf = vec![0; 1 << 15];
        let size = info_packet(&mut buf, &info, Version::V3).unwrap();
        let mut trace = buf[..size].to_vec();
        let (mut first, mut second) = (stream(0, 0).unwrap(), stream(1, 10_000).unwrap());
        let event = AllocEvent { length: Words(2), samples: 1, source: Source::Major };
        first.set_ids(BlockId(0), BlockId(10_000)).unwrap();
        second.set_ids(BlockId(10_000), BlockId(20_000)).unwrap();
        let block = second.alloc(Timestamp(1_000_001), &event, &[], 0).unwrap();
        first.alloc(Timestamp(1_000_002), &event, &[], 0).unwrap();
        first.collect(Timestamp(1_000_003), block).unwrap();
        trace.extend_from_slice(first.packet());
        trace.extend_from_slice(second.packet());

        let reader = Reader::new(&trace).unwrap();
        let (copy, _) = rewrite(&reader, Vec::new(), &mut Everything, || ()).unwrap();
        let mut ends = Vec::new();
        Reader::new(&copy).unwrap().for_each(Detail::Codes, |event, _| {
            if let Event::Collect(mark) = event {
                ends.push(mark.time);
            }
        });
        assert_eq!(ends, [Timestamp(1_000_003)]);
    }
}
