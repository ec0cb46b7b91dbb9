//! `memtrail export`: what a filter chooses, for other tools; whole recordings as tables of a lake.

#[cfg(feature = "parquet")]
pub(crate) mod key;
#[cfg(feature = "parquet")]
pub(crate) mod lake;
#[cfg(feature = "parquet")]
mod tables;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use memtrail_engine::query::{self, ProfileQuery, Query};
use memtrail_engine::response_body::Column;
use memtrail_engine::{Engine, Setting};

use crate::caveats;
use crate::damage;
use crate::error::{Failure, Kind};
use crate::loading;
use crate::output::{Output, is_standard};
use crate::plain_text::PlainText;
use crate::recording_source::Process;
use crate::snapshot_file::MemoryArgs;
use crate::view::check_filter;

macro_rules! after_help {
    ($more:literal) => {
        concat!(
            "\
Examples:
  memtrail export --format pprof --filter live:end -o leak.pb.gz server-4711.memtrail
        then: go tool pprof -http :8081 -sample_index inuse_space leak.pb.gz
  memtrail export --format speedscope -o leak.speedscope.json server-4711.memtrail
        then: open it at speedscope's page
  memtrail export --format folded server-4711.memtrail | flamegraph.pl > leak.svg
  memtrail export --format pprof --window 10m..20m -o window.pb.gz server-4711.memtrail
  memtrail export --filter live:peak -o peak.svg server-4711.memtrail
",
            $more,
            "
`memtrail view --help` explains filters."
        )
    };
}

#[cfg(feature = "parquet")]
const AFTER_HELP: &str = after_help!(
    "  memtrail export --format parquet -o lake *.memtrail
        then: memtrail sql lake 'select * from suspects'
"
);
#[cfg(not(feature = "parquet"))]
const AFTER_HELP: &str = after_help!("");

/// Write what a recording holds in another tool's format
///
/// It has all that `memtrail view` shows with the same filters: the call paths of the
/// chosen blocks, with their estimated bytes and numbers.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The format to write [default: by the ending of the file of -o]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Write JSON, as --format json does. With --format parquet, print the list of files as one JSON object
    #[arg(long)]
    json: bool,

    /// Only blocks that match; may be given several times
    #[arg(long = "filter", value_name = "CONDITION", allow_hyphen_values = true)]
    filters: Vec<String>,

    /// Time window: what was allocated in it, and what was live at its end (pprof and json)
    ///
    /// Times are as in the condition allocated: of filters: seconds, durations (1m30s), parts of the whole
    /// time (50%), start, peak or end. Either may be left out.
    #[arg(long, value_name = "A..B")]
    window: Option<String>,

    /// The file to write, replaced if it exists; standard output if not given. For parquet, the folder of a lake
    #[arg(short, long, value_name = "FILE|LAKE")]
    output: Option<PathBuf>,

    /// Write the tables with a row for each block, too: sampled blocks, and those of snapshots with their pointers (parquet)
    #[cfg(feature = "parquet")]
    #[arg(long)]
    blocks: bool,

    /// Replace names of the program by pseudonyms, and leave out host, process ids, paths and labels (parquet)
    ///
    /// Pseudonyms and ids are hashes with the key in the file LAKE.key, which is made once. Who has the key can find names
    /// by guessing: keep it to yourself, and copy it to other machines that export into the same lake.
    #[cfg(feature = "parquet")]
    #[arg(long)]
    redact: bool,

    /// A recording (a folder NAME.memtrail), a folder of several (NAME.family), or a trace file, ours or
    /// memtrace's; several for parquet
    #[arg(value_name = "REC|TRACE", required = true)]
    recordings: Vec<PathBuf>,

    #[command(flatten)]
    process: Process,

    #[command(flatten)]
    memory: MemoryArgs,
}

/// What `--format` takes.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
enum Format {
    /// A line a call path with its bytes, for flamegraph.pl, inferno and others
    Folded,
    /// For <https://www.speedscope.app>
    Speedscope,
    /// For `go tool pprof`, Pyroscope, Grafana: gzipped protocol buffers
    Pprof,
    /// For <https://profiler.firefox.com>
    Firefox,
    /// memtrail's own, for programs of yours
    Json,
    /// A flame graph as a picture
    Svg,
    /// Tables for SQL engines (Parquet): a folder that takes any number of recordings
    #[cfg(feature = "parquet")]
    Parquet,
}

/// The format that is asked for, or that the ending of the file's name tells.
fn format(args: &Args) -> Result<Format, Failure> {
    match (args.json, args.format) {
        (true, None | Some(Format::Json)) => return Ok(Format::Json),
        (false, _) => {}
        #[cfg(feature = "parquet")]
        (true, Some(Format::Parquet)) => {}
        (true, Some(_)) => {
            return Err(Failure::new(
                Kind::Usage,
                "--json is a format, and --format names another",
            )
            .hint("leave one of them out"));
        }
    }
    let name = args.output.as_deref().unwrap_or(Path::new("")).to_string_lossy();
    let by_ending = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
    args.format.or(by_ending.map(|(_, format)| *format)).ok_or_else(|| {
        Failure::new(Kind::Usage, "no --format, and no name of a file that tells it").hint(
            "memtrail export --format folded REC prints, and -o leak.svg, .pb.gz, .folded, .speedscope.json, .firefox.json \
             or .json writes a file",
        )
    })
}

/// Endings of files, the longer ones first.
const ENDINGS: [(&str, Format); 6] = [
    (".speedscope.json", Format::Speedscope),
    (".firefox.json", Format::Firefox),
    (".json", Format::Json),
    (".pb.gz", Format::Pprof),
    (".folded", Format::Folded),
    (".svg", Format::Svg),
];

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let format = format(args)?;
    check_filter(&args.filters)?;
    #[cfg(feature = "parquet")]
    if format == Format::Parquet {
        return into_lake(args);
    } else if args.blocks || args.redact {
        return Err(Failure::new(Kind::Usage, "--blocks and --redact are for --format parquet")
            .hint("for others, a report or page without names: memtrail report --markdown --redact, memtrail html --redact"));
    }
    let [recording] = args.recordings.as_slice() else {
        return Err(Failure::new(Kind::Usage, "only --format parquet takes several recordings")
            .hint("name one recording, or the folder of a program with its children"));
    };
    let standard = args.output.as_deref().is_none_or(is_standard);
    if format == Format::Pprof && standard && std::io::stdout().is_terminal() {
        return Err(Failure::new(Kind::Usage, "pprof files are binary, and this is a terminal")
            .hint("-o leak.pb.gz writes a file"));
    }
    let recording = args.process.open(recording)?;
    let engine = Engine::new(Setting::default());
    let id = loading::add(&engine, &recording)?;
    let format = format.to_possible_value().map(|value| value.get_name().to_owned());
    let query = Query::Profile(ProfileQuery::Export(query::Export {
        rec: id.0,
        filter: args.filters.clone(),
        format: format.clone().unwrap_or_default(),
        focus: Vec::new(),
        window: args.window.clone(),
    }));
    let answer = engine.answer(&query).map_err(|e| loading::refused(&e))?;
    let Some(Column::U8(bytes)) = answer.column("bytes") else {
        return Err(Failure::new(Kind::Work, "the export has no bytes"));
    };
    let output = Output::create(args.output.as_deref().unwrap_or(Path::new("-")))?;
    let written = if format.as_deref() == Some("folded") {
        let mut out = PlainText::new(&output.file);
        out.write_all(bytes).and_then(|()| out.flush())
    } else {
        (&output.file).write_all(bytes)
    };
    written.map_err(|error| output.failure(&error))?;
    output.keep()?;
    caveats::tell(&caveats::reported(&recording).of_allocation());
    damage::verdict(&recording, &engine.damage(id).unwrap_or_default())
}

#[cfg(feature = "parquet")]
fn into_lake(args: &Args) -> Result<ExitCode, Failure> {
    if !args.filters.is_empty() || args.window.is_some() {
        return Err(Failure::new(
            Kind::Usage,
            "--filter and --window are not for --format parquet",
        )
        .hint("all blocks are written; choose with SQL: memtrail sql LAKE 'select …'"));
    }
    let Some(folder) = &args.output else {
        return Err(Failure::new(Kind::Usage, "--format parquet needs the folder to write to")
            .hint("memtrail export --format parquet -o lake REC"));
    };
    let options = lake::Options {
        lake: folder,
        blocks: args.blocks,
        redact: args.redact,
        memory: args.memory,
    };
    lake::run(&args.recordings, args.process, options, args.json)
}
