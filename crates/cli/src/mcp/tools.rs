//! The tools: each is a command of memtrail, or the list of recordings.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Args, Command};
use serde_json::Value;

use super::folder::Folder;
use super::next::{self, AnsweredCall, Next};
use super::recordings;
use super::words::Offer;
use crate::answer::{JsonAnswer, JsonMaker};
use crate::error::{Failure, Kind};
use crate::heap::{histogram, path, roots, who, why};
use crate::recording_cache::RecordingCache;
use crate::{diff, leaks, report, snapshot};

/// Recordings that tools answer from.
pub(super) struct Sources {
    pub(super) folder: Folder,
    pub(super) cache: RecordingCache,
}

/// A tool of the server.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) offer: Offer,
    /// True if it changes nothing but files that speed up later analyses.
    pub(super) reads_only: bool,
    pub(super) answer: fn(&Sources, &ArgMatches) -> Result<JsonAnswer, Failure>,
    /// Lists of rows in the answer, of which those at the end may be left out.
    pub(super) rows: &'static [&'static str],
    /// Calls that lead on.
    pub(super) next: fn(&AnsweredCall<'_>, &Value) -> Vec<Option<Next>>,
}

/// Name of the tool that is there only if the user allows it.
pub(super) const SNAPSHOT: &str = "snapshot";

/// Fields that are left out of all answers: numbers that no tool takes, long series, and what tells of the machine and the
/// command line.
pub(super) const LEFT_OUT: [&str; 20] = [
    "node",
    "root",
    "derivation",
    "key",
    "boxes",
    "timeline",
    "over_time",
    "host",
    "arguments",
    "runtime_parameters",
    "description",
    "view",
    "memtrail",
    "aliases",
    "longest",
    "collections",
    "anomalies",
    "recorded_blocks",
    "lines_differ",
    "recursive",
];

/// The arguments of the command in `offer`, as its parser reads them.
fn parsed<A: Args>(matches: &ArgMatches) -> Result<A, Failure> {
    A::from_arg_matches(matches).map_err(|error| Failure::new(Kind::Usage, error))
}

const fn offer(
    command: fn() -> Command,
    recordings: &'static [(&'static str, &'static str)],
    others: &'static [&'static str],
) -> Offer {
    Offer { command, recordings, others }
}

fn parser<A: Args>() -> Command {
    A::augment_args(Command::new("memtrail"))
}

const ONE: &[(&str, &str)] = &[("path", "recording")];

/// All tools.
pub(super) const TOOLS: [Tool; 10] = [
    Tool {
        name: "leaks",
        title: "Leak suspects",
        description: "Start here. Names what grows in a program, which calls allocated it and which variable owns it, \
            with the evidence; or says that nothing leaks.",
        offer: offer(parser::<leaks::Args>, ONE, &["process", "snapshot", "limit"]),
        reads_only: true,
        answer: |sources, matches| leaks::json(parsed(matches)?, &sources.cache),
        rows: &["/suspects", "/cleared"],
        next: next::after_leaks,
    },
    Tool {
        name: "recordings",
        title: "List recordings",
        description: "Lists recordings in the folder, the newest first: program, time, size, heap snapshots.",
        offer: offer(parser::<recordings::Args>, &[], &["limit"]),
        reads_only: true,
        answer: |sources, matches| recordings::json(&sources.folder, &parsed(matches)?),
        rows: &["/recordings"],
        next: next::after_recordings,
    },
    Tool {
        name: "report",
        title: "Allocation sites",
        description: "Lists the call sites that allocated memory which was live at a moment (the peak by default), or was \
            allocated in a range of time. Sizes are estimates with standard errors.",
        offer: offer(
            parser::<report::Args>,
            &[("recording", "recording")],
            &["process", "live_at", "allocated", "by", "limit"],
        ),
        reads_only: true,
        answer: |sources, matches| report::json(parsed(matches)?, &sources.cache),
        rows: &["/report/places"],
        next: next::after_report,
    },
    Tool {
        name: "roots",
        title: "Owners of memory",
        description: "Lists the variables, stacks and other roots that own most memory in a heap snapshot (OCaml). With \
            `name`, shows all about one root.",
        offer: offer(
            parser::<roots::Args>,
            ONE,
            &["name", "process", "snapshot", "retained", "kind", "min", "sort", "limit"],
        ),
        reads_only: true,
        answer: |_, matches| roots::answer(&parsed(matches)?, JsonMaker),
        rows: &["/rows", "/contents/rows"],
        next: next::after_roots,
    },
    Tool {
        name: "histogram",
        title: "Memory by type",
        description: "Counts the blocks of a heap snapshot by type, kind or owner (OCaml).",
        offer: offer(
            parser::<histogram::Args>,
            ONE,
            &["process", "snapshot", "by", "owner", "find", "sort", "offset", "limit"],
        ),
        reads_only: true,
        answer: |_, matches| histogram::answer(&parsed(matches)?, JsonMaker),
        rows: &["/rows"],
        next: next::after_histogram,
    },
    Tool {
        name: "why",
        title: "What retains it",
        description: "Shows what retains the memory that a function allocated: owners and retaining paths. Needs heap \
            snapshots; for C, C++ and Rust a recording with --snapshot exit.",
        offer: offer(parser::<why::Args>, ONE, &["name", "stack", "process", "snapshot", "limit"]),
        reads_only: true,
        answer: |sources, matches| why::json(parsed(matches)?, &sources.cache),
        rows: &["/owners", "/paths", "/malloc/paths"],
        next: next::after_why,
    },
    Tool {
        name: "who",
        title: "What allocated it",
        description: "Shows which calls allocated what a variable owns, or the blocks of a type (OCaml).",
        offer: offer(parser::<who::Args>, ONE, &["name", "process", "snapshot", "by", "limit"]),
        reads_only: true,
        answer: |sources, matches| who::json(parsed(matches)?, &sources.cache),
        rows: &["/rows"],
        next: next::after_who,
    },
    Tool {
        name: "path",
        title: "Retaining paths",
        description: "Shows the retaining path of a block, or those of all blocks of a kind or type by their shape \
            (OCaml). Name one of `block`, `kind` and `type`.",
        offer: offer(
            parser::<path::Args>,
            ONE,
            &["block", "all", "kind", "type", "unfolded", "process", "snapshot", "limit"],
        ),
        reads_only: true,
        answer: |_, matches| path::answer(&parsed(matches)?, JsonMaker),
        rows: &["/paths", "/steps"],
        next: next::after_path,
    },
    Tool {
        name: "diff",
        title: "Compare two recordings",
        description: "Shows what changed from one recording to another: heap snapshots exactly, allocations beyond what \
            chance explains.",
        offer: offer(
            parser::<diff::Args>,
            &[("before", "before"), ("after", "after")],
            &["by", "filters", "normalise", "limit"],
        ),
        reads_only: true,
        answer: |sources, matches| diff::json(parsed(matches)?, &sources.cache),
        rows: &[
            "/heap/owners",
            "/heap/kinds",
            "/heap/roots",
            "/heap/joint",
            "/live_end/rows",
            "/live_peak/rows",
            "/allocated/rows",
        ],
        next: next::after_diff,
    },
    Tool {
        name: SNAPSHOT,
        title: "Take a heap snapshot",
        description: "Takes a heap snapshot of a program that runs and is being recorded in the folder. The program pauses \
            for some milliseconds. Ask the user before.",
        offer: offer(parser::<SnapshotArgs>, &[("recording", "recording")], &["wait"]),
        reads_only: false,
        answer: |_, matches| {
            let SnapshotArgs { recording, wait } = parsed(matches)?;
            snapshot::json_of_recorded(&recording, wait.min(MAX_WAIT))
        },
        rows: &[],
        next: next::after_snapshot,
    },
];

/// The longest time that a snapshot is waited for.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// Arguments of the tool that takes a snapshot.
#[derive(Args)]
struct SnapshotArgs {
    #[arg(value_name = "REC")]
    recording: PathBuf,
    /// Time to wait for the snapshot, at most 2 minutes: 30s, 2m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = memtrail_text::duration)]
    wait: Duration,
}

#[cfg(test)]
mod tests {
    use super::TOOLS;

    /// A misspelt name would be left out.
    #[test]
    fn every_argument_is_one_of_the_command() {
        for tool in &TOOLS {
            let schema = tool.offer.schema();
            let found = schema["properties"].as_object().unwrap().len();
            let expected = tool.offer.recordings.len() + tool.offer.others.len();
            assert_eq!(found, expected, "{}", tool.name);
        }
    }
}
