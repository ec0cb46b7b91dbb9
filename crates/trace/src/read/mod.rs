//! Reads a trace that is there as a whole. [`Follow`](crate::Follow) reads one that still grows.

mod anomaly;
mod backtrace;
mod decoder;
mod domain;
mod error;
mod event;
mod info_packet;
mod locate;
mod mtf;
mod packet;
mod repair;
mod tables;
mod walk;

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::header::Header;

pub use anomaly::{Anomalies, Anomaly, Cause};
pub(crate) use decoder::{Decoder, next_header};
pub use error::Error;
pub use event::{Alloc, Detail, Event, Mark};
pub use tables::Tables;
pub(crate) use walk::over;

use crate::info::TraceInfo;
use crate::packets::whole_packets;
use crate::units::{Bytes, Timestamp};

/// Allocations in a whole packet, counted without those before it, which decoding needs. `None` if its events are not
/// known ones that fill it exactly.
pub fn allocations(packet: &[u8]) -> Option<u64> {
    let header = Header::parse(packet).ok()?;
    walk::allocations(packet.get(..header.size)?, header.header_len())
}

/// A trace in memory, or mapped into it.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    info: TraceInfo,
}

/// What is known at the end of a trace.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// All call sites, and all backtraces with [`Detail::Stacks`].
    pub tables: Tables,
    /// What was wrong.
    pub anomalies: Anomalies,
    /// Time of the latest event: how far the trace goes.
    pub end: Timestamp,
    /// Packets read, the trace information included.
    pub packets: u64,
}

impl<'a> Reader<'a> {
    /// Reads up to the trace information.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let info = Decoder::new(Detail::Marks).find_info(bytes)?;
        Ok(Self { bytes, info })
    }

    /// What the trace says of its process.
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// Size of the trace.
    pub fn size(&self) -> Bytes {
        Bytes(self.bytes.len() as u64)
    }

    /// True if its history was thinned: the ids of some blocks are missing then.
    pub fn is_thinned(&self) -> bool {
        whole_packets(self.bytes).any(|(header, _)| header.note.halvings.is_some())
    }

    /// Calls `f` with each event, in the order of the file, and with what has been met up to
    /// then. May be called again, and then starts anew.
    ///
    /// Within a domain, times never decrease. Events of different domains are not merged: they
    /// come packet by packet, so their times can be out of order.
    pub fn for_each(&self, detail: Detail, mut f: impl FnMut(Event<'_>, &Tables)) -> Decoded {
        self.each(detail, &mut f)
    }

    /// Decoding is compiled once, in this crate.
    fn each(&self, detail: Detail, f: &mut dyn FnMut(Event<'_>, &Tables)) -> Decoded {
        let ControlFlow::Continue(decoded) = self.try_for_each(detail, |event, tables| {
            f(event, tables);
            ControlFlow::<Infallible>::Continue(())
        });
        decoded
    }

    /// As [`for_each`](Self::for_each), up to the first `Break`. Decoding is compiled for `f` alone: 15 kB of code, and a few
    /// per cent faster.
    pub fn try_for_each<B>(
        &self,
        detail: Detail,
        mut f: impl FnMut(Event<'_>, &Tables) -> ControlFlow<B>,
    ) -> ControlFlow<B, Decoded> {
        let mut decoder = Decoder::new(detail);
        decoder.advance(self.bytes, true, &mut f)?;
        ControlFlow::Continue(Decoded {
            tables: decoder.tables,
            anomalies: decoder.anomalies,
            end: decoder.end,
            packets: decoder.packets,
        })
    }
}
