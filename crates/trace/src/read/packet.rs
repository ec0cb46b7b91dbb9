//! Decodes the events of one packet: the loop in which all the time is spent.

use std::ops::ControlFlow;

use super::anomaly::{Anomalies, Cause};
use super::backtrace::{MARKS, STACKS};
use super::domain::Domain;
use super::event::{Alloc, Event, Mark};
use super::locate;
use super::mtf::Names;
use super::repair::{self, Plan};
use super::tables::Tables;
use super::walk;
use crate::header::Header;
use crate::info::Source;
use crate::units::{BlockId, StackId, Timestamp, Words};
use crate::wire::{Cursor, TIME_BITS, TIME_MASK, VINT_U16, event};

/// Bytes that should follow a packet in its buffer, so that short reads near its end stay quick.
pub(super) const PAD: usize = 16;

/// A packet in a buffer.
pub(super) struct Packet<'a> {
    pub(super) header: Header,
    /// The packet and at least [`PAD`] bytes more.
    pub(super) bytes: &'a [u8],
    /// Where the packet ends.
    pub(super) end: usize,
    /// Where the packet begins in the file.
    pub(super) offset: u64,
    /// The file ends inside the packet, so an event that does not fit is no surprise.
    pub(super) cut: bool,
}

/// How a packet ended.
pub(super) enum End<B> {
    /// At its end; the id after its last allocation.
    Whole(u64),
    /// The rest from a byte on makes no sense.
    Damaged(usize, Cause),
    /// The caller has seen enough.
    Stopped(B),
}

/// The state that a packet's events change.
pub(super) struct Context<'a> {
    pub(super) domain: &'a mut Domain,
    pub(super) tables: &'a mut Tables,
    pub(super) anomalies: &'a mut Anomalies,
}

/// An allocation's length, samples, source, common prefix and number of codewords.
type Payload = (i64, i64, Source, i64, usize);

impl Packet<'_> {
    /// Hands out the packet's events. `first_id` is the id of its first allocation.
    pub(super) fn events<const MODE: u8, B>(
        &self,
        first_id: u64,
        context: Context<'_>,
        f: &mut impl FnMut(Event<'_>, &Tables) -> ControlFlow<B>,
    ) -> End<B> {
        let Context { domain, tables, anomalies } = context;
        let begin = self.header.begin.0;
        let base = begin.wrapping_add(domain.skew);
        let has_times = has_times(&self.header);
        let latest = if has_times { self.header.end.0.wrapping_add(domain.skew) } else { 0 };
        let id_of_domain = self.header.domain;
        let mut last = domain.last.0;
        let mut next_id = first_id;
        // All that is left of the buffer; the packet ends where `beyond` bytes of it are left.
        let mut rest = self.bytes.get(self.header.header_len()..).unwrap_or_default();
        let beyond = self.bytes.len() - self.end.min(self.bytes.len());
        let start = |rest: usize| self.bytes.len() - rest;
        let mut plan: Option<Plan> = None;
        let mut checked = false;
        let end = loop {
            let before = rest.len();
            if before <= beyond {
                break End::Whole(next_id);
            }
            let Some(head) = rest.first_chunk::<8>() else {
                break End::Damaged(start(before), Cause::CutEvent);
            };
            let head = u64::from_le_bytes(*head);
            let word = head as u32;
            // The low bits less those of the beginning, modulo 2^25, is the time since then.
            let since = u64::from(word.wrapping_sub(begin as u32)) & TIME_MASK;
            let mut time = base.wrapping_add(since);
            if time > latest || time < last {
                if before < beyond + 4 {
                    break End::Damaged(start(before), Cause::CutEvent);
                }
                if has_times && !checked {
                    // The clock was set, or this is no event at all: the rest of the packet tells.
                    let cause = Cause::EventTime {
                        time: time.wrapping_sub(domain.skew),
                        end: self.header.end.0,
                    };
                    let packet = self.bytes.get(..self.end).unwrap_or_default();
                    if self.cut || !walk::is_sound(&self.header, packet, start(before), next_id) {
                        break End::Damaged(start(before), cause);
                    }
                    anomalies.report(self.offset + start(before) as u64, cause);
                    checked = true;
                }
                time = nearest(last, u64::from(word).wrapping_add(domain.skew));
            }
            let id = word >> TIME_BITS;
            let (length, samples, source, prefix, count);
            if walk::is_short_alloc(id) {
                (length, samples, source) = (i64::from(id - event::SHORT_ALLOC), 1, Source::Minor);
                let byte = (head >> 32) as u8;
                if byte < VINT_U16 {
                    (prefix, count) = (i64::from(byte), usize::from((head >> 40) as u8));
                    rest = &rest[6..];
                } else {
                    let mut at = Cursor::at(rest, 4);
                    let (Some(long_prefix), Some(codewords)) = (at.vint(), at.u8()) else {
                        break End::Damaged(start(before), Cause::CutEvent);
                    };
                    (prefix, count) = (long_prefix, usize::from(codewords));
                    rest = at.rest();
                }
            } else if id == event::COLLECT || id == event::PROMOTE {
                let delta = match (head >> 32) as u8 {
                    byte @ ..VINT_U16 => {
                        rest = &rest[5..];
                        i64::from(byte)
                    }
                    VINT_U16 => {
                        rest = &rest[7..];
                        i64::from((head >> 40) as u16)
                    }
                    _ => {
                        let mut at = Cursor::at(rest, 4);
                        let Some(delta) = at.vint() else {
                            break End::Damaged(start(before), Cause::CutEvent);
                        };
                        rest = at.rest();
                        delta
                    }
                };
                if rest.len() < beyond {
                    break End::Damaged(start(before), Cause::CutEvent);
                }
                last = time;
                let mark = Mark {
                    time: Timestamp(time),
                    id: BlockId(next_id.wrapping_sub(1).wrapping_sub(delta as u64)),
                    domain: id_of_domain,
                };
                let event =
                    if id == event::PROMOTE { Event::Promote(mark) } else { Event::Collect(mark) };
                match f(event, tables) {
                    ControlFlow::Continue(()) => continue,
                    ControlFlow::Break(value) => break End::Stopped(value),
                }
            } else if id == event::ALLOC {
                match long_alloc(rest) {
                    Ok((payload, after)) => {
                        (length, samples, source, prefix, count) = payload;
                        rest = after;
                    }
                    Err(cause) => break End::Damaged(start(before), cause),
                }
            } else if id == event::LOCATION {
                let packet = self.bytes.get(..self.end).unwrap_or_default();
                let plan = plan.get_or_insert_with(|| {
                    self.plan_locations(packet, start(before), &domain.names, anomalies)
                });
                match locate::define(packet, start(before) + 4, plan, domain, tables) {
                    Ok(located) => {
                        rest = self.bytes.get(located.pos..).unwrap_or_default();
                        last = time;
                        if let Some(code) = located.redefined {
                            let cause = Cause::Redefined(code.0);
                            anomalies.report(self.offset + start(before) as u64, cause);
                        }
                        continue;
                    }
                    Err(cause) => break End::Damaged(start(before), cause),
                }
            } else {
                let cause = match id {
                    _ if before < beyond + 4 => Cause::CutEvent,
                    event::INFO => Cause::RepeatedInfo,
                    unknown => Cause::UnknownEvent(unknown),
                };
                break End::Damaged(start(before), cause);
            }
            if (length | samples | prefix) < 0 {
                break End::Damaged(
                    start(before),
                    Cause::Negative(length.min(samples).min(prefix)),
                );
            }
            let backtraces = &mut domain.backtraces;
            let common_prefix = (prefix as usize).min(backtraces.depth());
            match backtraces.decode::<MODE>(rest, count, prefix as usize, tables) {
                Some(after) if after.len() >= beyond => rest = after,
                Some(_) => break End::Damaged(start(before), Cause::CutEvent),
                None => break End::Damaged(start(before), backtraces.failure()),
            }
            last = time;
            let alloc = Alloc {
                time: Timestamp(time),
                id: BlockId(next_id),
                domain: id_of_domain,
                length: Words(length as u64),
                samples: samples as u64,
                halvings: self.header.note.halvings,
                source,
                backtrace: if MODE == MARKS { &[] } else { backtraces.stack() },
                common_prefix,
                stack: if MODE == STACKS { backtraces.node() } else { StackId::ROOT },
                suspect: domain.suspect,
            };
            next_id = next_id.wrapping_add(1);
            if let ControlFlow::Break(value) = f(Event::Alloc(alloc), tables) {
                break End::Stopped(value);
            }
        };
        domain.last = Timestamp(last);
        end
    }

    /// Decides how to read the packet's locations, from its first one on.
    fn plan_locations(
        &self,
        bytes: &[u8],
        pos: usize,
        names: &Names,
        anomalies: &mut Anomalies,
    ) -> Plan {
        if self.cut {
            return Plan::Plain; // its end cannot tell whether a reading is right
        }
        let plan = repair::plan(&self.header, bytes, pos, names.shape());
        if let Plan::Repaired(overrides) = &plan {
            anomalies.report(self.offset + pos as u64, Cause::Columns(overrides.len() as u64));
        }
        plan
    }
}

/// A long allocation's payload up to its codewords, and these and what follows.
fn long_alloc(event: &[u8]) -> Result<(Payload, &[u8]), Cause> {
    let mut at = Cursor::at(event, 4);
    let length = at.vint().ok_or(Cause::CutEvent)?;
    let samples = at.vint().ok_or(Cause::CutEvent)?;
    let source = match at.u8().ok_or(Cause::CutEvent)? {
        0 => Source::Minor,
        1 => Source::Major,
        2 => Source::External,
        unknown => return Err(Cause::Source(unknown)),
    };
    let prefix = at.vint().ok_or(Cause::CutEvent)?;
    let count = at.u16().ok_or(Cause::CutEvent)?;
    Ok(((length, samples, source, prefix, usize::from(count)), at.rest()))
}

/// Whether a packet's times can be what they say.
pub(super) fn has_times(header: &Header) -> bool {
    header.end.0.checked_sub(header.begin.0).is_some_and(|span| span >> TIME_BITS == 0)
}

/// The time with these low bits that a clock which may have been set shows after `last`: at most
/// half a period ahead, else the clock went back, and time does not advance.
#[cold]
fn nearest(last: u64, low: u64) -> u64 {
    let ahead = low.wrapping_sub(last) & TIME_MASK;
    if ahead >> (TIME_BITS - 1) == 0 { last.wrapping_add(ahead) } else { last }
}
