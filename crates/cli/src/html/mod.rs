//! `memtrail html`: recordings and the page in one file.

mod answers;
mod attribute;
mod fit;
mod gzip;
mod json;
mod page;
mod privacy;
mod references;
mod snapshots;
mod source_files;

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_recording::Recording;
use memtrail_text::Size;
use memtrail_text::rounded::{bytes, grouped};

use crate::damage;
use crate::error::{Failure, Kind};
use crate::output::{Output, is_standard};
use crate::recording_facts;
use crate::recording_source::{Process, ProcessNames};
use crate::snapshot_file::MemoryArgs;
use crate::source::SourceOptions;
use crate::view::{check_filter, fragment};
use fit::Packed;
use privacy::Privacy;
use source_files::PackedSources;

/// Put recordings and the page that shows them into one file
///
/// The file opens from disk in any browser, without memtrail and without a network, with all views
/// and filters of `memtrail view`. Whoever has the file can read the recordings: see below what it
/// contains, and what --contents and --redact do.
///
/// Recordings that are too large for it are subsampled, as if they had been recorded at a lower rate:
/// estimates stay unbiased, with larger standard errors. The page and this command report it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail html server-4711.memtrail
  memtrail html server-4711.memtrail -o leak.html --filter live:end
  memtrail html before.memtrail after.memtrail -o compared.html --max-size 5M
  memtrail html --redact server-4711.memtrail

In the file are:
  always        function and file names of the program, sizes, times and rates, the GC's settings,
                names of threads, global variables and custom blocks, the filters of --filter
  by default    and with --contents: host name, path and arguments of the program, process id, folders
                of source files, names and labels of the recording and its snapshots, notes
  --source      source files of call paths, up to 2 MiB, without their paths on this machine
  --contents    what strings on the heap hold, if the recording was made with --contents
With --redact all but the first of these is removed: of the program and of source files only the
names without folders stay, recordings are called recording-1, recording-2 and so on. What cannot be
read of a damaged recording is then left out. `memtrail trace strip` removes function names, too.")]
pub(crate) struct Args {
    /// Recordings (folders NAME.memtrail) or trace files, ours or memtrace's. Of a folder of several processes
    /// (NAME.family), all together are in the file, and each alone
    #[arg(value_name = "REC|TRACE", required = true)]
    recordings: Vec<PathBuf>,

    #[command(flatten)]
    process: Process,

    /// The file to write, replaced if it exists; the first recording's name with .html, in the
    /// current folder, if not given (redacted.html with --redact); - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Largest size of the file: 20M, 500K
    #[arg(long, value_name = "SIZE", default_value = "5M",
          value_parser = memtrail_text::some_size)]
    max_size: Size,

    /// Begin with this filter, as of `memtrail view`; may be given several times
    #[arg(long = "filter", value_name = "CONDITION", allow_hyphen_values = true)]
    filters: Vec<String>,

    /// Include what strings on the heap hold, if the recording was made with --contents
    #[arg(long)]
    contents: bool,

    /// Leave out what shows whose machine it was: host, arguments, folders, process ids, labels; of
    /// the program, functions and file names stay
    #[arg(long, conflicts_with_all = ["contents", "folders"])]
    redact: bool,

    #[command(flatten)]
    source: SourceOptions,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Print what was written as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    check_filter(&args.filters)?;
    if args.json && args.output.as_deref().is_some_and(is_standard) {
        return Err(Failure::new(Kind::Usage, "--json and -o - both write to standard output")
            .hint("give the file a name, or leave --json out"));
    }
    let privacy = Privacy { contents: args.contents, redact: args.redact };
    let names = if args.redact { ProcessNames::Numbers } else { ProcessNames::Labels };
    let (mut recordings, mut files) = (Vec::new(), Vec::new());
    // Of each family, where all processes together are, and where each alone.
    let mut families: Vec<Range<usize>> = Vec::new();
    for path in &args.recordings {
        let (shown, held) = args.process.open_named(path, names)?.shown()?;
        families.push(recordings.len()..recordings.len() + shown.len());
        recordings.extend(shown);
        files.push(held);
    }
    let folders = args.source.open()?;
    let sources = source_files::pack(&recordings, folders.as_ref(), args.max_size.0)?;
    let mut packed =
        fit::pack(&recordings, args.max_size.0, page::bare(&sources), privacy, args.memory)?;
    for family in families {
        let members = (family.start as u32 + 1..family.end as u32).collect();
        packed[family.start].description.members = members;
    }
    let path = args.output.clone().unwrap_or_else(|| {
        if privacy.redact { "redacted.html".into() } else { default_name(&args.recordings[0]) }
    });
    let output = Output::create(&path)?;
    let text = page::assemble(&packed, &sources, &fragment(&args.filters));
    (&output.file).write_all(text.as_bytes()).map_err(|error| output.failure(&error))?;
    output.keep()?;
    report(args, &path, text.len(), &packed, &sources)?;
    let mut code = ExitCode::SUCCESS;
    for (recording, packed) in recordings.iter().zip(&packed) {
        if let Err(failure) = damage::verdict(recording, &packed.damage) {
            code = failure.report();
        }
    }
    Ok(code)
}

/// Writes recordings and the page into a file of at most `most` bytes, without contents of strings.
pub(crate) fn write(
    recordings: &[Recording],
    path: &Path,
    most: Size,
    memory: MemoryArgs,
) -> Result<(), Failure> {
    let privacy = Privacy { contents: false, redact: false };
    let sources = PackedSources::default();
    let packed = fit::pack(recordings, most.0, page::bare(&sources), privacy, memory)?;
    let output = Output::create(path)?;
    let text = page::assemble(&packed, &sources, "");
    (&output.file).write_all(text.as_bytes()).map_err(|error| output.failure(&error))?;
    output.keep()
}

/// `server-4711.html` of `server-4711.memtrail`.
fn default_name(recording: &Path) -> PathBuf {
    let name = recording_facts::name(recording);
    let stem = [".memtrail", ".family", ".ctf"].iter().find_map(|end| name.strip_suffix(end));
    PathBuf::from(format!("{}.html", stem.filter(|stem| !stem.is_empty()).unwrap_or(&name)))
}

fn report(
    args: &Args,
    path: &Path,
    size: usize,
    packed: &[Packed],
    sources: &PackedSources,
) -> Result<(), Failure> {
    if args.json {
        let with_sources = args.source.is_asked_for();
        let written =
            json::Written::new(path, size, packed, args.redact, with_sources.then_some(sources));
        return crate::json::print(&written);
    }
    if sources.left_out > 0 {
        let all = sources.files + sources.left_out;
        message!(
            "memtrail: {} of {all} source files are not in the file, for the lack of room",
            sources.left_out
        );
    }
    for one in packed {
        for snapshot in damaged_snapshots(one) {
            message!("memtrail: {}: {snapshot}", one.description.name);
        }
        if let Some(text) = left_out(one) {
            // The page itself and all recordings count.
            let taken: u64 = packed.iter().map(|packed| packed.wanted).sum();
            let all = (page::bare(sources) + taken) * 11 / 10;
            message!(
                "memtrail: {}: to fit into {}, {text}; --max-size {}M includes all",
                one.description.name,
                bytes(args.max_size.0 as f64),
                (all >> 20) + 1,
            );
        }
    }
    for packed in packed.iter().filter(|packed| packed.withheld) {
        message!(
            "memtrail: {}: what strings hold is not in the file{}",
            packed.description.name,
            if args.redact { "" } else { "; --contents puts it there" }
        );
    }
    message!("memtrail: {}: {}", path.display(), bytes(size as f64));
    Ok(())
}

/// The snapshots of a recording that cannot be read, each with the reason.
fn damaged_snapshots(packed: &Packed) -> impl Iterator<Item = String> {
    packed.snapshots.iter().filter(|one| !one.is_included()).filter_map(|one| {
        let reason = one.facts.damage.as_ref()?;
        Some(format!("snapshot {} is damaged, and left out: {reason}", one.facts.number))
    })
}

/// The parts of a recording that had no room.
fn left_out(packed: &Packed) -> Option<String> {
    let blocks = packed.description.subsampled.map(|subsampled| {
        format!(
            "subsampled to {} of {} recorded blocks",
            grouped(subsampled.kept),
            grouped(subsampled.of)
        )
    });
    // Damaged snapshots have a line of their own.
    let is_missing = |one: &&snapshots::Packed| !one.is_included() && one.facts.damage.is_none();
    let missing = packed.snapshots.iter().filter(is_missing).count();
    let last =
        if packed.answers.is_empty() { "" } else { "; of the last one, leaks and owners are" };
    let snapshots = (missing > 0).then(|| {
        format!("{missing} of {} heap snapshots are left out{last}", packed.snapshots.len())
    });
    let parts: Vec<String> = blocks.into_iter().chain(snapshots).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_first_recording() {
        for (recording, file) in [
            ("dir/server-4711.memtrail/", "server-4711.html"),
            ("/x/cache.ctf", "cache.html"),
            ("plain", "plain.html"),
            (".memtrail", ".memtrail.html"),
        ] {
            assert_eq!(default_name(Path::new(recording)), Path::new(file));
        }
    }
}
