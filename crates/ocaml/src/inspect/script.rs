//! Files that begin with `#!`.

use super::reason::Reason;
use super::verdict::{Other, Verdict};

/// The longest first line that the kernel reads.
const MAX_LINE_LEN: usize = 255;

/// The first line's interpreter and its one argument.
pub(super) struct Script {
    interpreter: String,
    argument: String,
}

/// Reads the first line, if it names an interpreter.
pub(super) fn read(file: &[u8]) -> Option<Script> {
    let line = file.strip_prefix(b"#!")?;
    let line = line.get(..MAX_LINE_LEN).unwrap_or(line);
    let line = line.split(|&byte| byte == b'\n' || byte == 0).next()?;
    let line = String::from_utf8_lossy(line);
    let line = line.trim();
    let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    Some(Script { interpreter: interpreter.to_owned(), argument: argument.trim().to_owned() })
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `ocamlrun`, its variants for debugging, and the toplevel, which is bytecode everywhere.
fn interprets_bytecode(program: &str) -> bool {
    matches!(program, "ocaml") || program.starts_with("ocamlrun")
}

/// Bytecode is run by `ocamlrun`, toplevel scripts by `ocaml`; both also by way of `env`.
pub(super) fn judge(script: &Script) -> Verdict {
    let mut program = base_name(&script.interpreter);
    if program == "env" {
        let named = script.argument.split_whitespace().find(|word| !word.starts_with('-'));
        program = named.map_or(program, base_name);
    }
    if interprets_bytecode(program) {
        Verdict::Refused(Reason::Bytecode)
    } else {
        Verdict::NotOcaml(Other::Script(script.interpreter.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::inspect;
    use super::*;

    #[test]
    fn scripts_of_ocaml_are_bytecode() {
        for line in [
            "#!/usr/bin/ocamlrun\n\0\0",
            "#! /opt/bin/ocaml -w -a\n",
            "#!/usr/bin/env ocaml",
            "#!/usr/bin/env -S ocamlrund x",
        ] {
            assert_eq!(inspect(line.as_bytes()), Verdict::Refused(Reason::Bytecode), "{line}");
        }
    }

    #[test]
    fn other_scripts_may_start_anything() {
        let script = |path: &str| Verdict::NotOcaml(Other::Script(path.to_owned()));
        assert_eq!(inspect(b"#!/bin/sh\nexec coqc"), script("/bin/sh"));
        assert_eq!(inspect(b"#!/usr/bin/env bash\n"), script("/usr/bin/env"));
        assert_eq!(inspect(b"#!"), script(""));
        assert_eq!(inspect(b"#!/\xff\n"), script("/\u{fffd}"));
    }
}
