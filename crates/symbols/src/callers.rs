//! Callers of functions in a stopped thread, by the tables for exceptions in the files of its code.
//!
//! Numbers of registers are those of x86-64's psABI for DWARF.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, ParsedEhFrameHdr,
    Register, RegisterRule, UnwindContext, UnwindSection as _,
};
use object::{Object as _, ObjectSection as _};

type Bytes<'d> = EndianSlice<'d, LittleEndian>;

/// General registers, and the return address.
const REGISTERS: usize = 17;
const STACK_POINTER: usize = 7;
const RETURN_ADDRESS: usize = 16;

/// A frame: the values of registers in it, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    values: [u64; REGISTERS],
    /// A bit for each register whose value is known.
    known: u32,
    /// True if its instruction is the next to run, not one behind a call.
    is_innermost: bool,
}

impl Frame {
    /// The innermost one of a thread: its instruction, and its general registers in DWARF's order.
    pub fn innermost(instruction: u64, general: [u64; 16]) -> Self {
        let mut frame = Self::unknown(true);
        for (number, value) in general.into_iter().enumerate() {
            frame.set(number, value);
        }
        frame.set(RETURN_ADDRESS, instruction);
        frame
    }

    const fn unknown(is_innermost: bool) -> Self {
        Self { values: [0; REGISTERS], known: 0, is_innermost }
    }

    fn set(&mut self, number: usize, value: u64) {
        self.values[number] = value;
        self.known |= 1 << number;
    }

    fn get(&self, number: usize) -> Option<u64> {
        let is_known = number < REGISTERS && self.known & (1 << number) != 0;
        is_known.then(|| self.values[number])
    }

    /// Address of its next instruction.
    pub fn instruction(&self) -> u64 {
        self.values[RETURN_ADDRESS]
    }

    /// Its stack pointer.
    pub fn stack(&self) -> u64 {
        self.values[STACK_POINTER]
    }

    /// An address in its function.
    pub fn place(&self) -> u64 {
        self.instruction().wrapping_sub(u64::from(!self.is_innermost))
    }
}

/// The caller of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// This one.
    Frame(Frame),
    /// No caller: the thread began with this frame.
    None,
    /// The kernel: a signal interrupted the thread.
    Signal,
    /// The tables do not say.
    Unknown,
}

/// The tables of a file.
#[derive(Debug)]
pub struct UnwindTables<'d> {
    descriptions: EhFrame<Bytes<'d>>,
    index: ParsedEhFrameHdr<Bytes<'d>>,
    bases: BaseAddresses,
}

impl<'d> UnwindTables<'d> {
    /// Finds them in an ELF file; none if it has none.
    pub fn parse(file: &'d [u8]) -> Option<Self> {
        let file = object::File::parse(file).ok()?;
        let section = |name| {
            let section = file.section_by_name(name)?;
            Some((section.address(), section.data().ok()?))
        };
        let (descriptions_at, descriptions) = section(".eh_frame")?;
        let (index_at, index) = section(".eh_frame_hdr")?;
        let bases =
            BaseAddresses::default().set_eh_frame(descriptions_at).set_eh_frame_hdr(index_at);
        let mut table = EhFrame::new(descriptions, LittleEndian);
        table.set_address_size(8);
        let index = EhFrameHdr::new(index, LittleEndian).parse(&bases, 8).ok()?;
        Some(Self { descriptions: table, index, bases })
    }

    /// The caller of a frame in this file's code, whose addresses in memory are larger by `bias`. `word` reads the process's
    /// memory.
    pub fn caller(&self, frame: &Frame, bias: u64, word: impl Fn(u64) -> Option<u64>) -> Caller {
        self.found(frame, bias, word).unwrap_or(Caller::Unknown)
    }

    fn found(&self, frame: &Frame, bias: u64, word: impl Fn(u64) -> Option<u64>) -> Option<Caller> {
        let place = frame.place().wrapping_sub(bias);
        let index = self.index.table()?;
        let cie = EhFrame::cie_from_offset;
        // A handler returns to the first instruction of what it returns by, which is behind no call.
        let at_return = frame.instruction().wrapping_sub(bias);
        let returns = index.fde_for_address(&self.descriptions, &self.bases, at_return, cie);
        if returns.is_ok_and(|description| description.is_signal_trampoline()) {
            return Some(Caller::Signal);
        }
        let description =
            index.fde_for_address(&self.descriptions, &self.bases, place, cie).ok()?;
        let returned = description.cie().return_address_register();
        let mut context = UnwindContext::new();
        let (table, bases) = (&self.descriptions, &self.bases);
        let row = description.unwind_info_for_address(table, bases, &mut context, place).ok()?;
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
        let base = frame.get(usize::from(register.0))?;
        let end = base.wrapping_add_signed(offset);
        if row.register(returned) == Some(RegisterRule::Undefined) {
            return Some(Caller::None);
        }
        let mut caller = Frame::unknown(false);
        for number in 0..REGISTERS {
            let value = match row.register(Register(number as u16)) {
                Some(RegisterRule::Offset(offset)) => word(end.wrapping_add_signed(offset)),
                Some(RegisterRule::ValOffset(offset)) => Some(end.wrapping_add_signed(offset)),
                Some(RegisterRule::Register(other)) => frame.get(usize::from(other.0)),
                None | Some(RegisterRule::SameValue) if number != RETURN_ADDRESS => {
                    frame.get(number)
                }
                _ => None,
            };
            if let Some(value) = value {
                caller.set(number, value);
            }
        }
        caller.set(STACK_POINTER, end);
        let instruction = caller.get(RETURN_ADDRESS)?;
        // A frame that does not end above its callee's is none.
        let is_outermost = instruction == 0;
        let is_above = end > frame.stack();
        match (is_outermost, is_above) {
            (true, _) => Some(Caller::None),
            (false, true) => Some(Caller::Frame(caller)),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_elf_file_has_no_tables() {
        assert!(UnwindTables::parse(b"").is_none());
        assert!(UnwindTables::parse(&[0x7f; 4096]).is_none());
    }

    #[test]
    fn code_without_a_description_has_no_known_caller() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let tables = UnwindTables::parse(&file).unwrap();
        let frame = Frame::innermost(u64::MAX, [0; 16]);
        assert_eq!(tables.caller(&frame, 0, |_| None), Caller::Unknown);
        assert_eq!((frame.place(), frame.stack()), (u64::MAX, 0));
    }
}
