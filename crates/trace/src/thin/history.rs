//! Tells the packets that may be written anew from those that stay.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::follow::Follow;
use crate::header::{Header, HeaderError};
use crate::info::TraceInfo;
use crate::packets::whole_packets;
use crate::read::{Detail, Event, Tables};
use crate::units::Timestamp;

/// A trace in two parts.
pub(super) struct History<'a> {
    pub(super) info: TraceInfo,
    /// The packet that says what the trace is, and those that may be written anew.
    packets: Vec<&'a [u8]>,
    /// Packets that stay.
    pub(super) recent: Vec<&'a [u8]>,
    /// Bytes of the packets that may be written anew.
    pub(super) bytes: u64,
    /// True if there is more than one domain.
    pub(super) has_domains: bool,
    /// The time of the last event.
    end: Timestamp,
}

impl<'a> History<'a> {
    /// Reads a trace that is whole up to its last packet; `None` if it is damaged.
    pub(super) fn of(trace: &'a [u8]) -> Option<Self> {
        let all: Vec<(Header, &[u8])> = whole_packets(trace).collect();
        let whole: usize = all.iter().map(|(_, packet)| packet.len()).sum();
        if !matches!(Header::parse(trace.get(whole..)?), Ok(_) | Err(HeaderError::Short)) {
            return None;
        }
        let end = all.iter().map(|(header, _)| header.end).max()?;
        let mut restarts = BTreeMap::new();
        for (index, (header, _)) in all.iter().enumerate() {
            let last = restarts.entry(header.domain).or_insert(0);
            if header.note.restarts {
                *last = index;
            }
        }
        let (info, rest) = all.split_first()?;
        let mut follow = Follow::new(Detail::Marks);
        follow.advance(info.1, |_, _| {});
        let mut history = Self {
            info: follow.info()?.clone(),
            packets: vec![info.1],
            recent: Vec::new(),
            bytes: 0,
            has_domains: restarts.len() > 1,
            end,
        };
        for (index, (header, packet)) in (1..).zip(rest) {
            if restarts.get(&header.domain).is_some_and(|&restart| index < restart) {
                history.bytes += packet.len() as u64;
                history.packets.push(packet);
            } else {
                history.recent.push(packet);
            }
        }
        Some(history)
    }

    /// Microseconds from a moment to the last event.
    pub(super) fn age(&self, time: Timestamp) -> u64 {
        self.end.0.saturating_sub(time.0)
    }

    /// Packets that may be written anew.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Bytes of the packets that stay.
    pub(super) fn recent_bytes(&self) -> u64 {
        self.recent.iter().map(|packet| packet.len() as u64).sum()
    }

    /// Calls `f` with each event of the history.
    pub(super) fn events<E>(
        &self,
        detail: Detail,
        mut f: impl FnMut(Event<'_>, &Tables) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut follow = Follow::new(detail);
        for packet in &self.packets {
            let mut result = Ok(());
            let _ = follow.try_advance(packet, |event, tables| {
                result = f(event, tables);
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            result?;
        }
        Ok(())
    }
}
