//! What happens in the frozen copy: the heap is walked and written down.
//!
//! Everything holds still here and this is the only thread. What other threads held when the copy was
//! made stays held: no lock of the program's, of its libraries' or of ours is touched.

mod bigarrays;
mod details;
mod file;
mod finalisers;
mod malloc;
mod mapped;
mod modules;
mod multicore;
mod orphans;
mod regions;
mod registered;
mod roots;
mod scan;
mod single;
mod stacks;
mod symbols;
mod tracked;

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use memtrail_heap::write::{
    ClosureFormat, Facts, Runtime as HeapRuntime, Source, write as write_heap,
};
use memtrail_ocaml::heap::loaded::Symbol;
use memtrail_ocaml::memory::{Memory as _, ThisProcess};
use memtrail_ocaml::symbols::heap as names;
use memtrail_ocaml::{Family, Version};

use super::Setting;
use super::safepoint::Safepoint;
use super::writers::Page;
use crate::os::clock::monotonic;
use crate::recording::recorder::{Place, Target};
use details::RuntimeDetails;
use file::File;
use roots::RootList;
use symbols::Symbols;

/// What to write, and where.
pub(super) struct WriteJob<'a> {
    pub(super) setting: &'static Setting,
    pub(super) place: Place,
    pub(super) page: &'static Page,
    pub(super) number: u64,
    pub(super) safepoint: &'a Safepoint<'a>,
    /// Microseconds since the Unix epoch.
    pub(super) taken: u64,
}

/// The heap as it is looked at.
pub(super) struct ForkedView<'a> {
    pub(super) target: &'static Target,
    pub(super) memory: ThisProcess,
    pub(super) domains: &'a [u64],
    symbols: Symbols,
    /// Tells the blocks of this recording.
    pub(super) epoch: u8,
}

/// The code of a function of the runtime's.
fn code(function: &Symbol) -> &'static [u8] {
    // SAFETY: the symbol says how long the function is; code is never unmapped here.
    unsafe { std::slice::from_raw_parts(function.address as *const u8, function.size as usize) }
}

/// Writes the snapshot and gives the copy's exit code.
pub(super) fn write(job: &WriteJob<'_>) -> i32 {
    match try_write(job) {
        Ok(()) => 0,
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            job.page.errno.store(errno, Release);
            1
        }
    }
}

fn try_write(job: &WriteJob<'_>) -> std::io::Result<()> {
    let begun = monotonic();
    let mut file = File::create(job.place.folder, job.number).map_err(|error| {
        job.page.out_of_reach.store(!error.from_launcher, Release);
        std::io::Error::from_raw_os_error(error.errno)
    })?;
    job.page.begun.store(true, Release);
    let target = job.setting.target;
    let memory = target.capturer.memory();
    let domains = job.safepoint.domains;
    let symbols = Symbols::of_this_process(&memory);
    let view = ForkedView { target, memory, domains, symbols, epoch: job.place.epoch };
    let mut list = RootList::new();
    let regions = match target.runtime.version.family() {
        Family::Single => {
            single::roots(&view, &mut list);
            regions::single(&view)
        }
        Family::Multicore => {
            multicore::roots(&view, &mut list);
            regions::multicore(&view)
        }
    };
    let none = symbol_value(&view, names::EPHE_NONE);
    let source = Source {
        regions,
        labels: list.labels,
        roots: list.roots,
        ephemerons: list.ephemerons,
        ephe_none: none,
        samples: list.samples,
        facts: facts(job, &view),
        runtime: HeapRuntime {
            reserved_header_bits: 0,
            closures: match target.runtime.version {
                Version::V4_11 => ClosureFormat::Plain,
                _ => ClosureFormat::WithInfo,
            },
            continuations: target.runtime.version.family() == Family::Multicore,
        },
        contents: job.setting.options.contents,
    };
    let written = write_heap(&mut file, &source, &mut RuntimeDetails::new(&view, job.page));
    let written = written.and_then(|written| {
        let page = job.page;
        page.blocks.store(written.blocks, Relaxed);
        page.bytes.store(written.bytes, Relaxed);
        page.outside.store(written.outside, Relaxed);
        page.write_ns.store(monotonic().saturating_sub(begun), Relaxed);
        file.finish()
    });
    if written.is_err() {
        // Half a snapshot is none.
        file.remove();
    }
    written
}

/// How long the original stood still; it tells at once.
pub(super) fn pause(page: &Page) -> u64 {
    for _ in 0..1000 {
        match page.pause.load(Acquire) {
            // SAFETY: plain system call.
            0 => unsafe { libc::usleep(1000) },
            pause => return pause,
        };
    }
    0
}

/// The word at an exported variable; 0 without one. `dlsym` may not be called here.
pub(super) fn symbol_value(view: &ForkedView<'_>, name: &str) -> u64 {
    let at = view.symbols.address(name);
    at.and_then(|at| view.memory.u64(at)).unwrap_or(0)
}

fn facts(job: &WriteJob<'_>, view: &ForkedView<'_>) -> Facts {
    let runtime = &job.setting.target.runtime;
    let mut counters: Vec<(Vec<u8>, u64)> = Vec::new();
    for &state in view.domains {
        memtrail_ocaml::heap::counters::each(
            &view.memory,
            &runtime.layout,
            state,
            |name, value| match counters.iter_mut().find(|(known, _)| known == name.as_bytes()) {
                Some((_, sum)) => *sum += value,
                None => counters.push((name.into(), value)),
            },
        );
    }
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
        counters,
    }
}
