//! Counts the events of a trace and the CPU time that reading them takes.
//!
//! `iterate TRACE [marks|codes|stacks] [REPEATS]`: the fastest of all repeats counts.

use std::hint::black_box;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use memtrail_map::MappedFile;
use memtrail_trace::{Detail, Event, Reader};

/// Time that this thread has spent on a processor; where the kernel does not tell, the time of day.
fn cpu_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = on_cpu.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

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
    let trace = MappedFile::open(Path::new(path))?;
    let reader = Reader::new(&trace)?;
    let mut best = f64::INFINITY;
    let pass = || {
        let mut sum = 0_u64;
        let decoded = reader.for_each(detail, |event, _| {
            sum ^= match event {
                Event::Alloc(alloc) => {
                    let innermost = alloc.backtrace.last().map_or(0, |code| code.0);
                    alloc.time.0 ^ alloc.id.0 ^ alloc.length.0 ^ alloc.samples ^ innermost
                }
                Event::Promote(mark) => mark.time.0 ^ mark.id.0,
                Event::Collect(mark) => mark.time.0.wrapping_add(mark.id.0),
            }
        });
        black_box((sum, decoded));
    };
    // The kernel counts CPU time in steps of a few milliseconds: short passes are taken together.
    let start = Instant::now();
    pass();
    let passes = (0.2 / start.elapsed().as_secs_f64()).ceil().clamp(1.0, 1e6) as u32;
    for _ in 0..repeats.max(1) {
        let start = cpu_time();
        (0..passes).for_each(|_| pass());
        best = best.min(cpu_time().saturating_sub(start).as_secs_f64() / f64::from(passes));
    }
    let (mut allocs, mut marks, mut frames, mut new_frames) = (0_u64, 0_u64, 0_usize, 0_usize);
    let decoded = reader.for_each(detail, |event, _| match event {
        Event::Alloc(alloc) => {
            allocs += 1;
            frames += alloc.backtrace.len();
            new_frames += alloc.backtrace.len() - alloc.common_prefix;
        }
        Event::Promote(_) | Event::Collect(_) => marks += 1,
    });
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
    println!("{best:.6} s CPU, {:.1} million events/s", (allocs + marks) as f64 / best / 1e6);
    Ok(())
}
