//! The user's browser, if there is one that can be seen.
//!
//! The page's address holds the token, and every user of the machine can read the arguments of a
//! process. The browser is therefore given a private file that redirects to the page.

use std::env;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memtrail_text::markup;
use tempfile::TempDir;

/// How long the file stays after `xdg-open` has ended: a browser may only be starting by then.
const KEPT: Duration = Duration::from_secs(60);
const FILE: &str = "memtrail.html";

/// The private folder with the file that redirects. It is removed after a while, or with this:
/// when the page is no longer served, nothing needs to lead to it.
#[derive(Debug)]
pub(super) struct Redirect(Arc<Mutex<Option<TempDir>>>);

impl Drop for Redirect {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(folder: &Mutex<Option<TempDir>>) {
    drop(folder.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Whether a browser that opens now would stand before the person who typed the command.
fn is_there() -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    (set("DISPLAY") || set("WAYLAND_DISPLAY")) && !set("SSH_CONNECTION")
}

/// Opens `url` if there is a browser to open it with; says nothing if not, as the user has the
/// address on the screen. The page can be opened as long as the result is held.
pub(super) fn open(url: &str) -> Option<Redirect> {
    if !is_there() {
        return None;
    }
    let folder = write_redirect(url).ok()?;
    // A process group of its own: Ctrl-C is meant for us, not for a browser that was just started.
    let mut child = Command::new("xdg-open")
        .arg(folder.path().join(FILE))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    let folder = Arc::new(Mutex::new(Some(folder)));
    let redirect = Redirect(Arc::clone(&folder));
    std::thread::spawn(move || {
        let _ = child.wait();
        std::thread::sleep(KEPT);
        remove(&folder);
    });
    Some(redirect)
}

/// Writes the file into a folder of its own, both readable by this user alone.
fn write_redirect(url: &str) -> io::Result<TempDir> {
    let parent = env::var_os("XDG_RUNTIME_DIR").filter(|folder| Path::new(folder).is_dir());
    let parent = parent.map_or_else(env::temp_dir, Into::into);
    let private = Permissions::from_mode(0o700);
    let folder =
        tempfile::Builder::new().prefix("memtrail-").permissions(private).tempdir_in(parent)?;
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(folder.path().join(FILE))?
        .write_all(page(url).as_bytes())?;
    Ok(folder)
}

/// A page that leads to `url` at once, without a script.
fn page(url: &str) -> String {
    let url = markup::escaped(url);
    format!(
        r#"<!doctype html>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>memtrail</title>
<a href="{url}">memtrail</a>
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_an_address_ends_the_attribute() {
        let page = page(r#"http://127.0.0.1:1/t/#f=a&f=">"#);
        assert!(page.contains(r#"url=http://127.0.0.1:1/t/#f=a&amp;f=&quot;&gt;">"#), "{page}");
    }

    #[test]
    fn the_file_is_private_and_goes_with_its_folder() {
        let folder = write_redirect("http://127.0.0.1:1/token/").unwrap();
        let path = folder.path().to_path_buf();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.join(FILE))), (0o700, 0o600));
        drop(folder);
        assert!(!path.exists());
    }
}
