//! The files of recordings, as agents ask for them: by kind and number, never by path.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memtrail_recording::collections::COLLECTIONS_FILE;
use memtrail_recording::is_alive;
use memtrail_recording::memory::MEMORY_FILE;
use memtrail_recording::rates::RATES_FILE;
use memtrail_recording::relay::{Operation, Sender};
use memtrail_recording::session::{Options, State, Status};
use memtrail_recording::threads::THREADS_FILE;
use memtrail_recording::{
    Description, MODULES_FILE, REQUEST_FILE, TRACE_FILE, drop_snapshot, mark_as_written,
    snapshot_name, unfinished_name,
};

/// A writer that is gone and has not asked for anything for so long does not come back.
const PATIENCE: Duration = Duration::from_secs(3);

/// A process, by its number and image.
type Process = (u32, u32);

/// Folders of recordings, by process and image.
type Recordings = std::collections::HashMap<(u32, u32), PathBuf>;

pub(super) struct Files {
    session: PathBuf,
    options: Options,
    recordings: Recordings,
    open: HashMap<(Process, &'static str), File>,
    parts: HashMap<(Process, Part), Writing>,
}

/// A file of a snapshot, by the snapshot's number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Heap(u64),
    References(u64),
}

impl Part {
    fn name(self) -> String {
        match self {
            Self::Heap(number) => snapshot_name(number),
            Self::References(number) => memtrail_references::file_name(number),
        }
    }

    fn unfinished_name(self) -> String {
        unfinished_name(&self.name())
    }
}

/// A file under way.
struct Writing {
    file: File,
    sender_pid: u32,
    last: Instant,
}

impl Files {
    pub(super) fn new(session: PathBuf, options: Options) -> Self {
        Self {
            session,
            options,
            recordings: Recordings::default(),
            open: HashMap::new(),
            parts: HashMap::new(),
        }
    }

    /// Does what was asked, and gives the answer or the system's error number.
    pub(super) fn serve(
        &mut self,
        sender: Sender,
        operation: Operation,
        payload: &[u8],
    ) -> Result<Vec<u8>, i32> {
        self.try_serve(sender, operation, payload)
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }

    fn try_serve(
        &mut self,
        sender: Sender,
        operation: Operation,
        payload: &[u8],
    ) -> io::Result<Vec<u8>> {
        let process = (sender.pid, sender.image);
        let done = |()| Vec::new();
        match operation {
            Operation::Hold => Ok(Vec::new()),
            Operation::Begin { forked } => self.begin(sender.pid, forked, payload),
            Operation::Report => self.report(process, payload).map(done),
            Operation::Describe => {
                let description: Description = serde_json::from_slice(payload)?;
                let saved = description.save(&self.folder(process)?);
                saved.map_err(|error| match error {
                    memtrail_recording::Error::Io { source, .. } => source,
                    _ => io::Error::from_raw_os_error(libc::EIO),
                })?;
                Ok(Vec::new())
            }
            Operation::Trace(offset) => {
                write_last(self.part(process, TRACE_FILE, offset)?, offset, payload).map(done)
            }
            Operation::Threads(offset) => {
                write_last(self.part(process, THREADS_FILE, offset)?, offset, payload).map(done)
            }
            Operation::Rates(offset) => {
                write_last(self.part(process, RATES_FILE, offset)?, offset, payload).map(done)
            }
            Operation::Memory(offset) => {
                write_last(self.part(process, MEMORY_FILE, offset)?, offset, payload).map(done)
            }
            Operation::Collections(offset) => {
                write_last(self.part(process, COLLECTIONS_FILE, offset)?, offset, payload).map(done)
            }
            Operation::Modules(offset) => {
                write_last(self.part(process, MODULES_FILE, offset)?, offset, payload).map(done)
            }
            Operation::BeginSnapshot(number) => {
                self.begin_part(sender, Part::Heap(number)).map(done)
            }
            Operation::WriteSnapshot(number, offset) => {
                self.write_part(process, Part::Heap(number), offset, payload).map(done)
            }
            Operation::FinishSnapshot(number) => {
                self.finish_part(process, Part::Heap(number)).map(done)
            }
            Operation::RemoveSnapshot(number) => {
                self.remove_part(process, Part::Heap(number)).map(done)
            }
            Operation::BeginReferences(number) => {
                self.begin_part(sender, Part::References(number)).map(done)
            }
            Operation::WriteReferences(number, offset) => {
                self.write_part(process, Part::References(number), offset, payload).map(done)
            }
            Operation::FinishReferences(number) => {
                self.finish_part(process, Part::References(number)).map(done)
            }
            Operation::RemoveReferences(number) => {
                self.remove_part(process, Part::References(number)).map(done)
            }
            Operation::DropSnapshot(number) => {
                drop_snapshot(&self.folder(process)?, number).map(done)
            }
            Operation::TakeRequest => {
                std::fs::remove_file(self.folder(process)?.join(REQUEST_FILE)).map(done)
            }
        }
    }

    /// Makes a file of a snapshot.
    fn begin_part(&mut self, sender: Sender, part: Part) -> io::Result<()> {
        let process = (sender.pid, sender.image);
        let path = self.folder(process)?.join(part.unfinished_name());
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        mark_as_written(&file);
        let writing = Writing { file, sender_pid: sender.sender_pid, last: Instant::now() };
        self.parts.insert((process, part), writing);
        Ok(())
    }

    fn write_part(
        &mut self,
        process: Process,
        part: Part,
        offset: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let writing = self.parts.get_mut(&(process, part)).ok_or(not_there())?;
        writing.last = Instant::now();
        writing.file.write_all_at(bytes, offset)
    }

    /// Gives a file of a snapshot its name.
    fn finish_part(&mut self, process: Process, part: Part) -> io::Result<()> {
        let folder = self.folder(process)?;
        let writing = self.parts.remove(&(process, part)).ok_or(not_there())?;
        std::fs::rename(folder.join(part.unfinished_name()), folder.join(part.name()))?;
        drop(writing);
        Ok(())
    }

    /// Removes a file of a snapshot that is not finished.
    fn remove_part(&mut self, process: Process, part: Part) -> io::Result<()> {
        let path = self.folder(process)?.join(part.unfinished_name());
        self.parts.remove(&(process, part));
        std::fs::remove_file(path)
    }

    /// The image's number in four bytes, then the folder's path.
    fn begin(&mut self, pid: u32, forked: bool, program: &[u8]) -> io::Result<Vec<u8>> {
        let program = String::from_utf8_lossy(program);
        let made = self.options.make_folder(&program, pid, forked);
        let (folder, image) = made.map_err(|(_, error)| error)?;
        let mut answer = image.to_le_bytes().to_vec();
        answer.extend(folder.as_os_str().as_bytes());
        // Whoever keeps the session after us must know it, too.
        let state = State::Recording { folder: folder.clone(), failure: None };
        let program = program.into_owned();
        Status { pid, image, program, state }.save(&self.session)?;
        self.recordings.insert((pid, image), folder);
        Ok(answer)
    }

    fn report(&mut self, process: Process, text: &[u8]) -> io::Result<()> {
        let mut status = Status::parse(text)?;
        if (status.pid, status.image) != process {
            return Err(not_there());
        }
        if let State::Recording { folder, .. } = &mut status.state {
            // What we know, whatever it says.
            *folder = self.folder(process)?;
        }
        status.save(&self.session)
    }

    /// The folder of a process's recording: of those only that we made, or that agents reported
    /// while they could.
    fn folder(&mut self, process: Process) -> io::Result<PathBuf> {
        if let Some(folder) = self.recordings.get(&process) {
            return Ok(folder.clone());
        }
        for status in Status::load_all(&self.session)? {
            if let State::Recording { folder, .. } = status.state {
                self.recordings.entry((status.pid, status.image)).or_insert(folder);
            }
        }
        self.recordings.get(&process).cloned().ok_or_else(not_there)
    }

    /// A file that only grows, to be written at this offset. One that was removed meanwhile is not made anew.
    fn part(&mut self, process: Process, name: &'static str, offset: u64) -> io::Result<&File> {
        let path = self.folder(process)?.join(name);
        // An agent may have put a thinned trace in its place, while it could.
        let known = self.open.get(&(process, name)).is_some_and(|file| is_at(file, &path));
        if !known {
            let mut options = OpenOptions::new();
            options.write(true).create(offset == 0).truncate(false).mode(0o600);
            let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
            self.open.insert((process, name), file);
        }
        self.open.get(&(process, name)).ok_or_else(not_there)
    }

    /// Lets go of files of snapshots whose writers were killed.
    pub(super) fn remove_abandoned(&mut self) {
        let gone =
            |writing: &Writing| writing.last.elapsed() > PATIENCE && !is_alive(writing.sender_pid);
        let abandoned: Vec<_> =
            self.parts.iter().filter(|(_, writing)| gone(writing)).map(|(&key, _)| key).collect();
        for (process, part) in abandoned {
            let _ = self.remove_part(process, part);
            self.parts.remove(&(process, part));
        }
    }
}

/// Writes what is to be the end of a file. Should it fail, the file ends where it did.
fn write_last(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    if file.metadata()?.len() < offset {
        return Err(not_there());
    }
    // A part of a packet may be there.
    file.set_len(offset)?;
    let written = file.write_all_at(bytes, offset);
    if written.is_err() {
        let _ = file.set_len(offset);
    }
    written
}

/// True if a path leads to an open file, or to none.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), std::fs::metadata(path)) else { return true };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

fn not_there() -> io::Error {
    io::Error::from_raw_os_error(libc::EINVAL)
}
