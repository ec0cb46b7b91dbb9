//! Parts of the page, compressed.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Compresses, the same way each time.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("writing into memory does not fail");
    encoder.finish().expect("writing into memory does not fail")
}

/// What was compressed.
pub(super) fn gunzip(zipped: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(zipped).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
