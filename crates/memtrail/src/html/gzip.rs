//! Parts of the page, compressed.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Compresses, the same way each time.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("writing into memory does not fail");
    encoder.finish().expect("writing into memory does not fail")
}
