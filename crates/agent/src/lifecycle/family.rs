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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use memtrail_ocaml::memprof::Callback;
    use memtrail_ocaml::symbols;

    use super::*;

    #[test]
    fn each_version_has_the_hooks_of_its_family() {
        for version in Version::ALL.into_iter().filter(|version| version.can_sample()) {
            let family = family_of(version);
            let is_multicore = version >= Version::V5_0;
            let captures = if is_multicore {
                symbols::callstack::COLLECT_MULTICORE
            } else {
                symbols::callstack::COLLECT_SINGLE
            };
            let what_is_patched = (family.capture_function(), family.collection().is_some());
            // No runtime is in this process, so no collection of its is found.
            assert_eq!(what_is_patched, (captures, false), "{version}");
            let said = family.not_started().to_str().unwrap();
            assert_eq!(said.ends_with("no profile running."), is_multicore, "{version}");
        }
    }

    #[test]
    fn families_share_no_code_that_the_runtime_calls() {
        let code = |family: &dyn RuntimeFamily| {
            let mut all: HashSet<_> =
                Callback::ALL.into_iter().map(|callback| family.callback(callback)).collect();
            all.insert(family.capture().cast());
            all
        };
        let (four, five) = (code(&Ocaml4), code(&Ocaml5));
        // Two ways in which a block dies have one callback.
        assert_eq!((four.len(), five.len()), (5, 5));
        assert!(four.is_disjoint(&five));
    }

    #[test]
    fn without_a_runtime_what_is_missing_is_named() {
        for family in [&Ocaml4 as &dyn RuntimeFamily, &Ocaml5] {
            assert!(family.state().is_err_and(|name| name.to_lowercase().contains("caml")));
            assert!(
                family.frame_tables(Version::V5_3).is_err_and(|name| name.starts_with("caml_"))
            );
        }
    }
}
