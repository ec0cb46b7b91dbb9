//! Builds what users install without Rust, and tries it: a tarball, a Debian package, a wheel.
//!
//! | step | result |
//! |---|---|
//! | [`sysroot`] | the C library of the oldest Debian, which agents are linked with |
//! | [`build`] | agents for that library; a launcher without one, which carries them |
//! | [`tarball`], [`debian_package`], [`wheel`] | the launcher, with its manual |
//! | [`materials`] | checksums, and the list of all crates |
//! | [`trial`] | each is installed and used in a minimal Debian, by a user, without a network |

mod artefacts;
mod build;
mod debian_package;
mod files;
mod materials;
mod sysroot;
mod tarball;
mod trial;
mod wheel;

use std::process::Command;

use crate::command::{Outcome, cache, output, target};
use crate::packages::install_programs;
use artefacts::Release;
use files::remake;

/// Programs that it needs, and the packages of Debian's that bring them.
const TOOLS: [(&str, &str); 7] = [
    ("gcc", "gcc"),
    ("objdump", "binutils"),
    ("musl-gcc", "musl-tools"),
    ("debootstrap", "debootstrap"),
    ("dpkg-deb", "dpkg"),
    ("lintian", "lintian"),
    ("pip3", "python3-pip"),
];

/// Builds everything into `release-artefacts` below the folder of builds, and tries it unless that is left out.
/// `MEMTRAIL` names a launcher that was built before.
pub(crate) fn release(with_trial: bool) -> Outcome {
    install_programs(&TOOLS)?;
    let cache = cache()?.join("release");
    let folder = target().join("release-artefacts");
    remake(&folder)?;
    let launcher = match std::env::var_os("MEMTRAIL") {
        Some(built) => built.into(),
        None => build::launcher(&build::agents(&sysroot::sysroot(&cache)?)?)?,
    };
    let named = output(Command::new(&launcher).arg("--version"))?;
    let version = named.strip_prefix("memtrail ").ok_or(format!("the launcher is {named}"))?;
    let release = Release { version: version.to_owned(), launcher, folder, cache };
    let tarball = tarball::pack(&release)?;
    let package = debian_package::pack(&release)?;
    let wheel = wheel::pack(&release)?;
    materials::write_all(&release)?;
    if with_trial {
        trial::tarball(&release, &tarball)?;
        trial::package(&release, &package)?;
        trial::wheel(&release, &wheel)?;
    }
    println!("{}", release.folder.display());
    Ok(())
}
