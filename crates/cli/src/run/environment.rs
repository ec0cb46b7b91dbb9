//! The target's environment: this process's, as it stands, with the variables that lead the agent to it.
//!
//! The standard library would sort it, keep the last of two entries of a name, and drop those without a `=`.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use memtrail_recording::preload;
use memtrail_recording::session::SESSION_VARIABLE;

use super::process;

/// Gives `command` the environment in which the dynamic linker loads `library`, which looks for `session`.
pub(super) fn inject(command: &mut Command, library: &Path, session: &Path) {
    let all = injected(
        process::environment(),
        library.as_os_str().as_bytes(),
        session.as_os_str().as_bytes(),
    );
    process::set_environment(command, all);
}

fn injected(environment: Vec<CString>, library: &[u8], session: &[u8]) -> Vec<CString> {
    let session = [SESSION_VARIABLE.as_bytes(), b"=", session, b"\0"].concat();
    let mut preload_at = None;
    let mut before = None;
    let mut all = Vec::with_capacity(environment.len() + 2);
    for entry in environment {
        if let Some(value) = preload::value_in(entry.to_bytes()) {
            // The last one counts for the dynamic linker.
            before = Some(value.to_vec());
            preload_at.get_or_insert(all.len());
        } else if !entry.to_bytes().starts_with(&session[..=SESSION_VARIABLE.len()]) {
            all.push(entry);
        }
    }
    let preload = preload::entry(&preload::with(library, before.as_deref()));
    all.insert(preload_at.unwrap_or(all.len()), assignment(preload));
    all.push(assignment(session));
    all
}

fn assignment(text: Vec<u8>) -> CString {
    CString::from_vec_with_nul(text).expect("paths and entries have no null byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(environment: &[&str]) -> Vec<String> {
        let entries = environment.iter().map(|entry| CString::new(*entry).unwrap()).collect();
        let all = injected(entries, b"/agent.so", b"/s");
        all.into_iter().map(|entry| entry.into_string().unwrap()).collect()
    }

    #[test]
    fn an_environment_keeps_its_order_and_what_is_odd_in_it() {
        let got =
            of(&["Z=1", "A=2", "LD_PRELOAD=/x.so", "A=3", "odd", "=", "MEMTRAIL_SESSION=/old"]);
        let expected =
            ["Z=1", "A=2", "LD_PRELOAD=/agent.so:/x.so", "A=3", "odd", "=", "MEMTRAIL_SESSION=/s"];
        assert_eq!(got, expected);
        assert_eq!(of(&[]), ["LD_PRELOAD=/agent.so", "MEMTRAIL_SESSION=/s"]);
        assert_eq!(
            of(&["LD_PRELOAD=", "LD_PRELOAD=/y"]),
            ["LD_PRELOAD=/agent.so:/y", "MEMTRAIL_SESSION=/s"]
        );
    }
}
