//! A package for Debian and its relatives.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::artefacts::Release;
use super::files::{copy, remake, write};
use super::tarball::{completions, manual};
use crate::command::{Outcome, output, repository, run};

/// Packs it, has lintian check it, and gives its path.
pub(super) fn pack(release: &Release) -> Outcome<PathBuf> {
    let root = release.folder.join("package");
    remake(&root)?;
    copy(&release.launcher, &root.join("usr/bin/memtrail"))?;
    let documents = root.join("usr/share/doc/memtrail");
    copy(&repository().join("CHANGELOG.md"), &documents.join("changelog"))?;
    write(&documents.join("changelog.Debian"), &changelog(&release.version)?)?;
    compress(&documents)?;
    copy(&repository().join("README.md"), &documents.join("README.md"))?;
    write(&documents.join("copyright"), &copyright()?)?;
    let pages = root.join("usr/share/man/man1");
    manual(release, &pages)?;
    compress(&pages)?;
    completions(
        release,
        &root.join("usr/share"),
        [
            "bash-completion/completions/memtrail",
            "zsh/vendor-completions/_memtrail",
            "fish/vendor_completions.d/memtrail.fish",
        ],
    )?;
    // It runs wherever it is copied to, next to programs of any C library.
    write(
        &root.join("usr/share/lintian/overrides/memtrail"),
        "memtrail: statically-linked-binary [usr/bin/memtrail]\n",
    )?;
    write(&root.join("DEBIAN/control"), &control(&root, &release.version)?)?;
    run(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(&root))?;
    let package = release.folder.join(format!("memtrail_{}-1_amd64.deb", release.version));
    let mut build = Command::new("dpkg-deb");
    run(build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&package))?;
    std::fs::remove_dir_all(&root)
        .map_err(|error| format!("cannot remove {}: {error}", root.display()))?;
    run(Command::new("lintian").args(["--fail-on", "error", "--allow-root"]).arg(&package))?;
    Ok(package)
}

fn control(root: &Path, version: &str) -> Outcome<String> {
    let sizes = output(Command::new("du").args(["--summarize", "--block-size=1024"]).arg(root))?;
    let size = sizes.split_whitespace().next().unwrap_or_default();
    Ok(format!(
        "Package: memtrail\n\
         Version: {version}-1\n\
         Architecture: amd64\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {size}\n\
         Section: devel\n\
         Priority: optional\n\
         Description: where memory was allocated, and what retains it\n \
          memtrail records the allocations of a program that nobody recompiled, takes\n \
          snapshots of its heap, and names what leaks. It is for OCaml, C, C++ and Rust.\n"
    ))
}

const MAINTAINER: &str = "The memtrail authors <memtrail@example.org>";

/// The changes to the package itself.
fn changelog(version: &str) -> Outcome<String> {
    let now = output(Command::new("date").arg("--rfc-email"))?;
    Ok(format!(
        "memtrail ({version}-1) unstable; urgency=medium\n\n  \
         * Changes are in changelog.gz.\n\n \
         -- {MAINTAINER}  {now}\n"
    ))
}

/// The licences, as Debian wants them.
fn copyright() -> Outcome<String> {
    let path = repository().join("LICENSE-MIT");
    let mit =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text =
        mit.lines().map(|line| if line.is_empty() { " .\n".into() } else { format!(" {line}\n") });
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n\
         Files: *\n\
         Copyright: The memtrail authors\n\
         License: Expat or Apache-2.0\n\n\
         License: Expat\n{}\n\
         License: Apache-2.0\n \
          The full text is in /usr/share/common-licenses/Apache-2.0.\n",
        text.collect::<String>()
    ))
}

/// Compresses a file, or all files of a folder, in place.
fn compress(path: &Path) -> Outcome {
    run(Command::new("gzip").args(["--best", "--no-name", "--recursive"]).arg(path))
}
