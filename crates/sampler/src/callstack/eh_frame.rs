//! The rule at a return address, from the tables that are loaded with the code.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameOffset, NativeEndian, Register, RegisterRule,
    UnwindContext, UnwindContextStorage, UnwindSection as _, UnwindTableRow,
};

use crate::callstack::rule::{Base, Rule};

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
    if description.is_signal_trampoline() {
        return Ok(Rule::Other);
    }
    let returned = description.cie().return_address_register();
    let mut context = UnwindContext::<usize, Small>::new_in();
    let row = description.unwind_info_for_address(&table, bases, &mut context, instruction)?;
    match row.register(returned) {
        Some(RegisterRule::Undefined) => return Ok(Rule::Outermost),
        Some(RegisterRule::Offset(RETURN_ADDRESS)) => {}
        _ => return Ok(Rule::Other),
    }
    let (base, above) = match *row.cfa() {
        CfaRule::RegisterAndOffset { register: STACK_POINTER, offset } => (Base::Stack, offset),
        CfaRule::RegisterAndOffset { register: FRAME_POINTER, offset } => (Base::Frame, offset),
        _ => return Ok(Rule::Other),
    };
    match row.register(FRAME_POINTER) {
        None | Some(RegisterRule::SameValue) => Ok(Rule::frame(base, above, 0)),
        Some(RegisterRule::Offset(below)) if below < 0 => Ok(Rule::frame(base, above, -below)),
        _ => Ok(Rule::Other),
    }
}
