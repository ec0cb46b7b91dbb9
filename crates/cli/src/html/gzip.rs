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

/// Bytes of each part that is compressed for an estimate, and how many parts there are at most.
const PART: usize = 64 << 10;
const PARTS: usize = 16;

/// Estimates the size of a compressed text from parts of it. Short texts are compressed as a whole.
pub(super) fn estimate(bytes: &[u8]) -> u64 {
    if bytes.len() <= PART * PARTS {
        return gzip(bytes).len() as u64;
    }
    let step = (bytes.len() - PART) / (PARTS - 1);
    let parts = (0..PARTS).map(|number| &bytes[number * step..number * step + PART]);
    let zipped: usize = parts.map(|part| gzip(part).len()).sum();
    (bytes.len() as f64 * zipped as f64 / (PART * PARTS) as f64) as u64
}

/// What was compressed.
pub(super) fn gunzip(zipped: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(zipped).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_near_to_sizes() {
        let mut state = 1_u32;
        let text: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Four of eight bits are random.
            (state >> 28) as u8
        })
        .take(3 << 20)
        .collect();
        for bytes in [&text[..], &text[..1000], &[]] {
            let (estimated, real) = (estimate(bytes) as f64, gzip(bytes).len() as f64);
            assert!((estimated / real - 1.0).abs() < 0.05, "{estimated} {real}");
        }
    }
}
