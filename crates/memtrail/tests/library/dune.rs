//! The library as most people build it.

use std::fs;
use std::path::Path;
use std::process::Command;

use memtrail_test_support::contents;
use memtrail_test_support::running::Case;

#[test]
fn a_dune_project_uses_it() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ocaml");
    let project = tempfile::tempdir().expect("a folder");
    let library = project.path().join("memtrail");
    fs::create_dir(&library).expect("a folder for the library");
    for file in fs::read_dir(&ours).expect("the library").flatten() {
        fs::copy(file.path(), library.join(file.file_name())).expect("copy a file");
    }
    let write = |name: &str, text: &str| {
        fs::write(project.path().join(name), text).expect("write a file");
    };
    write("dune-project", "(lang dune 2.0)\n");
    write("dune", "(executable (name app) (libraries memtrail))\n");
    write(
        "app.ml",
        "let kept = ref []\n\
         let work () = for i = 1 to 100_000 do kept := (i, i) :: !kept done\n\
         let () = Memtrail.with_label \"work\" work; print_endline \"done\"\n",
    );
    // Warnings are errors in dune's development profile.
    let built = Command::new("dune")
        .args(["build", "--root", ".", "./app.exe", "@memtrail/install"])
        .current_dir(project.path())
        .output()
        .expect("dune runs\nhint: cargo xtask setup");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let app = project.path().join("_build/default/app.exe");
    let recorded = Case::command(&app, &[]).options(&["--rate", "1e-2"]).same();
    contents::read(&recorded.recording).expect_words("[work]", 600_000.0);
}
