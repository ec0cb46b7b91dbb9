//! The folder of a recording: reached by its path as long as the program can, through the launcher
//! afterwards.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use memtrail_recording::relay::{Operation, Refused};
use memtrail_recording::session::Options;
use memtrail_recording::thinned::{THINNED_FILE, UNFINISHED_FILE};
use memtrail_recording::waiting::waiting_name;
use memtrail_recording::{Description, REQUEST_FILE, drop_snapshot, unfinished_snapshot_name};

use crate::os::limits::file_size_limit;
use crate::os::program::program_name;
use crate::recording::relay;

/// A recording's folder.
pub(crate) struct Folder {
    path: PathBuf,
    request: CString,
    /// A trace that the launcher has thinned.
    thinned: CString,
    /// One that the launcher has not finished yet.
    unfinished: CString,
    /// Which folder it is: after `chroot` the path may name another one.
    device: u64,
    inode: u64,
    session: PathBuf,
    pid: u32,
    image: u32,
}

/// The program is not in a position to do it, and nobody does it for the program.
pub(crate) struct OutOfReach {
    pub(crate) errno: i32,
    /// It is the launcher's error, not the program's.
    pub(crate) from_launcher: bool,
}

impl OutOfReach {
    /// The launcher has refused what the program could not do because of `errno`.
    fn refused(refused: Refused, errno: i32) -> Self {
        match refused {
            Refused::Gone => Self { errno, from_launcher: false },
            Refused::Errno(errno) => Self { errno, from_launcher: true },
        }
    }
}

impl Folder {
    /// Makes the folder of a new recording. The error is a reason.
    pub(crate) fn make(
        (options, session): (&Options, &Path),
        pid: u32,
        forked: bool,
    ) -> Result<Self, String> {
        let program = program_name();
        let (path, image) = options.make_folder(&program, pid, forked).or_else(
            |(folder, error): (PathBuf, io::Error)| {
                let known = error.raw_os_error().filter(|&errno| relay::may_help(errno));
                known.and_then(|_| Self::made_by_launcher(&program, pid, forked)).ok_or_else(|| {
                    match error.kind() {
                        io::ErrorKind::AlreadyExists => {
                            format!("{} exists already", folder.display())
                        }
                        _ => format!("cannot make {}: {error}", folder.display()),
                    }
                })
            },
        )?;
        let (device, inode) = identity(&path).unwrap_or_default();
        let named = |name| CString::new(path.join(name).as_os_str().as_bytes()).unwrap_or_default();
        let [request, thinned, unfinished] =
            [REQUEST_FILE, THINNED_FILE, UNFINISHED_FILE].map(named);
        Ok(Self {
            path,
            request,
            thinned,
            unfinished,
            device,
            inode,
            session: session.to_owned(),
            pid,
            image,
        })
    }

    fn made_by_launcher(program: &str, pid: u32, forked: bool) -> Option<(PathBuf, u32)> {
        let mut answer = [0; libc::PATH_MAX as usize + 16];
        let operation = Operation::Begin { forked };
        let length = relay::request(pid, 0, operation, program.as_bytes(), &mut answer).ok()?;
        let (image, path) = answer.get(4..length).zip(answer.first_chunk()).map(|(p, i)| (i, p))?;
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
        Some((path, u32::from_le_bytes(*image)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Path of a trace that the launcher has thinned.
    pub(crate) fn thinned(&self) -> &CStr {
        &self.thinned
    }

    /// Path of one that the launcher has not finished yet.
    pub(crate) fn unfinished(&self) -> &CStr {
        &self.unfinished
    }

    /// Path in the session of what waits to be appended to a file of the recording.
    pub(crate) fn waiting(&self, file: &str) -> PathBuf {
        self.session.join(waiting_name(self.pid, self.image, file))
    }

    /// Counts the programs that the process has been.
    pub(crate) fn image(&self) -> u32 {
        self.image
    }

    /// Whether its path leads to it.
    pub(crate) fn is_here(&self) -> bool {
        self.inode != 0 && identity(&self.path) == Some((self.device, self.inode))
    }

    /// Does something by itself, or else has the launcher do it.
    pub(crate) fn reach<T>(
        &self,
        by_itself: impl FnOnce(&Path) -> io::Result<T>,
        by_launcher: impl FnOnce() -> Result<T, Refused>,
    ) -> Result<T, OutOfReach> {
        let mut errno = libc::ENOENT;
        if self.is_here() {
            match by_itself(&self.path) {
                Ok(done) => return Ok(done),
                Err(error) => errno = error.raw_os_error().unwrap_or(libc::EIO),
            }
        } else if let Err(error) = std::fs::metadata(&self.path) {
            errno = error.raw_os_error().unwrap_or(errno);
        }
        if !relay::may_help(errno) {
            return Err(OutOfReach { errno, from_launcher: true });
        }
        by_launcher().map_err(|refused| OutOfReach::refused(refused, errno))
    }

    /// Has the launcher do something with this recording.
    pub(crate) fn call(&self, operation: Operation, payload: &[u8]) -> Result<(), Refused> {
        relay::call(self.pid, self.image, operation, payload)
    }

    /// Replaces `recording.json`.
    pub(crate) fn save(&self, description: &Description) -> Result<(), OutOfReach> {
        let text = description.to_json();
        if file_size_limit() < text.len() as u64 {
            // A file beyond the limit would be a SIGXFSZ for the target. The launcher has its own limit.
            return self
                .call(Operation::Describe, &text)
                .map_err(|refused| OutOfReach::refused(refused, libc::EFBIG));
        }
        self.reach(
            |path| {
                description.save(path).map_err(|error| match error {
                    memtrail_recording::Error::Io { source, .. } => source,
                    _ => io::Error::from_raw_os_error(libc::EIO),
                })
            },
            || self.call(Operation::Describe, &text),
        )
    }

    /// Whether somebody asks for a snapshot; takes the file away.
    pub(crate) fn take_request(&self) -> bool {
        // SAFETY: a C string. Taking the file away answers who made it.
        if self.is_here() && unsafe { libc::unlink(self.request.as_ptr()) } == 0 {
            return true;
        }
        // Most times nobody asks.
        let errno = io::Error::last_os_error().raw_os_error();
        let nobody = self.is_here() && errno == Some(libc::ENOENT);
        !nobody && self.call(Operation::TakeRequest, &[]).is_ok()
    }

    /// Removes what a writer that was killed has left.
    pub(crate) fn remove_unfinished(&self, number: u64) {
        let _ = self.reach(
            |path| std::fs::remove_file(path.join(unfinished_snapshot_name(number))),
            || self.call(Operation::RemoveSnapshot(number), &[]),
        );
    }

    /// Removes a snapshot that is whole.
    pub(crate) fn drop_snapshot(&self, number: u64) {
        let _ = self.reach(
            |path| drop_snapshot(path, number),
            || self.call(Operation::DropSnapshot(number), &[]),
        );
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}
