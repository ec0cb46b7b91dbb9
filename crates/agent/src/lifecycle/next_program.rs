//! Looks at the program that comes next: one that cannot load this library must not be told to. musl's dynamic linker would
//! end it, those of other machines complain to its standard error.
//!
//! Nothing is allocated, and little is on the stack: the caller may be in a child of `vfork`, on whatever stack it has.

use std::ffi::{CStr, c_int};

use memtrail_recording::preload;

use crate::lifecycle::environment::own_entries;

/// Bytes of a script's first line that are looked at, and of the path of a dynamic linker.
const PATH: usize = 128;
/// A path that a folder of `PATH` and a name make.
const CANDIDATE: usize = 256;
/// Where the ELF header of 64 bits has what, and one of its program headers (`elf.h`).
mod elf {
    pub(super) const HEADER: usize = 64;
    pub(super) const MAGIC: &[u8] = b"\x7fELF";
    pub(super) const CLASS_AND_DATA: [u8; 2] = [2, 1];
    pub(super) const MACHINE: usize = 18;
    pub(super) const PROGRAM_HEADERS: usize = 32;
    pub(super) const PROGRAM_HEADER_SIZE: usize = 54;
    pub(super) const PROGRAM_HEADER_COUNT: usize = 56;
    pub(super) const PROGRAM_HEADER: usize = 56;
    pub(super) const OFFSET: usize = 8;
    pub(super) const SIZE: usize = 32;
    pub(super) const INTERPRETER: u32 = 3;
    #[cfg(target_arch = "x86_64")]
    pub(super) const HERE: u16 = 62;
    #[cfg(target_arch = "aarch64")]
    pub(super) const HERE: u16 = 183;
}

/// Whether the program that `execvp` would find loads libraries for glibc on this machine. A static one loads none, but may
/// start others, and what cannot be read is left to the kernel. The error reads after the program's name.
pub(crate) fn loads_agent(program: &CStr) -> Result<(), &'static str> {
    if program.to_bytes().contains(&b'/') {
        return File::open(program).map_or(Ok(()), |file| check(&file, true));
    }
    let path = own_entries().find_map(|entry| entry.to_bytes().strip_prefix(b"PATH="));
    for folder in path.unwrap_or_default().split(|&byte| byte == b':') {
        let mut candidate = [0; CANDIDATE];
        let parts = [folder, b"/", program.to_bytes()];
        if parts.iter().map(|part| part.len()).sum::<usize>() >= CANDIDATE {
            continue;
        }
        let mut end = 0;
        for part in parts {
            candidate[end..end + part.len()].copy_from_slice(part);
            end += part.len();
        }
        if let Some(file) = CStr::from_bytes_until_nul(&candidate).ok().and_then(File::open) {
            return check(&file, true);
        }
    }
    Ok(())
}

/// Looks at an open file; at the interpreter of a script, if `follow`.
fn check(file: &File, follow: bool) -> Result<(), &'static str> {
    let mut start = [0; PATH];
    let length = file.read(0, &mut start);
    let start = &start[..length];
    if let Some(line) = start.strip_prefix(b"#!") {
        return if follow { check_script(line) } else { Ok(()) };
    }
    if !start.starts_with(elf::MAGIC) || length < elf::HEADER {
        return Ok(());
    }
    let is_here = start[4..6] == elf::CLASS_AND_DATA && short(start, elf::MACHINE) == elf::HERE;
    if !is_here {
        return Err(preload::OTHER_MACHINE);
    }
    let (table, size) = (long(start, elf::PROGRAM_HEADERS), short(start, elf::PROGRAM_HEADER_SIZE));
    for index in 0..short(start, elf::PROGRAM_HEADER_COUNT) {
        let mut header = [0; elf::PROGRAM_HEADER];
        let at = table.saturating_add(u64::from(index) * u64::from(size));
        if file.read(at, &mut header) < header.len() {
            return Ok(());
        }
        if u32::from_le_bytes([header[0], header[1], header[2], header[3]]) == elf::INTERPRETER {
            let mut path = [0; PATH];
            let length = file.read(long(&header, elf::OFFSET), &mut path);
            let length = length.min(usize::try_from(long(&header, elf::SIZE)).unwrap_or(length));
            let linker = path[..length].split(|&byte| byte == 0).next().unwrap_or_default();
            return if preload::is_glibc(linker) { Ok(()) } else { Err(preload::OTHER_LIBC) };
        }
    }
    Ok(())
}

/// The interpreter stands behind `#!` and blanks, up to a blank or the line's end.
fn check_script(line: &[u8]) -> Result<(), &'static str> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace();
    let path = line.trim_ascii_start().split(is_end).next().unwrap_or_default();
    let mut terminated = [0; PATH];
    terminated[..path.len()].copy_from_slice(path);
    let interpreter = CStr::from_bytes_until_nul(&terminated).ok().and_then(File::open);
    interpreter.map_or(Ok(()), |file| check(&file, false))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk());
    chunk.map_or(0, |&chunk| u64::from_le_bytes(chunk))
}

/// An open file, closed when it goes.
struct File(c_int);

impl File {
    /// `None` if it cannot be read.
    fn open(path: &CStr) -> Option<Self> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
        // SAFETY: a C string.
        let descriptor = unsafe { libc::open(path.as_ptr(), flags) };
        (descriptor >= 0).then_some(Self(descriptor))
    }

    /// Reads what stands at an offset; how much there is.
    fn read(&self, offset: u64, into: &mut [u8]) -> usize {
        let Ok(offset) = libc::off_t::try_from(offset) else { return 0 };
        // SAFETY: a buffer of this size.
        let read = unsafe { libc::pread(self.0, into.as_mut_ptr().cast(), into.len(), offset) };
        usize::try_from(read).unwrap_or(0)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: opened here, and nobody else has it.
        unsafe { libc::close(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use super::*;

    fn of(path: &Path) -> Result<(), &'static str> {
        loads_agent(&std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap())
    }

    #[test]
    fn programs_that_cannot_load_it_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let here = fs::read("/proc/self/exe").unwrap();
        let changed = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
            let mut contents = here.clone();
            change(&mut contents);
            let path = folder.path().join(name);
            fs::write(&path, contents).unwrap();
            path
        };
        let linker = b"/ld-linux-";
        let at = here.windows(linker.len()).position(|part| part == linker).unwrap();
        let musl =
            changed("musl", &|file| file[at..at + linker.len()].copy_from_slice(b"/ld-musl-x"));
        let other = changed("arm", &|file| file[elf::MACHINE] = 40);
        let small = changed("small", &|file| file[4] = 1);
        let cut = changed("cut", &|file| file.truncate(70));
        assert_eq!(of(Path::new("/proc/self/exe")), Ok(()));
        assert_eq!(of(&musl), Err(preload::OTHER_LIBC));
        assert_eq!(of(&other), Err(preload::OTHER_MACHINE));
        assert_eq!(of(&small), Err(preload::OTHER_MACHINE));
        assert_eq!(of(&cut), Ok(()));
        let script = folder.path().join("script");
        fs::write(&script, format!("#! {} -x\n", musl.display())).unwrap();
        assert_eq!(of(&script), Err(preload::OTHER_LIBC));
        assert_eq!(of(&folder.path().join("missing")), Ok(()));
        assert_eq!(of(folder.path()), Ok(()));
        // By `PATH`.
        assert_eq!(of(Path::new("sh")), Ok(()));
    }
}
