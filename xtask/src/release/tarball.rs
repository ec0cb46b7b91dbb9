//! The launcher with its manual, licences and completions, to be unpacked anywhere.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::artefacts::Release;
use super::files::{copy, remake};
use crate::command::{Outcome, repository, run};

/// Files of the repository that come along.
pub(super) const DOCUMENTS: [&str; 4] =
    ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Packs it, and gives its path.
pub(super) fn pack(release: &Release) -> Outcome<PathBuf> {
    let name = format!("memtrail-{}-x86_64-linux", release.version);
    let folder = release.folder.join(&name);
    remake(&folder)?;
    copy(&release.launcher, &folder.join("memtrail"))?;
    for document in DOCUMENTS {
        copy(&repository().join(document), &folder.join(document))?;
    }
    manual(release, &folder.join("man/man1"))?;
    completions(
        release,
        &folder.join("completions"),
        ["memtrail.bash", "_memtrail", "memtrail.fish"],
    )?;
    let archive = release.folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--owner=0", "--group=0", "--sort=name", "--file"])
        .arg(&archive);
    run(tar.arg("--directory").arg(&release.folder).arg(&name))?;
    std::fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {name}: {error}"))?;
    Ok(archive)
}

/// Writes the manual pages into a folder.
pub(super) fn manual(release: &Release, folder: &Path) -> Outcome {
    run(Command::new(&release.launcher).args(["man", "--output"]).arg(folder))
}

/// Writes the completions of bash, zsh and fish into a folder.
pub(super) fn completions(release: &Release, folder: &Path, names: [&str; 3]) -> Outcome {
    for (shell, name) in ["bash", "zsh", "fish"].into_iter().zip(names) {
        let path = folder.join(name);
        let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        let file = File::create(&path).map_err(failed)?;
        run(Command::new(&release.launcher).args(["completions", shell]).stdout(file))?;
    }
    Ok(())
}
