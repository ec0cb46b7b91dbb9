//! Decodes the events of one packet: the loop in which all the time is spent.

use std::ops::ControlFlow;

use super::anomaly::{Anomalies, Cause};
use super::backtrace::{Decoded, MARKS, STACKS};
use super::domain::Domain;
use super::event::{Alloc, Event, Mark};
use super::locate;
use super::repair::Plan;
use super::tables::Tables;
use super::walk;
use crate::header::Header;
use crate::info::Source;
use crate::units::{BlockId, StackId, Timestamp, Words};
use crate::wire::{TIME_BITS, TIME_MASK, VINT_I32, VINT_I63, VINT_U16, event, int63};

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

/// A vint in `head` at `at`, and its length. The ten bytes that it can take must be there.
#[inline]
fn vint(head: &[u8; 16], at: usize) -> (i64, usize) {
    let byte = head[at];
    if byte < VINT_U16 {
        return (i64::from(byte), 1);
    }
    long_vint(head, at)
}

#[inline]
fn long_vint(head: &[u8; 16], at: usize) -> (i64, usize) {
    let mut word = [0; 8];
    word.copy_from_slice(&head[at + 1..at + 9]);
    let word = u64::from_le_bytes(word);
    match head[at] {
        VINT_U16 => (i64::from(word as u16), 3),
        VINT_I32 => (i64::from(word as i32), 5),
        VINT_I63 => (int63(word), 9),
        byte => (i64::from(byte), 1),
    }
}

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
        let begin_low = begin & TIME_MASK;
        let base = (begin - begin_low).wrapping_add(domain.skew);
        let latest = self.header.end.0.wrapping_add(domain.skew);
        let has_times = has_times(&self.header);
        let id_of_domain = self.header.domain;
        let mut last = domain.last.0;
        let mut next_id = first_id;
        let mut pos = self.header.header_len();
        let mut plan: Option<Plan> = None;
        let mut checked = false;
        let end = 'events: loop {
            if pos >= self.end {
                break End::Whole(next_id);
            }
            let start = pos;
            let Some(head) = self.bytes.get(pos..).and_then(<[u8]>::first_chunk::<16>) else {
                break End::Damaged(start, Cause::CutEvent);
            };
            let word = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
            let low = u64::from(word) & TIME_MASK;
            let carry = u64::from(low < begin_low) << TIME_BITS;
            let mut time = base.wrapping_add(low + carry);
            if time > latest || time < last || !has_times {
                if has_times && !checked {
                    // The clock was set, or this is no event at all: the rest of the packet tells.
                    let cause = Cause::EventTime {
                        time: time.wrapping_sub(domain.skew),
                        end: self.header.end.0,
                    };
                    let packet = self.bytes.get(..self.end).unwrap_or_default();
                    if self.cut || !walk::is_sound(&self.header, packet, pos, next_id) {
                        break End::Damaged(start, cause);
                    }
                    anomalies.report(self.offset + start as u64, cause);
                    checked = true;
                }
                time = nearest(last, low.wrapping_add(domain.skew) & TIME_MASK);
            }
            let id = word >> TIME_BITS;
            let (length, samples, source, prefix, count) = match id {
                101..=116 => {
                    let (prefix, len) = vint(head, 4);
                    pos += 5 + len;
                    let count = usize::from(head[4 + len]);
                    (i64::from(id - event::SHORT_ALLOC), 1, Source::Minor, prefix, count)
                }
                event::PROMOTE | event::COLLECT => {
                    let (delta, len) = vint(head, 4);
                    pos += 4 + len;
                    if pos > self.end {
                        break End::Damaged(start, Cause::CutEvent);
                    }
                    last = time;
                    let mark = Mark {
                        time: Timestamp(time),
                        id: BlockId(next_id.wrapping_sub(1).wrapping_sub(delta as u64)),
                        domain: id_of_domain,
                    };
                    let event = if id == event::PROMOTE {
                        Event::Promote(mark)
                    } else {
                        Event::Collect(mark)
                    };
                    match f(event, tables) {
                        ControlFlow::Continue(()) => continue,
                        ControlFlow::Break(value) => break End::Stopped(value),
                    }
                }
                event::ALLOC => match self.long_alloc(pos + 4) {
                    Ok((alloc, after)) => {
                        pos = after;
                        alloc
                    }
                    Err(cause) => break End::Damaged(start, cause),
                },
                event::LOCATION => {
                    let packet = self.bytes.get(..self.end).unwrap_or_default();
                    let plan = plan.get_or_insert_with(|| {
                        locate::plan(self, packet, start, &domain.names, anomalies)
                    });
                    match locate::define(packet, pos + 4, plan, domain, tables) {
                        Ok(located) => {
                            pos = located.pos;
                            last = time;
                            if let Some(code) = located.redefined {
                                let cause = Cause::Redefined(code.0);
                                anomalies.report(self.offset + start as u64, cause);
                            }
                            continue;
                        }
                        Err(cause) => break End::Damaged(start, cause),
                    }
                }
                event::INFO => break End::Damaged(start, Cause::RepeatedInfo),
                unknown => break End::Damaged(start, Cause::UnknownEvent(unknown)),
            };
            if (length | samples | prefix) < 0 {
                break End::Damaged(start, Cause::Negative(length.min(samples).min(prefix)));
            }
            let backtraces = &mut domain.backtraces;
            let decoded =
                backtraces.decode::<MODE>(self.bytes, pos, count, prefix as usize, tables);
            let common_prefix = match decoded {
                Ok(Decoded { pos: after, .. }) if after > self.end => {
                    break 'events End::Damaged(start, Cause::CutEvent);
                }
                Ok(Decoded { pos: after, common_prefix }) => {
                    pos = after;
                    common_prefix
                }
                Err(cause) => break End::Damaged(start, cause),
            };
            last = time;
            let alloc = Alloc {
                time: Timestamp(time),
                id: BlockId(next_id),
                domain: id_of_domain,
                length: Words(length as u64),
                samples: samples as u64,
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

    /// The payload of a long allocation up to its codewords, and where these begin.
    fn long_alloc(&self, at: usize) -> Result<(Payload, usize), Cause> {
        let packet = self.bytes.get(..self.end).unwrap_or_default();
        let mut at = crate::wire::Cursor::at(packet, at);
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
        Ok(((length, samples, source, prefix, usize::from(count)), at.pos()))
    }
}

/// Whether a packet's times can be what they say.
pub(super) fn has_times(header: &Header) -> bool {
    header.end.0.checked_sub(header.begin.0).is_some_and(|span| span >> TIME_BITS == 0)
}

/// The time with these low bits that a clock which may have been set shows after `last`: at most
/// half a period ahead, else the clock went back and time stands still.
#[cold]
fn nearest(last: u64, low: u64) -> u64 {
    let ahead = low.wrapping_sub(last) & TIME_MASK;
    if ahead >> (TIME_BITS - 1) == 0 { last.wrapping_add(ahead) } else { last }
}
