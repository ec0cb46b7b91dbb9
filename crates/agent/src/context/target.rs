//! What is recorded, and how: all that does not change when the process forks.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::memory::ThisProcess;
use memtrail_recording::Checked;
use memtrail_recording::session::Options;

use crate::context::frame_tables::FrameTables;
use crate::context::halvings::Halvings;
use crate::context::runtime::OcamlRuntime;
use crate::os::lock::Lock;

/// The process that is recorded.
pub(crate) struct Target {
    pub(crate) runtime: OcamlRuntime,
    /// Its memory, as far as the runtime keeps it still.
    pub(crate) memory: ThisProcess,
    pub(crate) frame_tables: FrameTables,
    pub(crate) options: Options,
    pub(crate) session: PathBuf,
    /// Whether callstacks are captured by us.
    pub(crate) incremental: AtomicBool,
    /// The program's arguments, its own name first.
    pub(crate) arguments: Vec<String>,
    /// What the sampler's random numbers come from.
    pub(crate) seed: u64,
    /// How much lower than the base rate memory from `malloc` is sampled; `None` if its calls are not recorded.
    pub(crate) malloc: Option<Halvings>,
    /// What was found, if callstacks are checked.
    pub(crate) checked: Option<Lock<Checked>>,
    /// What readers of every recording of the process should know.
    pub(crate) notes: Vec<&'static str>,
}

impl Target {
    /// The frame table as it is now, at a moment at which the runtime may be changing it: what is read of it is to be
    /// checked. None where it cannot be told without waiting for the runtime.
    pub(crate) fn unsettled_frame_table(&self) -> Option<FrameTable> {
        match self.frame_tables {
            FrameTables::GivenPair(_) => None,
            _ => self.frame_table(),
        }
    }

    /// The frame table as it is now.
    pub(crate) fn frame_table(&self) -> Option<FrameTable> {
        self.frame_tables.current(self.memory)
    }

    /// What checking found so far, if callstacks are checked.
    pub(crate) fn checked(&self) -> Option<Checked> {
        self.checked.as_ref().and_then(Lock::try_lock_for).map(|found| *found)
    }
}
