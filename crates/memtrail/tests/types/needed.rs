//! Names are searched when a command first needs them.

use std::process::{Command, Output};

use super::truth::recorded;

fn roots(recording: &std::path::Path, variable: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env_remove("MEMTRAIL_TYPES").envs(variable.map(|value| ("MEMTRAIL_TYPES", value)));
    command.args(["heap", "roots", "--limit", "0"]).arg(recording).output().unwrap()
}

#[test]
fn names_are_searched_when_a_command_first_needs_them() {
    let (_folder, recording) = recorded("system");
    let stored = recording.join("types");
    let text = |output: Output| {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).unwrap()
    };
    // What variables hold has names in the binary, too, variables have none there.
    let variable = "Named_globals.first_class";
    assert!(!text(roots(&recording, Some("off"))).contains(variable));
    assert!(!stored.exists());
    assert!(text(roots(&recording, None)).contains(variable));
    let first = std::fs::metadata(&stored).unwrap().modified().unwrap();
    assert!(text(roots(&recording, None)).contains(variable));
    assert_eq!(std::fs::metadata(&stored).unwrap().modified().unwrap(), first, "searched once");
}

/// What cannot be searched is no error: the heap is shown, with numbers for names.
#[test]
fn without_the_programs_file_fields_have_numbers() {
    let (folder, recording) = recorded("system");
    std::fs::remove_file(folder.path().join("program")).unwrap();
    let output = roots(&recording, None);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("Named_globals / field 0"));
    assert!(!recording.join("types").exists());
}

/// Commands about allocations alone need none: they used to wait for the search.
#[test]
fn exporting_allocations_searches_no_names() {
    let (_folder, recording) = recorded("system");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env_remove("MEMTRAIL_TYPES").args(["export", "--format", "folded"]).arg(&recording);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!recording.join("types").exists());
}

/// `leaks` of 99 processes of a program searched 99 times.
#[test]
fn processes_of_a_program_are_searched_once() {
    let (folder, first) = recorded("system");
    let copy = |name: &str| {
        let to = folder.path().join(name);
        assert!(Command::new("cp").arg("-r").args([&first, &to]).status().unwrap().success());
        to
    };
    let (second, rebuilt) = (copy("second.memtrail"), copy("rebuilt.memtrail"));
    let description = std::fs::read_to_string(rebuilt.join("recording.json")).unwrap();
    let mut description: serde_json::Value = serde_json::from_str(&description).unwrap();
    assert!(description["build_id"].is_string());
    description["build_id"] = "00".into();
    std::fs::write(rebuilt.join("recording.json"), description.to_string()).unwrap();
    let text = |recording| String::from_utf8(roots(recording, None).stdout).unwrap();
    assert!(text(&first).contains("Named_globals.first_class"));
    // Without it nothing can be searched.
    std::fs::remove_file(folder.path().join("program")).unwrap();
    assert!(text(&second).contains("Named_globals.first_class"));
    assert!(text(&rebuilt).contains("Named_globals / field 0"));
    let stored = |recording: &std::path::Path| std::fs::read(recording.join("types")).unwrap();
    assert_eq!(stored(&first), stored(&second));
}
