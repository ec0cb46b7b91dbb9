//! Copies of snapshots for traces whose blocks have other numbers, as subsampled ones have: what joins both is
//! made anew, all else is copied.

use crate::format::kind;
use crate::read::sections::{header, section};
use crate::read::{self, Cause, Error};
use crate::write::sections::Sections;
use memtrail_leb128::{Cursor, put, zigzag};

/// A copy of a snapshot whose sampled blocks have other numbers in the trace; those without one are not sampled
/// any more. It ends where a damaged file begins to be damaged.
///
/// # Errors
/// If it is no snapshot, or if its table of sampled blocks is damaged.
pub fn renumber(bytes: &[u8], new: impl Fn(u64) -> Option<u64>) -> Result<Vec<u8>, Error> {
    let mut at = header(bytes)?.end;
    let mut copy = bytes.get(..at).unwrap_or_default().to_vec();
    while let Ok((section, next)) = section(bytes, at) {
        if section.kind == kind::SAMPLES {
            let mut buffer = Vec::new();
            let content = section.content(&mut buffer)?;
            let samples = read::tables::samples(&mut Cursor::new(content))
                .ok_or_else(|| Cause::Table("samples").at(section.offset))?;
            let (mut count, mut last, mut body) = (0, 0, Vec::new());
            for sample in samples {
                let Some(id) = new(sample.id) else { continue };
                put(&mut body, zigzag(i64::from(sample.block.0) - last));
                last = i64::from(sample.block.0);
                put(&mut body, id);
                put(&mut body, sample.samples);
                count += 1;
            }
            let mut table = Vec::new();
            put(&mut table, count);
            table.extend_from_slice(&body);
            // Memory takes all that is written.
            let _ = Sections::behind(&mut copy).section(kind::SAMPLES, 0, &table);
        } else {
            copy.extend_from_slice(bytes.get(at..next).unwrap_or_default());
        }
        at = next;
    }
    Ok(copy)
}
