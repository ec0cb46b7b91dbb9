//! Counts the events of a trace and the CPU time that reading them takes.
//!
//! `iterate TRACE [marks|codes|stacks] [REPEATS]`: the fastest of all repeats counts.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use memtrail_trace::{Detail, Event, MappedTrace, Reader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let path = args.get(1).ok_or("usage: iterate TRACE [marks|codes|stacks] [REPEATS]")?;
    let detail = match args.get(2).map_or("codes", String::as_str) {
        "marks" => Detail::Marks,
        "codes" => Detail::Codes,
        "stacks" => Detail::Stacks,
        other => return Err(format!("no such detail: {other}").into()),
    };
    let repeats: usize = args.get(3).map_or(Ok(5), |text| text.parse())?;
    let trace = MappedTrace::open(Path::new(path))?;
    let reader = Reader::new(&trace)?;
    let mut best = f64::INFINITY;
    let (mut allocs, mut marks, mut frames, mut new_frames) = (0_u64, 0_u64, 0_u64, 0_u64);
    for _ in 0..repeats.max(1) {
        (allocs, marks, frames, new_frames) = (0, 0, 0, 0);
        let start = Instant::now();
        let decoded = reader.for_each(detail, |event, _| match black_box(event) {
            Event::Alloc(alloc) => {
                allocs += 1;
                frames += alloc.backtrace.len() as u64;
                new_frames += (alloc.backtrace.len() - alloc.common_prefix) as u64;
            }
            Event::Promote(_) | Event::Collect(_) => marks += 1,
        });
        best = best.min(start.elapsed().as_secs_f64());
        black_box(decoded);
    }
    let decoded = reader.for_each(detail, |_, _| {});
    for anomaly in decoded.anomalies.list().iter().take(10) {
        println!("{anomaly}");
    }
    println!(
        "{} packets, {allocs} allocations, {marks} promotions and collections, \
         {frames} frames ({new_frames} new), {} call sites, {} nodes, {} anomalies",
        decoded.packets,
        decoded.tables.locations.frames(),
        decoded.tables.stacks.len(),
        decoded.anomalies.total(),
    );
    println!("{best:.4} s, {:.1} million events/s", (allocs + marks) as f64 / best / 1e6);
    Ok(())
}
