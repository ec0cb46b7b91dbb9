//! Writes the file with what refers to blocks from `malloc`.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use memtrail_recording::relay::{Operation, PAYLOAD, Refused};
use memtrail_recording::unfinished_name;
use memtrail_references::file_name;

use crate::recording::folder::Folder;

/// Writes the file, or has the launcher write it where the program can no longer reach its recording. The file appears
/// when it is whole.
pub(crate) fn save(folder: &Folder, number: u64, bytes: &[u8]) -> io::Result<()> {
    let saved = folder.reach(
        |path| save_by_itself(path, number, bytes),
        || {
            let written = save_by_launcher(folder, number, bytes);
            if written.is_err() {
                let _ = folder.call(Operation::RemoveReferences(number), &[]);
            }
            written
        },
    );
    saved.map_err(|error| io::Error::from_raw_os_error(error.errno))
}

fn save_by_itself(folder: &Path, number: u64, bytes: &[u8]) -> io::Result<()> {
    let name = file_name(number);
    let part = folder.join(unfinished_name(&name));
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

fn save_by_launcher(folder: &Folder, number: u64, bytes: &[u8]) -> Result<(), Refused> {
    folder.call(Operation::BeginReferences(number), &[])?;
    let mut offset = 0;
    for part in bytes.chunks(PAYLOAD) {
        folder.call(Operation::WriteReferences(number, offset), part)?;
        offset += part.len() as u64;
    }
    folder.call(Operation::FinishReferences(number), &[])
}
