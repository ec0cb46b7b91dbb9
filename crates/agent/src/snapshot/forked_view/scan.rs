//! The runtime's own iterators over roots: they hand out addresses of private tables.
//!
//! They take a function and, in OCaml 4, nothing that could be handed to it: what it sees is gathered
//! in one place. This is a frozen copy with one thread.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use memtrail_ocaml::heap::NAME_OF_VALUE;

use super::view::ForkedView;

/// Slot and value of everything that was scanned.
pub(super) type Scanned = Vec<(u64, u64)>;

static GATHERED: AtomicPtr<Scanned> = AtomicPtr::new(std::ptr::null_mut());

/// Runs `scan` and gives what it handed out.
fn collect_roots(scan: impl FnOnce()) -> Scanned {
    let mut gathered = Scanned::new();
    GATHERED.store(&raw mut gathered, Relaxed);
    scan();
    GATHERED.store(std::ptr::null_mut(), Relaxed);
    gathered
}

fn collect_root(slot: u64, value: u64) {
    // SAFETY: null, or the list that `collect_roots` waits for; one thread.
    if let Some(gathered) = unsafe { GATHERED.load(Relaxed).as_mut() } {
        gathered.push((slot, value));
    }
}

extern "C" fn single(value: u64, slot: u64) {
    collect_root(slot, value);
}

extern "C" fn multicore(_: *mut c_void, value: u64, slot: u64) {
    collect_root(slot, value);
}

// OCaml 4 gives the address of the value, OCaml 5 the value.
extern "C" fn named(_: u64, name: *const c_char) {
    collect_root((name as u64).wrapping_sub(NAME_OF_VALUE), name as u64);
}

type Single = extern "C" fn(u64, u64);
type Multicore = extern "C" fn(*mut c_void, u64, u64);
type Named = extern "C" fn(u64, *const c_char);
type ScanDomain = unsafe extern "C" fn(Multicore, c_int, *mut c_void, u64, c_int);
type ScanHook = unsafe extern "C" fn(Multicore, c_int, *mut c_void, u64);

/// A function of the runtime's at an address, as the type it is declared with.
macro_rules! function {
    ($address:expr, $type:ty) => {
        // SAFETY: the runtime's symbol of that name is a function of this type (see `symbols`).
        unsafe { std::mem::transmute::<*mut c_void, $type>($address as *mut c_void) }
    };
}

impl ForkedView<'_> {
    fn address(&self, name: &str) -> Option<u64> {
        self.symbols.address(name).filter(|&address| address != 0)
    }

    /// OCaml 4: what the iterator `name` hands out.
    pub(super) fn scan_single(&self, name: &str) -> Scanned {
        let Some(address) = self.address(name) else { return Scanned::new() };
        let scan = function!(address, unsafe extern "C" fn(Single));
        // SAFETY: reads tables that hold still.
        collect_roots(|| unsafe { scan(single) })
    }

    /// OCaml 4: what `caml_do_roots` hands out, without the modules' fields.
    pub(super) fn scan_all_single(&self, name: &str) -> Scanned {
        let Some(address) = self.address(name) else { return Scanned::new() };
        let scan = function!(address, unsafe extern "C" fn(Single, c_int));
        // SAFETY: as above.
        collect_roots(|| unsafe { scan(single, 0) })
    }

    /// OCaml 4: what the hook in the variable `name` hands out.
    pub(super) fn scan_hook_single(&self, name: &str) -> Scanned {
        let hook = self.symbol_value(name);
        if hook == 0 {
            return Scanned::new();
        }
        let scan = function!(hook, unsafe extern "C" fn(Single));
        // SAFETY: as above.
        collect_roots(|| unsafe { scan(single) })
    }

    /// OCaml 5: what `caml_scan_global_roots` hands out.
    pub(super) fn scan_globals(&self, name: &str) -> Scanned {
        let Some(address) = self.address(name) else { return Scanned::new() };
        let scan = function!(address, unsafe extern "C" fn(Multicore, *mut c_void));
        // SAFETY: as above; its lock is free while no domain runs.
        collect_roots(|| unsafe { scan(multicore, std::ptr::null_mut()) })
    }

    /// OCaml 5: what an iterator of a domain's roots hands out; `last` is its last argument.
    pub(super) fn scan_domain(&self, name: &str, state: u64, last: c_int) -> Scanned {
        let Some(address) = self.address(name) else { return Scanned::new() };
        let scan = function!(address, ScanDomain);
        // SAFETY: as above.
        collect_roots(|| unsafe { scan(multicore, 0, std::ptr::null_mut(), state, last) })
    }

    /// OCaml 5: what the hook in the variable `name` hands out for a domain.
    pub(super) fn scan_hook_domain(&self, name: &str, state: u64) -> Scanned {
        let hook = self.symbol_value(name);
        if hook == 0 {
            return Scanned::new();
        }
        let scan = function!(hook, ScanHook);
        // SAFETY: as above.
        collect_roots(|| unsafe { scan(multicore, 0, std::ptr::null_mut(), state) })
    }

    /// Values that C code registered by name: slot, and address of the name.
    pub(super) fn named_values(&self, name: &str) -> Scanned {
        let Some(address) = self.address(name) else { return Scanned::new() };
        let scan = function!(address, unsafe extern "C" fn(Named));
        // SAFETY: as above.
        collect_roots(|| unsafe { scan(named) })
    }
}
