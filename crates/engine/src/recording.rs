//! A recording that has been read.

use memtrail_profile::Profile;
use memtrail_trace::Error;

use crate::describe::Description;

/// A recording that has been read, so far as it is there.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) description: Description,
    pub(crate) profile: Profile,
    /// Bytes of the trace.
    pub(crate) bytes: u64,
    /// Events in it.
    pub(crate) events: u64,
}

impl Recording {
    pub(crate) fn read(
        trace: &[u8],
        description: Description,
        progress: impl FnMut(u64),
    ) -> Result<Self, Error> {
        let profile = Profile::read(trace, progress)?;
        Ok(Self { description, profile, bytes: trace.len() as u64, events: 0 })
    }
}
