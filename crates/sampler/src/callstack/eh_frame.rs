//! The rule at a return address, from the tables that are loaded with the code.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameOffset, NativeEndian, Operation, OperationIter, Reader,
    Register, RegisterRule, UnwindContext, UnwindContextStorage, UnwindSection as _,
    UnwindTableRow,
};

use crate::callstack::rule::{Base, Kept, Rule};

// Their numbers in x86-64's tables.
const FRAME_POINTER: Register = Register(6);
const STACK_POINTER: Register = Register(7);
const RETURN_ADDRESS: i64 = -8;

/// A description of more bytes is none.
const MAX_DESCRIPTION: usize = 1 << 24;

/// Room for the interpretation of a table, on the stack: registers that it speaks of, and states that it keeps aside.
struct Small;

impl UnwindContextStorage<usize> for Small {
    type Rules = [(Register, RegisterRule<usize>); 40];
    type Stack = [UnwindTableRow<usize, Self>; 3];
}

/// What the addresses in a table are relative to.
#[repr(C)]
struct Bases {
    text: *const c_void,
    data: *const c_void,
    function: *const c_void,
}

unsafe extern "C" {
    /// libgcc's: the description of the function with an instruction, and 0 without one.
    fn _Unwind_Find_FDE(instruction: *const c_void, bases: *mut Bases) -> *const u8;
}

/// The rule at a return address; `None` where there is no table.
pub(super) fn rule_at(address: usize) -> Option<Rule> {
    // The call is before the address, which may be another function's.
    let instruction = address.wrapping_sub(1);
    let mut bases = MaybeUninit::<Bases>::zeroed();
    // SAFETY: the address of an instruction, and room for the result; nulls are a value.
    let (description, bases) = unsafe {
        let description = _Unwind_Find_FDE(instruction as *const c_void, bases.as_mut_ptr());
        (description, bases.assume_init())
    };
    if description.is_null() {
        return None;
    }
    // SAFETY: what libgcc finds is the description of loaded code.
    let table = unsafe { around(description) };
    let rule = table.and_then(|(section, offset)| {
        let bases = BaseAddresses::default()
            .set_eh_frame(section.as_ptr() as u64)
            .set_text(bases.text as u64)
            .set_got(bases.data as u64);
        interpret(section, offset, &bases, instruction as u64).ok()
    });
    Some(rule.unwrap_or(Rule::Other))
}

/// A function's description and the one that it shares with others, and where the first is in these bytes.
///
/// # Safety
/// It is the description of loaded code.
unsafe fn around(description: *const u8) -> Option<(&'static [u8], usize)> {
    // SAFETY: a description begins with its length and the distance of the shared one, of 4 bytes each.
    let (length, back) = unsafe {
        (
            description.cast::<u32>().read_unaligned(),
            description.add(4).cast::<u32>().read_unaligned(),
        )
    };
    let back = (back as usize).checked_sub(4).filter(|&back| back < MAX_DESCRIPTION)?;
    let length = Some(length as usize).filter(|&length| length < MAX_DESCRIPTION)?;
    // SAFETY: the shared description is before the function's, in the same table.
    let section = unsafe {
        let shared = description.sub(back);
        std::slice::from_raw_parts(shared, back + 4 + length)
    };
    Some((section, back))
}

/// Interprets the description at an offset of these bytes.
fn interpret(
    section: &[u8],
    offset: usize,
    bases: &BaseAddresses,
    instruction: u64,
) -> gimli::Result<Rule> {
    let mut table = EhFrame::new(section, NativeEndian);
    table.set_address_size(8);
    let description = table.fde_from_offset(bases, EhFrameOffset(offset), |table, bases, at| {
        table.cie_from_offset(bases, at)
    })?;
    // The runtime of OCaml 5 marks so what changes stacks. Of handlers of signals, the return address has another rule.
    let instruction = instruction + u64::from(description.is_signal_trampoline());
    let returned = description.cie().return_address_register();
    let mut context = UnwindContext::<usize, Small>::new_in();
    let row = description.unwind_info_for_address(&table, bases, &mut context, instruction)?;
    match row.register(returned) {
        Some(RegisterRule::Undefined) => return Ok(Rule::Outermost),
        Some(RegisterRule::Offset(RETURN_ADDRESS)) => {}
        _ => return Ok(Rule::Other),
    }
    let saved = match row.register(FRAME_POINTER) {
        None | Some(RegisterRule::SameValue) => 0,
        Some(RegisterRule::Offset(below)) if below < 0 => -below,
        _ => return Ok(Rule::Other),
    };
    let (base, above) = match *row.cfa() {
        CfaRule::RegisterAndOffset { register: STACK_POINTER, offset } => (Base::Stack, offset),
        CfaRule::RegisterAndOffset { register: FRAME_POINTER, offset } => (Base::Frame, offset),
        CfaRule::Expression(expression) => {
            let expression = expression.get(&table)?;
            let kept = kept(expression.operations(description.cie().encoding()), saved)?;
            return Ok(kept.map_or(Rule::Other, Rule::Kept));
        }
        CfaRule::RegisterAndOffset { .. } => return Ok(Rule::Other),
    };
    Ok(Rule::frame(base, above, saved))
}

/// An expression that says where a frame's address is kept: a register and a distance, a pointer there, another
/// distance, and perhaps the same again. `None` if it is another one.
fn kept<R: Reader>(mut operations: OperationIter<R>, saved: i64) -> gimli::Result<Option<Kept>> {
    let Some(Operation::RegisterOffset { register, offset, .. }) = operations.next()? else {
        return Ok(None);
    };
    let base = match register {
        STACK_POINTER => Base::Stack,
        FRAME_POINTER => Base::Frame,
        _ => return Ok(None),
    };
    let mut distances = [0_u64; 2];
    let mut pointers = 0;
    while let Some(operation) = operations.next()? {
        match operation {
            Operation::Deref { space: false, .. } if pointers < 2 => pointers += 1,
            Operation::PlusConstant { value } if pointers > 0 => distances[pointers - 1] += value,
            _ => return Ok(None),
        }
    }
    let [first, second] = distances;
    // Of two pointers, the second is where the first one leads to.
    let (above, second) = match (pointers, first) {
        (1, _) => (first, None),
        (2, 0) => (0, Some(second)),
        _ => return Ok(None),
    };
    let fits = || {
        Some(Kept {
            base,
            at: i16::try_from(offset).ok()?,
            above: u8::try_from(above).ok()?,
            second: match second {
                Some(second) => Some(u8::try_from(second).ok()?),
                None => None,
            },
            saved: u8::try_from(saved).ok()?,
        })
    };
    Ok(fits())
}

#[cfg(test)]
mod tests {
    use gimli::{Encoding, EndianSlice, Expression, Format};

    use super::*;

    fn kept_in(bytes: &[u8], saved: i64) -> Option<Kept> {
        let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 1 };
        let expression = Expression(EndianSlice::new(bytes, NativeEndian));
        kept(expression.operations(encoding), saved).unwrap()
    }

    /// Those of OCaml 5's functions that change stacks, and of functions that align their frames.
    #[test]
    fn expressions_for_where_a_frame_is_kept_are_understood() {
        let (base, second) = (Base::Stack, None);
        let c_call = kept_in(&[0x77, 8, 0x06, 0x23, 8], 0);
        assert_eq!(c_call, Some(Kept { base, at: 8, above: 8, second, saved: 0 }));
        let start = kept_in(&[0x77, 16, 0x06, 0x23, 80], 24);
        assert_eq!(start, Some(Kept { base, at: 16, above: 80, second, saved: 24 }));
        let run_stack = kept_in(&[0x77, 56, 0x06, 0x23, 0, 0x06, 0x23, 8], 0);
        assert_eq!(run_stack, Some(Kept { base, at: 56, above: 0, second: Some(8), saved: 0 }));
        let aligned = kept_in(&[0x76, 0x78, 0x06], 16);
        let expected = Kept { base: Base::Frame, at: -8, above: 0, second, saved: 16 };
        assert_eq!(aligned, Some(expected));
        // A table of jumps: no pointer.
        assert_eq!(kept_in(&[0x77, 8, 0x80, 0, 0x3f, 0x1a], 0), None);
        assert_eq!(kept_in(&[0x73, 8, 0x06, 0x23, 8], 0), None);
    }
}
