//! The OCaml runtime of this process: its entry points, found by name.

use std::ffi::c_void;

use memtrail_ocaml::block::{UNIT, Value};
use memtrail_ocaml::layout::Machine;
use memtrail_ocaml::memory::{Memory as _, ThisProcess};
use memtrail_ocaml::release::{MAX_DATA, Release, SYS_DATA};
use memtrail_ocaml::{Layout, Unsupported, Version, detect, symbols};

use crate::context::generation::Locate;
use crate::context::state::StateVariable;
use crate::os::symbol::{required, symbol};

type Start = unsafe extern "C" fn(Value, Value, Value) -> Value;
type Stop = unsafe extern "C" fn(Value) -> Value;
type Allocate = unsafe extern "C" fn(usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);

/// The runtime's version, told from what it exports.
pub(crate) fn version() -> Result<Version, Unsupported> {
    detect(|name| !symbol(name).is_null())?.unless_newer(release)
}

/// The version that the user says a newer runtime is to be taken for, or the one that it is.
pub(crate) fn version_or(assumed: Option<&str>) -> Result<Version, Unsupported> {
    match (version(), assumed.and_then(Version::named)) {
        (Err(Unsupported::Newer(_)), Some(assumed)) => Ok(assumed),
        (version, _) => version,
    }
}

/// The release that compiled the program.
fn release() -> Option<Release> {
    SYS_DATA.into_iter().find_map(|(begin, end)| {
        let (begin, end) = (symbol(begin) as usize, symbol(end) as usize);
        let size =
            end.checked_sub(begin).filter(|size| (1..=MAX_DATA).contains(&(*size as u64)))?;
        if begin == 0 {
            return None;
        }
        // SAFETY: the program's own data between two of its symbols, which no code changes.
        Release::find(unsafe { std::slice::from_raw_parts(begin as *const u8, size) })
    })
}

/// Entry points of a runtime's sampler.
pub(crate) struct SamplerFunctions {
    start: Start,
    stop: Stop,
    pub(crate) start_address: *mut c_void,
    /// Name of the function that captures callstacks.
    pub(crate) capture_function: &'static str,
}

/// Entry points of a runtime.
pub(crate) struct OcamlRuntime {
    pub(crate) version: Version,
    pub(crate) layout: Layout,
    /// Absent in 5.0 to 5.2, which have none, and where memtrail's is used.
    pub(crate) sampler: Option<SamplerFunctions>,
    stat_alloc: Allocate,
    stat_free: Free,
    state: StateVariable,
}

// SAFETY: holds addresses of code and of variables that live as long as the process.
unsafe impl Send for OcamlRuntime {}
// SAFETY: as above.
unsafe impl Sync for OcamlRuntime {}

impl SamplerFunctions {
    fn find(generation: &dyn Locate) -> Result<Self, &'static str> {
        let start_address = required(symbols::memprof::START)?;
        let stop = required(symbols::memprof::STOP)?;
        // SAFETY: the runtime declares these functions with these types (see `symbols`).
        unsafe {
            Ok(Self {
                start: std::mem::transmute::<*mut c_void, Start>(start_address),
                stop: std::mem::transmute::<*mut c_void, Stop>(stop),
                start_address,
                capture_function: generation.capture_function(),
            })
        }
    }
}

impl OcamlRuntime {
    /// Finds the entry points of a runtime of this version. The name of what is missing is the error.
    pub(crate) fn find(version: Version, generation: &dyn Locate) -> Result<Self, &'static str> {
        let state = generation.state()?;
        let sampler =
            version.can_sample().then(|| SamplerFunctions::find(generation)).transpose()?;
        let stat_alloc = required(symbols::control::STAT_ALLOC)?;
        let stat_free = required(symbols::control::STAT_FREE)?;
        // SAFETY: the runtime declares these functions with these types (see `symbols`).
        unsafe {
            Ok(Self {
                version,
                layout: Layout::of(version, Machine::HERE),
                sampler,
                stat_alloc: std::mem::transmute::<*mut c_void, Allocate>(stat_alloc),
                stat_free: std::mem::transmute::<*mut c_void, Free>(stat_free),
                state,
            })
        }
    }

    /// Calls `caml_memprof_start`. Nothing happens in a runtime without a sampler.
    ///
    /// # Safety
    /// The values are right for it, and it may be called here and now.
    pub(crate) unsafe fn start_sampler(&self, rate: Value, frames: Value, tracker: Value) -> Value {
        // SAFETY: as the caller promises.
        self.sampler
            .as_ref()
            .map_or(UNIT, |sampler| unsafe { (sampler.start)(rate, frames, tracker) })
    }

    /// Calls `caml_memprof_stop`.
    ///
    /// # Safety
    /// A profile runs, and it may be called here and now.
    pub(crate) unsafe fn stop_sampler(&self) {
        if let Some(sampler) = &self.sampler {
            // SAFETY: as the caller promises.
            unsafe { (sampler.stop)(UNIT) };
        }
    }

    /// Whether it has a heap.
    pub(crate) fn is_ready(&self) -> bool {
        // SAFETY: a state is read, which lives as long as the process.
        let memory = unsafe { ThisProcess::new() };
        let allocates =
            |state| memory.field(state, self.layout.state.young_ptr).is_some_and(|at| at != 0);
        Some(self.state()).filter(|&state| state != 0).is_some_and(allocates)
    }

    /// `Caml_state` of this thread; 0 before the runtime has made it.
    #[inline]
    pub(crate) fn state(&self) -> u64 {
        // SAFETY: the variable exists as long as the process, in every thread.
        unsafe { self.state_variable().read_volatile() }
    }

    /// Where the pointer to the state is: in OCaml 5, this thread's.
    #[inline]
    pub(crate) fn state_variable(&self) -> *mut u64 {
        self.state.address()
    }

    /// A buffer from the runtime's own allocator, which will also free or enlarge it; null if there
    /// is no memory: then `old` stays.
    ///
    /// # Safety
    /// `old` is null or a buffer of the same allocator that holds `kept` words, and is not used any more
    /// if there is another.
    pub(crate) unsafe fn stat_resize(&self, old: *mut u64, kept: usize, words: usize) -> *mut u64 {
        // SAFETY: as the caller promises.
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
