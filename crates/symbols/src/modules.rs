//! The executable and the libraries of a process, and where they are in memory.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file with code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its file.
    pub path: PathBuf,
    /// Where its first byte is.
    base: u64,
    /// Where its last mapping ends.
    end: u64,
    /// Major and minor number of its device.
    device: [u64; 2],
    /// The file there.
    inode: u64,
}

/// A program below this address is not position-independent: it is at the addresses in its file.
const POSITION_INDEPENDENT: u64 = 1 << 32;

impl Module {
    /// The address in its file of one in memory, if it is this module's.
    pub fn in_file(&self, address: u64) -> Option<u64> {
        let is_inside = (self.base..self.end).contains(&address);
        is_inside.then(
            || {
                if self.base < POSITION_INDEPENDENT { address } else { address - self.base }
            },
        )
    }

    /// True if a path leads to the file that was mapped, as far as can be told: file systems in layers show mappings
    /// with another device than paths.
    pub fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path)
            .is_ok_and(|found| self.device != numbers(found.dev()) || self.inode == found.ino())
    }

    /// With the path on which a process that runs has its file: it may have another root folder than this one, and its
    /// executable may have been replaced.
    #[must_use]
    pub fn seen_by(mut self, pid: u32) -> Self {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let in_root = process.join("root").join(self.path.strip_prefix("/").unwrap_or(&self.path));
        let executable = process.join("exe");
        let is_mapped = |path: &Path| fs::metadata(path).is_ok_and(|it| it.ino() == self.inode);
        if self.is_at(&in_root) {
            self.path = in_root;
        } else if is_mapped(&executable) {
            self.path = executable;
        }
        self
    }
}

/// Major and minor number of a device (`makedev` of glibc).
fn numbers(device: u64) -> [u64; 2] {
    [(device >> 8 & 0xfff) | (device >> 32 & !0xfff), (device & 0xff) | (device >> 12 & !0xff)]
}

/// Reads the text of `/proc/<pid>/maps`. Lines that are not understood are passed over.
pub fn parse(maps: &str) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for line in maps.lines() {
        let Some(Fields { start, end, offset, device, inode, path }) = fields(line) else {
            continue;
        };
        match modules.last_mut().filter(|last| last.path == path) {
            Some(last) => last.end = end,
            None if offset == 0 => modules.push(Module { path, base: start, end, device, inode }),
            None => {}
        }
    }
    modules
}

/// A mapping of a file.
struct Fields {
    start: u64,
    end: u64,
    offset: u64,
    device: [u64; 2],
    inode: u64,
    path: PathBuf,
}

fn fields(line: &str) -> Option<Fields> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let offset = words.nth(1)?;
    let (major, minor) = words.next()?.split_once(':')?;
    let inode = words.next()?.parse().ok()?;
    let path = line[line.find('/')?..].into();
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(Fields {
        start: number(start)?,
        end: number(end)?,
        offset: number(offset)?,
        device: [number(major)?, number(minor)?],
        inode,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_a_file_are_one_module() {
        let maps = "\
            00400000-00401000 r--p 00000000 fe:00 12   /bin/fixed\n\
            00401000-00500000 r-xp 00001000 fe:00 12   /bin/fixed\n\
            7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n\
            7f0000010000-7f0000011000 r--p 00000000 fe:00 13   /lib/a b.so\n\
            7f0000011000-7f0000020000 r-xp 00001000 fe:00 13   /lib/a b.so\n\
            odd\n7ffd-x /\n";
        let modules = parse(maps);
        let paths: Vec<_> =
            modules.iter().map(|module| module.path.display().to_string()).collect();
        assert_eq!(paths, ["/bin/fixed", "/lib/a b.so"]);
        assert_eq!(modules[0].in_file(0x40_1234), Some(0x40_1234));
        assert_eq!(modules[1].in_file(0x7f00_0001_1234), Some(0x1234));
        assert_eq!(modules[1].in_file(0x7f00_0002_0000), None);
    }

    #[test]
    fn a_file_that_was_replaced_is_another_one() {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let own = parse(&maps).swap_remove(0);
        assert!(own.is_at(&own.path), "{own:?}");
        let replaced = Module { inode: own.inode + 1, ..own.clone() };
        assert!(!replaced.is_at(&own.path));
        assert!(!own.is_at(Path::new("/nowhere")));
        let elsewhere = Module { path: "/nowhere".into(), ..own.clone() };
        let seen = elsewhere.seen_by(std::process::id());
        assert!(own.is_at(&seen.path), "{seen:?}");
    }
}
