//! Functions of the runtime that are known by their addresses on callstacks.

use std::ops::Range;

use memtrail_ocaml::symbols;

use crate::context::functions::size_of_function;
use crate::os::symbol::symbol;

/// Innermost frames among which these functions are looked for.
const INNERMOST: usize = 8;

/// The runtime's functions that matter.
pub(super) struct RuntimeFunctions {
    /// They allocate memory of OCaml's heap, or for our samples of it.
    of_heap: Vec<Range<u64>>,
    /// They make the frame table anew.
    of_frame_table: Vec<Range<u64>>,
    /// They are between OCaml's functions and C's.
    calls_of_c: Vec<Range<u64>>,
}

fn places(names: &[&str]) -> Vec<Range<u64>> {
    let place = |&name: &&str| {
        let start = symbol(name) as u64;
        let size = if start == 0 { 0 } else { size_of_function(name) as u64 };
        // A return address may be the first one behind the function.
        (size > 0).then(|| start + 1..start + size + 1)
    };
    names.iter().filter_map(place).collect()
}

/// Whether one of the innermost return addresses is in one of these functions.
fn any(innermost_first: impl Iterator<Item = u64>, places: &[Range<u64>]) -> bool {
    innermost_first.take(INNERMOST).any(|frame| places.iter().any(|place| place.contains(&frame)))
}

impl RuntimeFunctions {
    /// Finds them. Only while nothing is loaded or unloaded.
    pub(super) fn find() -> Self {
        Self {
            of_heap: [&symbols::malloc::OF_HEAP[..], &symbols::malloc::OF_SAMPLER]
                .into_iter()
                .flat_map(places)
                .collect(),
            of_frame_table: places(&symbols::malloc::OF_FRAME_TABLE),
            calls_of_c: places(&symbols::malloc::CALLS_OF_C),
        }
    }

    /// Whether a block with this callstack is memory of OCaml's heap.
    pub(super) fn is_of_heap(&self, innermost_first: impl Iterator<Item = u64>) -> bool {
        any(innermost_first, &self.of_heap)
    }

    /// Whether the runtime makes its frame table anew, with this callstack.
    pub(super) fn is_of_frame_table(&self, innermost_first: impl Iterator<Item = u64>) -> bool {
        any(innermost_first, &self.of_frame_table)
    }

    /// Whether a frame only leads from OCaml to C.
    pub(super) fn is_call_of_c(&self, frame: u64) -> bool {
        any(std::iter::once(frame), &self.calls_of_c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_among_the_innermost_frames() {
        let functions = RuntimeFunctions {
            of_heap: vec![11..21, 100..101],
            of_frame_table: Vec::new(),
            calls_of_c: std::iter::once(31..41).collect(),
        };
        assert!(functions.is_call_of_c(40) && !functions.is_call_of_c(20));
        assert!(functions.is_of_heap([5, 20].into_iter()));
        assert!(!functions.is_of_heap([5, 10, 21].into_iter()));
        assert!(!functions.is_of_heap([1, 2, 3, 4, 5, 6, 7, 8, 20].into_iter()));
        assert!(!functions.is_of_frame_table([20].into_iter()));
    }

    #[test]
    fn functions_that_are_not_there_have_no_place() {
        assert_eq!(places(&["caml_no_such_function"]), []);
    }
}
