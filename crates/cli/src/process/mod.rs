//! What was measured of a recorded process besides its allocations, for the engine.

pub(crate) mod collections;
pub(crate) mod memory;

use memtrail_engine::process::{
    CollectionSpan, Collections, LongPause, MemoryPart, ProcessResponse, ResidentMemory,
};
use memtrail_recording::Recording;
use memtrail_recording::collections::summary::{Span, Summary};

/// From the recording's files; nothing of several processes.
pub(crate) fn measured(recording: &Recording) -> ProcessResponse {
    ProcessResponse {
        memory: memory::ResidentMemory::of(recording).map(resident),
        collections: collections::of(recording).map(collected),
    }
}

fn resident(memory: memory::ResidentMemory) -> ResidentMemory {
    let malloc_in_use = Some(memory.malloc_in_use());
    let memory::ResidentMemory { advice, over_time, .. } = memory;
    let mut columns = ResidentMemory {
        advice: advice.into_iter().map(|advice| advice.text).collect(),
        malloc_in_use,
        ..ResidentMemory::default()
    };
    for (index, moment) in over_time.iter().enumerate() {
        columns.seconds.push(moment.seconds);
        columns.rss.push(moment.rss);
        columns.cpu_seconds.extend(moment.cpu_seconds);
        for row in &moment.rows {
            let name = row.part.name();
            let place = columns.parts.iter().position(|part| part.name == name);
            let place = place.unwrap_or_else(|| {
                let kind = serde_json::to_value(row.part).ok();
                let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default();
                let (name, kind) = (name.to_owned(), kind.to_owned());
                columns.parts.push(MemoryPart { name, kind, bytes: vec![0; index] });
                columns.parts.len() - 1
            });
            columns.parts[place].bytes.push(row.bytes);
        }
        for part in &mut columns.parts {
            part.bytes.resize(index + 1, 0);
        }
    }
    if columns.cpu_seconds.len() != columns.seconds.len() {
        columns.cpu_seconds.clear();
    }
    columns
}

fn collected(summary: Summary) -> Collections {
    let Summary { whole, over_time } = summary;
    Collections { whole: span(whole), over_time: over_time.into_iter().map(span).collect() }
}

fn span(span: Span) -> CollectionSpan {
    let pause = |pause: memtrail_recording::collections::summary::Pause| LongPause {
        part: collections::name(pause.part).to_owned(),
        seconds: pause.seconds,
        at: pause.at,
    };
    CollectionSpan {
        from: span.from,
        to: span.to,
        minor_collections: span.minor_collections,
        minor_seconds: span.minor_seconds,
        slices: span.slices,
        slice_seconds: span.slice_seconds,
        seconds: span.seconds,
        share: span.share,
        major_cycles: span.major_cycles,
        compactions: span.compactions,
        replaced: span.replaced,
        longest: span.longest.into_iter().map(pause).collect(),
    }
}
