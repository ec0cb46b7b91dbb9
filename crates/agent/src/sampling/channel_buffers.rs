//! Channels, in OCaml 5.3 and later: their memory is none that the runtime's sampler knows of.
//!
//! Until 5.2 the runtime says how much memory a channel's block owns, its buffer of 64 KiB mostly, and the sampler draws from
//! it. Since then channels are allocated by `caml_alloc_custom` (`caml_alloc_channel` in `runtime/io.c`), which tells the
//! sampler nothing. So calls of that function arrive here first, and the sampler is told of the memory of channels as other
//! versions do it. How fast the collector works does not depend on it.

use std::ffi::c_void;
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::heap::custom;
use memtrail_ocaml::layout::GenerationState;
use memtrail_ocaml::{memprof, symbols};

use crate::context::functions::size_of_function;
use crate::context::target::Target;
use crate::os::function_hooks::{FunctionHook, prepare};
use crate::os::symbol::symbol;
use crate::sampling::start::OUR_PROFILE;

type AllocateCustom = unsafe extern "C" fn(u64, usize, usize, usize) -> u64;
type SampleBlock = unsafe extern "C" fn(u64, usize, usize, i32);

struct Hooked {
    target: &'static Target,
    allocate: AllocateCustom,
    sample: SampleBlock,
}

static HOOKED: OnceLock<Hooked> = OnceLock::new();
/// Where the runtime's operations of channels are, once a channel has been seen; 0 before.
static CHANNEL_OPERATIONS: AtomicU64 = AtomicU64::new(0);

/// Lets the sampler know of channels' memory from now on. Where the runtime's functions are not as expected, it does not.
///
/// # Safety
/// The process has one thread.
pub(super) unsafe fn watch(target: &'static Target) {
    let name = symbols::memory::ALLOCATE_CUSTOM_COUNTED;
    let (function, sample) = (symbol(name), symbol(symbols::memprof::SAMPLE_BLOCK));
    if function.is_null() || sample.is_null() {
        return;
    }
    let ours = allocate_custom as AllocateCustom as *const c_void;
    let hook = FunctionHook { name, function, size: size_of_function(name), ours };
    let Ok(prepared) = prepare(&[hook]) else { return };
    let Some(&original) = prepared.originals.first() else { return };
    // SAFETY: the runtime declares both with these types (see `symbols`), and the first begins there as it was compiled.
    let hooked = unsafe {
        Hooked {
            target,
            allocate: transmute::<u64, AllocateCustom>(original),
            sample: transmute::<*mut c_void, SampleBlock>(sample),
        }
    };
    if HOOKED.set(hooked).is_ok() {
        // SAFETY: as the caller promises; the function does not begin with a loop in the sources of these versions.
        let _ = unsafe { prepared.begin() };
    }
}

/// In place of `caml_alloc_custom`. The runtime's function may raise an exception, which leaves this frame as it leaves those
/// of the runtime's own.
unsafe extern "C" fn allocate_custom(
    operations: u64,
    size: usize,
    used: usize,
    most: usize,
) -> u64 {
    let Some(hooked) = HOOKED.get() else { return 0 };
    // SAFETY: the runtime's own call.
    let block = unsafe { (hooked.allocate)(operations, size, used, most) };
    if is_channel(hooked.target, operations) && is_ours(hooked.target) {
        let words = (custom::CHANNEL_BYTES / 8) as usize;
        // SAFETY: as the runtime calls it for a block that owns so much memory, in `caml_alloc_custom_mem`. Callbacks run
        // later.
        unsafe { (hooked.sample)(block, words, words, memprof::SOURCE_CUSTOM) };
    }
    block
}

/// The standard library opens three channels before all else. From then on their operations are known, and numbers that C
/// code allocates cost a comparison.
pub(super) fn is_channel(target: &Target, operations: u64) -> bool {
    match CHANNEL_OPERATIONS.load(Relaxed) {
        0 => {
            let mut name = [0; 16];
            let found = custom::identifier(&target.memory, operations, &mut name);
            let is_channel = found == custom::CHANNEL;
            if is_channel {
                CHANNEL_OPERATIONS.store(operations, Relaxed);
            }
            is_channel
        }
        known => operations == known,
    }
}

/// Whether the domain is sampled by a profile of ours.
fn is_ours(target: &Target) -> bool {
    let GenerationState::Multicore(fields) = target.runtime.layout.state.generation else {
        return false;
    };
    let profile = fields
        .memprof
        .and_then(|offset| target.memory.field(target.runtime.state(), offset))
        .and_then(|domain| target.memory.field(domain, memprof::domain::PROFILE));
    let (Some(profile), Some(&ours)) = (profile, OUR_PROFILE.get()) else { return false };
    memprof::is_profile_of(&target.memory, profile, ours)
}
