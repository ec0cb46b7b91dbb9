//! Writes the part of one domain anew, with other names and shorter callstacks; all else stays byte for byte.
//!
//! What is named anew has codes that are of that part alone. Blocks keep their numbers, so that what is known of
//! them beside the trace stays true. The domain's packets come after all others: readers do not rely on the order
//! of domains.

use std::io::{self, Write};
use std::ops::ControlFlow;

use crate::header::{Header, MEMTRACE_PACKET};
use crate::info::Location;
use crate::omitted;
use crate::read::{Alloc, Detail, Event, Reader, Tables};
use crate::rewrite::Rewrite;
use crate::units::{BlockId, DomainId, Timestamp};
use crate::write::{Refused, StreamWriter, Version};

/// Ids end there for a stream whose blocks have numbers already.
const LAST_ID: BlockId = BlockId(1 << 62);

/// Writes a trace to `out`, which is given back, with the blocks of `domain` as `rewrite` has them. What allocates and
/// frees these blocks must be said in the packets of that domain alone.
///
/// # Errors
/// Those of `out`, and that the trace cannot be read.
pub fn replace_part<R: Rewrite, W: Write>(
    trace: &[u8],
    domain: DomainId,
    mut out: W,
    rewrite: &mut R,
) -> io::Result<W> {
    let (mut part, mut rest) = (Vec::new(), trace);
    let mut start = None;
    while let Ok(header) = Header::parse(rest)
        && let Some((packet, behind)) = rest.split_at_checked(header.size)
    {
        let is_of_part = header.version >= 3 && header.domain == domain;
        if part.is_empty() || is_of_part {
            // The first packet says what the trace is.
            part.extend_from_slice(packet);
        }
        if is_of_part {
            start.get_or_insert(header.begin);
        } else {
            out.write_all(packet)?;
        }
        rest = behind;
    }
    if let Some(start) = start {
        let reader = Reader::new(&part).map_err(io::Error::other)?;
        let pid = reader.info().pid;
        let buffer = vec![0; MEMTRACE_PACKET].into_boxed_slice();
        let stream = StreamWriter::new(buffer, Version::V3, pid, domain, start, BlockId(0));
        let mut copying = Copying { stream: stream.map_err(io::Error::other)?, out, rewrite };
        let read = reader.try_for_each(Detail::Codes, |event, tables| {
            match copying.event(&event, tables) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            }
        });
        if let ControlFlow::Break(error) = read {
            return Err(error);
        }
        out = copying.finish()?;
    }
    // A packet that is not whole, if there is one, stays the last.
    out.write_all(rest)?;
    Ok(out)
}

struct Copying<'a, R, W> {
    stream: StreamWriter<Box<[u8]>>,
    out: W,
    rewrite: &'a mut R,
}

impl<R: Rewrite, W: Write> Copying<'_, R, W> {
    fn event(&mut self, event: &Event<'_>, tables: &Tables) -> io::Result<()> {
        match event {
            Event::Alloc(alloc) => self.alloc(alloc, tables),
            Event::Promote(mark) => self.put(mark.time, |s| s.promote(mark.time, mark.id)),
            Event::Collect(mark) => self.put(mark.time, |s| s.collect(mark.time, mark.id)),
        }
    }

    fn alloc(&mut self, a: &Alloc<'_>, tables: &Tables) -> io::Result<()> {
        let Some(event) = self.rewrite.alloc(a) else { return Ok(()) };
        let halvings = self.rewrite.halvings(a);
        if self.stream.halvings() != halvings {
            self.flush(a.time)?;
            self.stream.set_halvings(halvings).map_err(|_| io::Error::other("a full packet"))?;
        }
        if self.stream.next_id() != a.id || self.stream.ids_left() == 0 {
            self.flush(a.time)?;
            self.stream
                .set_ids(a.id, LAST_ID)
                .map_err(|_| io::Error::other("no number for a block"))?;
        }
        let mut short = Vec::new();
        let mut backtrace = self.rewrite.backtrace(a.backtrace);
        if !self.stream.fits(backtrace, self.stream.shared(backtrace, 0)) {
            short.extend_from_slice(backtrace);
            omitted::shorten(&mut short);
            backtrace = &short;
        }
        for &code in backtrace {
            if self.stream.knows(code) {
                continue;
            }
            let known = tables.locations.of(code).iter();
            let known = known.map(|&site| tables.locations.resolve(site));
            let at: Vec<Location<'_>> = match omitted::location(code) {
                Some(location) => vec![location],
                None => self.rewrite.locations(code).unwrap_or_else(|| known.collect()),
            };
            put(&mut self.stream, &mut self.out, a.time, |s| s.define(a.time, code, &at))?;
        }
        self.put(a.time, |stream| stream.alloc(a.time, &event, backtrace, 0).map(|_| ()))
    }

    fn put(
        &mut self,
        now: Timestamp,
        write: impl Fn(&mut StreamWriter<Box<[u8]>>) -> Result<(), Refused>,
    ) -> io::Result<()> {
        put(&mut self.stream, &mut self.out, now, write)
    }

    fn flush(&mut self, now: Timestamp) -> io::Result<()> {
        flush(&mut self.stream, &mut self.out, now)
    }

    fn finish(mut self) -> io::Result<W> {
        self.flush(Timestamp(0))?;
        Ok(self.out)
    }
}

/// Writes into this packet, or into the next one if this one is full.
fn put<W: Write>(
    stream: &mut StreamWriter<Box<[u8]>>,
    out: &mut W,
    now: Timestamp,
    write: impl Fn(&mut StreamWriter<Box<[u8]>>) -> Result<(), Refused>,
) -> io::Result<()> {
    if write(stream).is_ok() {
        return Ok(());
    }
    flush(stream, out, now)?;
    write(stream).map_err(|_| io::Error::other("an event that does not fit a packet"))
}

fn flush<W: Write>(
    stream: &mut StreamWriter<Box<[u8]>>,
    out: &mut W,
    now: Timestamp,
) -> io::Result<()> {
    if !stream.is_empty() {
        out.write_all(stream.packet())?;
    }
    stream.next_packet(now);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::{Source, TraceInfo};
    use crate::units::{Code, SampleRate, Words};
    use crate::write::{AllocEvent, info_packet};

    /// Names codes anew, and drops the innermost frame.
    struct Other;

    impl Rewrite for Other {
        const STACKS: bool = true;

        fn info(&self, old: &TraceInfo) -> TraceInfo {
            old.clone()
        }

        fn alloc(&mut self, a: &Alloc<'_>) -> Option<AllocEvent> {
            Some(AllocEvent { length: a.length, samples: a.samples, source: a.source })
        }

        fn backtrace<'a>(&self, backtrace: &'a [Code]) -> &'a [Code] {
            &backtrace[..backtrace.len() - 1]
        }

        fn locations(&self, code: Code) -> Option<Vec<Location<'_>>> {
            let location =
                Location { function: b"named", file: b"f.c", line: 7, start_col: 0, end_col: 0 };
            (code == Code(920)).then(|| vec![location])
        }
    }

    fn function(name: &'static [u8]) -> Location<'static> {
        Location { function: name, file: b"", line: 1, start_col: 0, end_col: 0 }
    }

    #[test]
    fn one_domain_has_other_names_and_its_blocks_keep_their_numbers() {
        let info = TraceInfo {
            sample_rate: SampleRate(1e-3),
            word_bits: 64,
            executable: "part".into(),
            host: String::new(),
            runtime_params: String::new(),
            pid: 1,
            start: Timestamp(1_000_000),
            context: None,
        };
        let mut buf = vec![0; MEMTRACE_PACKET];
        let size = info_packet(&mut buf, &info, Version::V3).unwrap();
        let mut trace = buf[..size].to_vec();
        let event = AllocEvent { length: Words(2), samples: 1, source: Source::External };
        // Ids in two chunks, so that they do not follow one another.
        for (domain, chunks) in [(0, [0, 20_000]), (9, [10_000, 30_000])] {
            // What is named anew has codes of its own.
            let code = |code: u64| Code(100 * u64::from(domain) + code);
            let buf = vec![0; MEMTRACE_PACKET];
            let start = info.start;
            let mut stream =
                StreamWriter::new(buf, Version::V3, 1, DomainId(domain), start, BlockId(0))
                    .unwrap();
            for chunk in chunks {
                stream.next_packet(start);
                stream.set_ids(BlockId(chunk), BlockId(chunk + 10_000)).unwrap();
                for (number, name) in [(10, &b"main"[..]), (20, b"place"), (30, b"malloc")] {
                    if !stream.knows(code(number)) {
                        stream.define(start, code(number), &[function(name)]).unwrap();
                    }
                }
                for _ in 0..3 {
                    let now = Timestamp(start.0 + 5);
                    let stack = [10, 20, 30].map(code);
                    let id = stream.alloc(now, &event, &stack, 0).unwrap();
                    if id.0.is_multiple_of(2) {
                        stream.collect(now, id).unwrap();
                    }
                }
                trace.extend_from_slice(stream.packet());
            }
        }
        let contents = |trace: &[u8]| {
            let mut found = Vec::new();
            let decoded = Reader::new(trace).unwrap().for_each(Detail::Codes, |event, tables| {
                let names = |code: &Code| {
                    let site = tables.locations.of(*code)[0];
                    String::from_utf8_lossy(tables.locations.resolve(site).function).into_owned()
                };
                found.push(match event {
                    Event::Alloc(a) => (a.id.0, a.backtrace.iter().map(names).collect()),
                    Event::Promote(mark) | Event::Collect(mark) => (mark.id.0, Vec::new()),
                });
            });
            assert_eq!(decoded.anomalies.total(), 0, "{:?}", decoded.anomalies.list());
            found
        };
        let old = contents(&trace);
        let copy = replace_part(&trace, DomainId(9), Vec::new(), &mut Other).unwrap();
        let (mut expected, mut new) = (old, contents(&copy));
        for (id, stack) in &mut expected {
            if (10_000..20_000).contains(id) || *id >= 30_000 {
                stack.truncate(2);
                stack.iter_mut().skip(1).for_each(|name| *name = "named".into());
            }
        }
        expected.sort();
        new.sort();
        assert_eq!(new, expected);
        // A part that is not there.
        assert_eq!(replace_part(&trace, DomainId(5), Vec::new(), &mut Other).unwrap(), trace);
    }
}
