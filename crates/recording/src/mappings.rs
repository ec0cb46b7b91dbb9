//! Memory mappings as the kernel lists them: the lines of `maps` and `smaps` (`proc_pid_maps(5)`,
//! `proc_pid_smaps(5)`).

use std::io::BufRead as _;
use std::ops::Range;

use memtrail_heap::Bytes;

/// A mapping: one line of `maps`, or the heading of several in `smaps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// What it covers.
    pub addresses: Range<u64>,
    access: &'a [u8],
    /// The file's path or the kernel's name for it; empty for memory without either.
    pub path: &'a [u8],
}

impl<'a> Mapping<'a> {
    /// Reads a line; `None` if it describes no mapping.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let mut words = line.splitn(6, |&byte| byte == b' ');
        let range = std::str::from_utf8(words.next()?).ok()?;
        let access = words.next()?;
        let (start, end) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let addresses = number(start)?..number(end)?;
        let path = words.nth(3).unwrap_or_default().trim_ascii();
        (addresses.start <= addresses.end).then_some(Self { addresses, access, path })
    }

    /// Whether it can be read and written.
    pub fn is_data(&self) -> bool {
        self.access.starts_with(b"rw")
    }

    /// Whether it can be read.
    pub fn is_readable(&self) -> bool {
        self.access.starts_with(b"r")
    }

    /// True if it can be executed.
    pub fn is_code(&self) -> bool {
        self.access.get(2) == Some(&b'x')
    }

    /// Whether other processes see what is written to it.
    pub fn is_shared(&self) -> bool {
        self.access.get(3) == Some(&b's')
    }

    /// Whether it can be neither read nor written nor executed.
    pub fn is_inaccessible(&self) -> bool {
        self.access.starts_with(b"---")
    }

    /// Bytes of address space.
    pub fn size(&self) -> u64 {
        self.addresses.end - self.addresses.start
    }

    /// Whether it is memory of a file, or shared memory.
    pub fn is_file(&self) -> bool {
        self.path.starts_with(b"/")
    }
}

/// The mappings in the text of `smaps`, each with its resident memory. What makes no sense is passed over.
pub fn with_resident(text: &[u8]) -> impl Iterator<Item = (Mapping<'_>, Bytes)> {
    let mut heading = None;
    lines(text).filter_map(move |line| {
        if let Some(size) = line.strip_prefix(b"Rss:") {
            return heading.take().zip(kilobytes(size));
        }
        // Names of fields begin with a capital letter, addresses with a small one or a digit. Twenty of 24 lines are fields.
        if !line.first().is_some_and(u8::is_ascii_uppercase) {
            heading = Mapping::parse(line).or(heading.take());
        }
        None
    })
}

/// Lines without their ends, which libc finds many bytes at a time.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = rest;
        let length = rest.skip_until(b'\n').ok().filter(|&length| length > 0)?;
        let line = from.get(..length)?;
        Some(line.strip_suffix(b"\n").unwrap_or(line))
    })
}

/// The value of a field of `/proc/<pid>/status`, as `VmRSS`.
pub fn field_of_status(text: &[u8], name: &str) -> Option<Bytes> {
    let mut lines = text.split(|&byte| byte == b'\n');
    kilobytes(lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))?)
}

/// A size such as `   1024 kB`.
fn kilobytes(text: &[u8]) -> Option<Bytes> {
    let number = text.trim_ascii().strip_suffix(b" kB")?;
    let number: u64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    number.checked_mul(1024).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &[u8] = b"\
00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/prog with spaces
Size:                328 kB
KernelPageSize:        4 kB
Rss:                 100 kB
Pss:                  50 kB
VmFlags: rd ex mr mw me sd
7f0000000000-7f0000001000 ---p 00000000 00:00 0 
Size:                  4 kB
Rss:                   0 kB
not-a-mapping
7f0000001000-7f0000003000 rw-p 00000000 00:00 0 
Rss:                   8 kB
Rss:                   9 kB
7f0000003000-7f0000004000 rw-p 00000000 00:00 0 ";

    #[test]
    fn each_mapping_has_its_resident_memory() {
        let found: Vec<_> = with_resident(SMAPS).collect();
        let resident: Vec<_> = found.iter().map(|(mapping, rss)| (mapping.size(), rss.0)).collect();
        assert_eq!(resident, [(0x5_2000, 100 << 10), (0x1000, 0), (0x2000, 8 << 10)]);
        assert_eq!(found[0].0.path, b"/usr/bin/prog with spaces");
        assert!(found[0].0.is_file() && !found[0].0.is_data());
        assert!(found[1].0.is_inaccessible() && found[2].0.is_data());
    }

    #[test]
    fn fields_of_status_are_sizes() {
        let status = b"VmHWM:\t    2048 kB\nVmRSS:\t 1024 kB\nThreads:\t3\nVmSwap:\t x kB\n";
        assert_eq!(field_of_status(status, "VmRSS"), Some(Bytes(1 << 20)));
        assert_eq!(field_of_status(status, "VmHWM"), Some(Bytes(2 << 20)));
        for name in ["VmRS", "Threads", "VmSwap", ""] {
            assert_eq!(field_of_status(status, name), None, "{name}");
        }
    }

    #[test]
    fn what_is_no_mapping_is_passed_over() {
        for line in [&b""[..], b"1-2", b"x-2 rw-p", b"2-1 rw-p 0 0 0", b"Rss: 4 kB", b"\xff-\xff r"]
        {
            assert_eq!(Mapping::parse(line), None, "{line:?}");
        }
    }
}
