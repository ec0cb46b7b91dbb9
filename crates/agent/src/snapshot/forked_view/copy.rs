//! The frozen copy of this process, as the walk of its heap reads it.

use memtrail_heap::write::Sample;
use memtrail_ocaml::heap::Extent;
use memtrail_ocaml::heap::finalisers::Kind;
use memtrail_ocaml::heap::frames::Frame;
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml::{Address, Memory, memprof};
use memtrail_ocaml_snapshot::{Mapped, Slots, StoppedProcess, Symbols, View};

use super::{finalisers, object_file, scan};
use crate::context::target::Target;
use crate::sampling::key::id_of;
use crate::sampling::labels;
use crate::sampling::start::OUR_PROFILE;
use crate::sampling::substitute;

unsafe extern "C" {
    static _r_debug: u8;
}

/// The memory of the copy, and what tells this recording's blocks.
#[derive(Clone, Copy)]
pub(super) struct ForkedCopy {
    pub(super) memory: ThisProcess,
    /// Tells the blocks of this recording.
    epoch: u8,
}

/// The copy as the walk sees it.
pub(super) type ForkedView<'a> = View<'a, ForkedCopy>;

/// Reads what is known of the copy before its heap is walked.
pub(super) fn view<'a>(target: &Target, domains: &'a [u64], epoch: u8) -> ForkedView<'a> {
    let memory = ForkedCopy { memory: target.memory, epoch };
    // SAFETY: the linker's own variable, of which only the address is taken.
    let list = (&raw const _r_debug) as u64;
    View {
        memory,
        layout: target.runtime.layout,
        frame_table: target.frame_table(),
        inexact: &[],
        domains,
        symbols: Symbols::of_loaded(memory, list),
        mapped: Mapped::read(&std::fs::read("/proc/self/maps").unwrap_or_default()),
    }
}

impl Memory for ForkedCopy {
    #[inline]
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
        self.memory.bytes(at)
    }
}

impl StoppedProcess for ForkedCopy {
    fn words(&self, extent: Extent) -> Option<&[u64]> {
        // SAFETY: the runtime's own tables name this memory; in a frozen copy it stays as it is, and the
        // copy ends before anything is unmapped.
        Some(unsafe {
            std::slice::from_raw_parts(extent.start as *const u64, (extent.bytes / 8) as usize)
        })
    }

    fn slice(&self, start: Address, length: u64) -> Option<&[u8]> {
        // SAFETY: as above; who asks has the range from symbols or from the kernel's list of mappings.
        Some(unsafe { std::slice::from_raw_parts(start as *const u8, length as usize) })
    }

    fn file(&self, path: &[u8]) -> Option<&[u8]> {
        object_file::map(path)
    }

    fn registered(view: &View<'_, Self>) -> Slots {
        scan::registered(view)
    }

    fn named_values(view: &View<'_, Self>) -> Slots {
        scan::named_values(view)
    }

    fn running_thread(_: &View<'_, Self>, hooked: &Slots, _: Address) -> Address {
        // Systhreads' hook begins with the running thread's own structure.
        hooked.first().map_or(0, |&(slot, _)| slot)
    }

    fn hooked(view: &View<'_, Self>, state: Address) -> Slots {
        scan::hook(view, state)
    }

    fn finalisers(view: &View<'_, Self>) -> Vec<(Kind, Address)> {
        finalisers::of_program(view)
    }

    fn tracked(view: &View<'_, Self>, state: Address) -> Slots {
        scan::tracked(view, state)
    }

    fn all(view: &View<'_, Self>, state: Address) -> Slots {
        scan::all(view, state)
    }

    fn label_of(&self, frame: &Frame) -> Option<&[u8]> {
        labels::name_of_frame(self.memory, frame)
    }

    fn number_in_trace(&self, user_data: u64) -> Option<u64> {
        id_of(user_data, self.epoch).map(|id| id.0)
    }

    fn tracked_by_memtrail(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        substitute::tracked::each(|entry| {
            if let Some(id) = id_of(entry.key, self.epoch) {
                samples.push(Sample { block: entry.block, id: id.0, samples: entry.samples });
            }
        });
        samples
    }

    fn is_own_profile(&self, value: u64) -> bool {
        let ours = OUR_PROFILE.get().copied().unwrap_or(0);
        memprof::is_profile_of(&self.memory, value, ours)
    }
}
