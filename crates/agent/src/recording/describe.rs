//! What the recording says of its process: program, machine, runtime, clock.

use std::ffi::{CStr, c_char, c_int, c_void};

use memtrail_ocaml::parameters;
use memtrail_recording::{
    Clock as ClockPair, Description, FORMAT, FileState, Runtime, Sampling, TRACE_FILE, TraceFile,
};
use memtrail_trace::write::{Version, info_packet as write_info};
use memtrail_trace::{SampleRate, Timestamp, TraceInfo};

use crate::context::runtime::symbol;
use crate::os::clock::Clock;
use crate::recording::recorder::Target;

unsafe extern "C" {
    static program_invocation_short_name: *const c_char;
}

const WORD_BITS: u8 = 64;

/// The name the program was called by, without its path.
pub(crate) fn program_name() -> String {
    // SAFETY: glibc sets it before any constructor runs.
    let name = unsafe { CStr::from_ptr(program_invocation_short_name) };
    name.to_string_lossy().into_owned()
}

/// Path of the executable.
pub(crate) fn executable() -> String {
    std::fs::read_link("/proc/self/exe")
        .map_or_else(|_| program_name(), |path| path.to_string_lossy().into_owned())
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| String::new(), |name| name.trim_end().to_owned())
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
    let memory = target.capturer.memory();
    let parameters =
        parameters::write(&memory, &runtime.layout, runtime.state(), resolve, &mut text);
    let incremental = target.incremental.load(std::sync::atomic::Ordering::Relaxed);
    Description {
        format: FORMAT,
        memtrail: env!("CARGO_PKG_VERSION").into(),
        program: executable(),
        arguments: target.arguments.clone(),
        pid,
        forked_from,
        host: host(),
        runtime: Runtime {
            language: "OCaml".into(),
            version: runtime.version.name().into(),
            word_bits: WORD_BITS,
            parameters: String::from_utf8_lossy(parameters).into_owned(),
        },
        sampling: Sampling {
            small_minor_heap: None,
            rate: target.options.rate,
            seed: target.seed,
            callstack_depth: Some(target.options.callstack_depth),
            callstacks: if incremental { "incremental" } else { "runtime" }.into(),
            checked: target.capturer.checked(),
        },
        clock: ClockPair { start_unix_us: clock.start.0, start_monotonic_ns: clock.monotonic },
        build_id: build_id(),
        trace: TraceFile {
            file: TRACE_FILE.into(),
            state: FileState::Growing,
            bytes: 0,
            blocks: 0,
            lost: 0,
        },
        snapshots: target.options.snapshots.is_some().then(Vec::new),
        notes: crate::sampling::premature_dealloc::note().map(str::to_owned).into_iter().collect(),
        outcome: None,
    }
}

/// The first packet of the trace.
pub(crate) fn info_packet(target: &Target, description: &Description) -> Vec<u8> {
    let info = TraceInfo {
        sample_rate: SampleRate(description.sampling.rate),
        word_bits: WORD_BITS,
        executable: description.program.clone(),
        host: description.host.clone(),
        runtime_params: description.runtime.parameters.clone(),
        pid: u64::from(description.pid),
        start: Timestamp(description.clock.start_unix_us),
        context: target.options.context.clone(),
    };
    let mut packet = vec![0; crate::recording::live_packet::PACKET];
    // Refused only by a buffer that is too small, which this is not.
    let length = write_info(&mut packet, &info, Version::V2).unwrap_or(0);
    packet.truncate(length);
    packet
}

/// GNU build id of the executable.
fn build_id() -> Option<String> {
    let mut id: Option<String> = None;
    // SAFETY: the callback gets valid headers of the first object, which is the executable.
    unsafe { libc::dl_iterate_phdr(Some(first_object), (&raw mut id).cast()) };
    id
}

/// # Safety
/// As `dl_iterate_phdr` calls it, with an `Option<String>` as data.
unsafe extern "C" fn first_object(
    info: *mut libc::dl_phdr_info,
    _: usize,
    data: *mut c_void,
) -> c_int {
    const GNU_BUILD_ID: u32 = 3;
    // SAFETY: glibc passes a valid description of a loaded object; notes lie in loaded memory.
    unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        for header in headers.iter().filter(|header| header.p_type == libc::PT_NOTE) {
            let start = (info.dlpi_addr + header.p_vaddr) as *const u8;
            let mut notes = std::slice::from_raw_parts(start, header.p_memsz as usize);
            while let Some((&[n0, n1, n2, n3, d0, d1, d2, d3, k0, k1, k2, k3], rest)) =
                notes.split_first_chunk::<12>()
            {
                let name = u32::from_le_bytes([n0, n1, n2, n3]).next_multiple_of(4) as usize;
                let length = u32::from_le_bytes([d0, d1, d2, d3]) as usize;
                let Some(content) = rest.get(name..name + length) else { break };
                let is_gnu = rest.get(..name) == Some(b"GNU\0");
                if is_gnu && u32::from_le_bytes([k0, k1, k2, k3]) == GNU_BUILD_ID {
                    let digits = content.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                    let text = digits.filter_map(|d| char::from_digit(d.into(), 16)).collect();
                    *data.cast::<Option<String>>() = Some(text);
                    return 1;
                }
                notes = rest.get(name + length.next_multiple_of(4)..).unwrap_or_default();
            }
        }
    }
    1
}
