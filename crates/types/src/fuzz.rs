//! What fuzzing checks of the readers. Here rather than with the fuzz targets, so that tests can replay
//! their corpus.

use crate::format::{MAGIC, OLDEST, VERSION};
use crate::read::{helper_output, helper_table};
use crate::term::TermId;
use crate::unit::Types;

/// Reads any bytes as a file: no panic, and what was read is written so that it reads the same. The
/// checksum is made right first, as few bytes would get beyond it otherwise.
///
/// # Panics
/// If the reader or the writer is wrong.
pub fn file(bytes: &[u8]) {
    let _ = Types::read(bytes);
    for version in OLDEST..=VERSION {
        file_of_version(version, bytes);
    }
}

fn file_of_version(version: u8, bytes: &[u8]) {
    let mut whole = MAGIC.to_vec();
    whole.push(version);
    whole.extend_from_slice(bytes);
    let checksum = xxhash_rust::xxh3::xxh3_64(&whole);
    whole.extend_from_slice(&checksum.to_le_bytes());
    match Types::read(&whole) {
        Ok(types) => assert_eq!(Types::read(&types.to_bytes()).as_ref(), Ok(&types)),
        Err(error) => assert!(error.offset <= whole.len() as u64, "{error}"),
    }
    let types = Types::read(&whole).unwrap_or_default();
    for id in 0..=types.table.terms.len() {
        let _ = types.table.text(TermId(id as u32));
    }
    for unit in types.units {
        let (named, fields) = (unit.named(), unit.fields.unwrap_or(0));
        assert!(named <= fields);
        let layout = unit.layout.as_ref();
        let last = named.checked_sub(1).and_then(|last| layout?.field(last, fields));
        assert_eq!(last.is_some(), named > 0);
        assert_eq!(layout.and_then(|layout| layout.field(named, fields)), None);
    }
}

/// Reads any bytes as the helper's output: no panic, and errors within the bytes.
///
/// # Panics
/// If the reader is wrong.
pub fn output(bytes: &[u8]) {
    let (_, error) = helper_output(bytes);
    assert!(error.is_none_or(|error| error.offset <= bytes.len() as u64));
    let error = helper_table(bytes).err();
    assert!(error.is_none_or(|error| error.offset <= bytes.len() as u64));
}

/// Reads any bytes as marshalled values: no panic.
#[cfg(feature = "find")]
pub fn marshalled(bytes: &[u8]) {
    let _ = crate::program::units_in(bytes);
    let _ = crate::plugin::header_of(bytes);
}
