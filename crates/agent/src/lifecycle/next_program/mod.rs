//! Looks at the program that comes next: one that cannot load this library must not be told to. musl's dynamic linker would
//! end it, those of other machines complain to its standard error.
//!
//! Nothing is allocated, and little is on the stack: the caller may be in a child of `vfork`, on whatever stack it has.

mod elf;
mod file;

use std::ffi::CStr;

use memtrail_recording::preload;

use crate::lifecycle::environment::{Sanitizer, own_entries};
use elf::Elf;
use file::File;

/// Bytes of a script's first line that are looked at, and of the path of a dynamic linker.
const PATH: usize = 128;
/// A path that a folder of `PATH` and a name make.
const CANDIDATE: usize = 256;

/// How a program is loaded that may be given the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// It loads the agent, or cannot be looked at, which is left to the kernel.
    WithAgent,
    /// It loads no library, but may start programs that do.
    Statically,
}

/// Whether the program that `execvp` would find loads libraries for glibc on this machine, with no other one first. The error
/// reads after the program's name.
pub(crate) fn loads_agent(program: &CStr, sanitizer: Sanitizer) -> Result<Loaded, &'static str> {
    let look = |file: &File| check(file, file_name(program), sanitizer, true);
    if program.to_bytes().contains(&b'/') {
        return File::open(program).map_or(Ok(Loaded::WithAgent), |file| look(&file));
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
            return look(&file);
        }
    }
    Ok(Loaded::WithAgent)
}

fn file_name(path: &CStr) -> &[u8] {
    path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Looks at an open file of this name; at the interpreter of a script, if `follow`.
fn check(
    file: &File,
    name: &[u8],
    sanitizer: Sanitizer,
    follow: bool,
) -> Result<Loaded, &'static str> {
    let mut start = [0; PATH];
    let length = file.read(0, &mut start);
    let start = &start[..length];
    if let Some(line) = start.strip_prefix(b"#!") {
        return if follow { check_script(line, sanitizer) } else { Ok(Loaded::WithAgent) };
    }
    let Some(header) = start.first_chunk().filter(|start| start.starts_with(elf::MAGIC)) else {
        return Ok(Loaded::WithAgent);
    };
    let elf = Elf::new(file, header).ok_or(preload::OTHER_MACHINE)?;
    match elf.linker(&mut [0; PATH]) {
        Some(linker) if !preload::is_glibc(linker) => return Err(preload::OTHER_LIBC),
        Some(_) => {}
        // The dynamic linker itself, which is given a program.
        None if preload::is_glibc(name) => {}
        None if elf.is_program() => return Ok(Loaded::Statically),
        None => return Ok(Loaded::WithAgent),
    }
    if !sanitizer.comes_later {
        if elf.needs(preload::ADDRESS_SANITIZER) {
            return Err(preload::WITH_SANITIZER);
        }
        if sanitizer.is_preloaded {
            return Err(preload::BESIDE_SANITIZER);
        }
    }
    Ok(Loaded::WithAgent)
}

/// The interpreter stands behind `#!` and blanks, up to a blank or the line's end.
fn check_script(line: &[u8], sanitizer: Sanitizer) -> Result<Loaded, &'static str> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace();
    let path = line.trim_ascii_start().split(is_end).next().unwrap_or_default();
    let mut terminated = [0; PATH];
    terminated[..path.len()].copy_from_slice(path);
    let Ok(path) = CStr::from_bytes_until_nul(&terminated) else { return Ok(Loaded::WithAgent) };
    let file = File::open(path);
    file.map_or(Ok(Loaded::WithAgent), |file| check(&file, file_name(path), sanitizer, false))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use super::*;

    fn with(path: &Path, sanitizer: Sanitizer) -> Result<Loaded, &'static str> {
        loads_agent(&std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap(), sanitizer)
    }

    fn of(path: &Path) -> Result<Loaded, &'static str> {
        with(path, Sanitizer::default())
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
        assert_eq!(of(Path::new("/proc/self/exe")), Ok(Loaded::WithAgent));
        assert_eq!(of(&musl), Err(preload::OTHER_LIBC));
        assert_eq!(of(&other), Err(preload::OTHER_MACHINE));
        assert_eq!(of(&small), Err(preload::OTHER_MACHINE));
        assert_eq!(of(&cut), Ok(Loaded::WithAgent));
        let script = folder.path().join("script");
        fs::write(&script, format!("#! {} -x\n", musl.display())).unwrap();
        assert_eq!(of(&script), Err(preload::OTHER_LIBC));
        assert_eq!(of(&folder.path().join("missing")), Ok(Loaded::WithAgent));
        assert_eq!(of(folder.path()), Ok(Loaded::WithAgent));
        // By `PATH`.
        assert_eq!(of(Path::new("sh")), Ok(Loaded::WithAgent));
    }
}
