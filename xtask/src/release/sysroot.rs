//! The C library that agents are linked with: an agent runs in programs with that version and all later ones.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::files::remake;
use crate::command::Outcome;
use crate::debian::Suites;

/// The oldest Debian whose packages are still published.
pub(super) const SUITE: &str = "bullseye";
/// Version of its C library.
pub(super) const GLIBC: (u32, u32) = (2, 31);

const PACKAGES: [&str; 3] = ["libc6", "libc6-dev", "linux-libc-dev"];

/// Fetches the library once, and gives the folder that stands for `/`.
pub(super) fn sysroot(cache: &Path) -> Outcome<PathBuf> {
    let root = cache.join(format!("sysroot-{SUITE}"));
    let whole = root.join(".whole");
    if !whole.exists() {
        remake(&root)?;
        let suites = Suites::fetch(&cache.join("lists"), &[SUITE], None)?;
        suites.unpack(&PACKAGES.map(str::to_owned), &root)?;
        lead_links_inside(&root, &root)?;
        fs::write(&whole, "")
            .map_err(|error| format!("cannot write {}: {error}", whole.display()))?;
    }
    Ok(root)
}

/// Lets links to absolute paths lead into the folder.
fn lead_links_inside(root: &Path, folder: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_symlink() {
            let to = fs::read_link(&path).map_err(failed)?;
            if let Ok(inside) = to.strip_prefix("/") {
                fs::remove_file(&path)
                    .and_then(|()| symlink(root.join(inside), &path))
                    .map_err(failed)?;
            }
        } else if path.is_dir() {
            lead_links_inside(root, &path)?;
        }
    }
    Ok(())
}
