//! `memtrail trace dump`: every event, one line each.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_trace::{
    Alloc, Code, Detail, DomainId, Event, Location, Locations, Source, Timestamp,
};
use serde::Serialize;

use crate::error::Failure;
use crate::plain_text;
use crate::recording_source::Process;
use crate::trace::input::Input;

/// Print every event of a trace, one a line
///
/// Time in µs since the start, block, what happened. An allocation (`alloc`, `alloc_major`,
/// `alloc_ext`) has its number of samples, its size in words, its domain unless that is 0, how many
/// frames its call stack shares with that of the allocation before, and its call stack from the
/// outermost frame to the innermost: function@file:line:columns, or $code without debug
/// information. Then a block may be promoted to the major heap, and collected.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail trace dump coqc-4711.memtrail | head
  memtrail trace dump --json coqc-4711.memtrail | jq 'select(.words > 1000)'")]
pub(crate) struct Args {
    /// A recording (NAME.memtrail) or a trace file
    trace: PathBuf,
    #[command(flatten)]
    process: Process,
    /// Print one JSON object a line; times in µs since the start
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = Input::open(&args.trace, args.process)?;
    let reader = input.reader()?;
    let start = reader.info().start;
    let mut out = plain_text::standard_output(args.json);
    let mut stacks = Stacks::new(if args.json { json_frame } else { text_frame });
    let put = if args.json { put_json } else { put_text };
    let read = reader.try_for_each(Detail::Codes, |event, tables| {
        let stack = match &event {
            Event::Alloc(alloc) => stacks.text(alloc, &tables.locations),
            _ => &[],
        };
        match put(&mut out, &event, start, stack) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    });
    let decoded = match read {
        ControlFlow::Continue(decoded) => decoded,
        ControlFlow::Break(error) => return Err(error.into()),
    };
    out.flush()?;
    input.verdict(&decoded.anomalies)
}

fn put_text(
    out: &mut impl Write,
    event: &Event<'_>,
    start: Timestamp,
    stack: &[u8],
) -> io::Result<()> {
    let time = |at: Timestamp| at.0.saturating_sub(start.0);
    match event {
        Event::Alloc(a) => {
            let kind = match a.source {
                Source::Minor => "alloc",
                Source::Major => "alloc_major",
                Source::External => "alloc_ext",
            };
            let (time, id) = (time(a.time), a.id.0);
            write!(out, "{time:010} {id:010} {kind} {} len={}", a.samples, a.length.0)?;
            if a.domain != DomainId(0) {
                write!(out, " dom={}", a.domain.0)?;
            }
            write!(out, " {:>4}:", a.common_prefix)?;
            out.write_all(stack)?;
            out.write_all(b"\n")
        }
        Event::Promote(m) => writeln!(out, "{:010} {:010} promote", time(m.time), m.id.0),
        Event::Collect(m) => writeln!(out, "{:010} {:010} collect", time(m.time), m.id.0),
    }
}

fn put_json(
    out: &mut impl Write,
    event: &Event<'_>,
    start: Timestamp,
    stack: &[u8],
) -> io::Result<()> {
    let time = |at: Timestamp| at.0.saturating_sub(start.0);
    match event {
        Event::Alloc(a) => {
            let source = match a.source {
                Source::Minor => "minor",
                Source::Major => "major",
                Source::External => "external",
            };
            write!(
                out,
                "{{\"time_us\":{},\"event\":\"alloc\",\"block\":{},\"domain\":{},\"words\":{},\
                 \"samples\":{},\"source\":\"{source}\",\"stack\":[",
                time(a.time),
                a.id.0,
                a.domain.0,
                a.length.0,
                a.samples
            )?;
            // Each frame ends with a comma; the last one is too many.
            out.write_all(stack.strip_suffix(b",").unwrap_or(stack))?;
            out.write_all(b"]}\n")
        }
        Event::Promote(m) | Event::Collect(m) => {
            let name = if matches!(event, Event::Promote(_)) { "promote" } else { "collect" };
            let (time, block, domain) = (time(m.time), m.id.0, m.domain.0);
            writeln!(
                out,
                "{{\"time_us\":{time},\"event\":\"{name}\",\"block\":{block},\"domain\":{domain}}}"
            )
        }
    }
}

/// How one location, or the code of a frame without any, is spelled.
type Spell = fn(&mut Vec<u8>, Result<Location<'_>, Code>);

fn text_frame(out: &mut Vec<u8>, frame: Result<Location<'_>, Code>) {
    out.push(b' ');
    match frame {
        Ok(at) => {
            out.extend_from_slice(at.function);
            out.push(b'@');
            out.extend_from_slice(at.file);
            out.extend_from_slice(
                format!(":{}:{}-{}", at.line, at.start_col, at.end_col).as_bytes(),
            );
        }
        // An OCaml int of 63 bits.
        Err(code) => out.extend_from_slice(format!("${}", (code.0 << 1) as i64 >> 1).as_bytes()),
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Frame<'a> {
    Known { function: &'a str, file: &'a str, line: u32, start_col: u32, end_col: u32 },
    Unknown { code: u64 },
}

fn json_frame(out: &mut Vec<u8>, frame: Result<Location<'_>, Code>) {
    let (function, file);
    let frame = match frame {
        Ok(at) => {
            function = String::from_utf8_lossy(at.function);
            file = String::from_utf8_lossy(at.file);
            let Location { line, start_col, end_col, .. } = at;
            Frame::Known { function: &function, file: &file, line, start_col, end_col }
        }
        Err(code) => Frame::Unknown { code: code.0 },
    };
    if serde_json::to_writer(&mut *out, &frame).is_ok() {
        out.push(b',');
    }
}

/// The call stacks, spelled out: only the frames that differ from the stack before are spelled
/// anew, for each domain.
struct Stacks {
    spell: Spell,
    domains: Vec<Spelled>,
}

#[derive(Clone, Default)]
struct Spelled {
    text: Vec<u8>,
    /// Where the text of each frame ends.
    ends: Vec<usize>,
}

impl Stacks {
    fn new(spell: Spell) -> Self {
        Self { spell, domains: Vec::new() }
    }

    fn text(&mut self, alloc: &Alloc<'_>, locations: &Locations) -> &[u8] {
        let domain = usize::from(alloc.domain.0);
        if domain >= self.domains.len() {
            self.domains.resize(domain + 1, Spelled::default());
        }
        let Spelled { text, ends } = &mut self.domains[domain];
        ends.truncate(alloc.common_prefix.min(alloc.backtrace.len()));
        text.truncate(ends.last().copied().unwrap_or(0));
        for &code in &alloc.backtrace[ends.len()..] {
            let sites = locations.of(code);
            if sites.is_empty() {
                (self.spell)(text, Err(code));
            }
            for &site in sites {
                (self.spell)(text, Ok(locations.resolve(site)));
            }
            ends.push(text.len());
        }
        text
    }
}
