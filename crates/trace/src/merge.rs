//! Writes the events of several traces into one: the processes of a family, on one clock.
//!
//! - Each process's domains become domains of their own, so that whatever is known of blocks by domain and
//!   id can be carried over.
//! - Each backtrace gets one frame more at its outer end, which names the process. So the outermost level of
//!   a call tree is that of the processes.
//! - Codes of different programs may be the same number and mean different things. They are replaced: what
//!   has the same functions and positions gets the same code, in whichever process it is.
//! - The memory of a process is freed when the process ends: its blocks that are live then are collected
//!   then, unless nothing of the family runs on.

use std::io::{self, Write};
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::info::{Location, TraceInfo};
use crate::omitted;
use crate::read::{Alloc, Decoded, Detail, Event, Mark, Reader, Tables};
use crate::units::{BlockId, Code, DomainId, Timestamp};
use crate::write::{AllocEvent, TraceWriter};

/// The trace of one process.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its trace.
    pub trace: &'a Reader<'a>,
    /// What to call the process.
    pub name: &'a [u8],
    /// What to name as the source file of the outermost frame.
    pub file: &'a [u8],
    /// When its memory is freed: at its end, if anything of the family runs on then.
    pub freed: Option<Timestamp>,
}

/// A block that was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Of which part, by its place among them.
    pub part: usize,
    /// Its domain and id there.
    pub from: (DomainId, BlockId),
    /// Its domain and id in the merged trace.
    pub to: (DomainId, BlockId),
}

/// Writes all parts, one after the other, into one trace, and gives what was known at the end of each part. `info` is the first packet: its rate must be that of all parts, and its time not later than
/// that of any. `copied` is called for each block that is written.
///
/// # Errors
/// Those of `out`; and if there are more domains in all than the format has numbers for.
pub fn merge<'a>(
    parts: &[Part<'_>],
    info: &TraceInfo,
    out: &'a mut dyn Write,
    copied: &'a mut dyn FnMut(Copied),
) -> io::Result<Vec<Decoded>> {
    let mut merging = Merging {
        writer: TraceWriter::new(out, info)?,
        codes: Codes::default(),
        next_domain: 0,
        copied,
    };
    let decoded = parts
        .iter()
        .enumerate()
        .map(|(index, part)| merging.part(index, part))
        .collect::<io::Result<_>>()?;
    merging.writer.finish()?;
    Ok(decoded)
}

struct Merging<'a> {
    writer: TraceWriter<&'a mut dyn Write>,
    codes: Codes,
    /// The next number that no domain has.
    next_domain: u32,
    copied: &'a mut dyn FnMut(Copied),
}

/// What is known of a part while it is copied.
struct Copying {
    part: usize,
    domains: FxHashMap<DomainId, DomainId>,
    /// Codes of the merged trace.
    codes: FxHashMap<Code, Code>,
    process: Code,
    /// Blocks that are live, with their domains and ids in the merged trace.
    live: FxHashMap<BlockId, (DomainId, BlockId)>,
    /// What happened to blocks that are yet to come: domains are not merged.
    early: FxHashMap<BlockId, [Option<Mark>; 2]>,
    backtrace: Vec<Code>,
}

impl Merging<'_> {
    fn part(&mut self, index: usize, part: &Part<'_>) -> io::Result<Decoded> {
        let mut copying = Copying {
            part: index,
            domains: FxHashMap::default(),
            codes: FxHashMap::default(),
            process: self.codes.process(part.name, part.file),
            live: FxHashMap::default(),
            early: FxHashMap::default(),
            backtrace: Vec::new(),
        };
        let read = part.trace.try_for_each(Detail::Codes, |event, tables| {
            match self.event(&mut copying, &event, tables) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            }
        });
        let decoded = match read {
            ControlFlow::Continue(decoded) => decoded,
            ControlFlow::Break(error) => return Err(error),
        };
        if let Some(freed) = part.freed {
            let mut live: Vec<_> = copying.live.into_values().collect();
            live.sort_unstable();
            for (domain, id) in live {
                self.writer.collect(domain, freed, id)?;
            }
        }
        // Parts share no blocks: nothing more will come of these.
        for &domain in copying.domains.values() {
            self.writer.close(domain)?;
        }
        Ok(decoded)
    }

    fn event(
        &mut self,
        copying: &mut Copying,
        event: &Event<'_>,
        tables: &Tables,
    ) -> io::Result<()> {
        match event {
            Event::Alloc(alloc) => self.alloc(copying, alloc, tables),
            Event::Promote(mark) => self.mark(copying, mark, false),
            Event::Collect(mark) => self.mark(copying, mark, true),
        }
    }

    fn alloc(&mut self, copying: &mut Copying, a: &Alloc<'_>, tables: &Tables) -> io::Result<()> {
        if copying.live.contains_key(&a.id) {
            // Damage: a block that was allocated before.
            return Ok(());
        }
        let domain = self.domain(copying, a.domain)?;
        let mut backtrace = std::mem::take(&mut copying.backtrace);
        backtrace.clear();
        backtrace.push(copying.process);
        for &code in a.backtrace {
            let merged =
                *copying.codes.entry(code).or_insert_with(|| self.codes.merged(code, tables));
            backtrace.push(merged);
        }
        let event = AllocEvent { length: a.length, samples: a.samples, source: a.source };
        let codes = &self.codes;
        self.writer.set_halvings(domain, a.halvings)?;
        let id = self.writer.alloc(domain, a.time, &event, &backtrace, |code, to| {
            to.extend(codes.at(code).iter().map(Owned::location));
        })?;
        copying.backtrace = backtrace;
        copying.live.insert(a.id, (domain, id));
        (self.copied)(Copied { part: copying.part, from: (a.domain, a.id), to: (domain, id) });
        let [promoted, collected] = copying.early.remove(&a.id).unwrap_or_default();
        if let Some(mark) = promoted {
            self.mark(copying, &mark, false)?;
        }
        collected.map_or(Ok(()), |mark| self.mark(copying, &mark, true))
    }

    fn mark(&mut self, copying: &mut Copying, mark: &Mark, is_end: bool) -> io::Result<()> {
        let domain = self.domain(copying, mark.domain)?;
        let Some(&(_, id)) = copying.live.get(&mark.id) else {
            let early = copying.early.entry(mark.id).or_default();
            early[usize::from(is_end)].get_or_insert(*mark);
            return Ok(());
        };
        if is_end {
            copying.live.remove(&mark.id);
            self.writer.collect(domain, mark.time, id)
        } else {
            self.writer.promote(domain, mark.time, id)
        }
    }

    fn domain(&mut self, copying: &mut Copying, domain: DomainId) -> io::Result<DomainId> {
        if let Some(&known) = copying.domains.get(&domain) {
            return Ok(known);
        }
        let number = u16::try_from(self.next_domain)
            .map_err(|_| io::Error::other("more domains than a trace can have"))?;
        self.next_domain += 1;
        copying.domains.insert(domain, DomainId(number));
        Ok(DomainId(number))
    }
}

/// A location that outlives the trace that it is from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owned {
    function: Box<[u8]>,
    file: Box<[u8]>,
    line: u32,
    columns: (u32, u32),
}

impl Owned {
    fn of(location: &Location<'_>) -> Self {
        Self {
            function: location.function.into(),
            file: location.file.into(),
            line: location.line,
            columns: (location.start_col, location.end_col),
        }
    }

    fn location(&self) -> Location<'_> {
        let (start_col, end_col) = self.columns;
        Location { function: &self.function, file: &self.file, line: self.line, start_col, end_col }
    }
}

/// Codes of the merged trace, by what stands at them.
#[derive(Default)]
struct Codes {
    known: FxHashMap<Box<[Owned]>, Code>,
    /// What stands at each, the first first.
    locations: Vec<Box<[Owned]>>,
}

/// Above the numbers of synthetic frames.
const FIRST: u64 = 1 << 32;

impl Codes {
    /// The code of the outermost frame of a process.
    fn process(&mut self, name: &[u8], file: &[u8]) -> Code {
        let location = Location { function: name, file, line: 0, start_col: 0, end_col: 0 };
        self.intern([Owned::of(&location)].into())
    }

    fn merged(&mut self, code: Code, tables: &Tables) -> Code {
        if omitted::name(code).is_some() {
            return code;
        }
        let locations = &tables.locations;
        let sites = locations.of(code).iter().map(|&site| Owned::of(&locations.resolve(site)));
        let sites: Box<[Owned]> = sites.collect();
        // What has no name stays apart from what else has none.
        if sites.is_empty() { self.add(sites) } else { self.intern(sites) }
    }

    fn intern(&mut self, sites: Box<[Owned]>) -> Code {
        if let Some(&code) = self.known.get(&sites) {
            return code;
        }
        let code = self.add(sites.clone());
        self.known.insert(sites, code);
        code
    }

    fn add(&mut self, sites: Box<[Owned]>) -> Code {
        self.locations.push(sites);
        Code(FIRST + self.locations.len() as u64 - 1)
    }

    fn at(&self, code: Code) -> &[Owned] {
        let index = code.0.checked_sub(FIRST).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.locations.get(index)).map_or(&[], |sites| sites)
    }
}
