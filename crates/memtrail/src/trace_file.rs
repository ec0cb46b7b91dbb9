//! Opens the trace of a recording, also while its process writes.

use std::fs;
use std::io;
use std::ops::Deref;

use memtrail_map::MappedFile;
use memtrail_recording::Recording;
use memtrail_recording::session::owner_of_live_packet;
use memtrail_trace::header::Header;

use crate::recording_facts;
use crate::run::live_packets::{self, length_of_packets, whole_packets};

/// Bytes of a trace.
pub(crate) type Bytes = Box<dyn Deref<Target = [u8]>>;

/// Opens the trace of a recording. Of a native program that runs, it ends with the packet that the program is filling: a program
/// that allocates nothing for a while does not write it.
pub(crate) fn open(recording: &Recording) -> io::Result<Bytes> {
    if !recording_facts::grows(recording) {
        return Ok(Box::new(MappedFile::open(&recording.trace)?));
    }
    // In this order: a packet that is written meanwhile is in the file.
    let live = live_packet(recording);
    // A file that another process may cut short must not be mapped.
    let mut bytes = fs::read(&recording.trace)?;
    if let Some(packet) = live.filter(|packet| !has_begun(&bytes, packet)) {
        bytes.extend_from_slice(&packet);
    }
    Ok(Box::new(bytes))
}

/// The packet that a native program is filling, as it is now. The process has it mapped.
pub(crate) fn live_packet(recording: &Recording) -> Option<Vec<u8>> {
    let description = recording.description.as_ref()?;
    let pid = description.pid;
    // Its mappings are locked while they are read: other programs are left alone.
    let maps = description.runtime.is_native().then(|| format!("/proc/{pid}/maps"));
    let maps = fs::read_to_string(maps?).ok()?;
    let is_own = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        owner_of_live_packet(name).is_some_and(|(owner, _)| owner == pid)
    };
    // Each program that the process has been had its own.
    let mut paths = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    live_packets::read(paths.rfind(is_own)?.as_ref())
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
