//! The two environment variables by which a launcher reaches its target, and their removal.
//!
//! A program that prints its environment, or hands it on, must not see that it is recorded.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use memtrail_recording::preload;
use memtrail_recording::session::{OPTIONS_FILE, SESSION_VARIABLE, State};

use crate::lifecycle::environment_array::NextEnvironment;
use crate::recording::report::report_program;

/// What the next program's environment has of `AddressSanitizer`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sanitizer {
    /// Its library is preloaded.
    pub(crate) is_preloaded: bool,
    /// It lets other libraries come first.
    pub(crate) comes_later: bool,
}

/// What the launcher set, ready to be handed to a program we follow into.
pub(crate) struct Injected {
    /// The session folder.
    pub(crate) session: PathBuf,
    /// The same, as an assignment.
    assignment: CString,
    /// This library's file, and the options that it reads first.
    needed: [CString; 2],
    /// Valgrind runs this process.
    is_under_valgrind: bool,
    /// This process's environment does not have them any more.
    is_removed: AtomicBool,
    /// A program without the agent was reported.
    has_reported: AtomicBool,
}

unsafe extern "C" {
    static mut environ: *mut *mut libc::c_char;
}

/// The entries of this process's environment. Not by `getenv`, nor are they changed by `setenv`: a shell has such
/// functions of its own.
pub(super) fn own_entries() -> impl Iterator<Item = &'static CStr> {
    // SAFETY: what is found is used before anything can change it, as far as libc's own `execvp` can know.
    unsafe { entries(environ.cast_const().cast()) }
}

impl Injected {
    /// What the launcher set, if this process was started by one.
    pub(crate) fn find() -> Option<Self> {
        let assignment = own_entries().find(|entry| session_in(entry).is_some())?.to_owned();
        let session = PathBuf::from(OsStr::from_bytes(session_in(&assignment)?));
        let preloaded = own_entries().find_map(|entry| preload::value_in(entry.to_bytes()))?;
        let library = preload::agent_in(preloaded)?;
        let options = session.join(OPTIONS_FILE);
        let needed =
            [CString::new(library).ok()?, CString::new(options.as_os_str().as_bytes()).ok()?];
        Some(Self {
            session,
            assignment,
            needed,
            is_under_valgrind: preload::is_under_valgrind(preloaded),
            is_removed: AtomicBool::new(false),
            has_reported: AtomicBool::new(false),
        })
    }

    /// The reason that this process is left alone, whatever it is.
    pub(crate) fn refusal(&self) -> Option<State> {
        let reason = || State::Refused { reason: preload::UNDER_VALGRIND.into(), hint: None };
        self.is_under_valgrind.then(reason)
    }

    fn library(&self) -> &[u8] {
        self.needed[0].to_bytes()
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
        self.report_state(program, State::Refused { reason, hint: None });
    }

    /// Tells the launcher of a program that comes next without the variables, which this process had. That is so as this
    /// process took them away: a launcher that empties the environment. Once is enough to explain that nothing was recorded.
    pub(crate) fn report_without_agent(&self, program: &CStr) {
        // A shell tries each folder of `PATH`.
        let is_there = || !program.to_bytes().contains(&b'/') || can_open(program).is_ok();
        if self.is_removed.load(Relaxed) || self.has_reported.load(Relaxed) || !is_there() {
            return;
        }
        self.has_reported.store(true, Relaxed);
        self.report_state(program, State::WithoutAgent);
    }

    fn report_state(&self, program: &CStr, state: State) {
        let program = program.to_string_lossy().into_owned();
        // Not an image of this process, whose status stays.
        report_program(&self.session, std::process::id(), u32::MAX, program, state);
    }

    /// Whether an environment has the launcher's session.
    ///
    /// # Safety
    /// `environment` is a null-terminated array of strings (or null).
    pub(crate) unsafe fn is_in(environment: *const *const libc::c_char) -> bool {
        // SAFETY: as the caller promises.
        unsafe { entries(environment) }.any(|entry| session_in(entry).is_some())
    }

    /// Whether a program with this environment loads the library.
    ///
    /// # Safety
    /// As [`Self::is_in`].
    pub(crate) unsafe fn is_loaded_by(&self, environment: *const *const libc::c_char) -> bool {
        // SAFETY: as the caller promises.
        let mut all = unsafe { entries(environment) };
        all.any(|entry| {
            preload::value_in(entry.to_bytes())
                .is_some_and(|value| preload::has(value, self.library()))
        })
    }

    /// Makes `next` what `environment` would be without us.
    ///
    /// # Safety
    /// As [`Self::is_in`]; its strings live as long as `next` is used.
    pub(crate) unsafe fn taken_out(
        &self,
        environment: *const *const libc::c_char,
        next: &mut NextEnvironment,
    ) {
        // SAFETY: as the caller promises.
        let before = unsafe { self.others(environment, next) };
        next.set_preload(before.as_deref());
        next.end();
    }

    /// Makes `next` what `environment` is with the launcher's variables put back. What the program itself has in
    /// `LD_PRELOAD` stays there.
    ///
    /// # Safety
    /// As [`Self::taken_out`].
    pub(crate) unsafe fn put_back(
        &self,
        environment: *const *const libc::c_char,
        next: &mut NextEnvironment,
    ) {
        // SAFETY: as the caller promises.
        let before = unsafe { self.others(environment, next) };
        next.set_preload(Some(&preload::with(self.library(), before.as_deref())));
        next.push(&self.assignment);
        next.end();
    }

    /// Makes `next` the variables that are not ours, in their order, with a place for `LD_PRELOAD`, whose value
    /// without us is returned.
    ///
    /// # Safety
    /// As [`Self::taken_out`].
    unsafe fn others(
        &self,
        environment: *const *const libc::c_char,
        next: &mut NextEnvironment,
    ) -> Option<Vec<u8>> {
        let mut before = None;
        // SAFETY: as the caller promises.
        for entry in unsafe { entries(environment) } {
            if let Some(value) = preload::value_in(entry.to_bytes()) {
                // The last one counts for the dynamic linker.
                before = preload::without(value, self.library());
                next.place_preload();
            } else if session_in(entry).is_none() {
                next.push(entry);
            }
        }
        before
    }

    /// Makes this process's environment what it would be without us.
    pub(crate) fn remove(&self) {
        self.is_removed.store(true, Relaxed);
        // SAFETY: runs in a constructor, before the target can look or has a second thread; the array ends with null,
        // and becomes no longer.
        unsafe {
            let (mut from, mut to) = (environ, environ);
            while !from.is_null() && !(*from).is_null() {
                let entry = CStr::from_ptr(*from);
                let kept = match preload::value_in(entry.to_bytes()) {
                    // It stays as long as the process does.
                    Some(value) => preload::without(value, self.library())
                        .map(|before| Vec::leak(preload::entry(&before)).as_mut_ptr().cast()),
                    None => session_in(entry).is_none().then_some(*from),
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

/// What an environment has for `AddressSanitizer`.
///
/// # Safety
/// `environment` is a null-terminated array of strings (or null).
pub(crate) unsafe fn sanitizer_in(environment: *const *const libc::c_char) -> Sanitizer {
    let mut found = Sanitizer::default();
    // SAFETY: as the caller promises.
    for entry in unsafe { entries(environment) }.map(CStr::to_bytes) {
        if let Some(value) = preload::value_in(entry) {
            found.is_preloaded = preload::has_sanitizer(value);
        } else if let Some(value) = entry.strip_prefix(preload::SANITIZER_OPTIONS.as_bytes())
            && let Some(options) = value.strip_prefix(b"=")
        {
            found.comes_later = preload::lets_others_come_first(options);
        }
    }
    found
}

/// The session folder, if an entry names it.
fn session_in(entry: &CStr) -> Option<&[u8]> {
    entry.to_bytes().strip_prefix(SESSION_VARIABLE.as_bytes())?.strip_prefix(b"=")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As long as the process, as an agent's are.
    fn injected() -> &'static Injected {
        let text = |text: &str| CString::new(text).unwrap();
        Box::leak(Box::new(Injected {
            session: PathBuf::from("/s"),
            assignment: text("MEMTRAIL_SESSION=/s"),
            needed: [text("/libmemtrail-agent-1.so"), text("/s/options")],
            is_under_valgrind: false,
            is_removed: AtomicBool::new(false),
            has_reported: AtomicBool::new(false),
        }))
    }

    /// What `make` makes of an environment.
    fn made(
        environment: &[&CStr],
        make: impl FnOnce(*const *const libc::c_char, &mut NextEnvironment),
    ) -> Vec<String> {
        let mut array: Vec<_> = environment.iter().map(|entry| entry.as_ptr()).collect();
        array.push(std::ptr::null());
        let mut next = NextEnvironment::default();
        make(array.as_ptr(), &mut next);
        // SAFETY: an array of strings, which live in this function.
        unsafe { entries(next.array()) }.map(|entry| entry.to_str().unwrap().to_owned()).collect()
    }

    fn put_back(environment: &[&CStr]) -> Vec<String> {
        // SAFETY: arrays of strings.
        made(environment, |from, next| unsafe { injected().put_back(from, next) })
    }

    fn taken_out(environment: &[&CStr]) -> Vec<String> {
        // SAFETY: arrays of strings.
        made(environment, |from, next| unsafe { injected().taken_out(from, next) })
    }

    #[test]
    fn the_next_program_gets_the_variables_beside_its_own() {
        let environment =
            [c"Z=1", c"LD_PRELOAD=/their.so", c"MEMTRAIL_SESSION_2=x", c"A=2", c"A=3", c"odd"];
        let expected = [
            "Z=1",
            "LD_PRELOAD=/libmemtrail-agent-1.so:/their.so",
            "MEMTRAIL_SESSION_2=x",
            "A=2",
            "A=3",
            "odd",
            "MEMTRAIL_SESSION=/s",
        ];
        assert_eq!(put_back(&environment), expected);
        // Those that it has already are not there twice.
        let again: Vec<CString> =
            expected.iter().map(|entry| CString::new(*entry).unwrap()).collect();
        let again: Vec<&CStr> = again.iter().map(CString::as_c_str).collect();
        assert_eq!(put_back(&again), expected);
        assert_eq!(
            taken_out(&again),
            ["Z=1", "LD_PRELOAD=/their.so", "MEMTRAIL_SESSION_2=x", "A=2", "A=3", "odd"]
        );
        // SAFETY: no environment at all.
        let none = made(&[], |_, next| unsafe { injected().put_back(std::ptr::null(), next) });
        assert_eq!(none, ["LD_PRELOAD=/libmemtrail-agent-1.so", "MEMTRAIL_SESSION=/s"]);
    }

    #[test]
    fn a_program_that_is_not_recorded_gets_what_it_would_get_alone() {
        let cases: [(&CStr, &[&str]); 4] = [
            (c"LD_PRELOAD=/libmemtrail-agent-1.so", &["A=1", "odd"]),
            (c"LD_PRELOAD=/libmemtrail-agent-1.so:", &["A=1", "LD_PRELOAD=", "odd"]),
            (c"LD_PRELOAD=/their.so", &["A=1", "LD_PRELOAD=/their.so", "odd"]),
            (
                c"LD_PRELOAD=/x.so:/libmemtrail-agent-1.so:/their.so",
                &["A=1", "LD_PRELOAD=/x.so:/their.so", "odd"],
            ),
        ];
        for (preload, expected) in cases {
            assert_eq!(taken_out(&[c"A=1", preload, c"MEMTRAIL_SESSION=/s", c"odd"]), expected);
        }
    }

    #[test]
    fn the_variables_are_known_by_their_whole_name() {
        let asked = |environment: &[&CStr]| {
            let mut array: Vec<_> = environment.iter().map(|entry| entry.as_ptr()).collect();
            array.push(std::ptr::null());
            // SAFETY: an array of strings.
            unsafe { (Injected::is_in(array.as_ptr()), injected().is_loaded_by(array.as_ptr())) }
        };
        assert_eq!(asked(&[c"A=1", c"MEMTRAIL_SESSION=/s"]), (true, false));
        assert_eq!(asked(&[c"LD_PRELOAD=/x.so:/libmemtrail-agent-1.so"]), (false, true));
        assert_eq!(asked(&[c"MEMTRAIL_SESSION_2=/s", c"A=MEMTRAIL_SESSION=/s"]), (false, false));
        assert_eq!(asked(&[]), (false, false));
    }
}
