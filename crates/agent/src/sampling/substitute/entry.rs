//! What is called in place of the runtime's functions: they themselves, then our part.
//!
//! The runtime's may raise exceptions, which leave our frames as they leave those of the runtime's own C
//! functions. So nothing of ours stands on the stack while they run that would have to be undone.

#[cfg(target_arch = "x86_64")]
use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;

use memtrail_ocaml::heap::custom::CHANNEL_BYTES;
use memtrail_trace::Source;

use super::deaths;
use super::installed::{Substitute, substitute};
use crate::os::ffi_guard::guarded;
use crate::sampling::channel_buffers::is_channel;

/// `CAML_DO_TRACK` (`runtime/caml/memory.h`).
const TRACKED: c_int = 1;
/// `CAML_FROM_CAML`.
const FROM_OCAML: c_int = 2;

/// In place of `caml_alloc_small_dispatch`: a minor heap has come to its limit.
pub(super) unsafe extern "C" fn small(
    state: u64,
    words: isize,
    flags: c_int,
    count: c_int,
    encoded: *const u8,
) {
    let Some(substitute) = substitute() else { return };
    // SAFETY: the runtime's own call.
    unsafe { (substitute.functions.small)(state, words, flags, count, encoded) };
    if substitute.is_reached(state) {
        guarded((), || {
            if flags & TRACKED == 0 {
                return substitute.renew(state);
            }
            let from_ocaml = flags & FROM_OCAML != 0 && !encoded.is_null();
            // SAFETY: sizes of as many blocks, in the frame table.
            let encoded = from_ocaml.then(|| unsafe {
                std::slice::from_raw_parts(encoded, usize::try_from(count).unwrap_or(0))
            });
            substitute.allocated_small(state, words as u64, encoded);
        });
    }
}

/// In place of one of the functions that allocate in the major heap, of which `WHICH` is one.
pub(super) unsafe extern "C" fn large<const WHICH: usize>(
    words: usize,
    tag: usize,
    reserved: usize,
) -> u64 {
    let original = substitute().and_then(|substitute| substitute.functions.large[WHICH]);
    let Some(original) = original else { return 0 };
    // SAFETY: the runtime's own call. What takes fewer arguments does not look at the third.
    let block = unsafe { original(words, tag, reserved) };
    if let Some(substitute) = substitute().filter(|_| block != 0) {
        let state = substitute.target.runtime.state();
        let samples = substitute.drawn_large(state, words as u64 + 1);
        if samples > 0 {
            guarded((), || {
                substitute.sampled(state, block, words as u64, samples, Source::Major, None);
            });
        }
    }
    block
}

/// In place of `caml_alloc_custom_mem`: a block that owns memory outside the heap.
pub(super) unsafe extern "C" fn custom(
    operations: *const c_void,
    size: usize,
    memory: usize,
) -> u64 {
    let Some(substitute) = substitute() else { return 0 };
    // SAFETY: the runtime's own call.
    let block = unsafe { (substitute.functions.custom)(operations, size, memory) };
    draw_external(substitute, block, memory.div_ceil(8) as u64);
    block
}

/// In place of `caml_alloc_custom`, which allocates channels among others.
pub(super) unsafe extern "C" fn counted(
    operations: u64,
    size: usize,
    used: usize,
    most: usize,
) -> u64 {
    let counted =
        substitute().and_then(|substitute| Some((substitute, substitute.functions.counted?)));
    let Some((substitute, counted)) = counted else { return 0 };
    // SAFETY: the runtime's own call.
    let block = unsafe { counted(operations, size, used, most) };
    if is_channel(substitute.target, operations) {
        draw_external(substitute, block, CHANNEL_BYTES / 8);
    }
    block
}

/// Draws samples of memory outside the heap that a new block owns.
fn draw_external(substitute: &Substitute, block: u64, words: u64) {
    if words > 0 && block != 0 {
        let state = substitute.target.runtime.state();
        let samples = substitute.drawn_external(state, words);
        if samples > 0 {
            guarded((), || {
                substitute.sampled(state, block, words, samples, Source::External, None);
            });
        }
    }
}

/// In place of `caml_reset_young_limit`.
///
/// gcc knows which registers that function changes, and its callers in the same file keep values in the others
/// (`-fipa-ra`): so none is changed here.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn reset_limit(state: u64) {
    naked_asm!(
        "push rax",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "sub rsp, 256",
        "movups [rsp + 0], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "movups [rsp + 128], xmm8",
        "movups [rsp + 144], xmm9",
        "movups [rsp + 160], xmm10",
        "movups [rsp + 176], xmm11",
        "movups [rsp + 192], xmm12",
        "movups [rsp + 208], xmm13",
        "movups [rsp + 224], xmm14",
        "movups [rsp + 240], xmm15",
        "call {inner}",
        "movups xmm0, [rsp + 0]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "movups xmm8, [rsp + 128]",
        "movups xmm9, [rsp + 144]",
        "movups xmm10, [rsp + 160]",
        "movups xmm11, [rsp + 176]",
        "movups xmm12, [rsp + 192]",
        "movups xmm13, [rsp + 208]",
        "movups xmm14, [rsp + 224]",
        "movups xmm15, [rsp + 240]",
        "add rsp, 256",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "ret",
        inner = sym reset_and_raise,
    )
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use reset_and_raise as reset_limit;

/// Resets the limit as the runtime does, and raises it to the next sample.
pub(super) unsafe extern "C" fn reset_and_raise(state: u64) {
    let Some(substitute) = substitute() else { return };
    // SAFETY: the runtime's own call.
    unsafe { (substitute.functions.reset_limit)(state) };
    substitute.raise_limit(state);
}

/// In place of `caml_final_update_last_minor`, on 5.0 of `caml_final_empty_young`: this domain's minor heap is
/// empty, all others' are, and its memory is as it was.
pub(super) unsafe extern "C" fn after_minor(state: u64) {
    let Some(substitute) = substitute() else { return };
    guarded((), || {
        deaths::after_minor(substitute, state);
        substitute.renew(state);
    });
    // SAFETY: the runtime's own call.
    unsafe { (substitute.functions.after_minor)(state) };
}

/// In place of `caml_compact_heap`: blocks move, and roots are told.
pub(super) unsafe extern "C" fn compact(state: u64, count: c_int, domains: *const u64) {
    let compact = substitute().and_then(|substitute| substitute.functions.compact);
    let Some(compact) = compact else { return };
    deaths::COMPACTING.fetch_add(1, Relaxed);
    // SAFETY: the runtime's own call.
    unsafe { compact(state, count, domains) };
    deaths::COMPACTING.fetch_sub(1, Relaxed);
}
