//! OCaml 5: a collection of all minor heaps, in the course of which something is done in each domain.

use std::ffi::c_void;
use std::mem;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

use memtrail_ocaml::block::Value;
use memtrail_ocaml::symbols;

use crate::os::symbol::symbol;

type OfRoot = unsafe extern "C" fn(*mut Value);
pub(crate) type Hook = extern "C" fn();

/// Such a collection.
pub(crate) struct Collection {
    hook: &'static AtomicPtr<c_void>,
    previous: AtomicPtr<c_void>,
    register: OfRoot,
    remove: OfRoot,
    collect: unsafe extern "C" fn(),
}

impl Collection {
    /// `None` where the runtime does not export what it takes.
    pub(crate) fn find() -> Option<Self> {
        let find = |name: &str| Some(symbol(name)).filter(|address| !address.is_null());
        let register = find(symbols::control::REGISTER_ROOT)?;
        let remove = find(symbols::control::REMOVE_ROOT)?;
        let collect = find(symbols::minor_gc::EMPTY_ALL)?;
        let hook = find(symbols::minor_gc::BEGIN_HOOK)?;
        // SAFETY: the runtime declares functions and variable with these types (see `symbols`).
        unsafe {
            Some(Self {
                hook: AtomicPtr::from_ptr(hook.cast()),
                previous: AtomicPtr::default(),
                register: mem::transmute::<*mut c_void, OfRoot>(register),
                remove: mem::transmute::<*mut c_void, OfRoot>(remove),
                collect: mem::transmute::<*mut c_void, unsafe extern "C" fn()>(collect),
            })
        }
    }

    /// Lets `ours` run in each domain as it begins a minor collection, while all others are stopped too.
    pub(crate) fn install_hook(&self, ours: Hook) {
        self.previous.store(self.hook.load(SeqCst), SeqCst);
        self.hook.store(ours as *mut c_void, SeqCst);
    }

    /// Takes `ours` back.
    pub(crate) fn remove_hook(&self, ours: Hook) {
        let ours = ours as *mut c_void;
        let previous = self.previous.load(SeqCst);
        // If it is another's by now, ours stays in its chain and does no harm.
        let _ = self.hook.compare_exchange(ours, previous, SeqCst, SeqCst);
    }

    /// Collects. `values` are roots meanwhile, and change if what they lead to moves.
    ///
    /// # Safety
    /// Called where the program may allocate, with addresses of values of its own.
    pub(crate) unsafe fn run(&self, values: [*mut Value; 2]) {
        // SAFETY: the values stay in place until they are removed again.
        unsafe {
            for root in values {
                (self.register)(root);
            }
            (self.collect)();
            for root in values {
                (self.remove)(root);
            }
        }
    }

    /// Calls what ours replaces.
    pub(crate) fn go_on(&self) {
        let previous = self.previous.load(SeqCst);
        if !previous.is_null() {
            // SAFETY: what the runtime would have called.
            unsafe { mem::transmute::<*mut c_void, Hook>(previous)() };
        }
    }
}
