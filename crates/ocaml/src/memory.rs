//! Reading memory that holds runtime data: this process, or an image of another.

#![allow(unsafe_code, reason = "reads the process it is in")]

/// A place in the memory that is read.
pub type Address = u64;

/// Memory that can be read at any address; what is not there is `None`.
pub trait Memory {
    /// The `N` bytes at `at`.
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]>;

    /// The byte at `at`.
    #[inline]
    fn u8(&self, at: Address) -> Option<u8> {
        self.bytes::<1>(at).map(|[byte]| byte)
    }

    /// The 16-bit number at `at`.
    #[inline]
    fn u16(&self, at: Address) -> Option<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    /// The 32-bit number at `at`.
    #[inline]
    fn u32(&self, at: Address) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    /// The word at `at`.
    #[inline]
    fn u64(&self, at: Address) -> Option<u64> {
        self.bytes(at).map(u64::from_le_bytes)
    }

    /// The word at `base + offset`.
    #[inline]
    fn field(&self, base: Address, offset: u64) -> Option<u64> {
        self.u64(base.checked_add(offset)?)
    }

    /// The C string at `at`, as much of it as fits in `into`, without its terminating zero.
    fn c_string<'a>(&self, at: Address, into: &'a mut [u8]) -> Option<&'a [u8]> {
        let mut length = 0;
        for (slot, offset) in into.iter_mut().zip(0u64..) {
            match self.u8(at.checked_add(offset)?)? {
                0 => break,
                byte => *slot = byte,
            }
            length += 1;
        }
        into.get(..length)
    }

    /// Whether there is a C string that equals `text`.
    fn is_c_string(&self, at: Address, text: &[u8]) -> bool {
        text.iter().chain(&[0]).zip(at..).all(|(&byte, at)| self.u8(at) == Some(byte))
    }
}

/// The memory of the process we are in.
///
/// Addresses below the first page are never mapped and read as `None`; that is all the checking there is.
#[derive(Clone, Copy, Debug)]
pub struct ThisProcess(());

/// No mapping starts below this (`vm.mmap_min_addr` is at least this, or the program could not catch null pointers).
const FIRST_PAGE_END: Address = 4096;

impl ThisProcess {
    /// The right to read this process.
    ///
    /// # Safety
    /// All addresses that are read through the value must come from the runtime of this process, and be mapped and
    /// not written to by others while they are read.
    pub unsafe fn new() -> Self {
        Self(())
    }
}

impl Memory for ThisProcess {
    #[inline]
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
        if at < FIRST_PAGE_END {
            return None;
        }
        // SAFETY: `new`'s caller promised that what is read is mapped; `[u8; N]` has no alignment and no invalid values.
        Some(unsafe { std::ptr::with_exposed_provenance::<[u8; N]>(at as usize).read_unaligned() })
    }
}

/// A piece of memory as a slice: `bytes` stand at `base`.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// Address of the first byte.
    pub base: Address,
    /// The contents.
    pub bytes: &'a [u8],
}

impl Memory for Image<'_> {
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
        let from = usize::try_from(at.checked_sub(self.base)?).ok()?;
        self.bytes.get(from..)?.first_chunk().copied()
    }
}

/// Several pieces; the first that holds all the bytes answers.
impl Memory for [Image<'_>] {
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
        self.iter().find_map(|image| image.bytes(at))
    }
}

/// The memory of a process, read through the kernel: what is not mapped is `None` instead of a fault.
///
/// In the agent for calibration at the start only; a read is a system call.
#[derive(Debug)]
pub struct Probed(std::fs::File);

impl Probed {
    /// Opens this process's memory; a descriptor is held as long as the value lives.
    pub fn open() -> std::io::Result<Self> {
        std::fs::File::open("/proc/self/mem").map(Self)
    }

    /// Opens another process's memory, which the kernel allows to those who may trace it.
    pub fn open_process(pid: u32) -> std::io::Result<Self> {
        std::fs::File::open(format!("/proc/{pid}/mem")).map(Self)
    }
}

impl Memory for Probed {
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
        use std::os::unix::fs::FileExt as _;
        let mut bytes = [0; N];
        self.0.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    }
}
