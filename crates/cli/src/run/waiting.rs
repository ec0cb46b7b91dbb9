//! Brings what waited for room on the disk when its process ended into the files of its recording.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use memtrail_recording::session::Status;
use memtrail_recording::waiting::{NOTE, Waiting, parse_waiting_name};
use memtrail_recording::{Description, TRACE_FILE};

use super::live_packets::{length_of_packets, whole_packets};

/// Appends what waits to the files of a process's recording, and removes it from the session, whose files these are. An error of the trace comes with the
/// number of blocks that are lost by it; the trace ends with its last whole packet then.
pub(super) fn append(
    waiting: &[(PathBuf, String)],
    status: &Status,
    folder: &Path,
    description: &mut Description,
) -> Result<(), (io::Error, u64)> {
    let mut of_trace = Ok(());
    for (from, name) in waiting {
        let Some((pid, image, file)) = parse_waiting_name(name) else { continue };
        if (pid, image) != (status.pid, status.image) {
            continue;
        }
        if description.notes.iter().all(|note| note != NOTE) {
            // It was killed before it could say so.
            description.notes.push(NOTE.to_owned());
        }
        let (path, is_trace) = (folder.join(file), file == TRACE_FILE);
        let appended = append_to(&path, from);
        // Whoever keeps the session for others must not append it again.
        let _ = fs::remove_file(from);
        // Without the other files something is not shown: the trace is whole.
        if let Err(failed) = appended
            && is_trace
        {
            of_trace = Err(failed);
            let _ = cut_to_packets(&path);
        }
    }
    of_trace
}

fn append_to(path: &Path, from: &Path) -> Result<(), (io::Error, u64)> {
    let failed = |error| (error, 0);
    let memory = fs::read(from).map_err(failed)?;
    let mut file = fs::OpenOptions::new().append(true).open(path).map_err(failed)?;
    let now = file.metadata().map_err(failed)?;
    let Some(waiting) = Waiting::read(&memory, now.ino(), now.len()) else { return Ok(()) };
    file.write_all(waiting.rest()).map_err(|error| {
        let length = file.metadata().map_or(now.len(), |now| now.len());
        let there = waiting.appended() as u64 + length.saturating_sub(now.len());
        (error, blocks_after(waiting.bytes(), there))
    })
}

/// Blocks in the packets that do not end before so many bytes.
fn blocks_after(packets: &[u8], bytes: u64) -> u64 {
    let mut end = 0;
    let lost = whole_packets(packets).filter(|(header, _)| {
        end += header.size as u64;
        end > bytes
    });
    lost.map(|(header, _)| header.end_id.saturating_sub(header.first_id)).sum()
}

/// Takes half a packet at the end away.
fn cut_to_packets(trace: &Path) -> io::Result<()> {
    let length = length_of_packets(&MappedFile::open(trace)?) as u64;
    fs::OpenOptions::new().write(true).open(trace)?.set_len(length)
}
