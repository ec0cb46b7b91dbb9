//! How the launcher's library is in `LD_PRELOAD`, beside what the user, or the program itself, has there.
//!
//! The library comes first and the others after a colon. A variable that was set, but empty, becomes the library and a
//! colon, which the dynamic linker takes for the same.

/// The dynamic linker's variable.
pub const VARIABLE: &str = "LD_PRELOAD";
/// What the file of an agent is called, but for its hash and `.so`.
pub const AGENT_PREFIX: &str = "libmemtrail-agent-";

const ASSIGNED: &[u8] = b"LD_PRELOAD=";

/// The separators of `LD_PRELOAD`: see `ld.so(8)`.
const SEPARATORS: &[u8] = b": ";

/// Names of glibc's dynamic linker begin so: `ld-linux-x86-64.so.2`, that of the Linux Standard Base, and older ones.
const GLIBC_LOADERS: [&[u8]; 4] = [b"ld-linux", b"ld-lsb", b"ld-2.", b"ld.so"];

/// Why a program is not given the agent whose dynamic linker is not glibc's; reads after the program's name. musl's would
/// end it, as it does not find the libraries that the agent is linked with.
pub const OTHER_LIBC: &str =
    "is linked with another C library than glibc, and cannot load the agent";
/// The same of another processor's, or 32 bits.
pub const OTHER_MACHINE: &str = "is a program for another kind of machine than this memtrail";

/// The same of one that is linked statically.
pub const STATIC: &str = "is statically linked, and cannot load the agent";
/// The library of GCC's `AddressSanitizer`, but for its version; clang's is part of the program. It ends a program where another
/// library comes first.
pub const ADDRESS_SANITIZER: &[u8] = b"libasan.so.";
/// Why a program is not given the agent that is compiled with it; reads after the program's name.
pub const WITH_SANITIZER: &str =
    "is compiled with AddressSanitizer, whose library has to come before the agent";
/// Why one is not that preloads it.
pub const BESIDE_SANITIZER: &str =
    "is started with AddressSanitizer, whose library has to come before the agent";
/// The variable in which the user can tell that library not to end the program.
pub const SANITIZER_OPTIONS: &str = "ASAN_OPTIONS";
/// What has to be in it.
pub const ANY_ORDER: &str = "verify_asan_link_order=0";

/// Prefix of the libraries that valgrind preloads into a program under it.
const VALGRIND: &[u8] = b"vgpreload_";
/// Reason that a program under valgrind is not recorded; reads after the program's name. Our threads and stacks would be
/// errors of the program in valgrind's report.
pub const UNDER_VALGRIND: &str = "runs under valgrind, which would report the agent's own work";

/// True if a value of `LD_PRELOAD` is that of a program under valgrind.
#[must_use]
pub fn is_under_valgrind(value: &[u8]) -> bool {
    names_in(value).any(|library| library.starts_with(VALGRIND))
}

/// Whether a value of `ASAN_OPTIONS` lets other libraries come first.
#[must_use]
pub fn lets_others_come_first(options: &[u8]) -> bool {
    options.windows(ANY_ORDER.len()).any(|part| part == ANY_ORDER.as_bytes())
}

/// Whether a value of `LD_PRELOAD` has `AddressSanitizer`'s library.
#[must_use]
pub fn has_sanitizer(value: &[u8]) -> bool {
    names_in(value).any(|library| library.starts_with(ADDRESS_SANITIZER))
}

/// Whether a dynamic linker, as `PT_INTERP` of a program names it, loads an agent.
#[must_use]
pub fn is_glibc(linker: &[u8]) -> bool {
    let name = file_name(linker);
    GLIBC_LOADERS.iter().any(|start| name.starts_with(start))
}

/// The value, if an entry of an environment assigns one to the variable.
#[must_use]
pub fn value_in(entry: &[u8]) -> Option<&[u8]> {
    entry.strip_prefix(ASSIGNED)
}

/// An entry that assigns `value` to the variable, with the null byte at its end.
#[must_use]
pub fn entry(value: &[u8]) -> Vec<u8> {
    [ASSIGNED, value, b"\0"].concat()
}

/// The library of an agent in a value of `LD_PRELOAD`.
#[must_use]
pub fn agent_in(value: &[u8]) -> Option<&[u8]> {
    items(value).find(|item| file_name(item).starts_with(AGENT_PREFIX.as_bytes()))
}

/// The names of the libraries in a value of `LD_PRELOAD`, without their folders.
pub fn names_in(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    items(value).map(file_name)
}

/// Whether a value of `LD_PRELOAD` has the library.
#[must_use]
pub fn has(value: &[u8], library: &[u8]) -> bool {
    items(value).any(|item| item == library)
}

/// `LD_PRELOAD` with the library, where it is `before` without.
#[must_use]
pub fn with(library: &[u8], before: Option<&[u8]>) -> Vec<u8> {
    match before {
        None => library.to_vec(),
        Some(before) => [library, b":", before].concat(),
    }
}

/// What a value of `LD_PRELOAD` would be without the library: `None` if the variable would not be set.
#[must_use]
pub fn without(value: &[u8], library: &[u8]) -> Option<Vec<u8>> {
    if items(value).all(|item| item == library) {
        return None;
    }
    let mut left = value.to_vec();
    let mut at = 0;
    while at < left.len() {
        let end = left[at..].iter().position(|b| SEPARATORS.contains(b)).map(|n| at + n);
        if &left[at..end.unwrap_or(left.len())] != library {
            at = end.map_or(left.len(), |end| end + 1);
        } else if let Some(end) = end {
            left.drain(at..=end);
        } else {
            // The last one goes with the separator before it.
            left.truncate(at.saturating_sub(1));
        }
    }
    Some(left)
}

fn file_name(item: &[u8]) -> &[u8] {
    item.rsplit(|&byte| byte == b'/').next().unwrap_or(item)
}

fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| SEPARATORS.contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn musl_is_not_glibc() {
        for linker in
            ["/lib64/ld-linux-x86-64.so.2", "/gnu/store/x-glibc/lib/ld-linux-aarch64.so.1"]
        {
            assert!(is_glibc(linker.as_bytes()), "{linker}");
        }
        for linker in
            ["/lib/ld-musl-x86_64.so.1", "/lib/ld64-uClibc.so.0", "/system/bin/linker64", ""]
        {
            assert!(!is_glibc(linker.as_bytes()), "{linker}");
        }
    }

    const AGENT: &[u8] = b"/a/libmemtrail-agent-1.so";

    fn without_agent(value: &str) -> Option<String> {
        let value = value.replace("AGENT", std::str::from_utf8(AGENT).unwrap());
        without(value.as_bytes(), AGENT).map(|left| String::from_utf8(left).unwrap())
    }

    #[test]
    fn what_was_there_before_comes_back() {
        for before in [None, Some(""), Some("x.so"), Some("x.so y.so"), Some(":x.so::y.so ")] {
            let value = with(AGENT, before.map(str::as_bytes));
            assert!(has(&value, AGENT));
            assert_eq!(agent_in(&value), Some(AGENT));
            assert_eq!(without(&value, AGENT).as_deref(), before.map(str::as_bytes), "{before:?}");
        }
    }

    #[test]
    fn a_program_may_add_to_it() {
        assert_eq!(without_agent("x.so:AGENT").as_deref(), Some("x.so"));
        assert_eq!(without_agent("x.so:AGENT:y.so").as_deref(), Some("x.so:y.so"));
        assert_eq!(without_agent("AGENT x.so AGENT:AGENT").as_deref(), Some("x.so"));
        assert_eq!(without_agent("x.so").as_deref(), Some("x.so"));
        assert_eq!(
            without_agent("AGENT2:xAGENT").as_deref(),
            Some("/a/libmemtrail-agent-1.so2:x/a/libmemtrail-agent-1.so")
        );
        assert_eq!(without_agent("").as_deref(), Some(""));
        // A launcher that is recorded itself puts it there again.
        assert_eq!(without_agent("AGENT:AGENT"), None);
        assert_eq!(value_in(b"LD_PRELOAD=x.so"), Some(&b"x.so"[..]));
        assert_eq!(value_in(b"LD_PRELOADED=x.so").or(value_in(b"LD_PRELOAD")), None);
        assert_eq!(entry(b"x.so"), b"LD_PRELOAD=x.so\0");
        assert!(!has(b"x.so:y.so", AGENT));
        assert_eq!(names_in(b"/l/x.so y.so").collect::<Vec<_>>(), [b"x.so", b"y.so"]);
        assert_eq!(agent_in(b"x.so:/libmemtrail-agent-1.so/y.so"), None);
    }

    #[test]
    fn programs_under_valgrind_are_known() {
        let folder = "/usr/libexec/valgrind";
        let value = format!(
            "{folder}/vgpreload_core-amd64-linux.so:{folder}/vgpreload_memcheck-amd64-linux.so:/a.so"
        );
        assert!(is_under_valgrind(value.as_bytes()));
        assert!(!is_under_valgrind(b"/vgpreload_core/a.so:/b.so"));
    }
}
