//! The second pass: writes the history anew, and copies what follows it.

use std::io::{self, Write};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::Binomial;
use rustc_hash::{FxHashMap, FxHashSet};

use super::history::History;
use super::plan::Plan;
use super::survey::{Rate, Thinning};
use crate::read::{Alloc, Detail, Event, Mark, Tables};
use crate::units::{BlockId, DomainId};
use crate::write::{AllocEvent, TraceWriter};

/// Ids that a domain has at a time, if there are several.
const CHUNK: u64 = 10_000;

pub(super) fn write<W: Write>(
    history: &History<'_>,
    thinning: &Thinning<'_>,
    plan: &Plan,
    out: W,
) -> io::Result<W> {
    let mut writing = Writing {
        history,
        thinning,
        plan,
        writer: TraceWriter::keeping_ids(out, &history.info)?,
        random: StdRng::seed_from_u64(thinning.seed),
        blocks: 0,
        free: FxHashMap::default(),
        ids: FxHashMap::default(),
        early: FxHashMap::default(),
        to_come: plan.survey.early.clone(),
    };
    history.events(Detail::Codes, |event, tables| writing.event(&event, tables))?;
    let mut out = writing.writer.finish()?;
    for packet in &history.recent {
        out.write_all(packet)?;
    }
    Ok(out)
}

struct Writing<'a, W> {
    history: &'a History<'a>,
    thinning: &'a Thinning<'a>,
    plan: &'a Plan,
    writer: TraceWriter<W>,
    random: StdRng,
    /// Blocks so far.
    blocks: u64,
    /// For each domain, the lowest id that a block may still get.
    free: FxHashMap<DomainId, u64>,
    /// The ids of blocks that have others now, and of those that were dropped; until they die.
    ids: FxHashMap<BlockId, Option<BlockId>>,
    /// Marks of blocks that are yet to come: promotion and end.
    early: FxHashMap<BlockId, [Option<Mark>; 2]>,
    /// Blocks with such marks.
    to_come: FxHashSet<BlockId>,
}

impl<W: Write> Writing<'_, W> {
    fn event(&mut self, event: &Event<'_>, tables: &Tables) -> io::Result<()> {
        match event {
            Event::Alloc(alloc) => self.alloc(alloc, tables),
            Event::Promote(mark) => self.mark(mark, false),
            Event::Collect(mark) => self.mark(mark, true),
        }
    }

    fn alloc(&mut self, alloc: &Alloc<'_>, tables: &Tables) -> io::Result<()> {
        let is_thinned = self.plan.survey.thinned.contains(self.blocks);
        self.blocks += 1;
        let rate = Rate::of(alloc, self.thinning);
        let kept = if is_thinned { self.thinned(alloc, rate) } else { rate };
        let id = (kept.taken > 0).then(|| self.id(alloc, is_thinned));
        if id != Some(alloc.id) {
            self.ids.insert(alloc.id, id);
        }
        if let Some(id) = id {
            let samples = kept.taken << kept.halvings;
            let event = AllocEvent { length: alloc.length, samples, source: alloc.source };
            let locations = &tables.locations;
            let locate = |code, to: &mut Vec<_>| {
                to.extend(locations.of(code).iter().map(|&site| locations.resolve(site)));
            };
            let (domain, time) = (alloc.domain, alloc.time);
            let halvings = Some(kept.halvings);
            self.writer.alloc_as(id, halvings, domain, time, &event, alloc.backtrace, locate)?;
        }
        self.to_come.remove(&alloc.id);
        let [promoted, ended] = self.early.remove(&alloc.id).unwrap_or_default();
        if let Some(mark) = promoted {
            self.mark(&mark, false)?;
        }
        ended.map_or(Ok(()), |mark| self.mark(&mark, true))
    }

    /// The samples of a block that are left.
    fn thinned(&mut self, alloc: &Alloc<'_>, Rate { halvings, taken }: Rate) -> Rate {
        let wanted = self.plan.halvings(self.history.age(alloc.time), halvings);
        let more = wanted - halvings;
        if more == 0 {
            return Rate { halvings, taken };
        }
        // Chances between 0 and 1 are the only ones there are.
        let left = Binomial::new(taken, f64::from(more).exp2().recip())
            .map_or(0, |binomial| self.random.sample(binomial));
        Rate { halvings: wanted, taken: left }
    }

    /// The id in the new trace of a block that is kept.
    fn id(&mut self, alloc: &Alloc<'_>, is_thinned: bool) -> BlockId {
        let BlockId(old) = alloc.id;
        let begin = self.thinning.stretches.get(&alloc.domain.0).map_or(0, |stretches| {
            let after = stretches.partition_point(|&first| first <= old);
            after.checked_sub(1).and_then(|index| stretches.get(index)).copied().unwrap_or(0)
        });
        // Other domains have the ids of other chunks.
        let chunk = if self.history.has_domains { old - old % CHUNK } else { 0 };
        let free = self.free.entry(alloc.domain).or_default();
        *free = (*free).max(begin).max(chunk);
        let new = if is_thinned { (*free).min(old) } else { old };
        *free = new + 1;
        BlockId(new)
    }

    fn mark(&mut self, mark: &Mark, is_end: bool) -> io::Result<()> {
        let known =
            if is_end { self.ids.remove(&mark.id) } else { self.ids.get(&mark.id).copied() };
        if known.is_none() && self.to_come.contains(&mark.id) {
            let early = self.early.entry(mark.id).or_default();
            early[usize::from(is_end)].get_or_insert(*mark);
            return Ok(());
        }
        let Some(id) = known.unwrap_or(Some(mark.id)) else { return Ok(()) };
        if is_end {
            self.writer.collect(mark.domain, mark.time, id)
        } else {
            match self.writer.promote(mark.domain, mark.time, id) {
                // Only the domain that allocates a block promotes it, so no id is too high.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
                written => written,
            }
        }
    }
}
