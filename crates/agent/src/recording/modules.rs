//! The executable and the libraries of this process, written beside the trace for whoever names its addresses.

use memtrail_recording::MODULES_FILE;
use memtrail_recording::relay::Operation;
use memtrail_symbols::modules::{Module, parse};
use memtrail_trace::Timestamp;

use crate::os::append_file::AppendFile;
use crate::os::forked;
use crate::recording::folder::Folder;
use crate::recording::relay;

/// How often it is looked for libraries that were loaded since, in microseconds: addresses of code that the
/// program has made itself are in none.
const LOOK_EVERY: u64 = 100_000;
/// Looks before that: a program loads its libraries one after the other as it begins.
const FIRST_LOOKS: u32 = 64;

/// The modules, as far as they were met.
pub(crate) struct Modules {
    all: Vec<Module>,
    /// This library.
    ours: Option<Module>,
    file: Option<AppendFile>,
    length: u64,
    /// The file lacks some: the disk was full.
    lacks_some: bool,
    looked: Option<Timestamp>,
    looks: u32,
}

impl Modules {
    /// None so far.
    pub(crate) fn new() -> Self {
        Self {
            all: Vec::new(),
            ours: None,
            file: None,
            length: 0,
            lacks_some: false,
            looked: None,
            looks: 0,
        }
    }

    /// Looks for those that are there now, once.
    pub(crate) fn begin(&mut self, folder: &Folder, now: Timestamp) {
        if self.looks > 0 {
            return;
        }
        // Without the file, functions stay places in files.
        let file = folder.reach(
            |path| AppendFile::create(&path.join(MODULES_FILE)),
            || folder.call(Operation::Modules(0), &[]).map(|()| AppendFile::elsewhere()),
        );
        self.file = file.ok();
        self.look(folder, now);
        let here = parse as fn(_) -> _ as usize as u64;
        let ours = self.all.iter().find(|module| module.in_file(here).is_some());
        self.ours = ours.cloned();
    }

    /// Lets nothing more be written, in a forked child.
    pub(crate) fn close(&mut self) {
        self.file = None;
    }

    /// Whether an address is in this library.
    pub(crate) fn is_ours(&self, address: u64) -> bool {
        self.ours.as_ref().is_some_and(|ours| ours.in_file(address).is_some())
    }

    /// An address as a place in a file, and the file.
    pub(crate) fn place(
        &mut self,
        folder: &Folder,
        address: u64,
        now: Timestamp,
    ) -> (String, String) {
        // A child of `vfork` may see other files.
        if self.find(address).is_none() && forked::is_owner_itself() {
            self.look(folder, now);
        }
        let Some((module, offset)) = self.find(address) else {
            return (format!("[code at {address:#x}]"), String::new());
        };
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        (format!("{name}+{offset:#x}"), module.path.to_string_lossy().into_owned())
    }

    fn find(&self, address: u64) -> Option<(&Module, u64)> {
        self.all.iter().find_map(|module| Some((module, module.in_file(address)?)))
    }

    /// Reads the process's mappings, and writes those of files if there are new ones.
    fn look(&mut self, folder: &Folder, now: Timestamp) {
        let is_recent = |looked: Timestamp| now.0.saturating_sub(looked.0) < LOOK_EVERY;
        if self.looks >= FIRST_LOOKS && self.looked.is_some_and(is_recent) {
            return;
        }
        self.looked = Some(now);
        self.looks = self.looks.saturating_add(1);
        let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
        let before = self.all.len();
        for module in parse(&maps) {
            if !self.all.contains(&module) {
                self.all.push(module);
            }
        }
        if self.all.len() == before && !self.lacks_some {
            return;
        }
        let lines = maps.lines().filter(|line| line.contains('/'));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        if let Some(file) = &self.file {
            let written = match file.append(text.as_bytes(), self.length) {
                Err(errno) if relay::may_help(errno) => {
                    folder.call(Operation::Modules(self.length), text.as_bytes()).map_err(|_| errno)
                }
                written => written,
            };
            self.lacks_some = written == Err(libc::ENOSPC);
            self.length += written.map_or(0, |()| text.len() as u64);
        }
    }
}
