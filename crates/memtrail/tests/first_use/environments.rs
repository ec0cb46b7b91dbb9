//! Narrow terminals, pipes, users without rights, and machines without a network or a writable home.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::{NAME, Stored, printed};

/// Commands that print tables and sentences.
const COMMANDS: [&[&str]; 6] = [
    &["leaks", NAME],
    &["report", NAME],
    &["heap", "roots", NAME],
    &["heap", "growth", NAME],
    &["heap", "sites", NAME],
    &["heap", "histogram", NAME],
];

#[test]
fn sixty_columns_are_enough() {
    let stored = Stored::unpack();
    for words in COMMANDS {
        let output = stored.command().args(words).env("COLUMNS", "60").output().expect("it starts");
        let shown = printed(&output);
        // Commands to be copied are whole.
        let wide = |line: &&str| line.chars().count() > 60 && !line.contains("memtrail ");
        let long: Vec<_> = shown.lines().filter(wide).collect();
        assert!(long.is_empty(), "{words:?}: {long:#?}");
    }
}

#[test]
fn nothing_is_coloured_in_a_pipe_or_on_a_dumb_terminal() {
    let stored = Stored::unpack();
    for words in COMMANDS {
        let output = stored.command().args(words).env("TERM", "dumb").output().expect("it starts");
        assert!(!printed(&output).contains('\u{1b}'), "{words:?}");
        // `script` gives a terminal, which `TERM` says has no colours.
        let line = format!("{} {}", env!("CARGO_BIN_EXE_memtrail"), words.join(" "));
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(stored.0.path());
        // Each of these asks for colours on a terminal of any kind.
        for name in ["CI", "CLICOLOR", "CLICOLOR_FORCE"] {
            script.env_remove(name);
        }
        for (name, value) in [("TERM", "dumb"), ("NO_COLOR", "1")] {
            let output =
                script.env_remove("NO_COLOR").env("TERM", "xterm").env(name, value).output();
            let shown = printed(&output.expect("script starts"));
            assert!(!shown.contains("\u{1b}["), "{words:?} with {name}: {shown:?}");
        }
    }
}

#[test]
fn a_read_only_home_is_no_obstacle() {
    let stored = Stored::unpack();
    let home = tempfile::tempdir().expect("a folder");
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o500)).expect("its mode");
    // Root may write everywhere: the commands run as nobody, in a recording that is not theirs to write.
    let copy = stored.0.path();
    for folder in [copy.to_path_buf(), copy.join(NAME)] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("its mode");
    }
    for entry in fs::read_dir(copy.join(NAME)).expect("files").flatten() {
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o644)).expect("its mode");
    }
    let program = copy.join("memtrail");
    fs::copy(env!("CARGO_BIN_EXE_memtrail"), &program).expect("a copy that nobody may run");
    for words in COMMANDS {
        let mut command = Command::new("setpriv");
        // Without a network.
        command.args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "unshare",
            "--user",
            "--net",
        ]);
        command.arg(&program).args(words).current_dir(copy);
        command.env("HOME", home.path()).env_remove("XDG_CACHE_HOME");
        let output = command.output().expect("setpriv starts");
        assert!(printed(&output).lines().count() > 2, "{words:?}");
    }
}
