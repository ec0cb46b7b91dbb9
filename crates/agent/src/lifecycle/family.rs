//! The families of runtimes that can be recorded. Another one is another implementation of these traits.

use memtrail_ocaml::{Family, Version};

use crate::context::family::Locate;
use crate::context::ocaml4::Ocaml4;
use crate::context::ocaml5::Ocaml5;
use crate::sampling::family::Sampler;
use crate::snapshot::family::SnapshotFamily;

/// A family of runtimes: finds the runtime, starts and stops its sampler, holds its heap still, hands out
/// its roots.
pub(crate) trait RuntimeFamily: Locate + Sampler + SnapshotFamily {}

impl<T: Locate + Sampler + SnapshotFamily> RuntimeFamily for T {}

/// The family that a version belongs to.
pub(crate) fn family_of(version: Version) -> &'static dyn RuntimeFamily {
    match version.family() {
        Family::Single => &Ocaml4,
        Family::Multicore => &Ocaml5,
    }
}
