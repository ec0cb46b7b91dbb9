//! Codes of the frames of mixed callstacks: OCaml's have those that they have in all callstacks, others are marked.

use memtrail_trace::malloc::native_code;
use memtrail_trace::{Code, omitted};

use crate::context::checked_memory::CheckedMemory;
use crate::context::target::Target;
use crate::malloc::runtime_functions::RuntimeFunctions;
use crate::sampling::codes::code_of_return_address;

/// Return addresses of which it is remembered whether they are OCaml's.
const REMEMBERED: usize = 1 << 12;

/// What is known of return addresses.
pub(super) struct FrameCodes {
    functions: RuntimeFunctions,
    /// An address and, in the lowest bit, whether it is OCaml's; where its hash says.
    remembered: Box<[u64]>,
    /// Scratch: a callstack, the outermost frame first.
    codes: Vec<Code>,
}

impl FrameCodes {
    pub(super) fn new() -> Self {
        Self {
            functions: RuntimeFunctions::find(),
            remembered: vec![0; REMEMBERED].into(),
            codes: Vec::with_capacity(memtrail_sampler::MAX_FRAMES + 1),
        }
    }

    /// The codes of a callstack, the outermost frame first; `None` if the block is memory of OCaml's heap.
    pub(super) fn of(
        &mut self,
        target: &Target,
        innermost_first: &[memtrail_sampler::Address],
    ) -> Option<&[Code]> {
        let addresses = || innermost_first.iter().map(|frame| frame.0 as u64);
        if self.functions.is_of_heap(addresses()) {
            return None;
        }
        let is_settled = !self.functions.is_of_frame_table(addresses());
        self.codes.clear();
        if innermost_first.len() >= memtrail_sampler::MAX_FRAMES || innermost_first.is_empty() {
            // There may be more.
            self.codes.push(omitted::code(0));
        }
        for address in addresses().rev() {
            if self.functions.is_call_of_c(address) {
                continue;
            }
            let code = if self.is_ocaml(target, address, is_settled) {
                code_of_return_address(address)
            } else {
                native_code(address)
            };
            self.codes.push(code);
        }
        Some(&self.codes)
    }

    /// Whether the runtime's tables have a name for a return address.
    fn is_ocaml(&mut self, target: &Target, address: u64, is_settled: bool) -> bool {
        let hash = address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - REMEMBERED.ilog2());
        let slot = self.remembered.get_mut(hash as usize);
        if let Some(&mut known) = slot.as_deref().copied().as_mut()
            && known >> 1 == address
        {
            return known & 1 == 1;
        }
        if !is_settled {
            return false;
        }
        let memory = CheckedMemory;
        let found = target.unsettled_frame_table().and_then(|table| table.find(&memory, address));
        let is_ocaml = found.is_some_and(|found| found.debuginfo(&memory).is_some());
        if let Some(slot) = slot {
            *slot = address << 1 | u64::from(is_ocaml);
        }
        is_ocaml
    }
}
