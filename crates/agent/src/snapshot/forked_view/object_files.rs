//! Files of the program and its libraries: names that are there but not in memory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;

use memtrail_ocaml::image::{Image, Line, lines};

use super::mapped::{Mapped, file_name};

const EXECUTABLE: &str = "/proc/self/exe";
/// The start of a file and of what is loaded must be alike: its identity, and where its parts are.
const HEADER_BYTES: usize = 64;
/// No more files than this are opened.
const MAX_FILES: usize = 256;

/// The files that are mapped in the process, each opened when it is needed.
pub(super) struct ObjectFiles {
    mapped: Mapped,
    opened: Vec<ObjectFile>,
}

struct ObjectFile {
    /// Where its first mapping is.
    base: u64,
    /// Nothing if it cannot be read, or is no longer the file that was loaded.
    image: Option<Image<'static>>,
    /// What is added to addresses in the file.
    bias: u64,
    /// Its private variables by address: start, size, name.
    variables: Option<Vec<(u64, u64, &'static [u8])>>,
}

impl ObjectFiles {
    pub(super) fn of_this_process() -> Self {
        Self { mapped: Mapped::of_this_process(), opened: Vec::new() }
    }

    /// Where an address is, for people: a variable, `libfoo.so .bss+0x40`, or that it was allocated.
    pub(super) fn describe(&mut self, address: u64, into: &mut Vec<u8>) {
        let Some(file) = self.file(address) else {
            into.extend_from_slice(b"memory allocated in C");
            return;
        };
        let offset = address.wrapping_sub(file.bias);
        if let Some(name) = file.variable(offset) {
            into.extend_from_slice(name);
            return;
        }
        let section = file.image.as_ref().and_then(|image| image.section_at(offset));
        let (base, section) = (file.base, section.unwrap_or_default());
        let path = self.mapped.file(address).map_or(&b""[..], |(path, _)| path);
        into.extend_from_slice(file_name(path));
        // Writing to memory does not fail.
        let _ = match section {
            ([], _) => write!(into, "+{:#x}", address - base),
            (name, offset) => write!(into, " {}+{offset:#x}", String::from_utf8_lossy(name)),
        };
    }

    /// Calls `each` with lines of functions, which are in order: see [`lines`].
    pub(super) fn lines(
        &mut self,
        functions: &[Range<u64>],
        mut each: impl FnMut(usize, bool, Line<'static>),
    ) {
        let mut first = 0;
        while let Some(function) = functions.get(first) {
            let base = self.mapped.file(function.start).map(|(_, base)| base);
            let is_here =
                |other: &&Range<u64>| self.mapped.file(other.start).map(|(_, base)| base) == base;
            let count = functions[first..].iter().take_while(is_here).count().max(1);
            let (start, end) = (first, first + count);
            first = end;
            let Some(file) = self.file(function.start) else { continue };
            let Some(image) = &file.image else { continue };
            let in_file = |at: u64| at.wrapping_sub(file.bias);
            let here: Vec<Range<u64>> = functions[start..end]
                .iter()
                .map(|function| in_file(function.start)..in_file(function.end))
                .collect();
            lines(image, &here, |place, is_first, line| each(start + place, is_first, line));
        }
    }

    /// The file that an address is in.
    fn file(&mut self, address: u64) -> Option<&mut ObjectFile> {
        let (path, base) = self.mapped.file(address)?;
        let known = self.opened.iter().position(|file| file.base == base);
        let place = known.or_else(|| {
            (self.opened.len() < MAX_FILES).then(|| {
                self.opened.push(ObjectFile::open(path, base, self.mapped.readable(base)));
                self.opened.len() - 1
            })
        })?;
        self.opened.get_mut(place)
    }
}

impl ObjectFile {
    fn open(path: &[u8], base: u64, readable: u64) -> Self {
        let is_loaded = |bytes: &[u8]| {
            // SAFETY: so many bytes are mapped there, and nothing is unmapped in a frozen copy.
            let loaded = unsafe { std::slice::from_raw_parts(base as *const u8, HEADER_BYTES) };
            bytes.get(..HEADER_BYTES) == Some(loaded)
        };
        let image = map(path)
            .filter(|bytes| readable >= HEADER_BYTES as u64 && is_loaded(bytes))
            .and_then(Image::parse);
        let first = image.as_ref().and_then(Image::first_address).unwrap_or(0);
        Self { base, image, bias: base.wrapping_sub(first), variables: None }
    }

    /// The private variable that covers an address of the file.
    fn variable(&mut self, at: u64) -> Option<&'static [u8]> {
        let image = self.image.as_ref()?;
        let variables = self.variables.get_or_insert_with(|| {
            let all = image.private_variables();
            let mut all: Vec<_> = all.map(|one| (one.address, one.size, one.name)).collect();
            all.sort_unstable();
            all
        });
        let after = variables.partition_point(|(start, _, _)| *start <= at);
        let (start, size, name) = variables.get(after.checked_sub(1)?)?;
        (at - start < *size).then_some(*name)
    }
}

/// A file's bytes. They stay mapped: this process ends soon.
fn map(path: &[u8]) -> Option<&'static [u8]> {
    // The program itself is there whatever became of its path.
    let own = std::fs::read_link(EXECUTABLE).is_ok_and(|own| own.as_os_str().as_bytes() == path);
    let path = if own { OsStr::new(EXECUTABLE) } else { OsStr::from_bytes(path) };
    let file = File::open(path).ok()?;
    let length = usize::try_from(file.metadata().ok()?.len()).ok().filter(|length| *length > 0)?;
    // SAFETY: a new mapping that can only be read.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_PRIVATE,
            file.as_raw_fd(),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: so many bytes were mapped, and stay so. Should the file be cut short, reading them ends
    // this copy with a signal: the snapshot is missing, the program goes on.
    Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) })
}
