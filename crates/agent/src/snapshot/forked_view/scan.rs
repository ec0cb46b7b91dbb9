//! The runtime's own iterators over roots: they hand out addresses of private tables.
//!
//! They take a function and, in OCaml 4, nothing that could be handed to it: what it sees is gathered
//! in one place. This is a frozen copy with one thread.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use memtrail_ocaml::Generation;
use memtrail_ocaml::heap::NAME_OF_VALUE;
use memtrail_ocaml::symbols::heap as names;
use memtrail_ocaml_snapshot::{Slots, StoppedProcess, View};

static GATHERED: AtomicPtr<Slots> = AtomicPtr::new(std::ptr::null_mut());

/// Runs `scan` and gives what it handed out.
fn collect_roots(scan: impl FnOnce()) -> Slots {
    let mut gathered = Slots::new();
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

/// Variables that C code registered; in OCaml 5 fields of modules as well.
pub(super) fn registered(view: &View<'_, impl StoppedProcess>) -> Slots {
    let Some(address) = address(view, names::SCAN_GLOBAL_ROOTS) else { return Slots::new() };
    match generation(view) {
        Generation::Single => scan_single(address),
        Generation::Multicore => {
            let scan = function!(address, unsafe extern "C" fn(Multicore, *mut c_void));
            // SAFETY: reads tables that hold still; its lock is free while no domain runs.
            collect_roots(|| unsafe { scan(multicore, std::ptr::null_mut()) })
        }
    }
}

/// Values that C code registered by name: slot, and address of the name.
pub(super) fn named_values(view: &View<'_, impl StoppedProcess>) -> Slots {
    let Some(address) = address(view, names::NAMED_VALUES) else { return Slots::new() };
    let scan = function!(address, unsafe extern "C" fn(Named));
    // SAFETY: reads tables that hold still.
    collect_roots(|| unsafe { scan(named) })
}

/// Roots that libraries hand out by the hook before the runtime's own roots.
pub(super) fn hook(view: &View<'_, impl StoppedProcess>, state: u64) -> Slots {
    let hook = view.symbol_value(names::SCAN_ROOTS_HOOK);
    if hook == 0 {
        return Slots::new();
    }
    match generation(view) {
        Generation::Single => scan_single(hook),
        Generation::Multicore => {
            let scan = function!(hook, ScanHook);
            // SAFETY: reads tables that hold still.
            collect_roots(|| unsafe { scan(multicore, 0, std::ptr::null_mut(), state) })
        }
    }
}

/// OCaml 4: entries in the tables of finalisers.
pub(super) fn finalisers(view: &View<'_, impl StoppedProcess>) -> Slots {
    address(view, names::FINALISERS).map(scan_single).unwrap_or_default()
}

/// User data of blocks that the runtime's sampler tracks.
pub(super) fn tracked(view: &View<'_, impl StoppedProcess>, state: u64) -> Slots {
    match generation(view) {
        Generation::Single => {
            address(view, names::TRACKED_SINGLE).map(scan_single).unwrap_or_default()
        }
        Generation::Multicore => scan_domain(view, names::TRACKED_MULTICORE, state, 0),
    }
}

/// All roots of a domain; in OCaml 4 those of the program without the modules' fields.
pub(super) fn all(view: &View<'_, impl StoppedProcess>, state: u64) -> Slots {
    match generation(view) {
        Generation::Single => {
            let Some(address) = address(view, names::DO_ROOTS) else { return Slots::new() };
            let scan = function!(address, unsafe extern "C" fn(Single, c_int));
            // SAFETY: reads tables that hold still.
            collect_roots(|| unsafe { scan(single, 0) })
        }
        Generation::Multicore => scan_domain(view, names::DO_ROOTS, state, 1),
    }
}

fn generation(view: &View<'_, impl StoppedProcess>) -> Generation {
    view.layout.version.generation()
}

fn address(view: &View<'_, impl StoppedProcess>, name: &str) -> Option<u64> {
    view.symbols.address(name).filter(|&address| address != 0)
}

/// OCaml 4: what the iterator at an address hands out.
fn scan_single(address: u64) -> Slots {
    let scan = function!(address, unsafe extern "C" fn(Single));
    // SAFETY: reads tables that hold still.
    collect_roots(|| unsafe { scan(single) })
}

/// OCaml 5: what an iterator of a domain's roots hands out; `last` is its last argument.
fn scan_domain(view: &View<'_, impl StoppedProcess>, name: &str, state: u64, last: c_int) -> Slots {
    let Some(address) = address(view, name) else { return Slots::new() };
    let scan = function!(address, ScanDomain);
    // SAFETY: reads tables that hold still.
    collect_roots(|| unsafe { scan(multicore, 0, std::ptr::null_mut(), state, last) })
}
