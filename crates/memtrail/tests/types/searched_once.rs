//! The result of a search is kept in the cache, as long as nothing that it depends on changes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::truth::recorded;

/// Names of files in a folder that begin so.
fn files(folder: &Path, prefix: &str) -> Vec<String> {
    let all = fs::read_dir(folder).unwrap().flatten();
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

/// Each recording of coqc was searched for 13 s.
#[test]
fn a_program_that_was_searched_is_not_searched_again() {
    let (folder, _) = recorded("system");
    let (program, cache) = (folder.path().join("program"), folder.path().join("cache"));
    let types = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.env("XDG_CACHE_HOME", &cache).env_remove("OCAMLPATH").arg("types").arg(&program);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let found = types();
    assert!(found.contains("fields named (100 %)"), "{found}");
    let kept = cache.join("memtrail");
    let helpers = files(&kept, "types-");
    assert_eq!((helpers.len(), files(&kept, "found-types-").len()), (1, 1));
    // Without the reader of the compiler's files nothing can be searched, and it would be built anew.
    let (helper, aside) = (kept.join(&helpers[0]), folder.path().join("helper"));
    fs::rename(&helper, &aside).unwrap();
    assert_eq!(types(), found);
    assert!(!helper.exists());
    // The program is built again: its files have another time.
    fs::rename(&aside, &helper).unwrap();
    let cmt = fs::File::open(folder.path().join("named_globals.cmt")).unwrap();
    cmt.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
    assert_eq!(types(), found);
    let all = files(&kept, "found-types-");
    assert_eq!(all.len(), 2);
    // A damaged one is searched again.
    for name in &all {
        fs::write(kept.join(name), b"MTTYPES").unwrap();
    }
    assert_eq!(types(), found);
}
