//! An assistant reaches nothing outside the folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use super::session::{Session, copy, files, folder};

const LEAKS: &str = "leaks-4711.memtrail";

#[test]
fn nothing_outside_the_folder_is_read() {
    let outside = folder(&[LEAKS, "fixed-4718.memtrail"]);
    let dir = outside.path().join("dir");
    let out = outside.path().join(LEAKS);
    copy(&out, &dir.join(LEAKS));
    symlink(&out, dir.join("link.memtrail")).unwrap();
    symlink(LEAKS, dir.join("inside.memtrail")).unwrap();
    copy(&out, &dir.join("trace.memtrail"));
    fs::remove_file(dir.join("trace.memtrail/trace.ctf")).unwrap();
    symlink(out.join("trace.ctf"), dir.join("trace.memtrail/trace.ctf")).unwrap();
    copy(&out, &dir.join("pipe.memtrail"));
    fs::remove_file(dir.join("pipe.memtrail/trace.ctf")).unwrap();
    assert!(
        Command::new("mkfifo").arg(dir.join("pipe.memtrail/trace.ctf")).status().unwrap().success()
    );
    let before = files(&out);

    let mut session = Session::start(&dir, &[]);
    for (path, expected) in [
        (format!("../{LEAKS}"), "is outside the folder that this server may read"),
        (format!("{LEAKS}/../../{LEAKS}"), "is outside"),
        (out.display().to_string(), "is outside"),
        ("/proc/self/environ".to_owned(), "is outside"),
        ("..".to_owned(), "is outside"),
        ("link.memtrail".to_owned(), "is outside"),
        ("trace.memtrail".to_owned(), "the symbolic link trace.memtrail/trace.ctf leads elsewhere"),
        ("pipe.memtrail".to_owned(), "trace.ctf is no file"),
        ("absent".to_owned(), "there is no absent"),
        ("nul\u{0}".to_owned(), "there is no nul\u{fffd}"),
    ] {
        for tool in ["leaks", "report", "roots"] {
            let refused = session.refusal(tool, &json!({ "recording": path }));
            assert!(refused.contains(expected), "{path:?}: {refused}");
            assert!(refused.contains("the tool `recordings` lists"), "{refused}");
        }
    }
    let refused =
        session.refusal("diff", &json!({ "before": LEAKS, "after": "../fixed-4718.memtrail" }));
    assert!(refused.contains("is outside"), "{refused}");
    for inside in
        [LEAKS, "inside.memtrail", &format!("./{LEAKS}/"), dir.join(LEAKS).to_str().unwrap()]
    {
        session.answer("leaks", &json!({ "recording": inside }));
    }
    let listed = session.answer("recordings", &json!({}));
    let rows = listed["untrusted"]["recordings"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|row| row["recording"].as_str().unwrap()).collect::<Vec<_>>(),
        [LEAKS]
    );
    assert_eq!(files(&out), before);
}

/// The list read descriptions before it looked what they are: a pipe kept it, and all calls after it, waiting for ever.
#[test]
fn a_pipe_does_not_keep_the_list_waiting() {
    let folder = folder(&[LEAKS]);
    for recording in ["pipe.memtrail", "all.family/pipe.memtrail", "several/pipe.memtrail"] {
        let recording = folder.path().join(recording);
        fs::create_dir_all(&recording).unwrap();
        let pipe = recording.join("recording.json");
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let mut session = Session::start(folder.path(), &[]);
    let listed = session.answer("recordings", &json!({}));
    let rows = listed["untrusted"]["recordings"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["recording"]), (1, &json!(LEAKS)));
}

/// The folder may be a recording itself.
#[test]
fn a_recording_can_be_the_folder() {
    let folder = folder(&[LEAKS]);
    let mut session = Session::start(&folder.path().join(LEAKS), &[]);
    let listed = session.answer("recordings", &json!({}));
    assert_eq!(listed["untrusted"]["recordings"][0]["recording"], ".");
    assert_eq!(
        listed["next"][0],
        json!({ "tool": "leaks", "arguments": { "recording": "." }, "reason": "what leaks" })
    );
    session.answer("leaks", &json!({ "recording": "." }));
}
