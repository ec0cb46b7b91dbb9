//! Resident memory of a process of any language, as the kernel counts it.

use std::io::Read as _;
use std::path::Path;

use memtrail_heap::Bytes;
use memtrail_recording::mappings::field_of_status;
use memtrail_recording::memory::resident::{self, Known, RuntimeMemory};
use memtrail_recording::memory::{Figure, MemoryFigures};

use crate::os::{heap, private_stack};

/// Adds the kernel's figures. `runtime` is memory of the OCaml runtime, if there is one.
pub(crate) fn measure(session: &Path, runtime: &[RuntimeMemory], figures: &mut MemoryFigures) {
    let program = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    let known = Known {
        program: program.as_os_str().as_encoded_bytes(),
        agent: resident::measure as fn(&_, &Known<'_>, &mut _) as usize as u64,
        session: session.as_os_str().as_encoded_bytes(),
        agent_stack: private_stack::extent(),
        agent_heap: Bytes(heap::in_use() as u64 + memtrail_sampler::memory_of_tables().0),
        runtime,
    };
    // Both at once, and only then looked at: the program goes on.
    let smaps = read_smaps();
    let status = std::fs::read("/proc/self/status");
    if let Ok(smaps) = smaps {
        resident::measure(&smaps, &known, figures);
    }
    if let Ok(status) = status {
        for (figure, field) in
            [(Figure::Rss, "VmRSS"), (Figure::PeakRss, "VmHWM"), (Figure::Swapped, "VmSwap")]
        {
            figures.set(figure, field_of_status(&status, field));
        }
    }
}

/// Bytes that `smaps` has for a mapping, or a little less.
const TEXT_OF_MAPPING: usize = 800;

/// Reads `smaps` into memory that was written to before: otherwise it becomes resident meanwhile, which for a
/// small program is more than a hundredth of all.
fn read_smaps() -> std::io::Result<Vec<u8>> {
    let mappings = std::fs::read("/proc/self/maps")?.split(|&byte| byte == b'\n').count();
    let mut text = vec![b' '; mappings * TEXT_OF_MAPPING];
    text.clear();
    std::fs::File::open("/proc/self/smaps")?.read_to_end(&mut text)?;
    Ok(text)
}
