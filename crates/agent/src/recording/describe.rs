//! What the recording says of its process: program, machine, runtime, clock.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use memtrail_ocaml::parameters;
use memtrail_recording::session::Options;
use memtrail_recording::{
    Clock as ClockPair, Description, FORMAT, RecordedRuntime, Sampling, TraceFile, ancestors,
};
use memtrail_trace::write::{Version, info_packet as write_info};
use memtrail_trace::{SampleRate, Timestamp, TraceInfo};

use crate::context::target::Target;
use crate::os::clock::Clock;
use crate::os::objects::find_in_objects;
use crate::os::program::executable;
use crate::os::symbol::symbol;
use crate::recording::impossible::{impossible, nothing_recorded};
use crate::recording::live_packet::PACKET;

pub(crate) const WORD_BITS: u8 = 64;

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| String::new(), |name| name.trim_end().to_owned())
}

/// What is known of a process that is recorded, and of the way in which it is.
pub(crate) struct Recorded<'a> {
    pub(crate) options: &'a Options,
    pub(crate) arguments: &'a [String],
    pub(crate) runtime: RecordedRuntime,
    pub(crate) sampling: Sampling,
    /// The process that it was forked from, if that one is recorded.
    pub(crate) forked_from: Option<u32>,
}

/// The description of a recording that begins.
pub(crate) fn describe(recorded: Recorded<'_>, clock: &Clock, pid: u32) -> Description {
    let Recorded { options, arguments, runtime, sampling, forked_from } = recorded;
    Description {
        format: FORMAT,
        memtrail: env!("CARGO_PKG_VERSION").into(),
        program: executable(),
        arguments: arguments.to_vec(),
        pid,
        forked_from,
        ancestors: if options.children { ancestors(pid, options.launcher) } else { Vec::new() },
        host: host(),
        runtime,
        sampling,
        clock: ClockPair { start_unix_us: clock.start.0, start_monotonic_ns: clock.monotonic },
        ended_unix_us: None,
        build_id: build_id(),
        labels: options.labels.clone(),
        context: options.context.clone(),
        disk: options.disk,
        shares_disk: options.children && options.disk.is_some(),
        attached: options.attached && forked_from.is_none(),
        trace: TraceFile::growing(),
        snapshots: None,
        notes: options.notes.clone(),
        outcome: None,
    }
}

pub(crate) fn description(
    target: &Target,
    clock: &Clock,
    pid: u32,
    forked_from: Option<u32>,
) -> Description {
    let runtime = &target.runtime;
    let mut text = [0; 512];
    let resolve = |name: &str| Some(symbol(name) as u64).filter(|&address| address != 0);
    let parameters =
        parameters::write(&target.memory, &runtime.layout, runtime.state(), resolve, &mut text);
    let incremental = target.incremental.load(Relaxed);
    let recorded = Recorded {
        options: &target.options,
        arguments: &target.arguments,
        runtime: RecordedRuntime {
            language: "OCaml".into(),
            version: runtime.version.name().into(),
            word_bits: WORD_BITS,
            parameters: String::from_utf8_lossy(parameters).into_owned(),
        },
        sampling: Sampling {
            small_minor_heap: None,
            impossible: impossible(),
            rate: target.options.rate,
            malloc_rate: target.malloc.map(|halvings| halvings.of(target.options.rate)),
            seed: target.seed,
            callstack_depth: Some(target.options.callstack_depth),
            callstacks: if incremental { "incremental" } else { "runtime" }.into(),
            checked: target.checked(),
        },
        forked_from,
    };
    let mut description = describe(recorded, clock, pid);
    description.snapshots = target.options.snapshots.is_some().then(Vec::new);
    let notes = target.notes.iter().map(|&note| note.to_owned());
    description.notes.extend(notes.chain(nothing_recorded()));
    description
}

/// The first packet of the trace.
pub(crate) fn info_packet(options: &Options, description: &Description) -> Vec<u8> {
    let info = TraceInfo {
        sample_rate: SampleRate(description.sampling.rate),
        word_bits: WORD_BITS,
        executable: description.program.clone(),
        host: description.host.clone(),
        runtime_params: description.runtime.parameters.clone(),
        pid: u64::from(description.pid),
        start: Timestamp(description.clock.start_unix_us),
        context: options.context.clone(),
    };
    let mut packet = vec![0; PACKET];
    // Refused only by a buffer that is too small, which this is not.
    let length = write_info(&mut packet, &info, Version::V2).unwrap_or(0);
    packet.truncate(length);
    packet
}

/// GNU build id of the executable. A forked child has its parent's: in it, another thread's lock on the list of objects may
/// be held for ever.
fn build_id() -> Option<String> {
    static BUILD_ID: OnceLock<Option<String>> = OnceLock::new();
    // The first object is the executable.
    let find = || find_in_objects(|object| Some(object.notes().find_map(build_id_in)))?;
    BUILD_ID.get_or_init(find).clone()
}

/// The build id in a segment of notes, in hexadecimal digits.
fn build_id_in(mut notes: &[u8]) -> Option<String> {
    const GNU_BUILD_ID: u32 = 3;
    while let Some((&[n0, n1, n2, n3, d0, d1, d2, d3, k0, k1, k2, k3], rest)) =
        notes.split_first_chunk::<12>()
    {
        let name = u32::from_le_bytes([n0, n1, n2, n3]).checked_next_multiple_of(4)? as usize;
        let length = u32::from_le_bytes([d0, d1, d2, d3]) as usize;
        let content = rest.get(name..name + length)?;
        let is_gnu = rest.get(..name) == Some(b"GNU\0");
        if is_gnu && u32::from_le_bytes([k0, k1, k2, k3]) == GNU_BUILD_ID {
            let digits = content.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            return Some(digits.filter_map(|d| char::from_digit(d.into(), 16)).collect());
        }
        notes = rest.get(name + length.next_multiple_of(4)..).unwrap_or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        for word in [name.len() as u32, content.len() as u32, kind] {
            note.extend(word.to_le_bytes());
        }
        for part in [name, content] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let other = note(b"GNU\0", 1, &[0; 16]);
        let name = note(b"stapsdt\0", 3, b"abc");
        let id = note(b"GNU\0", 3, &[0xab, 0x01, 0xff]);
        let all = [other.clone(), name, id].concat();
        assert_eq!(build_id_in(&all).as_deref(), Some("ab01ff"));
        assert_eq!(build_id_in(&other), None);
        // Cut short anywhere, it is not found, or whole.
        for length in 0..all.len() - 1 {
            assert_eq!(build_id_in(&all[..length]), None, "{length}");
        }
        assert_eq!(build_id_in(&[0xff; 64]), None);
    }
}
