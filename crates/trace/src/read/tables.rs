//! What grows while a trace is read, shared by all domains.

use std::ops::Range;
use std::sync::Arc;

use crate::locations::{Locations, Site};
use crate::naming::Naming;
use crate::tree::StackTree;
use crate::units::Code;

/// The call sites and the backtraces met so far.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// What stands at each code.
    pub locations: Locations,
    /// The tree of backtraces; only the root unless [`Detail::Stacks`](crate::Detail::Stacks).
    pub stacks: StackTree,
    /// Names that the trace does not have.
    pub(crate) naming: Option<Arc<dyn Naming>>,
}

impl Tables {
    /// Says what stands at a code: what is known of it otherwise, or `sites`, which the trace has. `false` if something else was
    /// said before.
    pub(super) fn define(&mut self, code: Code, sites: &[Site]) -> bool {
        let Some(naming) = &self.naming else { return self.locations.define(code, sites) };
        let locations = &mut self.locations;
        let mut named = Vec::new();
        naming.locate(code, &mut |location| {
            named.push(Site {
                function: locations.function(location.function),
                file: locations.file(location.file),
                line: location.line,
                start_col: u16::try_from(location.start_col).unwrap_or(u16::MAX),
                end_col: u16::try_from(location.end_col).unwrap_or(u16::MAX),
            });
        });
        locations.define(code, if named.is_empty() { sites } else { &named });
        true
    }

    /// The part of a callstack that is kept.
    pub(super) fn own(&self, callstack: &[Code]) -> Range<usize> {
        match &self.naming {
            Some(naming) => naming.own(callstack),
            None => 0..callstack.len(),
        }
    }
}
