//! The emulated machine: Debian's kernel, and a root folder in memory.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::sources::sources;
use crate::command::{Outcome, run};
use crate::debian::Suites;

/// Stands for the kernel without drivers of real hardware.
const KERNEL: &str = "linux-image-cloud-arm64";
const SUITES: [&str; 2] = ["stable", "testing"];
/// A shell, and what memtrail and OCaml's programs are linked with.
const PACKAGES: [&str; 4] = ["busybox-static", "libc6", "libgcc-s1", "libzstd1"];
/// The longest that a whole run takes on a busy machine, in seconds.
const PATIENCE: &str = "1500";

/// Unpacks kernel and libraries if they are not there; gives the kernel's file.
pub(super) fn fetch(folder: &Path) -> Outcome<PathBuf> {
    let system = folder.join("system");
    let boot = system.join("boot");
    if !boot.is_dir() {
        let aside = folder.join("system.new");
        let failed = |error: std::io::Error| format!("{}: {error}", system.display());
        for old in [&aside, &system] {
            if old.exists() {
                fs::remove_dir_all(old).map_err(failed)?;
            }
        }
        eprintln!("unpacking a kernel for arm64 into {}", system.display());
        let work = folder.join("work");
        let suites = Suites::fetch(&work, &SUITES, Some("arm64"))?;
        let mut packages = PACKAGES.map(str::to_owned).to_vec();
        packages.push(suites.dependency(KERNEL)?.split(' ').next().unwrap_or_default().to_owned());
        suites.unpack(&packages, &aside)?;
        fs::remove_dir_all(&work).map_err(failed)?;
        fs::rename(&aside, &system).map_err(failed)?;
    }
    let entries = fs::read_dir(&boot).map_err(|e| format!("{}: {e}", boot.display()))?;
    let mut paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let kernel = paths.find(|path| path.to_string_lossy().contains("/vmlinuz-"));
    kernel.ok_or_else(|| format!("there is no kernel in {}", boot.display()))
}

/// Packs the root folder into an archive that the kernel unpacks into memory.
pub(super) fn pack(folder: &Path, memtrail: &Path, programs: &Path) -> Outcome<PathBuf> {
    let (root, image) = (folder.join("root"), folder.join("root.cpio"));
    let failed = |error: std::io::Error| format!("{}: {error}", root.display());
    if root.exists() {
        fs::remove_dir_all(&root).map_err(failed)?;
    }
    for inner in ["bin", "dev", "lib", "proc", "root", "sys", "tmp"] {
        fs::create_dir_all(root.join(inner)).map_err(failed)?;
    }
    let system = folder.join("system/usr");
    fs::copy(system.join("bin/busybox"), root.join("bin/busybox")).map_err(failed)?;
    std::os::unix::fs::symlink("busybox", root.join("bin/sh")).map_err(failed)?;
    let mut copy = Command::new("cp");
    let libraries = system.join("lib/aarch64-linux-gnu");
    for name in
        ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libgcc_s.so.1", "libzstd.so.1"]
    {
        copy.arg(libraries.join(name));
    }
    run(copy.args(["--dereference", "--target-directory"]).arg(root.join("lib")))?;
    let loader = crate::compilers::unpack::loader(&libraries)?;
    fs::copy(&loader, root.join("lib").join(loader.file_name().unwrap_or_default()))
        .map_err(failed)?;
    fs::copy(memtrail, root.join("bin/memtrail")).map_err(failed)?;
    run(Command::new("cp").arg("--recursive").arg(programs).arg(root.join("programs")))?;
    let init = root.join("init");
    fs::copy(sources("arm64/init"), &init).map_err(failed)?;
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    let archive = fs::File::create(&image).map_err(failed)?;
    let pack = "find . -print0 | cpio --quiet --null --create --format=newc --owner=0:0";
    run(Command::new("sh").args(["-c", pack]).current_dir(&root).stdout(archive))?;
    Ok(image)
}

/// Runs the machine until it turns itself off; prints its console and gives it.
pub(super) fn boot(kernel: &Path, image: &Path) -> Outcome<String> {
    let mut qemu = Command::new("timeout");
    qemu.args([PATIENCE, "nice", "qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"]);
    qemu.args(["-smp", "2", "-m", "3G", "-nic", "none", "-nographic", "-no-reboot"]);
    qemu.arg("-kernel").arg(kernel).arg("-initrd").arg(image);
    qemu.args(["-append", "console=ttyAMA0 panic=1 quiet"]);
    let mut child = qemu
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot start qemu-system-aarch64: {e}"))?;
    let mut console = String::new();
    let lines = child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).split(b'\n'));
    for line in lines.map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches('\r');
        println!("{line}");
        console.push_str(line);
        console.push('\n');
    }
    child.wait().map_err(|e| e.to_string())?;
    Ok(console)
}
