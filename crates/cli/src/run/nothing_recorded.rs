//! Why nothing was recorded of a program that ran to its end, and what to do about it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use memtrail_map::MappedFile;
use memtrail_ocaml::inspect::{Interpreter, interpreter};
use memtrail_recording::preload;
use memtrail_recording::session::Status;

use super::native::Native;
use super::preflight::{Decision, find, look};
use crate::shell_quote::{self, shell_quote};

/// A message without its `memtrail: nothing recorded: `, and a hint.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    message: String,
    hint: Option<String>,
}

/// Prints why nothing was recorded. `statuses`: of programs that were started without the agent.
pub(super) fn announce(command: &[OsString], statuses: &[Status], native: bool) {
    let Words { message, hint } = words(command, statuses, native);
    message!("memtrail: nothing recorded: {message}");
    if let Some(hint) = hint {
        message!("hint: {hint}");
    }
}

fn words(command: &[OsString], statuses: &[Status], native: bool) -> Words {
    let program = command.first().map_or(OsStr::new(""), OsString::as_os_str);
    let name = Path::new(program).display();
    if let Some(started) = statuses.last() {
        let started = shell_quote::path(Path::new(&started.program));
        return Words {
            message: format!("{started} was started without LD_PRELOAD, which loads the agent"),
            hint: Some(format!("put `memtrail run --` directly in front of {started}")),
        };
    }
    if let Some(words) = of_static_program(program) {
        return words;
    }
    if native {
        return Words { message: format!("{name} has not loaded the agent"), hint: None };
    }
    let is_recorded = matches!(look(program, Native::Only, false), Decision::Record);
    let hint = is_recorded.then(|| {
        let words: Vec<String> =
            command.iter().map(|word| shell_quote(&word.to_string_lossy())).collect();
        format!("its calls of malloc can be recorded: memtrail run --native -- {}", words.join(" "))
    });
    let message = format!("no native OCaml program was started by {name}");
    Words { message, hint }
}

/// A static program of another language loads no library. One of OCaml is refused before it is started, with a hint.
fn of_static_program(program: &OsStr) -> Option<Words> {
    let file = MappedFile::open(&find(program)?).ok()?;
    if interpreter(&file) != Interpreter::None {
        return None;
    }
    let message = format!("{} {}", Path::new(program).display(), preload::STATIC);
    Some(Words { message, hint: None })
}

#[cfg(test)]
mod tests {
    use memtrail_recording::session::State;

    use super::*;

    #[test]
    fn a_program_without_the_agent_is_named() {
        let status =
            Status { pid: 7, image: 0, program: "/opt/server".into(), state: State::WithoutAgent };
        let words = words(&["env".into(), "-i".into(), "/opt/server".into()], &[status], false);
        assert_eq!(
            words.message,
            "/opt/server was started without LD_PRELOAD, which loads the agent"
        );
        assert_eq!(
            words.hint.as_deref(),
            Some("put `memtrail run --` directly in front of /opt/server")
        );
    }

    #[test]
    fn a_dynamic_program_can_be_recorded_by_its_calls_of_malloc() {
        let words = words(&["sh".into(), "-c".into(), ":; :".into()], &[], false);
        assert_eq!(
            words.hint.as_deref(),
            Some("its calls of malloc can be recorded: memtrail run --native -- sh -c ':; :'")
        );
    }
}
