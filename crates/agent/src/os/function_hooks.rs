//! Hooks before functions: calls of them arrive at ours, which can call them all the same.

use std::ffi::c_void;
use std::io;

use crate::os::far_jump::{FAR_JUMP, far_jump};
use crate::os::prologue;
use crate::os::trampoline_page::{CodeHook, executable};

/// A function, and what is to be called in its place.
pub(crate) struct FunctionHook {
    /// For what is said if it cannot be moved.
    pub(crate) name: &'static str,
    pub(crate) function: *mut c_void,
    /// In bytes.
    pub(crate) size: usize,
    pub(crate) ours: *const c_void,
}

/// Where a function's moved beginning stands behind the jump to ours.
const MOVED: usize = 16;
/// Room for both: no prologue that is moved takes more than three instructions of fifteen bytes.
const SLOT: usize = 96;

/// Prepares such calls for functions of one object. Gives, for each, where it can be called from now on.
/// All begin when [`Prepared::begin`] is called, so that ours may know these places by then.
pub(crate) fn prepare(wanted: &[FunctionHook]) -> io::Result<Prepared> {
    let Some(first) = wanted.first() else { return Err(io::Error::from(io::ErrorKind::NotFound)) };
    let page = executable(first.function, |page| {
        let mut content = vec![0; wanted.len() * SLOT];
        for (index, (slot, hook)) in content.chunks_exact_mut(SLOT).zip(wanted).enumerate() {
            // SAFETY: a function of this size, of an object that stays.
            let code = unsafe { std::slice::from_raw_parts(hook.function.cast::<u8>(), hook.size) };
            let from = hook.function as u64;
            let to = page + (index * SLOT + MOVED) as u64;
            let moved = prologue::moved(code, from, to)
                .filter(|moved| MOVED + moved.code.len() + FAR_JUMP <= SLOT)
                .ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, hook.name))?;
            slot[..FAR_JUMP].copy_from_slice(&far_jump(hook.ours as u64));
            let rest = &mut slot[MOVED..];
            rest[..moved.code.len()].copy_from_slice(&moved.code);
            let back = far_jump(from + moved.length as u64);
            rest[moved.code.len()..][..FAR_JUMP].copy_from_slice(&back);
        }
        Ok(content)
    })?;
    let slot = |index: usize| page + (index * SLOT) as u64;
    let hooks = wanted.iter().enumerate().map(|(i, hook)| (hook.function as u64, slot(i)));
    let originals = (0..wanted.len()).map(|index| slot(index) + MOVED as u64);
    Ok(Prepared { hooks: hooks.collect(), originals: originals.collect() })
}

/// Hooks that have not begun.
pub(crate) struct Prepared {
    hooks: Vec<(u64, u64)>,
    /// Where each function can be called.
    pub(crate) originals: Vec<u64>,
}

impl Prepared {
    /// Lets calls arrive at ours: of all, or, where one fails, of none.
    ///
    /// # Safety
    /// Ours can be called in place of the functions, none of which begins with a loop. The process has one
    /// thread.
    pub(crate) unsafe fn begin(&self) -> io::Result<Begun> {
        let mut begun = Vec::with_capacity(self.hooks.len());
        for &(function, slot) in &self.hooks {
            // SAFETY: as the caller promises.
            match unsafe { CodeHook::begin(function as *mut c_void, slot) } {
                Ok(hook) => begun.push(hook),
                Err(error) => {
                    for hook in &begun {
                        hook.end()?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(Begun(begun))
    }
}

/// Hooks that have begun. They stay if this is dropped.
pub(crate) struct Begun(Vec<CodeHook>);

impl Begun {
    /// Lets calls arrive at the functions themselves again, whatever other threads do meanwhile.
    pub(crate) fn end(&self) -> io::Result<()> {
        self.0.iter().try_for_each(CodeHook::end)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    static ORIGINAL: AtomicU64 = AtomicU64::new(0);

    #[unsafe(naked)]
    extern "C" fn theirs(_: u64) -> u64 {
        std::arch::naked_asm!(
            ".p2align 4",
            "push rbx",
            "mov rbx, rdi",
            "lea rax, [rbx + 1]",
            "pop rbx",
            "ret",
            "nop",
            "nop",
            "nop"
        )
    }

    type Function = extern "C" fn(u64) -> u64;

    extern "C" fn ours(x: u64) -> u64 {
        // SAFETY: set before the hook begins.
        let original = unsafe {
            std::mem::transmute::<*const (), Function>(ORIGINAL.load(Relaxed) as *const ())
        };
        10 * original(x)
    }

    #[test]
    fn ours_is_called_and_calls_the_function() {
        let function = theirs as Function as *mut c_void;
        let wanted = [FunctionHook {
            name: "theirs",
            function,
            size: 12,
            ours: ours as Function as *const c_void,
        }];
        let prepared = prepare(&wanted).unwrap();
        ORIGINAL.store(prepared.originals[0], Relaxed);
        assert_eq!(theirs(4), 5);
        // SAFETY: a function of this test's alone.
        let begun = unsafe { prepared.begin().unwrap() };
        assert_eq!(std::hint::black_box(theirs as Function)(4), 50);
        begun.end().unwrap();
        assert_eq!(std::hint::black_box(theirs as Function)(4), 5);
    }
}
