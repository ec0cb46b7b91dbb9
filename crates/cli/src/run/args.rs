//! Arguments of `memtrail run`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_ocaml::Version;
use memtrail_recording::family_name;
use memtrail_recording::session::CALLSTACK_DEPTH;

use super::disk::Disk;
use super::{labels, native, rate, sampler, snapshots};
use crate::view::Serving;

/// Lowest limit of frames: the part that is left of a deeper callstack must fit it.
pub(crate) const SHORTEST: i64 = memtrail_trace::omitted::MAX_FRAMES_LEFT as i64;
/// As many frames fit a packet of the trace, even if none of them can be predicted.
pub(crate) const DEEPEST: i64 = 12 << 10;
/// Samples per word where the user does not say; the agent lowers it where they would cost too much.
pub(crate) const BASE_RATE: f64 = 1e-4;

/// Run a program and record where its memory is allocated
///
/// The program is not recompiled or relinked. Its input, output, terminal, signals and exit code are as
/// without memtrail. The recording is a folder, `<program>-<pid>.memtrail/` in the current folder
/// unless -o names another. It can be read while the program runs, and after a crash.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail run -- coqc theory.v
  memtrail run --rate 1e-3 -- ./server   ten times the detail, for short runs
  memtrail run --rate 512KiB -- ./server one sample per 512 KiB allocated, for weeks
  memtrail run --children -- make        every OCaml program that make starts
  memtrail run --native -- ./program     a program in C, C++ or Rust
  memtrail run --native=also -- ./server an OCaml program with its memory from malloc
  memtrail run --view -- ./server        show its memory in the browser
  memtrail run --snapshot signal -- ./server
                                         and what retains memory, at each kill -USR1

Cost: about 1 % of the program's CPU time, or of a tenth of a processor if it takes less. The rate starts
at 1e-4 and is lowered while samples would cost more; estimates stay unbiased, and reports show the rate.
With --rate it is constant, and each sample costs 1 to 2 microseconds.

Figures of the collector that a program prints (Gc.stat, Gc.quick_stat) may differ: a sample takes some
words of the minor heap, and sometimes ends it early. At the default rate minor_words differs by less
than one part in a thousand.

The exit code is the program's; 126 and 127 if it cannot be executed or does not exist. A program that
cannot be recorded runs unrecorded, and a line shows the reason; with --require-recording that is an
error with code 125. `kill -9` of memtrail run leaves the program running, see --kill-with-parent.")]
#[expect(clippy::struct_excessive_bools, reason = "one a switch of the command line")]
pub(crate) struct Args {
    /// Samples per word allocated, or the distance between samples: 1e-4, 512KiB,
    /// "one sample per 512 KiB". The rate then stays the same [default: 1e-4, adapted]
    #[arg(long, value_parser = rate::parse)]
    pub(super) rate: Option<f64>,

    /// Change the rate at random, all the time: for tests
    #[arg(long, hide = true)]
    pub(super) vary_rate: bool,

    /// Adapt the rate by declining samples, as where OCaml 4's sampler is not as expected
    #[arg(long, hide = true)]
    pub(super) decline_samples: bool,

    /// Sampler of OCaml 5.3 and later: `runtime`, its own, which gives way when the program starts Gc.Memprof
    /// itself, or `memtrail`, which leaves Gc.Memprof to the program. OCaml 4 has the first only, 5.0 to 5.2
    /// the second
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value = "runtime",
        hide_possible_values = true
    )]
    pub(super) sampler: sampler::Choice,

    /// Record a program of an OCaml newer than memtrail knows as if its runtime were this version's, at your own risk:
    /// the program may crash, and figures may be wrong
    #[arg(long, value_name = "VERSION", value_parser = assumed_version)]
    pub(super) assume_version: Option<String>,

    /// The recording's folder; it must not exist yet (with --children: the folder to put
    /// recordings in, instead of `<program>-<pid>.family/`). If the process becomes other programs
    /// (`exec`), it is of the last one with samples, and recordings of the others are inside
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,

    /// Record forked children and programs started by the program, too, each as a recording of its own in
    /// one folder, which report, view, leaks and export take as a whole
    #[arg(long)]
    pub(super) children: bool,

    #[command(flatten)]
    pub(super) native: native::Args,

    /// Choose the sampler's random numbers, to sample the same program in the same places again
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// Maximum number of frames of callstacks that are recorded completely. Deeper ones have the outermost 64
    /// and at least the innermost 256 frames, and the number of frames between them
    #[arg(long, value_name = "FRAMES", default_value_t = CALLSTACK_DEPTH,
          value_parser = clap::value_parser!(u32).range(SHORTEST..=DEEPEST))]
    pub(super) callstack_depth: u32,

    /// A note kept in the recording, such as the version or the scenario
    #[arg(long, value_name = "TEXT")]
    pub(super) context: Option<String>,

    /// A label kept in recording.json, such as service.name=shop. May be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = labels::parse)]
    pub(super) labels: Vec<(String, String)>,

    /// Disk space for all files of the recording, such as 1GiB, or unlimited; with --children, of all recordings
    /// together. When it fills up, samples of blocks that died long ago are thinned at random: estimates stay
    /// unbiased, the oldest get the largest errors [default: 1GiB; unlimited with --rate]
    #[arg(long, value_name = "SIZE", value_parser = Disk::parse)]
    pub(super) disk: Option<Disk>,

    #[command(flatten)]
    pub(super) snapshots: snapshots::Args,

    /// Show the recording in the browser while the program runs. On a terminal the page stays
    /// after the program's end, until Ctrl-C; its exit code comes then. Elsewhere it ends with it
    #[arg(long)]
    pub(super) view: bool,

    #[command(flatten)]
    pub(super) serving: Serving,

    /// End with code 125 if the program cannot be recorded: without running it if that is known before,
    /// after it otherwise
    #[arg(long)]
    pub(super) require_recording: bool,

    /// Kill the program (SIGKILL) when `memtrail run` itself is killed; otherwise it continues, recorded as
    /// far as possible. A program that changes its user is not killed
    #[arg(long)]
    pub(super) kill_with_parent: bool,

    /// Print nothing about the recording
    #[arg(short, long)]
    pub(super) quiet: bool,

    /// Print what was recorded as JSON on stderr instead of a sentence
    #[arg(long)]
    pub(super) json: bool,

    /// Let the runtime capture callstacks itself: slower, the same result
    #[arg(long, hide = true)]
    pub(super) runtime_callstacks: bool,

    /// Check every callstack by a second walk; the recording has the number that differed
    #[arg(long, hide = true)]
    pub(super) check_callstacks: bool,

    /// The program and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

fn assumed_version(text: &str) -> Result<String, String> {
    let known = Version::named(text).map(|version| version.name().to_owned());
    known.ok_or_else(|| format!("no known version of OCaml; the newest is {}", Version::NEWEST))
}

impl Args {
    pub(super) fn program(&self) -> &OsString {
        self.command.first().expect("clap requires one")
    }

    /// The name of the folder of its family.
    pub(super) fn family_name(&self) -> String {
        let program = Path::new(self.program()).file_name().unwrap_or(self.program());
        family_name(&program.to_string_lossy(), std::process::id())
    }

    /// The program with its arguments, as it is.
    pub(super) fn plain_command(&self) -> Command {
        let mut command = Command::new(self.program());
        command.args(self.command.iter().skip(1));
        command
    }
}
