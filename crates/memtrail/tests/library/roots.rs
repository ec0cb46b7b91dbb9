//! What retains memory, printed by the program itself.

use memtrail_test_support::on_each;

use crate::case;

on_each!(fields_of_modules_and_frames_say_what_they_reach, |compiler| {
    let case = case(compiler, "library_roots");
    assert_eq!(case.plain().stdout(), "big is field -1, a new one -1\n600\n");
    let seen = case.recorded().seen;
    assert_eq!((seen.status.code(), seen.stderr().as_str()), (Some(0), ""));
    let stdout = seen.stdout();
    let own: Vec<&str> = stdout.lines().filter(|line| !line.contains("of Stdlib")).collect();
    // A list of 1,000, three words a cell; an array of 500 and its header; a list of 100.
    assert_eq!(
        own,
        [
            "        3000 words  field    1 of Library_roots",
            "big is field 1, a new one -1",
            "         501 words  value 0 of frame 0: Library_roots.inner (library_roots.ml:8)",
            "         300 words  value 0 of frame 1: Library_roots.outer (library_roots.ml:13)",
            "600",
        ]
    );
});
