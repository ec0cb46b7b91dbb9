//! A wheel, which brings the launcher as a program: `pip install memtrail`.

use std::path::PathBuf;
use std::process::Command;

use super::artefacts::Release;
use super::files::{copy, remake, write};
use crate::command::{Outcome, output, repository, run};

/// A static program needs no library of the system's.
const TAG: &str = "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64";
/// The tool that packs wheels.
const PACKER: &str = "wheel==0.45.1";

/// Packs it, and gives its path.
pub(super) fn pack(release: &Release) -> Outcome<PathBuf> {
    let (root, version) = (release.folder.join("wheel"), &release.version);
    remake(&root)?;
    copy(&release.launcher, &root.join(format!("memtrail-{version}.data/scripts/memtrail")))?;
    let about = root.join(format!("memtrail-{version}.dist-info"));
    write(&about.join("METADATA"), &metadata(version)?)?;
    write(&about.join("WHEEL"), &facts())?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&repository().join(licence), &about.join("licenses").join(licence))?;
    }
    let tools = release.cache.join("wheel");
    if !tools.join("wheel").exists() {
        let mut pip = Command::new("pip3");
        pip.args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
        ]);
        run(pip.arg("--target").arg(&tools).arg(PACKER))?;
    }
    let mut packer = Command::new("python3");
    packer.env("PYTHONPATH", &tools).args(["-m", "wheel", "pack"]).arg(&root);
    output(packer.arg("--dest-dir").arg(&release.folder))?;
    std::fs::remove_dir_all(&root)
        .map_err(|error| format!("cannot remove {}: {error}", root.display()))?;
    let wheel = release.folder.join(format!("memtrail-{version}-{TAG}.whl"));
    if wheel.exists() { Ok(wheel) } else { Err(format!("{} is not there", wheel.display())) }
}

fn facts() -> String {
    let tags = TAG.rsplit_once('-').map_or(("", ""), |(python, platforms)| (python, platforms));
    let lines = tags.1.split('.').map(|platform| format!("Tag: {}-{platform}\n", tags.0));
    format!(
        "Wheel-Version: 1.0\nGenerator: memtrail\nRoot-Is-Purelib: false\n{}",
        lines.collect::<String>()
    )
}

fn metadata(version: &str) -> Outcome<String> {
    let path = repository().join("README.md");
    let readme =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(format!(
        "Metadata-Version: 2.4\n\
         Name: memtrail\n\
         Version: {version}\n\
         Summary: Where was this memory allocated, and what retains it?\n\
         License-Expression: MIT OR Apache-2.0\n\
         License-File: LICENSE-APACHE\n\
         License-File: LICENSE-MIT\n\
         Requires-Python: >=3.7\n\
         Description-Content-Type: text/markdown\n\n\
         {readme}"
    ))
}
