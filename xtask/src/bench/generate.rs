//! A large trace with realistic stacks, the same every time.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{Code, DomainId, Location, SampleRate, Source, Timestamp, TraceInfo, Words};

use crate::command::Outcome;

/// Functions of the imagined program.
const FUNCTIONS: u64 = 2_000;

/// A small generator of our own, so that the trace never changes.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Write a trace of `events` events, unless it is there already.
///
/// The stack wanders: each allocation goes up some frames and down some others, as programs do;
/// it is about 30 frames deep. Blocks are promoted and collected at random.
pub(super) fn trace(path: &Path, events: u64) -> Outcome {
    if path.exists() {
        return Ok(());
    }
    eprintln!("writing {} with {events} events", path.display());
    let fresh = path.with_extension("new");
    write(&fresh, events)
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn write(path: &Path, events: u64) -> std::io::Result<()> {
    let info = TraceInfo {
        sample_rate: SampleRate(1e-3),
        word_bits: 64,
        executable: "generated".into(),
        host: "nowhere".into(),
        runtime_params: String::new(),
        pid: 1,
        start: Timestamp(1_700_000_000_000_000),
        context: None,
    };
    let names: Vec<(String, String)> = (0..FUNCTIONS)
        .map(|f| (format!("Module{}.function{f}", f % 80), format!("src/module{}.ml", f % 80)))
        .collect();
    let mut writer = TraceWriter::new(BufWriter::new(File::create(path)?), &info)?;
    let mut random = Random(42);
    let mut stack: Vec<Code> = Vec::new();
    let mut live = Vec::new();
    // In the major heap, by promotion or from the start: never promoted again.
    let mut promoted = HashSet::new();
    let mut now = info.start.0;
    let domain = DomainId(0);
    for _ in 0..events {
        now += random.below(20);
        let time = Timestamp(now);
        if random.below(100) < 45 || live.is_empty() {
            let keep = stack.len().saturating_sub(random.below(8) as usize);
            stack.truncate(keep);
            while stack.len() < 20 || stack.last().is_none_or(|code| code.0 % 5 != 0) {
                if stack.len() == 60 {
                    break;
                }
                // A function calls four others, one of them most of the time.
                let caller = stack.last().map_or(1, |code| code.0);
                let choice = match random.below(100) {
                    0..90 => 0,
                    90..=96 => 1,
                    97 | 98 => 2,
                    _ => 3,
                };
                let callee = (caller * 31 + choice * 7 + 3) % FUNCTIONS;
                stack.push(Code(1 + callee));
            }
            let event = AllocEvent {
                length: Words(1 + random.below(12)),
                samples: 1,
                source: if random.below(50) == 0 { Source::Major } else { Source::Minor },
            };
            let id = writer.alloc(domain, time, &event, &stack, |code, to| {
                let (function, file) = &names[(code.0 - 1) as usize];
                to.push(Location {
                    function: function.as_bytes(),
                    file: file.as_bytes(),
                    line: code.0 as u32,
                    start_col: 2,
                    end_col: 20,
                });
            })?;
            if event.source == Source::Major {
                promoted.insert(id);
            }
            live.push(id);
        } else {
            let at = random.below(live.len() as u64) as usize;
            if random.below(4) == 0 && promoted.insert(live[at]) {
                writer.promote(domain, time, live[at])?;
            } else {
                writer.collect(domain, time, live.swap_remove(at))?;
            }
        }
    }
    writer.finish()?;
    Ok(())
}
