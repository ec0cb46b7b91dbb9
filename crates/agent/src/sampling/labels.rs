//! Labels: frames of the callstack that the program named.
//!
//! The library runs labelled code from one function of its own, which keeps the label's number alive
//! in its frame while the code runs. So labels need no stack beside the program's: they come and go
//! with their frame, whether it is left by a return, an exception or an effect, and a captured
//! continuation takes its labels along. Where in the frame the number stands is learned once, from
//! the frame table. In callstacks a label's code takes the place of that frame's return address.

use std::collections::BTreeMap;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::block::{self, Value, as_integer};
use memtrail_ocaml::heap::frames::Frame;
use memtrail_ocaml::memory::ThisProcess;
use memtrail_trace::Code;

use crate::os::lock::Lock;
use crate::sampling::codes::code_of_return_address;

/// The value for no label.
pub const NO_LABEL: Value = block::UNIT;
/// Labels are known by return addresses below this, where no code is: 1 stands for no OCaml code.
const ABOVE_LABELS: u64 = 1 << 15;
const FIRST: u64 = 2;
/// The one for labels beyond those that there are numbers for.
const OTHERS: &[u8] = b"[other labels]";
const MAX_NAME_LEN: usize = 200;

/// All labels, and the frame that keeps them.
struct Labels {
    /// By name. They are never freed. The lock is held by a thread that is gone only in a fork: nobody
    /// waits for it for ever.
    numbers: Lock<BTreeMap<&'static [u8], u64>>,
    /// By number, as callstacks show them: in brackets, which no function's name has. Read without a
    /// lock, also by frozen copies of the process.
    names: [AtomicPtr<&'static [u8]>; ABOVE_LABELS as usize],
    /// Of the frame; 0 before it is learned.
    return_address: AtomicU64,
    /// Of a label from the slot of that return address.
    distance: AtomicU64,
}

static LABELS: Labels = Labels {
    numbers: Lock::new(BTreeMap::new()),
    names: [const { AtomicPtr::new(std::ptr::null_mut()) }; ABOVE_LABELS as usize],
    return_address: AtomicU64::new(0),
    distance: AtomicU64::new(0),
};

/// The frame that keeps labels.
#[derive(Clone, Copy)]
pub(crate) struct LabelFrame {
    pub(crate) return_address: u64,
    distance: u64,
}

/// The frame that keeps labels, if the program has one.
#[inline]
pub(crate) fn frame() -> Option<LabelFrame> {
    let return_address = LABELS.return_address.load(Acquire);
    (return_address != 0)
        .then(|| LabelFrame { return_address, distance: LABELS.distance.load(Relaxed) })
}

impl LabelFrame {
    /// The code of the label that is kept in the frame whose return address stands at `slot`.
    pub(crate) fn code(self, memory: ThisProcess, slot: u64) -> Code {
        let number = memory.field(slot, self.distance).and_then(as_integer);
        let number = number.map_or(0, |number| number as u64);
        let known = (FIRST..ABOVE_LABELS).contains(&number);
        code_of_return_address(if known { number } else { self.return_address })
    }
}

/// The value that stands for a label.
pub fn value_of(name: &[u8]) -> Value {
    let name = name.get(..MAX_NAME_LEN).unwrap_or(name);
    // A name ends at a zero byte in the trace's format.
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    let mut printable = [0; MAX_NAME_LEN];
    let name = if name.iter().any(u8::is_ascii_control) {
        // Programs take labels from requests, and they are printed on terminals.
        for (to, &from) in printable.iter_mut().zip(name) {
            *to = if from.is_ascii_control() { b' ' } else { from };
        }
        &printable[..name.len()]
    } else {
        name
    };
    let Some(mut numbers) = LABELS.numbers.try_lock_for() else { return NO_LABEL };
    let known = numbers.get(name).copied();
    let number = known.unwrap_or_else(|| {
        let next = FIRST + numbers.len() as u64;
        let Some(place) = LABELS.names.get(next as usize) else { return ABOVE_LABELS - 1 };
        if next == ABOVE_LABELS - 1 {
            return next;
        }
        let shown: &'static [u8] = Box::leak([b"[", name, b"]"].concat().into_boxed_slice());
        place.store(Box::into_raw(Box::new(shown)), Release);
        numbers.insert(&shown[1..=name.len()], next);
        next
    });
    block::integer(number as i64)
}

/// The name of the label that has this code; nothing if it is no label's.
pub(crate) fn name_of(code: Code) -> Option<&'static [u8]> {
    match code.0 >> 1 {
        number @ FIRST..ABOVE_LABELS if code.0 & 1 == 0 => {
            // SAFETY: null, or leaked for the life of the process.
            let name = unsafe { LABELS.names.get(number as usize)?.load(Acquire).as_ref() };
            Some(name.copied().unwrap_or(OTHERS))
        }
        _ => None,
    }
}

/// The label that a frame of the stack stands for; nothing if it is none that the program named.
pub(crate) fn name_of_frame(memory: ThisProcess, stack_frame: &Frame) -> Option<&'static [u8]> {
    let frame = frame().filter(|f| f.return_address == stack_frame.descriptor.return_address)?;
    name_of(frame.code(memory, stack_frame.sp.checked_sub(8)?))
}

/// Notes where labels are: the frame's return address, and the offset from its stack pointer.
pub(crate) fn set_frame(return_address: u64, offset: u64) {
    // The return address is one word below the stack pointer.
    LABELS.distance.store(offset + 8, Relaxed);
    LABELS.return_address.store(return_address, Release);
}
