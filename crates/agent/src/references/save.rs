//! Writes the file.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use memtrail_references::file_name;

/// The file appears when it is whole.
pub(crate) fn save(folder: &Path, number: u64, bytes: &[u8]) -> io::Result<()> {
    let name = file_name(number);
    let part = folder.join(format!(".{name}.part"));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&part)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&part, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}
