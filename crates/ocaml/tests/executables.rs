//! Real executables, looked at before they are run.

use crate::support::{Compiler, compilers, installed, system};
use memtrail_ocaml::inspect::{Other, Program, Reason, Rival, Verdict, inspect, refuses_preload};
use memtrail_ocaml::layout::Machine;
use memtrail_ocaml::{Unsupported, Version};

const HELLO: &str =
    "let () = print_endline (String.concat \" \" (List.map Fun.id [\"hello\"; \"there\"]))\n";

fn expected(compiler: &Compiler) -> Version {
    let release = compiler.version();
    let known = Version::ALL.into_iter().find(|version| {
        release.strip_prefix(version.name()).is_some_and(|rest| rest.starts_with(['.', '+']))
    });
    known.unwrap_or_else(|| {
        panic!("{} is OCaml {release}, which the tests do not know", compiler.name)
    })
}

fn recordable(version: Version, stripped: bool) -> Verdict {
    Verdict::Ocaml(Program { version, machine: Machine::HERE, rival: None, stripped })
}

#[test]
fn native_programs_of_each_compiler_can_be_recorded() {
    for compiler in compilers() {
        let version = expected(&compiler);
        for options in [&[][..], &["-ccopt", "-no-pie"], &["-inline", "0"]] {
            let program = compiler.compile("ocamlopt", HELLO, options);
            assert_eq!(inspect(&program.bytes()), recordable(version, false), "{}", compiler.name);
        }
    }
}

#[test]
fn stripped_programs_can_be_recorded() {
    for compiler in compilers() {
        let program = compiler.compile("ocamlopt", HELLO, &[]);
        program.treat("strip", &["--strip-all"]);
        assert_eq!(inspect(&program.bytes()), recordable(expected(&compiler), true));
    }
}

#[test]
fn bytecode_is_refused_however_it_is_packed() {
    for compiler in compilers() {
        for options in [&[][..], &["-custom"], &["-output-complete-exe"]] {
            let program = compiler.compile("ocamlc", HELLO, options);
            let verdict = inspect(&program.bytes());
            assert_eq!(
                verdict,
                Verdict::Refused(Reason::Bytecode),
                "{} {options:?}",
                compiler.name
            );
        }
        // Stripped of all symbols its runtime's strings remain; the bytecode is part of the executable.
        let program = compiler.compile("ocamlc", HELLO, &["-output-complete-exe"]);
        program.treat("strip", &["--strip-all"]);
        assert_eq!(inspect(&program.bytes()), Verdict::Refused(Reason::Bytecode));
    }
    assert_eq!(inspect(&installed("/usr/bin/ocamlrun")), Verdict::Refused(Reason::Bytecode));
    assert_eq!(inspect(&installed("/usr/bin/ocaml")), Verdict::Refused(Reason::Bytecode));
}

#[test]
fn static_programs_are_refused() {
    for compiler in compilers() {
        let program = compiler.compile("ocamlopt", HELLO, &["-ccopt", "-static"]);
        assert_eq!(
            inspect(&program.bytes()),
            Verdict::Refused(Reason::Static),
            "{}",
            compiler.name
        );
        program.treat("strip", &["--strip-all"]);
        assert_eq!(
            inspect(&program.bytes()),
            Verdict::Refused(Reason::Static),
            "{}",
            compiler.name
        );
    }
}

#[test]
fn programs_that_export_nothing_are_refused() {
    for compiler in compilers() {
        let hide = ["-ccopt", "-Wl,--no-export-dynamic"];
        let program = compiler.compile("ocamlopt", HELLO, &hide);
        assert_eq!(
            inspect(&program.bytes()),
            Verdict::Refused(Reason::NoSymbols),
            "{}",
            compiler.name
        );
        program.treat("strip", &["--strip-all"]);
        assert_eq!(
            inspect(&program.bytes()),
            Verdict::Refused(Reason::NoSymbols),
            "{}",
            compiler.name
        );
    }
}

#[test]
fn rivals_are_seen_by_their_units() {
    for (unit, rival) in [
        ("memtrace.ml", Some(Rival::Memtrace)),
        ("memprof_limits.ml", Some(Rival::MemprofLimits)),
        ("memtracer.ml", None),
    ] {
        // The symbols' names follow from the source file's.
        let program = system().compile_unit("ocamlopt", unit, HELLO, &[]);
        match inspect(&program.bytes()) {
            Verdict::Ocaml(program) => assert_eq!(program.rival, rival, "{unit}"),
            verdict => panic!("{unit}: {verdict:?}"),
        }
    }
}

#[test]
fn installed_programs_are_known() {
    for path in [
        "/usr/bin/coqc",
        "/usr/bin/ocamlopt.opt",
        "/usr/bin/ocsigenserver.opt",
        "/usr/bin/ocamlc.opt",
    ] {
        match inspect(&installed(path)) {
            Verdict::Ocaml(program) => {
                assert!(program.stripped, "{path}");
                assert_eq!(program.rival, None, "{path}");
                assert_eq!(program.version, expected(&system()), "{path}");
            }
            verdict => panic!("{path}: {verdict:?}"),
        }
    }
    for path in ["/bin/ls", "/bin/sh", "/usr/bin/env"] {
        assert_eq!(inspect(&installed(path)), Verdict::NotOcaml(Other::Executable), "{path}");
    }
    let myself = std::env::current_exe().expect("this test");
    let verdict = inspect(&std::fs::read(myself).expect("this test"));
    assert_eq!(verdict, Verdict::NotOcaml(Other::Executable), "talks of the runtime, but has none");
}

#[test]
fn another_machines_programs_are_refused() {
    let mut program = system().compile("ocamlopt", HELLO, &[]).bytes();
    // `e_machine`: s390x; the code is not looked at.
    program[18] = 22;
    assert_eq!(inspect(&program), Verdict::Refused(Reason::Machine));
    // `EI_CLASS`: 32 bits.
    program[4] = 1;
    assert_eq!(inspect(&program), Verdict::Refused(Reason::Machine));
}

#[test]
fn damaged_executables_are_survived() {
    let program = system().compile("ocamlopt", HELLO, &[]).bytes();
    for length in (0..program.len()).step_by(40_009) {
        memtrail_ocaml::fuzz::executable(&program[..length]);
    }
    for at in (0..program.len().min(1 << 16)).step_by(509) {
        let mut damaged = program.clone();
        damaged[at] ^= 0xFF;
        memtrail_ocaml::fuzz::executable(&damaged);
    }
}

#[test]
fn programs_with_privileges_are_seen() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    for (mode, refuses) in
        [(0o755, false), (0o4755, true), (0o2755, true), (0o6755, true), (0o1755, false)]
    {
        file.as_file()
            .set_permissions(std::fs::Permissions::from_mode(mode))
            .expect("the mode is set");
        let metadata = file.as_file().metadata().expect("metadata");
        assert_eq!(refuses_preload(&metadata), refuses, "{mode:o}");
    }
}

#[test]
fn every_reason_says_what_to_do() {
    let refusals = [
        Unsupported::NoRuntime,
        Unsupported::Bytecode,
        Unsupported::TooOld,
        Unsupported::Oxcaml,
        Unsupported::Unknown,
    ];
    let reasons = [Reason::Bytecode, Reason::Static, Reason::NoSymbols, Reason::Machine];
    for reason in reasons.into_iter().chain(refusals.map(Reason::Runtime)) {
        let line = reason.to_string();
        assert!(line.len() < 80 && !line.ends_with('.') && !line.contains('\n'), "{line}");
        assert!(!reason.hint().is_empty());
    }
}
