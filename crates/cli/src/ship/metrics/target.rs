//! The place where Prometheus finds the metrics: a file of the textfile collector, or a Unix socket.

use std::fs::{self, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::error::{Failure, Kind};
use crate::output::Output;

/// The media type of the format.
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The longest request, and the time for one.
const MAX_REQUEST: usize = 8 << 10;
const TIME: Duration = Duration::from_secs(2);

/// The value of `--metrics`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Target {
    File(PathBuf),
    Socket(PathBuf),
}

impl std::str::FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() {
                Err("unix: needs the path of a socket".to_owned())
            } else {
                Ok(Self::Socket(path.into()))
            };
        }
        let path = PathBuf::from(text);
        if path.extension().is_none_or(|ending| ending != "prom") {
            return Err("the textfile collector reads files whose names end in .prom; \
                        unix:PATH is a socket"
                .to_owned());
        }
        Ok(Self::File(path))
    }
}

/// A target that is written to.
pub(super) enum Published {
    File(PathBuf),
    Socket(Socket),
}

impl Published {
    pub(super) fn open(target: &Target) -> Result<Self, Failure> {
        Ok(match target {
            Target::File(path) => Self::File(path.clone()),
            Target::Socket(path) => Self::Socket(Socket::bind(path)?),
        })
    }

    /// Replaces the metrics.
    pub(super) fn write(&self, text: String) -> Result<(), Failure> {
        match self {
            Self::File(path) => {
                let mut output = Output::create(path)?;
                // The collector runs as another user.
                let open = output.file.set_permissions(Permissions::from_mode(0o644));
                open.and_then(|()| output.file.write_all(text.as_bytes()))
                    .map_err(|error| output.failure(&error))?;
                output.keep()
            }
            Self::Socket(socket) => {
                if let Ok(mut shared) = socket.text.lock() {
                    *shared = text;
                }
                Ok(())
            }
        }
    }

    /// Removes the metrics, which are of the past from now on.
    pub(super) fn remove(&self) {
        if let Self::File(path) = self {
            let _ = fs::remove_file(path);
        }
    }
}

/// A Unix socket that answers HTTP requests with the metrics.
pub(super) struct Socket {
    path: PathBuf,
    text: Arc<Mutex<String>>,
}

impl Socket {
    fn bind(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::new(Kind::Work, format_args!("cannot listen on {}: {error}", path.display()))
                .hint("a path of a socket has at most 107 bytes, and its folder must be writable")
        };
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                let message = format_args!("{} is no socket", path.display());
                return Err(Failure::new(Kind::Usage, message)
                    .hint("--metrics unix:PATH makes a socket where nothing is"));
            }
            // A socket of a command that was killed refuses connections.
            Ok(_) if UnixStream::connect(path).is_ok() => {
                let message = format_args!("another process listens on {}", path.display());
                return Err(Failure::new(Kind::Work, message).hint("choose another path"));
            }
            _ => {}
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Nobody else reaches the socket before its mode is set.
        let private = tempfile::Builder::new()
            .prefix(".mt")
            .rand_bytes(4)
            .tempdir_in(folder.unwrap_or(Path::new(".")))
            .map_err(failed)?;
        let hidden = private.path().join("s");
        let listener = UnixListener::bind(&hidden).map_err(failed)?;
        fs::set_permissions(&hidden, Permissions::from_mode(0o600)).map_err(failed)?;
        fs::rename(&hidden, path).map_err(failed)?;
        let text = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&text);
        let serve = move || {
            for stream in listener.incoming().flatten() {
                let text = shared.lock().map(|text| text.clone()).unwrap_or_default();
                // The scraper's own affair.
                let _ = answer(stream, &text);
            }
        };
        std::thread::Builder::new().name("metrics".into()).spawn(serve).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), text })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Answers one request. One scraper at a time is served, each within a bound of time.
fn answer(mut stream: UnixStream, metrics: &str) -> io::Result<()> {
    let until = Instant::now() + TIME;
    stream.set_write_timeout(Some(TIME))?;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        let read = stream.read(&mut part)?;
        request.extend_from_slice(&part[..read]);
        if read == 0 || request.len() > MAX_REQUEST || left.is_zero() {
            return Ok(());
        }
    }
    let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ');
    let path = |target: &[u8]| target.split(|&byte| byte == b'?').next() == Some(b"/metrics");
    let (status, body) = match (words.next(), words.next()) {
        (Some(b"GET"), Some(target)) if path(target) => ("200 OK", metrics),
        (Some(b"GET"), Some(_)) => ("404 Not Found", "metrics are at /metrics\n"),
        _ => ("405 Method Not Allowed", "only GET\n"),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_file_of_the_collector_or_a_socket() {
        assert_eq!("a/b.prom".parse(), Ok(Target::File("a/b.prom".into())));
        assert_eq!("unix:/run/m".parse(), Ok(Target::Socket("/run/m".into())));
        for wrong in ["a.txt", "unix:", ""] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
