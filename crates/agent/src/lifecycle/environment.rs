//! The two environment variables by which a launcher reaches its target, and their removal.
//!
//! A program that prints its environment, or hands it on, must not see that it is recorded.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use memtrail_recording::session::{OPTIONS_FILE, SESSION_VARIABLE, State};

use crate::recording::report::report_program;

const PRELOAD: &CStr = c"LD_PRELOAD";
/// Set by the launcher to what `LD_PRELOAD` was before, if it was set.
const PRELOAD_BEFORE: &CStr = c"MEMTRAIL_LD_PRELOAD";

/// The variables as the launcher set them, ready to be handed to a program we follow into.
pub(crate) struct Injected {
    /// The session folder.
    pub(crate) session: PathBuf,
    assignments: Vec<CString>,
    /// This library's file, and the options that it reads first.
    needed: [CString; 2],
    /// What `LD_PRELOAD` is without us, as an assignment.
    preload_before: Option<CString>,
}

unsafe extern "C" {
    static mut environ: *mut *mut libc::c_char;
}

/// The value of a variable. Not by `getenv`, nor changed by `setenv`: a shell has such functions of its own.
fn get(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: called before the target runs; the value is used before anything can change it.
    let mut all = unsafe { entries(environ.cast_const().cast()) };
    let found = all.find(|entry| same_name(entry.to_bytes(), name.to_bytes()))?;
    let value = found.to_bytes_with_nul().get(name.count_bytes() + 1..)?;
    CStr::from_bytes_with_nul(value).ok()
}

fn session_variable() -> CString {
    CString::new(SESSION_VARIABLE).unwrap_or_default()
}

impl Injected {
    /// What the launcher set, if this process was started by one.
    pub(crate) fn find() -> Option<Self> {
        let session = get(&session_variable())?;
        let mut assignments = Vec::new();
        for name in [&*session_variable(), PRELOAD, PRELOAD_BEFORE] {
            if let Some(value) = get(name) {
                let text = [name.to_bytes(), b"=", value.to_bytes()].concat();
                assignments.push(CString::new(text).ok()?);
            }
        }
        let session = PathBuf::from(OsStr::from_bytes(session.to_bytes()));
        let preload = get(PRELOAD).map_or(&b""[..], CStr::to_bytes);
        let library = preload.split(|&byte| byte == b':').next().unwrap_or_default();
        let options = session.join(OPTIONS_FILE);
        let needed =
            [CString::new(library).ok()?, CString::new(options.as_os_str().as_bytes()).ok()?];
        let preload_before = get(PRELOAD_BEFORE)
            .and_then(|before| CString::new([b"LD_PRELOAD=", before.to_bytes()].concat()).ok());
        Some(Self { session, assignments, needed, preload_before })
    }

    /// Whether a program that is started here and now could load this library and read its options.
    /// The error is a reason.
    pub(crate) fn can_be_loaded(&self) -> Result<(), String> {
        for file in &self.needed {
            let Err(error) = as_next_program(|| can_open(file)) else { continue };
            if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
                // The next program has more room.
                continue;
            }
            return Err(format!(
                "cannot load the agent, {} ({error}): its root folder or its user has changed",
                file.to_string_lossy()
            ));
        }
        Ok(())
    }

    /// Tells the launcher why a program that comes next is not recorded.
    pub(crate) fn report(&self, program: &CStr, reason: String) {
        let program = program.to_string_lossy().into_owned();
        let state = State::Refused { reason, hint: None };
        // Not an image of this process, whose status stays.
        report_program(&self.session, std::process::id(), u32::MAX, program, state);
    }

    /// Whether an environment has the launcher's variables.
    ///
    /// # Safety
    /// `environment` is a null-terminated array of strings (or null).
    pub(crate) unsafe fn is_in(environment: *const *const libc::c_char) -> bool {
        // SAFETY: as the caller promises.
        unsafe { entries(environment) }
            .any(|entry| same_name(entry.to_bytes(), SESSION_VARIABLE.as_bytes()))
    }

    /// Makes `all` what `environment` would be without us, as an array for `execve`.
    ///
    /// # Safety
    /// `environment` is a null-terminated array of strings (or null).
    pub(crate) unsafe fn taken_out(
        &self,
        environment: *const *const libc::c_char,
        all: &mut Vec<*const libc::c_char>,
    ) {
        // SAFETY: as the caller promises.
        let others = unsafe { entries(environment) }.filter(|entry| {
            !self.assignments.iter().any(|a| same_name(a.to_bytes(), entry.to_bytes()))
        });
        all.extend(others.map(CStr::as_ptr));
        all.extend(self.preload_before.as_deref().map(CStr::as_ptr));
        all.push(std::ptr::null());
    }

    /// Makes the environment what it would be without us.
    pub(crate) fn remove() {
        let preload_before = get(PRELOAD_BEFORE).and_then(|before| {
            let text = [PRELOAD.to_bytes(), b"=", before.to_bytes()].concat();
            // It stays as long as the process does.
            Some(CString::new(text).ok()?.into_raw())
        });
        let session = session_variable();
        // SAFETY: runs in a constructor, before the target can look or has a second thread; the array ends with null,
        // and becomes no longer.
        unsafe {
            let (mut from, mut to) = (environ, environ);
            while !from.is_null() && !(*from).is_null() {
                let entry = CStr::from_ptr(*from).to_bytes();
                let is = |name: &CStr| same_name(entry, name.to_bytes());
                let kept = match preload_before {
                    Some(before) if is(PRELOAD) => Some(before),
                    _ if is(PRELOAD) || is(PRELOAD_BEFORE) || is(&session) => None,
                    _ => Some(*from),
                };
                if let Some(kept) = kept {
                    *to = kept;
                    to = to.add(1);
                }
                from = from.add(1);
            }
            if !to.is_null() {
                *to = std::ptr::null_mut();
            }
        }
    }

    /// Makes `all` what `environment` is with the launcher's variables put back, as an array for `execve`.
    ///
    /// # Safety
    /// `environment` is a null-terminated array of strings (or null).
    pub(crate) unsafe fn put_back(
        &self,
        environment: *const *const libc::c_char,
        all: &mut Vec<*const libc::c_char>,
    ) {
        all.extend(self.assignments.iter().map(|a| a.as_ptr()));
        let mut next = environment;
        // SAFETY: as the caller promises.
        unsafe {
            while !next.is_null() && !(*next).is_null() {
                let entry = CStr::from_ptr(*next).to_bytes();
                if !self.assignments.iter().any(|a| same_name(a.to_bytes(), entry)) {
                    all.push(*next);
                }
                next = next.add(1);
            }
        }
        all.push(std::ptr::null());
    }
}

/// Whether a file can be read. `access` would ask for the real user, the loader is the effective one.
fn can_open(file: &CStr) -> std::io::Result<()> {
    // SAFETY: a C string; the descriptor is closed again.
    unsafe {
        let descriptor = libc::open(file.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error());
        }
        libc::close(descriptor);
    }
    Ok(())
}

/// Does something with the capabilities that this thread will have after `execve`: none, unless it is
/// root. Tools that change the user keep theirs until then.
fn as_next_program<T>(work: impl FnOnce() -> T) -> T {
    /// `_LINUX_CAPABILITY_VERSION_3`.
    const VERSION: u32 = 0x2008_0522;
    // SAFETY: cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        return work();
    }
    let header = [VERSION, 0];
    // Effective, permitted, inheritable: the lower halves, then the upper ones.
    let mut now = [0_u32; 6];
    // SAFETY: a header and room for two parts, as this version has them; concerns this thread.
    let set = |capabilities: &[u32; 6]| unsafe {
        libc::syscall(libc::SYS_capset, header.as_ptr(), capabilities.as_ptr()) == 0
    };
    // SAFETY: as above.
    let known = unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), now.as_mut_ptr()) == 0 };
    let [lower, lower_permitted, lower_kept, upper, upper_permitted, upper_kept] = now;
    if !known || lower | upper == 0 {
        return work();
    }
    let without = [0, lower_permitted, lower_kept, 0, upper_permitted, upper_kept];
    let dropped = set(&without);
    let result = work();
    if dropped {
        set(&now);
    }
    result
}

/// # Safety
/// `environment` is a null-terminated array of strings (or null), which stay as they are.
unsafe fn entries<'a>(environment: *const *const libc::c_char) -> impl Iterator<Item = &'a CStr> {
    let mut next = environment;
    std::iter::from_fn(move || {
        // SAFETY: as the caller promises.
        unsafe {
            if next.is_null() || (*next).is_null() {
                return None;
            }
            let entry = CStr::from_ptr(*next);
            next = next.add(1);
            Some(entry)
        }
    })
}

fn same_name(a: &[u8], b: &[u8]) -> bool {
    let name = |s: &[u8]| s.iter().position(|&c| c == b'=').unwrap_or(s.len());
    a[..name(a)] == b[..name(b)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn injected(before: Option<&str>) -> Injected {
        let text = |text: &str| CString::new(text).unwrap();
        Injected {
            session: PathBuf::from("/s"),
            assignments: vec![text("MEMTRAIL_SESSION=/s"), text("LD_PRELOAD=/agent.so:/their.so")],
            needed: [text("/agent.so"), text("/s/options")],
            preload_before: before.map(text),
        }
    }

    /// What `make` makes of an environment.
    fn made(
        environment: &[&CStr],
        make: impl FnOnce(*const *const libc::c_char, &mut Vec<*const libc::c_char>),
    ) -> Vec<String> {
        let mut array: Vec<_> = environment.iter().map(|entry| entry.as_ptr()).collect();
        array.push(std::ptr::null());
        let mut all = Vec::new();
        make(array.as_ptr(), &mut all);
        assert_eq!(all.pop(), Some(std::ptr::null()), "an array ends so");
        // SAFETY: entries of arrays above.
        let text = |&entry: &_| unsafe { CStr::from_ptr(entry) }.to_str().unwrap().to_owned();
        all.iter().map(text).collect()
    }

    #[test]
    fn the_next_program_gets_the_variables_instead_of_its_own() {
        let injected = injected(None);
        let environment = [c"A=1", c"LD_PRELOAD=/their.so", c"MEMTRAIL_SESSION_2=x"];
        // SAFETY: arrays of strings.
        let put_back = made(&environment, |from, all| unsafe { injected.put_back(from, all) });
        let expected = [
            "MEMTRAIL_SESSION=/s",
            "LD_PRELOAD=/agent.so:/their.so",
            "A=1",
            "MEMTRAIL_SESSION_2=x",
        ];
        assert_eq!(put_back, expected);
        // SAFETY: no environment at all.
        let none = made(&[], |_, all| unsafe { injected.put_back(std::ptr::null(), all) });
        assert_eq!(none, expected[..2]);
    }

    #[test]
    fn a_program_that_is_not_recorded_gets_what_it_would_get_alone() {
        let environment =
            [c"A=1", c"MEMTRAIL_SESSION=/s", c"LD_PRELOAD=/agent.so:/their.so", c"odd"];
        for (before, expected) in [
            (None, &["A=1", "odd"][..]),
            (Some("LD_PRELOAD=/their.so"), &["A=1", "odd", "LD_PRELOAD=/their.so"]),
        ] {
            let injected = injected(before);
            // SAFETY: an array of strings.
            let taken = made(&environment, |from, all| unsafe { injected.taken_out(from, all) });
            assert_eq!(taken, expected);
        }
    }

    #[test]
    fn the_variables_are_known_by_their_whole_name() {
        let is_in = |environment: &[&CStr]| {
            let mut array: Vec<_> = environment.iter().map(|entry| entry.as_ptr()).collect();
            array.push(std::ptr::null());
            // SAFETY: an array of strings.
            unsafe { Injected::is_in(array.as_ptr()) }
        };
        assert!(is_in(&[c"A=1", c"MEMTRAIL_SESSION=/s"]));
        assert!(!is_in(&[c"MEMTRAIL_SESSION_2=/s", c"A=MEMTRAIL_SESSION=/s"]));
        assert!(!is_in(&[]));
    }
}
