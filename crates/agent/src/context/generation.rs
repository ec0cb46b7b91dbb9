//! A generation of runtimes: what differs between them, as far as finding them is concerned.

use memtrail_ocaml::Version;

use crate::context::frame_tables::FrameTables;
use crate::context::state::StateVariable;

/// Finds a runtime in this process. The name of what is missing is the error.
pub(crate) trait Locate: Sync {
    /// The variable that leads to the state.
    fn state(&self) -> Result<StateVariable, &'static str>;

    /// Where the frame tables are.
    fn frame_tables(&self, version: Version) -> Result<FrameTables, &'static str>;

    /// Name of the function that captures callstacks.
    fn capture_function(&self) -> &'static str;
}
