//! Thins the trace of one recording, beside it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

use memtrail_map::MappedFile;
use memtrail_recording::Recording;
use memtrail_recording::rates::Rates;
use memtrail_recording::thinned::{THINNED_FILE, UNFINISHED_FILE, trailer};
use memtrail_recording::threads::Threads;
use memtrail_trace::Bytes;
use memtrail_trace::header::{Header, LEN_V3};
use memtrail_trace::rates::RateChanges;
use memtrail_trace::thin::{Thinning, Unthinned, plan, write};

use super::moments;

/// The result of thinning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// The agent may take the thinned trace.
    Made,
    /// A snapshot is being written: the blocks that it names are not known yet.
    NotYet,
    /// Too much of the trace stays as it is by now: blocks that are alive, and what is new.
    NoRoom,
    /// The recording has no trace to be thinned.
    Nothing,
}

/// Thins the trace of a recording to so many bytes, and leaves it to the agent. `ended`: the result is not wanted any more.
pub(super) fn offer(folder: &Path, bytes: u64, ended: &AtomicBool) -> io::Result<Offer> {
    let unfinished = folder.join(UNFINISHED_FILE);
    let reason = match thin_to(folder, &unfinished, bytes, ended) {
        // The file is locked until it has its name.
        Ok(Ok(_file)) => {
            return fs::rename(&unfinished, folder.join(THINNED_FILE)).map(|()| Offer::Made);
        }
        Ok(Err(reason)) => Ok(reason),
        Err(error) => Err(error),
    };
    // It may not have been made.
    let _ = fs::remove_file(&unfinished);
    reason
}

/// Writes the thinned trace, and gives its file; or tells why there is none.
fn thin_to(
    folder: &Path,
    to: &Path,
    bytes: u64,
    ended: &AtomicBool,
) -> io::Result<Result<File, Offer>> {
    let recording = Recording::open(folder).map_err(io::Error::other)?;
    let Some(description) = &recording.description else { return Ok(Err(Offer::Nothing)) };
    let Some(moments) = moments::of(folder, description) else { return Ok(Err(Offer::NotYet)) };
    let rates = fs::read(&recording.rates).unwrap_or_default();
    let rates = RateChanges { of_domain: Rates::parse(&rates).0.changes.into_inner() };
    let stretches = stretches(&fs::read(&recording.threads).unwrap_or_default());
    let file = File::open(&recording.trace)?;
    let covered = whole_packets(&file)?;
    // An agent takes nothing away from packets that are whole, so the file is not cut short up to there.
    let map = MappedFile::of(&file)?;
    let Some(trace) = map.get(..covered as usize) else { return Ok(Err(Offer::Nothing)) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let thinning = Thinning {
        rates: &rates,
        stretches: &stretches,
        moments: &moments,
        bytes: Bytes(bytes),
        seed: now.as_nanos() as u64,
    };
    let mut planned = match plan(trace, &thinning) {
        Ok(planned) => planned,
        Err(Unthinned::NoRoom(_)) => return Ok(Err(Offer::NoRoom)),
        Err(Unthinned::Damaged) => return Ok(Err(Offer::Nothing)),
    };
    loop {
        if ended.load(Relaxed) {
            return Ok(Err(Offer::Nothing));
        }
        let out = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(to)?;
        // Should this process be killed, the agent finds the file without a lock, and removes it.
        let _ = out.try_lock();
        let mut out = write(trace, &thinning, &planned, BufWriter::with_capacity(1 << 18, out))?;
        out.write_all(&trailer(covered))?;
        out.flush()?;
        let written = out.get_ref().metadata()?.len();
        // A file that is hardly smaller is not worth the work.
        if written <= bytes.max(covered / 4 * 3) {
            return Ok(Ok(out.into_inner()?));
        }
        match planned.stricter(written) {
            Ok(stricter) => planned = stricter,
            Err(_) => return Ok(Err(Offer::NoRoom)),
        }
    }
}

/// The first blocks of the stretches that a list of threads has.
fn stretches(list: &[u8]) -> BTreeMap<u16, Vec<u64>> {
    let (threads, _) = Threads::parse(list);
    let first = |stretches: &[(u64, u32)]| stretches.iter().map(|&(first, _)| first).collect();
    threads.switches.iter().map(|(domain, stretches)| (domain, first(stretches))).collect()
}

/// Bytes of a growing trace up to the end of its last whole packet. Only headers are read: the last packet may be cut
/// short while it is looked at.
fn whole_packets(file: &File) -> io::Result<u64> {
    let size = file.metadata()?.len();
    let mut reader = io::BufReader::with_capacity(LEN_V3, file);
    let (mut end, mut header) = (0, [0; LEN_V3]);
    while end + LEN_V3 as u64 <= size {
        reader.seek(SeekFrom::Start(end))?;
        reader.read_exact(&mut header)?;
        let Ok(header) = Header::parse(&header) else { break };
        let next = end + header.size as u64;
        if next > size {
            break;
        }
        end = next;
    }
    Ok(end)
}
