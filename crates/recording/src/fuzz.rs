//! What fuzzing checks of the readers. Here rather than with the fuzz targets, so that tests can replay
//! their corpus.

use std::time::Duration;

use memtrail_heap::Bytes;

use crate::collections;
use crate::collections::summary::Summary;
use crate::lines::LineError;
use crate::mappings::{field_of_status, with_resident};
use crate::memory::resident::{Known, RuntimeMemory, measure};
use crate::memory::table::MemoryTable;
use crate::memory::{Figure, HEADING, MemoryFigures, parse};
use crate::waiting::Waiting;

/// Reads any bytes as the file `memory`: no panic, and what was read is written so that it reads the same.
///
/// # Panics
/// If the reader or the writer is wrong.
pub fn memory(bytes: &[u8]) {
    let (found, error) = parse(bytes);
    if let Some(LineError::Line { line }) = error {
        assert!(line >= 2 && line <= bytes.split(|&byte| byte == b'\n').count());
    }
    let mut file = format!("{HEADING}\n");
    for figures in &found {
        if let Some(table) = MemoryTable::new(figures) {
            let _ = table.sum();
        }
        file += &figures.line();
    }
    assert_eq!(parse(file.as_bytes()), (found, None));
}

/// Reads any bytes as the file `collections`: no panic, and what was read is written so that it reads the same.
///
/// # Panics
/// If the reader or the writer is wrong.
pub fn collections(bytes: &[u8]) {
    let (found, _) = collections::parse(bytes);
    let mut file = format!("{}\n", collections::HEADING);
    for figures in &found {
        file += &figures.line();
    }
    for stretches in [1, 3] {
        let summary = Summary::new(&found, stretches);
        assert_eq!(summary.is_none(), found.is_empty());
        assert!(summary.is_none_or(|summary| summary.over_time.len() <= stretches));
    }
    assert_eq!(collections::parse(file.as_bytes()), (found, None));
}

/// Reads any bytes as memory with what waits for room on the disk: no panic, and no byte that is not there.
///
/// # Panics
/// If that is not so.
pub fn waiting(bytes: &[u8]) {
    let inode = bytes.get(8..).and_then(<[u8]>::first_chunk).map_or(0, |n| u64::from_le_bytes(*n));
    for length in [0, 1, bytes.len() as u64, u64::MAX] {
        if let Some(found) = Waiting::read(bytes, inode, length) {
            assert_eq!(found.appended() + found.rest().len(), found.bytes().len());
        }
    }
}

/// Reads any bytes as the text of `smaps` or `status`: no panic, and each resident byte is counted once.
///
/// # Panics
/// If that is not so.
pub fn smaps(bytes: &[u8]) {
    let _ = field_of_status(bytes, "VmRSS");
    let pieces = [(0x1000, Figure::Chunks), (0x70_0000, Figure::MinorHeaps)];
    let runtime = pieces.map(|(start, figure)| RuntimeMemory {
        addresses: start..start + 0x1_0000,
        resident: Bytes(0x9000),
        figure,
    });
    let known = Known {
        program: b"/bin/server",
        agent: 0x40_0000,
        session: b"/tmp/session",
        agent_stack: (0x10_0000, 0x1_0000),
        agent_heap: Bytes(0x800),
        runtime: &runtime,
    };
    let mut figures = MemoryFigures::new(Duration::ZERO);
    measure(bytes, &known, &mut figures);
    let space = [Figure::RuntimeInArenas, Figure::RuntimeInMappings];
    let parts = Figure::ALL.iter().filter(|figure| !space.contains(figure));
    let sum: Bytes = parts.filter_map(|&figure| figures.get(figure)).sum();
    let all: Bytes = with_resident(bytes).map(|(_, resident)| resident).sum();
    // Sums that overflow stay at the largest number, whatever was taken from them.
    assert!(sum == all || all.0 > u64::MAX / 2, "{sum:?} of {all:?}");
}
