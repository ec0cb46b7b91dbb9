//! The recordings of a family as one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use memtrail_profile::processes::frame_name;
use memtrail_recording::family::{Member, Origin};
use memtrail_recording::rates::{self, Rates};
use memtrail_recording::threads::{self, Thread, Threads};
use memtrail_recording::{Description, FileState, Recording};
use memtrail_text::rounded::grouped;
use memtrail_trace::merge::{Copied, Part, merge};
use memtrail_trace::{Detail, Reader, Timestamp, TraceInfo};

use crate::error::{Failure, Kind};
use crate::recording_facts;
use crate::trace_file::{self, Bytes};
use crate::{damage, outcome};

/// Names of the processes of a family that is read as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProcessNames {
    /// As their recordings: `coqc-4711`.
    #[default]
    Labels,
    /// By their order, without what the system called them: `coqc 1`.
    Numbers,
}

/// Members whose traces can be read, and what is wrong with others.
struct Sources<'a> {
    members: Vec<(&'a Member, &'a Recording, Bytes)>,
    problems: Vec<String>,
}

/// What a member is called.
struct Called<'a> {
    members: &'a [&'a Member],
    names: ProcessNames,
}

impl Called<'_> {
    fn name(&self, member: &Member) -> String {
        match self.names {
            ProcessNames::Labels => member.label().to_owned(),
            ProcessNames::Numbers => {
                let place = self.members.iter().position(|other| std::ptr::eq(*other, member));
                format!("{} {}", member.program(), place.unwrap_or(0) + 1)
            }
        }
    }

    /// The same of its recording.
    fn recording(&self, member: &Member) -> String {
        match self.names {
            ProcessNames::Labels => member.name.clone(),
            ProcessNames::Numbers => self.name(member),
        }
    }
}

/// Merges the traces of several members of the family in `path`. The recording is there as long as its files are open.
pub(super) fn merged(
    path: &Path,
    members: &[&Member],
    names: ProcessNames,
) -> Result<(Recording, Vec<File>), Failure> {
    let called = Called { members, names };
    let mut sources = Sources { members: Vec::new(), problems: Vec::new() };
    for &member in members {
        match open(member) {
            Ok((recording, bytes)) => sources.members.push((member, recording, bytes)),
            Err(problem) => {
                sources.problems.push(format!("{}: {problem}", called.recording(member)));
            }
        }
    }
    let mut readers = Vec::new();
    for (member, recording, bytes) in &sources.members {
        match Reader::new(bytes) {
            Ok(reader) => readers.push((*member, *recording, reader)),
            Err(error) => sources.problems.push(format!("{}: {error}", called.recording(member))),
        }
    }
    let mut problems = sources.problems;
    let info = common_info(path, &readers, &problems)?;
    let parts = parts(&readers, &called);
    let parts: Vec<Part<'_>> = (readers.iter().zip(&parts))
        .map(|((member, _, trace), (name, freed))| {
            let file = member.description().map_or(member.program(), |d| d.program.as_str());
            let file = file.as_bytes();
            Part { trace, name: name.as_bytes(), file, freed: *freed }
        })
        .collect();
    let mut lists = Lists::new(&readers);
    let mut out = BufWriter::new(tempfile::tempfile()?);
    let decoded = merge(&parts, &info, &mut out, &mut |copied| lists.add(copied))?;
    for ((member, recording, _), decoded) in readers.iter().zip(&decoded) {
        if damage::of_trace(recording, &decoded.anomalies).is_err() {
            let first = damage::list(&decoded.anomalies).next().unwrap_or_default();
            problems.push(format!("{} is damaged: {first}", called.recording(member)));
        }
    }
    let files = vec![
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?,
        unnamed(&lists.rates)?,
        unnamed(&lists.threads)?,
    ];
    let there = |index: usize| PathBuf::from(format!("/proc/self/fd/{}", files[index].as_raw_fd()));
    let recording = Recording {
        path: path.to_path_buf(),
        trace: there(0),
        rates: there(1),
        threads: there(2),
        description: describe(members, &called),
        problem: (!problems.is_empty()).then(|| problems.join("; ")),
    };
    Ok((recording, files))
}

fn open(member: &Member) -> Result<(&Recording, Bytes), String> {
    let recording = member.recording.as_ref().map_err(ToString::to_string)?;
    trace_file::open(recording)
        .map(|bytes| (recording, bytes))
        .map_err(|error| format!("cannot read its trace: {error}"))
}

type Readers<'a> = [(&'a Member, &'a Recording, Reader<'a>)];

/// What the merged trace is of: the first process, from the first moment on.
fn common_info(
    path: &Path,
    readers: &Readers<'_>,
    problems: &[String],
) -> Result<TraceInfo, Failure> {
    let Some((_, _, first)) = readers.first() else {
        let message = format_args!("cannot read {}: {}", path.display(), problems.join("; "));
        return Err(Failure::new(Kind::Input, message));
    };
    let first = first.info();
    for (member, _, reader) in readers {
        let info = reader.info();
        if info.sample_rate != first.sample_rate || info.word_bits != first.word_bits {
            let message = format!(
                "{} was recorded at another rate ({:e}) than the first process ({:e})",
                member.name, info.sample_rate.0, first.sample_rate.0
            );
            return Err(Failure::new(Kind::Usage, message)
                .hint("choose one with --process, or name its folder"));
        }
    }
    let start = readers.iter().map(|(_, _, reader)| reader.info().start).min();
    Ok(TraceInfo { start: start.unwrap_or(first.start), ..first.clone() })
}

/// The name of each process's outermost frame, and when its memory is freed.
fn parts(readers: &Readers<'_>, called: &Called<'_>) -> Vec<(String, Option<Timestamp>)> {
    let ended = |(_, recording, reader): &(&Member, &Recording, Reader<'_>)| {
        if recording_facts::grows(recording) {
            return None;
        }
        let known = recording.description.as_ref().and_then(|d| d.ended_unix_us);
        // Nobody saw its end: it ran until its last event at least.
        Some(known.map_or_else(|| reader.for_each(Detail::Marks, |_, _| {}).end, Timestamp))
    };
    let ends: Vec<Option<Timestamp>> = readers.iter().map(ended).collect();
    let any_runs = ends.contains(&None);
    let last = ends.iter().flatten().max().copied();
    let freed = |end: Option<Timestamp>| end.filter(|&end| any_runs || Some(end) < last);
    let names = readers.iter().map(|(member, ..)| frame_name(called.name(member).as_str()));
    names.zip(ends.iter().map(|&end| freed(end))).collect()
}

/// The lists of rates and threads of the merged trace, as they are written.
struct Lists {
    /// What the members' own lists say.
    of_parts: Vec<(Rates, Option<Threads>, Thread)>,
    /// The last line of each domain.
    last_rate: HashMap<u16, u8>,
    last_thread: HashMap<u16, u32>,
    /// Numbers of threads, by part and number there.
    numbers: BTreeMap<(usize, Option<u32>), u32>,
    rates: String,
    threads: String,
}

impl Lists {
    fn new(readers: &Readers<'_>) -> Self {
        let of_part = |(member, recording, _): &(&Member, &Recording, Reader<'_>)| {
            let rates = std::fs::read(&recording.rates).unwrap_or_default();
            let threads = std::fs::read(&recording.threads).ok();
            let threads = threads.map(|bytes| Threads::parse(&bytes).0);
            let threads = threads.filter(|threads| threads.threads.len() > 1);
            let process =
                Thread { tid: member.pid().unwrap_or(0), name: member.program().to_owned() };
            (Rates::parse(&rates).0, threads, process)
        };
        Self {
            of_parts: readers.iter().map(of_part).collect(),
            last_rate: HashMap::new(),
            last_thread: HashMap::new(),
            numbers: BTreeMap::new(),
            rates: format!("{}\n", rates::HEADING),
            threads: format!("{}\n", threads::HEADING),
        }
    }

    fn add(&mut self, copied: Copied) {
        let Copied { part, from: (old_domain, old_id), to: (domain, id) } = copied;
        let Some((rates, threads, process)) = self.of_parts.get(part) else { return };
        let halvings = rates.of(old_domain.0, old_id.0);
        if self.last_rate.insert(domain.0, halvings).unwrap_or(0) != halvings {
            let _ = writeln!(self.rates, "r {} {} {halvings}", domain.0, id.0);
        }
        let old = threads.as_ref().and_then(|threads| threads.of(old_domain.0, old_id.0));
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry((part, old)).or_insert_with(|| {
            let thread = threads.as_ref().zip(old).and_then(|(all, old)| all.threads.get(&old));
            let (tid, name) = match thread {
                Some(thread) => (thread.tid, format!("{}: {}", process.name, thread.name)),
                None => (process.tid, process.name.clone()),
            };
            let name = name.replace(['\n', '\r'], " ");
            let _ = writeln!(self.threads, "t {next} {tid} {name}");
            next
        });
        if self.last_thread.insert(domain.0, number) != Some(number) {
            let _ = writeln!(self.threads, "b {} {} {number}", domain.0, id.0);
        }
    }
}

/// A file that is gone when nobody holds it any more.
fn unnamed(text: &str) -> std::io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// What is known of all members together: of the first, with what readers should know of any.
fn describe(members: &[&Member], called: &Called<'_>) -> Option<Description> {
    let known = || members.iter().filter_map(|member| Some((*member, member.description()?)));
    let (_, first) = known().next()?;
    let mut whole = first.clone();
    whole.snapshots = None;
    whole.ended_unix_us = known().filter_map(|(_, description)| description.ended_unix_us).max();
    whole.trace.state = FileState::Complete;
    whole.trace.blocks = known().map(|(_, description)| description.trace.blocks).sum();
    whole.trace.bytes = known().map(|(_, description)| description.trace.bytes).sum();
    // Each is named below.
    whole.trace.lost = 0;
    whole.sampling.small_minor_heap =
        known().find_map(|(_, description)| description.sampling.small_minor_heap);
    if known().any(|(_, description)| description.sampling.impossible.is_none()) {
        whole.sampling.impossible = None;
    }
    whole.notes = notes(&known().collect::<Vec<_>>(), called);
    Some(whole)
}

fn notes(known: &[(&Member, &Description)], called: &Called<'_>) -> Vec<String> {
    let mut by_text: Vec<(String, Vec<String>)> = Vec::new();
    for (member, description) in known {
        let texts = description.notes.iter().cloned().chain(outcome::missing(description));
        for text in texts {
            match by_text.iter_mut().find(|(known, _)| *known == text) {
                Some((_, members)) => members.push(called.name(member)),
                None => by_text.push((text, vec![called.name(member)])),
            }
        }
    }
    let note = |(text, members): (String, Vec<String>)| match members.as_slice() {
        [only] => format!("{only}: {text}"),
        several => format!("{} processes: {text}", grouped(several.len() as u64)),
    };
    let mut notes: Vec<String> = by_text.into_iter().map(note).collect();
    let running = known.iter().filter(|(_, d)| d.trace.state == FileState::Growing).count();
    if running > 0 {
        let processes = if running == 1 { "process runs" } else { "processes run" };
        let number = grouped(running as u64);
        notes.push(format!("{number} {processes} on: figures are of what is recorded so far"));
    }
    if known.iter().any(|(member, _)| member.origin == Origin::Forked) {
        notes.push(
            "what a process allocated before it forked is counted as its own, and not as its forks'; \
             while a fork retains it after the process has ended, it is not counted"
                .to_owned(),
        );
    }
    notes
}
