//! What fuzzing checks of the reader.

use crate::{Node, Reachability, References};

/// Reads any bytes: no panic, all of it can be analysed, and what was read is written so that it reads the same.
///
/// # Panics
/// If the reader, the writer or the analysis is wrong.
pub fn references(bytes: &[u8]) {
    let Ok(found) = References::read(bytes) else { return };
    let reachable = Reachability::new(&found);
    for node in (0..found.blocks.len() as u32).map(Node) {
        let _ = (reachable.state(node), reachable.path(node));
    }
    assert_eq!(References::read(&found.to_bytes()), Ok(found.clone()));
}
