//! Addresses of the dynamic linker's functions in a process, by the mapped files of its libc.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_ptrace::LibcFunctions;
use memtrail_recording::mappings::Mapping;
use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _, Sym as _};

type Header = FileHeader64<LittleEndian>;

/// glibc's libraries with these functions. Since 2.34 the first has them all.
const LIBRARIES: [&[u8]; 4] = [b"libc.so.6", b"libc-2.", b"libdl.so.2", b"libdl-2."];

/// Finds them in the text of the process's mappings. The error is a reason.
pub(super) fn find(pid: u32, mappings: &[u8]) -> Result<LibcFunctions, String> {
    let mut found = [0; 4];
    let names = ["dlopen", "dlsym", "dlerror", "__errno_location"];
    for line in mappings.split(|&byte| byte == b'\n') {
        let Some(mapping) = Mapping::parse(line) else { continue };
        let name = mapping.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        if offset(line) != Some(0) || !LIBRARIES.iter().any(|library| name.starts_with(library)) {
            continue;
        }
        let path = String::from_utf8_lossy(mapping.path);
        let file = open(pid, &path, line)
            .ok_or_else(|| format!("its libc, {path}, was replaced by another file"))?;
        for (name, address) in names.iter().zip(&mut found) {
            if *address == 0 {
                *address = function(&file, name).map_or(0, |at| at + mapping.addresses.start);
            }
        }
    }
    match found {
        [0, ..] | [_, 0, ..] | [_, _, 0, _] | [.., 0] => {
            Err("it has no glibc, whose dynamic linker could load the agent".into())
        }
        [dlopen, dlsym, dlerror, errno_location] => {
            Ok(LibcFunctions { dlopen, dlsym, dlerror, errno_location })
        }
    }
}

/// The byte of the file that a mapping begins with.
fn offset(line: &[u8]) -> Option<u64> {
    let field = line.split(|&byte| byte == b' ').nth(2)?;
    u64::from_str_radix(str::from_utf8(field).ok()?, 16).ok()
}

/// The file of a mapping, unless another one has its path by now.
fn open(pid: u32, path: &str, line: &[u8]) -> Option<MappedFile> {
    let inode = line.split(|&byte| byte == b' ').nth(4)?;
    let inode: u64 = str::from_utf8(inode).ok()?.parse().ok()?;
    let path = format!("/proc/{pid}/root{path}");
    let is_same = fs::metadata(&path).is_ok_and(|metadata| metadata.ino() == inode);
    is_same.then(|| MappedFile::open(Path::new(&path)).ok()).flatten()
}

/// Offset of an exported function from the address at which the file's beginning is mapped.
fn function(file: &[u8], wanted: &str) -> Option<u64> {
    let header = Header::parse(file).ok()?;
    let segments = header.program_headers(LittleEndian, file).ok()?;
    let first = segments.iter().find(|segment| segment.p_type(LittleEndian) == elf::PT_LOAD)?;
    let sections = header.sections(LittleEndian, file).ok()?;
    let table = sections.symbols(LittleEndian, file, elf::SHT_DYNSYM).ok()?;
    let symbol = table.symbols().iter().find(|symbol| {
        !symbol.is_undefined(LittleEndian)
            && symbol.st_type() == elf::STT_FUNC
            && symbol
                .name(LittleEndian, table.strings())
                .is_ok_and(|name| name == wanted.as_bytes())
    })?;
    symbol.st_value(LittleEndian).checked_sub(first.p_vaddr(LittleEndian))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_of_this_process_are_found() {
        let mappings = fs::read("/proc/self/maps").unwrap();
        let found = find(std::process::id(), &mappings).unwrap();
        assert_eq!(found.dlopen, libc::dlopen as *const () as u64);
        assert_eq!(found.dlsym, libc::dlsym as *const () as u64);
        assert_eq!(found.errno_location, libc::__errno_location as *const () as u64);
        assert!(find(std::process::id(), b"").is_err());
    }
}
