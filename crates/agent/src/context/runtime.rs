//! The OCaml runtime of this process: its entry points, found by name.

use std::ffi::{CString, c_int, c_void};

use memtrail_ocaml::block::Value;
use memtrail_ocaml::layout::Machine;
use memtrail_ocaml::memory::{Memory as _, ThisProcess};
use memtrail_ocaml::{Family, Layout, Refusal, Version, detect, symbols};

type Start = unsafe extern "C" fn(Value, Value, Value) -> Value;
type Stop = unsafe extern "C" fn(Value) -> Value;
type Allocate = unsafe extern "C" fn(usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);

/// Address of an exported symbol, or null.
pub(crate) fn symbol(name: &str) -> *mut c_void {
    let Ok(name) = CString::new(name) else { return std::ptr::null_mut() };
    // SAFETY: a C string; looks through the objects loaded at start-up.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// The runtime's version, told from what it exports.
pub(crate) fn version() -> Result<Version, Refusal> {
    detect(|name| !symbol(name).is_null())
}

/// Whether the runtime has a heap. Where that cannot be told, whoever looks closer will say why.
pub(crate) fn is_ready() -> bool {
    let Ok(runtime) = version().map_err(|_| "").and_then(Runtime::find) else { return true };
    // SAFETY: a state is read, which lives as long as the process.
    let memory = unsafe { ThisProcess::new() };
    let allocates =
        |state| memory.field(state, runtime.layout.state.young_ptr).is_some_and(|at| at != 0);
    Some(runtime.state()).filter(|&state| state != 0).is_some_and(allocates)
}

/// Entry points of a runtime that can be sampled.
pub(crate) struct Runtime {
    pub(crate) version: Version,
    pub(crate) layout: Layout,
    pub(crate) start: Start,
    pub(crate) stop: Stop,
    pub(crate) start_address: *mut c_void,
    /// Name of the function that captures callstacks.
    pub(crate) collect: &'static str,
    stat_alloc: Allocate,
    stat_free: Free,
    state: State,
}

// SAFETY: holds addresses of code and of variables that live as long as the process.
unsafe impl Send for Runtime {}
// SAFETY: as above.
unsafe impl Sync for Runtime {}

enum State {
    /// Address of the variable.
    Global(*mut u64),
    /// Offset of the variable from the thread pointer, the same in all threads, as the variable
    /// belongs to an object that was loaded at start-up.
    ThreadLocal(isize),
}

impl Runtime {
    /// Finds the entry points. The name of what is missing is the error.
    pub(crate) fn find(version: Version) -> Result<Self, &'static str> {
        let need = |name: &'static str| {
            let address = symbol(name);
            if address.is_null() { Err(name) } else { Ok(address) }
        };
        let (state, collect) = match version.family() {
            Family::Single => {
                let variable = need(symbols::state::SINGLE)?.cast();
                (State::Global(variable), symbols::callstack::COLLECT_SINGLE)
            }
            Family::Multicore => {
                let here = need(symbols::state::MULTICORE)? as isize;
                let offset = here - thread_pointer() as isize;
                (State::ThreadLocal(offset), symbols::callstack::COLLECT_MULTICORE)
            }
        };
        let start_address = need(symbols::memprof::START)?;
        let stop = need(symbols::memprof::STOP)?;
        let stat_alloc = need(symbols::control::STAT_ALLOC)?;
        let stat_free = need(symbols::control::STAT_FREE)?;
        // SAFETY: the runtime declares these functions with these types (see `symbols`).
        unsafe {
            Ok(Self {
                version,
                layout: Layout::of(version, Machine::HERE),
                start: std::mem::transmute::<*mut c_void, Start>(start_address),
                stop: std::mem::transmute::<*mut c_void, Stop>(stop),
                start_address,
                collect,
                stat_alloc: std::mem::transmute::<*mut c_void, Allocate>(stat_alloc),
                stat_free: std::mem::transmute::<*mut c_void, Free>(stat_free),
                state,
            })
        }
    }

    /// `Caml_state` of this thread; 0 before the runtime has made it.
    #[inline]
    pub(crate) fn state(&self) -> u64 {
        // SAFETY: the variable exists as long as the process, in every thread.
        unsafe { self.state_variable().read_volatile() }
    }

    /// Where the pointer to the state stands: in OCaml 5, this thread's.
    #[inline]
    pub(crate) fn state_variable(&self) -> *mut u64 {
        match self.state {
            State::Global(variable) => variable,
            State::ThreadLocal(offset) => (thread_pointer() as isize + offset) as *mut u64,
        }
    }

    /// A buffer from the runtime's own allocator, which will also free or enlarge it; null if there
    /// is no memory.
    pub(crate) fn stat_resize(&self, old: *mut u64, kept: usize, words: usize) -> *mut u64 {
        // SAFETY: `old` is null or a buffer of the same allocator that holds `kept` words.
        unsafe {
            let new: *mut u64 = (self.stat_alloc)(words * 8).cast();
            if !new.is_null() && !old.is_null() {
                new.copy_from_nonoverlapping(old, kept.min(words));
                (self.stat_free)(old.cast());
            }
            new
        }
    }
}

#[inline]
fn thread_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the ABI keeps the thread pointer's own address at its first word.
    unsafe {
        core::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer,
            options(pure, readonly, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer,
            options(pure, readonly, nostack, preserves_flags));
    }
    pointer
}

/// Type of 4.x's `caml_collect_current_callstack`.
pub(crate) type CollectSingle =
    unsafe extern "C" fn(*mut *mut u64, *mut isize, isize, c_int) -> isize;
/// Type of 5.x's `caml_get_callstack`.
pub(crate) type CollectMulticore =
    unsafe extern "C" fn(usize, *mut *mut u64, *mut usize, isize) -> usize;
