//! Opens the trace of a recording, also while its process writes, and before names are written into it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use memtrail_map::MappedFile;
use memtrail_recording::session::owner_of_live_packet;
use memtrail_recording::waiting::{Waiting, parse_waiting_name};
use memtrail_recording::{Recording, TRACE_FILE};
use memtrail_trace::header::Header;

use crate::run::live_packets::{self, length_of_packets, whole_packets};
use crate::{naming, recording_facts};

/// Bytes of a trace.
pub(crate) type Bytes = Box<dyn Deref<Target = [u8]>>;

/// Opens the trace of a recording, with names of native functions also where the file has none yet.
pub(crate) fn open(recording: &Recording) -> io::Result<Bytes> {
    let bytes = open_as_written(recording)?;
    // Damage is reported where the bytes are read.
    let named = naming::named(recording, &bytes).ok().flatten();
    Ok(named.map_or(bytes, |named| Box::new(named)))
}

/// Opens it as the agent has written it. Of a native program that runs, it ends with the packet that the program is filling: a
/// program that allocates nothing for a while does not write it.
pub(crate) fn open_as_written(recording: &Recording) -> io::Result<Bytes> {
    if !recording_facts::grows(recording) {
        return Ok(Box::new(MappedFile::open(&recording.trace)?));
    }
    // In this order: a packet that is written meanwhile is in the file.
    let unwritten = unwritten(recording);
    // A file that another process may cut short must not be mapped.
    let mut file = File::open(&recording.trace)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if let Some(unwritten) = unwritten {
        let now = file.metadata()?;
        // Packets that wait are in memory until all of them are in the file.
        match unwritten.waiting(now.ino(), bytes.len() as u64) {
            Some(waiting) => bytes.extend_from_slice(&waiting),
            None if unwritten.waiting.is_some() && bytes.len() as u64 != now.len() => {
                return Ok(Box::new(bytes));
            }
            None => {}
        }
        if let Some(packet) = unwritten.live.filter(|packet| !has_begun(&bytes, packet)) {
            bytes.extend_from_slice(&packet);
        }
    }
    Ok(Box::new(bytes))
}

/// Part of the trace of a native program that is not in its file.
struct Unwritten {
    /// Memory with what waits for room on the disk.
    waiting: Option<PathBuf>,
    /// The packet that the program is filling.
    live: Option<Vec<u8>>,
}

impl Unwritten {
    /// Gives the bytes that wait to be appended to the file, if so many of it were read.
    fn waiting(&self, inode: u64, length: u64) -> Option<Vec<u8>> {
        let memory = fs::read(self.waiting.as_ref()?).ok()?;
        Some(Waiting::read(&memory, inode, length)?.rest().to_vec())
    }
}

/// Bytes of the trace of a native program that are not in its file: they change whenever there are more. The process has them mapped.
pub(crate) fn unwritten_bytes(recording: &Recording) -> Option<usize> {
    let unwritten = unwritten(recording)?;
    let file = fs::metadata(&recording.trace).ok()?;
    let waiting = unwritten.waiting(file.ino(), file.len()).map(|bytes| bytes.len());
    let live = unwritten.live.map(|packet| packet.len());
    (waiting.is_some() || live.is_some()).then(|| waiting.unwrap_or(0) + live.unwrap_or(0))
}

fn unwritten(recording: &Recording) -> Option<Unwritten> {
    let description = recording.description.as_ref()?;
    let pid = description.pid;
    // Its mappings are locked while they are read: other programs are left alone.
    let maps = description.runtime.is_native().then(|| format!("/proc/{pid}/maps"));
    let maps = fs::read_to_string(maps?).ok()?;
    let paths = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    // Each program that the process has been had its own.
    let last = |is_own: fn(&str, u32) -> bool| {
        paths.clone().rfind(|path| is_own(path.rsplit('/').next().unwrap_or_default(), pid))
    };
    let live = last(|name, pid| owner_of_live_packet(name).is_some_and(|(owner, _)| owner == pid));
    let waiting = last(|name, pid| {
        parse_waiting_name(name).is_some_and(|(owner, _, file)| owner == pid && file == TRACE_FILE)
    });
    Some(Unwritten {
        waiting: waiting.map(PathBuf::from),
        live: live.and_then(|path| live_packets::read(path.as_ref())),
    })
}

/// True if a trace ends with this packet, or has it by now with more in it.
fn has_begun(trace: &[u8], packet: &[u8]) -> bool {
    let events = |found: Option<(Header, &'_ [u8])>| {
        found.map_or_else(Vec::new, |(header, packet)| packet[header.header_len()..].to_vec())
    };
    let last = events(whole_packets(trace).last());
    // A half packet at the end is this one.
    last.starts_with(&events(whole_packets(packet).next()))
        || length_of_packets(trace) < trace.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_was_written_meanwhile_is_there_once() {
        let trace = include_bytes!("../../trace/tests/fixtures/ocamlopt-upstream.ctf");
        let mut starts = vec![0];
        while let Ok(header) = Header::parse(&trace[starts[starts.len() - 1]..])
            && starts[starts.len() - 1] + header.size < trace.len()
        {
            starts.push(starts[starts.len() - 1] + header.size);
        }
        let last = *starts.last().expect("a packet");
        let packet = &trace[last..];
        assert!(has_begun(trace, packet));
        assert!(!has_begun(&trace[..last], packet));
        assert!(has_begun(&trace[..last + 100], packet), "half of it");
    }
}
