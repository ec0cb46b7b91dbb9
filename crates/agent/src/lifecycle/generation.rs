//! The generations of runtimes that can be recorded. Another one is another implementation of these traits.

use memtrail_ocaml::{Generation, Version};

use crate::context::generation::Locate;
use crate::context::ocaml4::Ocaml4;
use crate::context::ocaml5::Ocaml5;
use crate::sampling::generation::Sampler;
use crate::snapshot::generation::SnapshotGeneration;

/// A generation of runtimes: finds the runtime, starts and stops its sampler, holds its heap still, hands out
/// its roots.
pub(crate) trait RuntimeGeneration: Locate + Sampler + SnapshotGeneration {}

impl<T: Locate + Sampler + SnapshotGeneration> RuntimeGeneration for T {}

/// The generation that a version belongs to.
pub(crate) fn generation_of(version: Version) -> &'static dyn RuntimeGeneration {
    match version.generation() {
        Generation::Single => &Ocaml4,
        Generation::Multicore => &Ocaml5,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use memtrail_ocaml::memprof::Callback;
    use memtrail_ocaml::symbols;

    use super::*;

    #[test]
    fn each_version_has_the_hooks_of_its_generation() {
        for version in Version::ALL.into_iter().filter(|version| version.can_sample()) {
            let generation = generation_of(version);
            let is_multicore = version >= Version::V5_0;
            let captures = if is_multicore {
                symbols::callstack::COLLECT_MULTICORE
            } else {
                symbols::callstack::COLLECT_SINGLE
            };
            let what_is_patched =
                (generation.capture_function(), generation.collection().is_some());
            // No runtime is in this process, so no collection of its is found.
            assert_eq!(what_is_patched, (captures, false), "{version}");
            let said = generation.not_started().to_str().unwrap();
            assert_eq!(said.ends_with("no profile running."), is_multicore, "{version}");
        }
    }

    #[test]
    fn generations_share_no_code_that_the_runtime_calls() {
        let code = |generation: &dyn RuntimeGeneration| {
            let mut all: HashSet<_> =
                Callback::ALL.into_iter().map(|callback| generation.callback(callback)).collect();
            all.insert(generation.capture().cast());
            all
        };
        let (four, five) = (code(&Ocaml4), code(&Ocaml5));
        // Two ways in which a block dies have one callback.
        assert_eq!((four.len(), five.len()), (5, 5));
        assert!(four.is_disjoint(&five));
    }

    #[test]
    fn without_a_runtime_what_is_missing_is_named() {
        for generation in [&Ocaml4 as &dyn RuntimeGeneration, &Ocaml5] {
            assert!(generation.state().is_err_and(|name| name.to_lowercase().contains("caml")));
            assert!(
                generation.frame_tables(Version::V5_3).is_err_and(|name| name.starts_with("caml_"))
            );
        }
    }
}
