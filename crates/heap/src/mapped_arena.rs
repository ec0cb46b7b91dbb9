//! Columns in files: those of an index, and those that memory is not to hold. With the mapping of
//! snapshots, the only unsafe code of this crate.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memmap2::{MmapMut, MmapOptions};

use crate::graph::number::Number;
use crate::units::Bytes;
use memtrail_map::MappedFile;

/// A column of numbers in a file.
#[derive(Debug)]
pub struct MappedColumn<T> {
    // Dropped in this order: nobody is told to give back what is no longer there.
    watched: Option<Watched>,
    map: MmapMut,
    count: usize,
    /// Whether it has what a file has.
    is_of_file: bool,
    numbers: PhantomData<T>,
}

impl<T> MappedColumn<T> {
    const fn new(watched: Option<Watched>, map: MmapMut, count: usize) -> Self {
        Self { watched, map, count, is_of_file: false, numbers: PhantomData }
    }

    /// With numbers that may be written to without this column's knowing.
    fn with<U>(self) -> MappedColumn<U> {
        let Self { watched, map, count, .. } = self;
        MappedColumn::new(watched, map, count)
    }

    /// Gives the pages of an index's column back to the system. They are read again when they are used.
    pub(crate) fn give_back(&self) {
        if self.is_of_file {
            let start = self.map.as_ptr().cast_mut();
            // A column begins anywhere in the file, and its mapping where that page begins.
            let before = start.addr() % page();
            let start = start.wrapping_sub(before).cast();
            // SAFETY: the mapping has the file's bytes, which come back. Where it fails, the pages stay.
            unsafe { libc::madvise(start, before + self.map.len(), libc::MADV_DONTNEED) };
        }
    }
}

impl MappedColumn<u32> {
    /// The same for several threads. Atomic numbers have the layout of others.
    pub(crate) fn into_atomic(self) -> MappedColumn<AtomicU32> {
        self.with()
    }
}

impl MappedColumn<AtomicU32> {
    /// The same for one owner.
    pub(crate) fn into_plain(self) -> MappedColumn<u32> {
        self.with()
    }
}

impl<T: Number> Deref for MappedColumn<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping has `count` numbers from its start on, which is aligned for eight
        // bytes, and any bytes are numbers (`FromBytes`). It is private to this process: scratch files
        // have no name, and an index is not changed once it has its own.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.count) }
    }
}

impl<T: Number> DerefMut for MappedColumn<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.is_of_file = false;
        // SAFETY: as above, and the mapping is this column's alone.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.count) }
    }
}

/// A column of an index: `count` numbers from byte `offset` on, a multiple of 8. What is written to
/// it does not reach the file.
///
/// # Errors
/// Those of mapping.
pub(crate) fn map_index<T: Number>(
    file: &File,
    offset: usize,
    count: usize,
) -> io::Result<MappedColumn<T>> {
    let mut options = MmapOptions::new();
    options.offset(offset as u64).len(count * size_of::<T>());
    // SAFETY: the mapping is private. An index gets its name when it is whole, and is replaced, not
    // changed.
    let map = unsafe { options.map_copy(file)? };
    Ok(MappedColumn { is_of_file: true, ..MappedColumn::new(None, map, count) })
}

/// Makes the names that files have for a moment.
static NAMES: AtomicU64 = AtomicU64::new(0);

/// A column of zeros in memory that goes back to the system as soon as it is dropped, which an
/// allocator would rather keep.
///
/// # Errors
/// If there is no memory.
pub(crate) fn anonymous<T: Number>(count: usize) -> io::Result<MappedColumn<T>> {
    let map = MmapMut::map_anon(count * size_of::<T>())?;
    Ok(MappedColumn::new(None, map, count))
}

/// Gives memory that was freed back to the system: glibc's `malloc` keeps what lies below blocks in use.
pub fn give_back_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: no block that is in use is touched.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A folder for files without names, and how much memory the process may use meanwhile.
#[derive(Clone, Debug)]
pub struct MappedArena {
    folder: PathBuf,
    watch: Arc<Watch>,
}

impl MappedArena {
    pub(crate) fn new(folder: &Path, memory: Bytes) -> io::Result<Self> {
        Ok(Self { folder: folder.to_path_buf(), watch: Watch::start(memory)? })
    }

    /// Counts a mapped snapshot among what can be given back, as long as the result is kept.
    pub(crate) fn snapshot(&self, map: &MappedFile) -> Watched {
        self.watch.add(map.range())
    }

    /// A column of zeros.
    ///
    /// # Errors
    /// If there is no room in the folder.
    pub(crate) fn column<T: Number>(&self, count: usize) -> io::Result<MappedColumn<T>> {
        let bytes = count * size_of::<T>();
        let number = NAMES.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!(".{}-{number}.scratch", std::process::id()));
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        fs::remove_file(&path)?;
        // SAFETY: allocates room for an open file. Without it, writing to the mapping of a full disk
        // would end the process.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } {
            0 => {}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
        // SAFETY: nobody else can open the file.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(&file)? };
        let start = map.as_ptr().addr();
        let watched = Some(self.watch.add(start..start + bytes));
        Ok(MappedColumn::new(watched, map, count))
    }
}

/// Mapped files, whose pages are given back when the process uses too much memory.
///
/// The files keep what was written: it is read again from the system's cache or, where memory is
/// short, from the disk.
#[derive(Debug)]
struct Watch {
    regions: Mutex<Regions>,
    /// Gone when the watch is: the thread ends.
    stop: Mutex<Option<Sender<()>>>,
}

#[derive(Debug, Default)]
struct Regions {
    mapped: BTreeMap<u64, Range<usize>>,
    next: u64,
}

/// A mapped file that is watched until this is dropped.
#[derive(Debug)]
pub(crate) struct Watched {
    number: u64,
    watch: Arc<Watch>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.regions().mapped.remove(&self.number);
    }
}

/// How often it is looked at how much memory is used.
const LOOK: Duration = Duration::from_millis(2);

impl Watch {
    fn start(memory: Bytes) -> io::Result<Arc<Self>> {
        let (stop, stopped) = channel();
        let watch = Arc::new(Self { regions: Mutex::default(), stop: Mutex::new(Some(stop)) });
        let watched = Arc::downgrade(&watch);
        // What comes in between two looks must fit, too.
        let limit = memory.0 / 8 * 7;
        std::thread::Builder::new().name("memory".into()).spawn(move || {
            while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if resident().is_none_or(|used| used.is_over(limit))
                    && let Some(watch) = watched.upgrade()
                {
                    watch.give_back();
                }
            }
        })?;
        Ok(watch)
    }

    fn regions(&self) -> MutexGuard<'_, Regions> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(self: &Arc<Self>, range: Range<usize>) -> Watched {
        let mut regions = self.regions();
        let number = regions.next;
        regions.next += 1;
        if !range.is_empty() {
            regions.mapped.insert(number, range);
        }
        Watched { number, watch: Arc::clone(self) }
    }

    fn give_back(&self) {
        // They stay mapped while the lock is held.
        let regions = self.regions();
        for range in regions.mapped.values() {
            let start = std::ptr::with_exposed_provenance_mut::<libc::c_void>(range.start);
            // SAFETY: a mapping of a file that is shared or only read: its pages can be taken at any
            // time, and come back with the same bytes. Where it fails, they stay.
            unsafe { libc::madvise(start, range.len(), libc::MADV_DONTNEED) };
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Bytes of memory that the process uses now.
#[derive(Clone, Copy, Debug)]
struct Resident {
    /// All of them.
    all: u64,
    /// Bytes of mapped files among them.
    of_files: u64,
}

impl Resident {
    /// True if pages of files must go. Where other memory alone exceeds the limit, a part of them stays: otherwise the
    /// process would do nothing but read the same pages again.
    const fn is_over(self, limit: u64) -> bool {
        self.all > limit && self.of_files > limit / 4
    }
}

fn resident() -> Option<Resident> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = statm.split_whitespace().skip(1).map(str::parse::<u64>);
    let mut bytes = || Some(pages.next()?.ok()? * page() as u64);
    Some(Resident { all: bytes()?, of_files: bytes()? })
}

/// Bytes of a page.
fn page() -> usize {
    // SAFETY: asks for a constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Bytes in memory of the mapping that an address is in.
    fn resident_at(address: usize) -> u64 {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_there = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends =
                range.map(|(start, end)| [start, end].map(|at| usize::from_str_radix(at, 16)));
            if let Some([Ok(start), Ok(end)]) = ends {
                is_there = (start..end).contains(&address);
            } else if let Some(rss) = line.strip_prefix("Rss:").filter(|_| is_there) {
                return rss.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10;
            }
        }
        panic!("nothing is mapped at {address:x}");
    }

    /// A graph whose other memory exceeded `--memory` was read again and again, for more than ten minutes.
    #[test]
    fn some_pages_of_files_stay_however_much_other_memory_is_used() {
        let is_over = |all, of_files| Resident { all, of_files }.is_over(100);
        assert!(is_over(110, 60) && is_over(170, 30));
        assert!(!is_over(90, 80) && !is_over(170, 20));
    }

    /// The system takes whole pages, and refuses others: nothing was given back.
    #[test]
    fn columns_that_begin_within_a_page_are_given_back() {
        let path = std::env::temp_dir().join(format!("columns-{}", std::process::id()));
        let mut file =
            File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let numbers: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        file.write_all(&numbers).unwrap();
        let column: MappedColumn<u32> = map_index(&file, 40, 150_000).unwrap();
        let sum = || column.iter().map(|number| u64::from(*number)).sum::<u64>();
        let (before, address) = (sum(), column.as_ptr().addr());
        assert!(resident_at(address) >= 600_000);
        column.give_back();
        assert!(resident_at(address) <= 100_000, "{}", resident_at(address));
        assert_eq!(sum(), before);
    }
}
