//! Official messages of profile stores, from Python's index of packages, and Prometheus' checker of metrics, from Debian.
//!
//! They stay in the cache; `crates/memtrail/tests/ship/official.rs` runs them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{Outcome, cache, run};

/// OpenTelemetry's messages.
const OTLP: &str = "opentelemetry-proto==1.45.2";
/// Google's profiler, of which only the generated messages of pprof are used. It is not built.
const PPROF: &str = "google-cloud-profiler==4.1.0";
const PPROF_MESSAGES: &str = "googlecloudprofiler/profile_pb2.py";
/// Debian's package, of which one program is used. Installed, it would start a server.
const PROMETHEUS: &str = "prometheus";
const PROMTOOL: &str = "./usr/bin/promtool";
/// Name of the folder, which the tests have, too. Other versions get another number.
const FOLDER: &str = "profile-stores-1";

/// Brings what the cache does not have.
pub(crate) fn install() -> Outcome {
    let folder = cache()?.join(FOLDER);
    if folder.is_dir() {
        return Ok(());
    }
    let aside = cache()?.join(format!(".{FOLDER}.{}", std::process::id()));
    eprintln!("fetching {OTLP}, {PPROF} and {PROMETHEUS} into {}", folder.display());
    let outcome = fetch(&aside);
    if outcome.is_ok() && fs::rename(&aside, &folder).is_ok() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(&aside);
    // Another setup may have been faster.
    if folder.is_dir() { Ok(()) } else { outcome }
}

fn fetch(folder: &Path) -> Outcome {
    let work = folder.join("work");
    fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    let mut pip = pip("install");
    pip.args(["--only-binary=:all:", "--root-user-action", "ignore", "--target"]);
    run(pip.arg(folder.join("python")).arg(OTLP))?;
    let mut source = self::pip("download");
    source.args(["--no-deps", "--no-binary=:all:", "--dest", ".", PPROF]);
    run(source.current_dir(&work))?;
    let package = PPROF.replace("==", "-");
    let mut tar = Command::new("tar");
    tar.args(["xzf", &format!("{package}.tar.gz"), "--strip-components", "2", "-C", "../python"]);
    run(tar.arg(format!("{package}/{PPROF_MESSAGES}")).current_dir(&work))?;
    if download(&work).is_err() {
        run(Command::new("apt-get").args(["update", "--quiet=2"]).stdin(Stdio::null()))?;
        download(&work)?;
    }
    let unpack = format!(
        "dpkg-deb --fsys-tarfile {PROMETHEUS}_*.deb | tar x --strip-components 3 -C .. {PROMTOOL}"
    );
    run(Command::new("sh").args(["-c", &unpack]).current_dir(&work))?;
    fs::remove_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))
}

fn pip(action: &str) -> Command {
    let mut pip = Command::new("pip3");
    pip.args([action, "--quiet", "--disable-pip-version-check"]).stdin(Stdio::null());
    pip
}

fn download(work: &Path) -> Outcome {
    let mut apt = Command::new("apt-get");
    apt.args(["--quiet=2", "-o", "APT::Sandbox::User=root", "download", PROMETHEUS])
        .current_dir(work);
    run(apt.stdin(Stdio::null()))
}
