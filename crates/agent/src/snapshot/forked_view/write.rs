//! Writes the heap of the frozen copy into its file.

use std::sync::atomic::Ordering::{Relaxed, Release};

use memtrail_heap::write::{Facts, write as write_heap};
use memtrail_ocaml_snapshot as walk;
use memtrail_recording::SnapshotReason;

use super::copy::{self, ForkedView};
use super::details::CopyDetails;
use super::file::{File, Room};
use super::native_references;
use crate::os::clock::monotonic;
use crate::recording::installed::Place;
use crate::references::{Original, areas};
use crate::snapshot::safepoint::Safepoint;
use crate::snapshot::setting::Setting;
use crate::snapshot::writers::Page;

/// What to write, and where.
pub(in crate::snapshot) struct WriteJob<'a> {
    pub(in crate::snapshot) setting: &'static Setting,
    pub(in crate::snapshot) place: Place,
    pub(in crate::snapshot) page: &'static Page,
    pub(in crate::snapshot) number: u64,
    pub(in crate::snapshot) safepoint: &'a Safepoint<'a>,
    /// Microseconds since the Unix epoch.
    pub(in crate::snapshot) taken: u64,
    /// What it tells of itself, if references to blocks from `malloc` are looked for, too.
    pub(in crate::snapshot) original: Option<Original>,
}

/// Writes the snapshot and gives the copy's exit code.
pub(in crate::snapshot) fn write(job: &WriteJob<'_>) -> i32 {
    match try_write(job) {
        Ok(()) => 0,
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(match error.kind() {
                // More blocks than the file can number.
                std::io::ErrorKind::Unsupported => libc::EOVERFLOW,
                _ => libc::EIO,
            });
            job.page.errno.store(errno, Release);
            1
        }
    }
}

/// The room for the file. One that somebody asks for by hand is written in any case.
fn room(job: &WriteJob<'_>) -> Room {
    let options = &job.setting.target.options;
    let disk = options.disk.filter(|_| job.safepoint.reason != SnapshotReason::Request);
    Room { disk, is_shared: options.children }
}

fn try_write(job: &WriteJob<'_>) -> std::io::Result<()> {
    let begun = monotonic();
    let mut file = File::create(job.place.folder, job.number, room(job)).map_err(|error| {
        job.page.out_of_reach.store(!error.from_launcher, Release);
        std::io::Error::from_raw_os_error(error.errno)
    })?;
    job.page.begun.store(true, Release);
    let target = job.setting.target;
    // Before much else has memory in this copy.
    let original = job.original.clone();
    let areas = original.and_then(|original| areas(&target.memory, original));
    let view = copy::view(target, job.safepoint.domains, job.place.epoch);
    let list = walk::roots(&view);
    let regions = walk::regions(&view);
    let scan = areas.map(|areas| {
        // SAFETY: there is an original in the job only if the copy was made while the blocks were held.
        unsafe { native_references::begin(target, &job.place, &view, areas, &regions) }
    });
    let contents = job.setting.options.contents;
    let source = walk::source(&view, list, regions, facts(job, &view), contents);
    let mut details = CopyDetails::new(&view, job.page, scan);
    let written = write_heap(&mut file, &source, &mut details);
    let written = written.and_then(|written| {
        let page = job.page;
        page.blocks.store(written.blocks, Relaxed);
        page.bytes.store(written.bytes, Relaxed);
        page.outside.store(written.outside, Relaxed);
        page.cpu_ns.store(crate::os::clock::of_process(), Relaxed);
        page.write_ns.store(monotonic().saturating_sub(begun), Relaxed);
        file.finish()
    });
    if let (Ok(()), Some(scan)) = (&written, details.into_scan()) {
        // Without them, the snapshot of the heap is whole.
        let _ = native_references::finish(scan, (&job.place, job.number), job.taken);
    }
    if written.is_err() {
        job.page.no_room.store(file.is_full(), Release);
        // Half a snapshot is none.
        file.remove();
    }
    written
}

fn facts(job: &WriteJob<'_>, view: &ForkedView<'_>) -> Facts {
    let runtime = &job.setting.target.runtime;
    Facts {
        taken_at: job.taken * 1000,
        clock: job.safepoint.stopped_at,
        pause: 0,
        number: job.number,
        reason: Some(job.safepoint.reason),
        label: job.safepoint.label.unwrap_or_default().into(),
        program: job.setting.target.arguments.first().cloned().unwrap_or_default().into_bytes(),
        runtime: runtime.version.name().into(),
        pid: u64::from(job.place.pid),
        counters: walk::counters(view),
    }
}
