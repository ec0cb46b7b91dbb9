//! Walks over the events of a packet without decoding them, to see whether it is sound.

use crate::header::Header;
use crate::wire::{Cursor, TIME_BITS, TIME_MASK, event, tag};

/// The time in an event header, without regard to the packet's end.
#[inline]
pub(super) fn time_of(word: u32, begin: u64) -> u64 {
    let (low, begin_low) = (u64::from(word) & TIME_MASK, begin & TIME_MASK);
    let carry = u64::from(low < begin_low) << TIME_BITS;
    (begin - begin_low).wrapping_add(low + carry)
}

/// Moves over the payload of an event other than a location. `Some(true)` for an allocation.
pub(crate) fn over(id: u32, at: &mut Cursor<'_>) -> Option<bool> {
    let codewords = match id {
        event::PROMOTE | event::COLLECT => {
            at.vint()?;
            return Some(false);
        }
        event::ALLOC => {
            at.vint()?;
            at.vint()?;
            at.u8()?;
            at.vint()?;
            usize::from(at.u16()?)
        }
        _ if is_short_alloc(id) => {
            at.vint()?;
            usize::from(at.u8()?)
        }
        _ => return None,
    };
    for _ in 0..codewords {
        match at.u16()? & 3 {
            tag::HIT_N => at.skip(1)?,
            tag::MISS => at.skip(8)?,
            _ => {}
        }
    }
    Some(true)
}

pub(super) fn is_short_alloc(id: u32) -> bool {
    (event::SHORT_ALLOC + 1..=event::SHORT_ALLOC + event::SHORT_MAX).contains(&id)
}

/// Moves over a location event's payload.
fn over_location(at: &mut Cursor<'_>) -> Option<()> {
    at.u64()?;
    for _ in 0..at.u8()? {
        let word = u64::from(at.u32()?) | u64::from(at.u16()?) << 32;
        for index in [word >> 38 & 31, word >> 43 & 31] {
            if index == 31 {
                at.string()?;
            }
        }
    }
    Some(())
}

/// Allocations from byte `pos` of a packet on, if its events are known ones and fill it exactly.
pub(super) fn allocations(packet: &[u8], pos: usize) -> Option<u64> {
    let mut at = Cursor::at(packet, pos);
    let mut count = 0;
    while !at.is_empty() {
        match at.u32()? >> TIME_BITS {
            event::LOCATION => over_location(&mut at)?,
            id => count += u64::from(over(id, &mut at)?),
        }
    }
    Some(count)
}

/// Whether all is well with a packet from byte `pos` on, where `next_id` is the next block's id.
pub(super) fn is_sound(header: &Header, packet: &[u8], pos: usize, next_id: u64) -> bool {
    allocations(packet, pos).is_some_and(|n| next_id.wrapping_add(n) == header.end_id)
}
