//! Reads a trace that still grows.
//!
//! Nothing is buffered here: [`Follow::offset`] says from where on the file is to be read the
//! next time. A packet that is not whole yet, and zeros that a recorder has reserved, are no
//! anomalies until [`Follow::finish`] says that nothing more will come. A recorder that writes
//! into reserved room must write a packet's first four bytes last.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::info::TraceInfo;
use crate::naming::Naming;
use crate::read::{Anomalies, Decoder, Detail, Error, Event, Tables};
use crate::units::Timestamp;

/// The state of reading a growing trace.
///
/// ```
/// # use memtrail_trace::{Detail, Error, Follow};
/// # fn more(_from: u64) -> Option<Vec<u8>> { None }
/// # fn main() {
/// let mut follow = Follow::new(Detail::Marks);
/// let mut events = 0;
/// while let Some(tail) = more(follow.offset()) {
///     follow.advance(&tail, |_, _| events += 1);
/// }
/// assert_eq!(follow.finish(&[], |_, _| events += 1), Err(Error::Empty));
/// # }
/// ```
#[derive(Debug)]
pub struct Follow {
    decoder: Decoder,
}

impl Follow {
    /// At the beginning of a file.
    pub fn new(detail: Detail) -> Self {
        Self { decoder: Decoder::new(detail) }
    }

    /// Names functions that the trace has no names for.
    #[must_use]
    pub fn named(mut self, naming: Option<Arc<dyn Naming>>) -> Self {
        self.decoder.tables.naming = naming;
        self
    }

    /// Byte of the file from which on the next call must be given its bytes.
    pub fn offset(&self) -> u64 {
        self.decoder.offset
    }

    /// Calls `f` with each event of the packets that are whole in `tail`, the bytes of the file
    /// from [`offset`](Self::offset) to its present end.
    pub fn advance(&mut self, tail: &[u8], f: impl FnMut(Event<'_>, &Tables)) {
        self.read(tail, false, f);
    }

    /// As [`advance`](Self::advance), up to the first `Break`; then there is no more to be read.
    pub fn try_advance<B>(
        &mut self,
        tail: &[u8],
        mut f: impl FnMut(Event<'_>, &Tables) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.decoder.advance(tail, false, &mut f)
    }

    /// As [`advance`](Self::advance), when no more will come: a partial packet at the end is read
    /// as far as it goes, and reported.
    ///
    /// # Errors
    /// If nothing has said what the trace is.
    pub fn finish(&mut self, tail: &[u8], f: impl FnMut(Event<'_>, &Tables)) -> Result<(), Error> {
        let first = self.decoder.offset == 0;
        self.read(tail, true, f);
        match self.decoder.info {
            Some(_) => Ok(()),
            // Where something could be passed over, the file began with something else.
            None => Err(if first { self.decoder.error(tail) } else { Error::NoInfo }),
        }
    }

    fn read(&mut self, tail: &[u8], is_all: bool, mut f: impl FnMut(Event<'_>, &Tables)) {
        let done = self.decoder.advance(tail, is_all, &mut |event: Event<'_>, tables: &Tables| {
            f(event, tables);
            ControlFlow::<std::convert::Infallible>::Continue(())
        });
        match done {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(never) => match never {},
        }
    }

    /// What the trace says of its process, once that has been read.
    pub fn info(&self) -> Option<&TraceInfo> {
        self.decoder.info.as_ref()
    }

    /// What has been met so far.
    pub fn tables(&self) -> &Tables {
        &self.decoder.tables
    }

    /// The same, for a caller who keeps them elsewhere between two calls. They must be back, and
    /// unchanged, before the next one.
    pub fn tables_mut(&mut self) -> &mut Tables {
        &mut self.decoder.tables
    }

    /// What was wrong so far.
    pub fn anomalies(&self) -> &Anomalies {
        &self.decoder.anomalies
    }

    /// Time of the latest event so far.
    pub fn end(&self) -> Timestamp {
        self.decoder.end
    }

    /// Packets read so far.
    pub fn packets(&self) -> u64 {
        self.decoder.packets
    }
}
