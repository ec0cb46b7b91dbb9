//! The executable and the libraries of a process, and where they are in memory.

use std::path::PathBuf;

/// A file with code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its file.
    pub path: PathBuf,
    /// Where its first byte is.
    base: u64,
    /// Where its last mapping ends.
    end: u64,
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
}

/// Reads the text of `/proc/<pid>/maps`. Lines that are not understood are passed over.
pub fn parse(maps: &str) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for line in maps.lines() {
        let Some((start, end, offset, path)) = fields(line) else { continue };
        match modules.last_mut().filter(|last| last.path == path) {
            Some(last) => last.end = end,
            None if offset == 0 => modules.push(Module { path, base: start, end }),
            None => {}
        }
    }
    modules
}

/// Start, end, offset and path of a mapping of a file.
fn fields(line: &str) -> Option<(u64, u64, u64, PathBuf)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let offset = words.nth(1)?;
    let path = &line[line.find('/')?..];
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?, number(offset)?, path.into()))
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
}
