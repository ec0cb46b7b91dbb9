//! Installs each artefact and uses it: in minimal Debians, as a user without privileges and without a network.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::artefacts::Release;
use super::files::{copy, remake, write};
use super::sysroot;
use crate::command::{Outcome, output, run};
use crate::debian::{Suites, mirror};

/// The Debians: of the C library that agents are linked with, and later ones.
const SUITES: [&str; 3] = [sysroot::SUITE, "bookworm", "trixie"];

/// Uses an installed memtrail: shows the demo, and records a native program and one of OCaml's.
const USE: &str = r#"set -e
cd "$HOME"
memtrail --version
memtrail demo --recorded < /dev/null | grep -q "keeps growing"
memtrail run --native --rate 1e-3 -q -o native.memtrail -- perl -e 'push @a, "x" x 10000 for 1 .. 3000; exit 3' ||
  test $? = 3
memtrail report native.memtrail --json | grep -q '"exited"'
memtrail report native.memtrail | grep -q 'allocated  *2[0-9]\.[0-9]'
echo '#define x y' > file
memtrail run --rate 1 --snapshot exit -q -o ocaml.memtrail -- cppo file
memtrail report ocaml.memtrail | grep -q 'OCaml 4\|OCaml 5'
memtrail leaks ocaml.memtrail | grep -q "1 snapshot"
"#;

/// Unpacks the tarball in each Debian.
pub(super) fn tarball(release: &Release, archive: &Path) -> Outcome {
    let install = "tar --extract --gzip --file /artefact --directory /opt && ln -s /opt/memtrail-*/memtrail /usr/bin";
    SUITES.iter().try_for_each(|suite| in_debian(release, suite, archive, install))
}

/// Installs the package in each Debian.
pub(super) fn package(release: &Release, package: &Path) -> Outcome {
    SUITES
        .iter()
        .try_for_each(|suite| in_debian(release, suite, package, "dpkg --install /artefact"))
}

/// Installs the wheel into a fresh environment of Python's, and shows the demo.
pub(super) fn wheel(release: &Release, wheel: &Path) -> Outcome {
    let environment = release.folder.join("environment");
    remake(&environment)?;
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let mut pip = Command::new(environment.join("bin/pip"));
    run(pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-index"]).arg(wheel))?;
    let mut version = Command::new(environment.join("bin/memtrail"));
    let version = output(version.arg("--version"))?;
    if version != format!("memtrail {}", release.version) {
        return Err(format!("the wheel's memtrail is {version}"));
    }
    let mut demo = Command::new(environment.join("bin/memtrail"));
    demo.args(["demo", "--recorded", "--output"]).arg(environment.join("demo.memtrail"));
    run(demo.stdin(Stdio::null()).stdout(Stdio::null()))?;
    std::fs::remove_dir_all(&environment).map_err(|error| error.to_string())
}

/// Installs an artefact in a fresh copy of a Debian, and uses it there.
fn in_debian(release: &Release, suite: &str, artefact: &Path, install: &str) -> Outcome {
    println!("--- {} in {suite}", artefact.file_name().unwrap_or_default().to_string_lossy());
    let root = release.cache.join("trial");
    remake(&root)?;
    let mut tar = Command::new("tar");
    run(tar
        .arg("--extract")
        .arg("--file")
        .arg(debian(release, suite)?)
        .arg("--directory")
        .arg(&root))?;
    copy(artefact, &root.join("artefact"))?;
    write(&root.join("use"), USE)?;
    let home = "mkdir -p /home/user && chown 1000:1000 /home/user";
    let used = inside(&root, &[], &format!("({install}) > /dev/null && {home}"))
        .and_then(|()| inside(&root, &["--userspec=1000:1000"], "HOME=/home/user exec sh /use"));
    let removed =
        std::fs::remove_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()));
    used.and(removed)
}

/// Runs a shell in a folder as `/`, without a network, with processes and mounts of its own.
fn inside(root: &Path, options: &[&str], script: &str) -> Outcome {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child", "sh", "-ec"]);
    command.arg("cd \"$1\"; mount -t proc proc proc; mount -t tmpfs -o mode=1777 tmpfs dev/shm; shift; exec chroot \"$@\"");
    command.arg("sh").arg(root).args(options).arg(root).args(["/bin/sh", "-c", script]);
    run(command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env_remove("XDG_CACHE_HOME"))
}

/// A minimal Debian with a program of OCaml's, as an archive in the cache.
fn debian(release: &Release, suite: &str) -> Outcome<PathBuf> {
    let archive = release.cache.join(format!("debian-{suite}.tar"));
    if archive.exists() {
        return Ok(archive);
    }
    let root = release.cache.join(format!("debian-{suite}"));
    remake(&root)?;
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", suite]).arg(&root).arg(mirror()?);
    run(debootstrap.stdout(Stdio::null()))?;
    // The libraries of OCaml's that the package depends on are for bytecode.
    let suites = Suites::fetch(&release.cache.join(format!("lists-{suite}")), &[suite], None)?;
    suites.unpack(&["cppo".to_owned()], &root)?;
    let unfinished = archive.with_extension("part");
    let mut tar = Command::new("tar");
    run(tar.arg("--create").arg("--file").arg(&unfinished).arg("--directory").arg(&root).arg("."))?;
    let failed = |error: std::io::Error| format!("{}: {error}", archive.display());
    std::fs::rename(&unfinished, &archive).map_err(failed)?;
    std::fs::remove_dir_all(&root).map_err(failed)?;
    Ok(archive)
}
