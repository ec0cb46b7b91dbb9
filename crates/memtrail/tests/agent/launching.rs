//! Where memtrail cannot record, the program runs all the same, with one line that says why;
//! `--require-recording` makes that an error.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;

/// What the tests run: it prints "done" and a line with its number before.
fn program() -> PathBuf {
    build(&named("ocaml-4.14.1000"), "gives_up").path
}

/// Runs a script of the shell in a folder, with `$MEMTRAIL` and `$PROGRAM` set.
fn shell(folder: &Path, script: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(folder);
    command.env("MEMTRAIL", env!("CARGO_BIN_EXE_memtrail")).env("PROGRAM", program());
    command.envs([("GIVES_UP", "nothing"), ("BLOCKS", "100000")]);
    command.output().expect("a shell")
}

/// The program ran, and memtrail said one line, with this in it.
fn ran_unrecorded(output: &Output, reason: &str) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\ndone\n"), "{output:?}");
    assert!(text.contains(reason), "no {reason:?} in {text:?}");
    let said = text.lines().filter(|line| !line.starts_with("hint: ")).count();
    assert_eq!(said, 1, "one line: {text:?}");
    assert!(text.starts_with("memtrail: not record"), "{text:?}");
}

/// The program did not run.
fn refused(output: &Output, reason: &str) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(output.stdout.is_empty(), "it did not run: {output:?}");
    assert!(text.contains("cannot be recorded, and is not run") && text.contains(reason), "{text}");
}

#[test]
fn the_working_folder_is_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let gone = "mkdir gone; cd gone; rmdir ../gone;";
    let output = shell(folder.path(), &format!("{gone} exec $MEMTRAIL run -- $PROGRAM"));
    ran_unrecorded(&output, "cannot tell the current folder");
    let output =
        shell(folder.path(), &format!("{gone} exec $MEMTRAIL run --require-recording -- $PROGRAM"));
    refused(&output, "cannot tell the current folder");
    // Nothing is relative to it.
    let output = shell(
        folder.path(),
        &format!("F=$PWD; {gone} $MEMTRAIL run -o $F/it.memtrail -- $PROGRAM"),
    );
    assert!(output.status.success(), "{output:?}");
    assert!(folder.path().join("it.memtrail/recording.json").is_file());
}

#[test]
fn hardly_any_descriptors() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = shell(folder.path(), "ulimit -n 4; exec $MEMTRAIL run -- $PROGRAM");
    ran_unrecorded(&output, "Too many open files");
    let output =
        shell(folder.path(), "ulimit -n 4; exec $MEMTRAIL run --require-recording -- $PROGRAM");
    refused(&output, "Too many open files");
}

#[test]
fn hardly_any_address_space() {
    let folder = tempfile::tempdir().expect("a folder");
    // Less, and memtrail's own code would not fit as it is built for tests.
    let output = shell(folder.path(), "ulimit -v 51200; exec $MEMTRAIL run -- $PROGRAM");
    ran_unrecorded(&output, "the limit on address space (ulimit -v) is 50.0 MiB");
}

fn assert_root() {
    use std::os::unix::fs::MetadataExt as _;
    let me = fs::metadata("/proc/self").expect("/proc").uid();
    assert_eq!(me, 0, "chroot, setuid and mount need root: run these tests as root");
}

#[test]
fn nothing_can_be_written() {
    assert_root();
    let folder = tempfile::tempdir_in("/var").expect("a folder");
    let script = "mkdir home; cp $MEMTRAIL memtrail; cp $PROGRAM program
        for folder in /tmp /dev/shm /var/tmp $PWD/home; do mount -t tmpfs -o ro tmpfs $folder || exit 99; done
        mount --bind . . && mount -o remount,ro,bind . && cd $PWD || exit 99
        unset XDG_CACHE_HOME XDG_RUNTIME_DIR TMPDIR; export HOME=$PWD/home
        exec ./memtrail run $OPTION -- ./program";
    let isolated = |option: &str| {
        let script = format!("OPTION={option}\n{script}");
        let mut command = Command::new("unshare");
        command.args(["--mount", "bash", "-c", &script]).current_dir(folder.path());
        command.env("MEMTRAIL", env!("CARGO_BIN_EXE_memtrail")).env("PROGRAM", program());
        command.envs([("GIVES_UP", "nothing"), ("BLOCKS", "100000")]);
        let output = command.output().expect("unshare");
        let _ = fs::remove_dir_all(folder.path().join("home"));
        output
    };
    ran_unrecorded(&isolated(""), "cannot unpack the agent: Read-only file system");
    refused(&isolated("--require-recording"), "cannot unpack the agent: Read-only file system");
}

// A file system that forbids to run what is on it made the dynamic linker complain.
#[test]
fn a_cache_from_which_nothing_can_be_loaded() {
    assert_root();
    let folder = tempfile::tempdir().expect("a folder");
    let script = "mkdir cache; mount -t tmpfs -o noexec tmpfs cache || exit 99
        XDG_CACHE_HOME=$PWD/cache $MEMTRAIL run -o it.memtrail -- $PROGRAM; code=$?
        umount cache; exit $code";
    let output = shell(folder.path(), script);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(!text.contains("ld.so") && text.contains("sampled blocks"), "{text}");
}

#[test]
fn agents_of_other_versions_are_removed_when_nobody_has_used_them_for_a_week() {
    let folder = tempfile::tempdir().expect("a folder");
    let hash = "00112233445566778899aabbccddeeff";
    let script = format!(
        "export XDG_CACHE_HOME=$PWD/cache; mkdir -p -m 700 cache/memtrail; cd cache/memtrail
        touch -d '8 days ago' libmemtrail-agent-{hash}.so setup.lock
        touch -d '6 days ago' libmemtrail-agent-{}.so
        exec $MEMTRAIL run -q -- true",
        hash.replace('0', "f")
    );
    let output = shell(folder.path(), &script);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let cache = folder.path().join("cache/memtrail");
    let left: Vec<_> =
        fs::read_dir(&cache).expect("the cache").map(|e| e.unwrap().path()).collect();
    assert_eq!(left.len(), 3, "ours, a young one, and what is no agent: {left:?}");
    assert!(!cache.join(format!("libmemtrail-agent-{hash}.so")).exists());
}

// The dynamic linker wrote "ERROR: ld.so: object … cannot be preloaded" to the program's stderr.
#[test]
fn an_agent_that_cannot_be_read_after_chroot_or_by_another_user() {
    assert_root();
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let jail = "mkdir -p jail; for file in $(ldd $PROGRAM | grep -o '/[^ ]*') $PROGRAM; do
            mkdir -p jail$(dirname $file); cp -L $file jail$file
        done; cp $PROGRAM program; mkdir -p -m 700 cache; export XDG_CACHE_HOME=$PWD/cache;";
    for command in [
        "chroot jail $PROGRAM",
        "setpriv --reuid 65534 ./program",
        "sh -c 'exec setpriv --reuid 65534 --regid 65534 --clear-groups ./program'",
    ] {
        let output = shell(folder.path(), &format!("{jail} exec $MEMTRAIL run -- {command}"));
        ran_unrecorded(&output, "cannot load the agent");
    }
    let script = format!("{jail} exec $MEMTRAIL run --require-recording -- chroot jail $PROGRAM");
    let output = shell(folder.path(), &script);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(text.contains("cannot load the agent"), "{text}");
    assert!(text.ends_with("memtrail: chroot was run, and not recorded\n"), "{text}");
}

fn child_of(pid: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

fn runs(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Kills `memtrail run`, and gives the program's number.
fn kill_launcher(options: &[&str]) -> u32 {
    let folder = tempfile::tempdir().expect("a folder");
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .arg("run")
        .args(options)
        .args(["-q", "--", "sleep", "120"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("memtrail run");
    let begun = Instant::now();
    let child = loop {
        let child = child_of(launcher.id()).filter(|child| {
            let name = fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
            name == "sleep\n"
        });
        if let Some(child) = child {
            break child;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not start");
        thread::sleep(Duration::from_millis(5));
    };
    launcher.kill().expect("kill");
    launcher.wait().expect("wait");
    child
}

#[test]
fn the_program_outlives_memtrail_unless_it_is_to_be_killed_with_it() {
    let child = kill_launcher(&[]);
    assert!(runs(child), "it runs on");
    let killed = Command::new("kill").args(["-9", &child.to_string()]).status();
    assert!(killed.expect("kill").success());

    let child = kill_launcher(&["--kill-with-parent"]);
    let begun = Instant::now();
    while runs(child) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it runs on");
        thread::sleep(Duration::from_millis(5));
    }
}
