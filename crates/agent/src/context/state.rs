//! The variable that leads to the runtime's state: one, or one a thread.

/// Where the variable is.
pub(crate) enum StateVariable {
    /// Its address.
    Global(*mut u64),
    /// Its offset from the thread pointer, the same in all threads, as the variable belongs to an object
    /// that was loaded at start-up.
    ThreadLocal(isize),
}

impl StateVariable {
    /// The thread-local variable that has this address in this thread.
    pub(crate) fn thread_local(here: *mut u64) -> Self {
        Self::ThreadLocal(here as isize - thread_pointer() as isize)
    }

    /// Its address in the thread with this thread pointer; nothing if all threads have the same variable.
    pub(crate) fn of_thread(&self, thread_pointer: u64) -> Option<u64> {
        match *self {
            Self::Global(_) => None,
            Self::ThreadLocal(offset) => thread_pointer.checked_add_signed(offset as i64),
        }
    }

    /// Its address, in this thread.
    #[inline]
    pub(crate) fn address(&self) -> *mut u64 {
        match *self {
            Self::Global(variable) => variable,
            Self::ThreadLocal(offset) => (thread_pointer() as isize + offset) as *mut u64,
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
