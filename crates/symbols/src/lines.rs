//! Tells if a file has positions in sources.

use std::path::Path;

use addr2line::Loader;

/// True if debug information, in the file or in one beside it, has the lines of at least one function.
pub fn has_lines(file: &Path) -> bool {
    let Ok(loader) = Loader::new(file) else { return false };
    loader.find_location_range(0, u64::MAX).is_ok_and(|mut ranges| ranges.next().is_some())
}
