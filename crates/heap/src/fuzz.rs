//! What fuzzing checks of the reader. Here rather than with the fuzz targets, so that tests can
//! replay their corpus.

use xxhash_rust::xxh3::Xxh3Default;

use crate::format::{FILE_HEADER, MAGIC, SECTION_HEADER, VERSION, kind};
use crate::read::{Columns, Snapshot};

/// Reads any bytes as a snapshot: no panic, whatever they are.
///
/// # Panics
/// If the reader is wrong.
pub fn read(bytes: &[u8]) {
    let _ = crate::renumber::renumber(bytes, Some);
    let Ok(snapshot) = Snapshot::read(bytes) else { return };
    if let Some(damage) = snapshot.damage {
        assert!(damage.offset <= bytes.len() as u64, "{damage}");
    }
    let mut columns = Columns::new();
    let mut blocks = 0;
    for section in 0..snapshot.sections() {
        if snapshot.decode(section, &mut columns).is_err() {
            return;
        }
        assert_eq!(snapshot.first_of(section).0, blocks);
        blocks += columns.len() as u32;
        assert_eq!(columns.addresses().count(), columns.len());
        for (place, block) in columns.iter().enumerate() {
            assert_eq!(columns.fields(place).count(), block.targets.len());
            assert!(block.targets.iter().all(|target| *target < snapshot.blocks()));
            assert_eq!(snapshot.section_of(block.index), Some(section));
        }
        assert_eq!(columns.iter().count(), columns.len());
    }
    assert_eq!(blocks, snapshot.blocks());
    // What cannot be read is an error: that is all there is to say.
    let _ = snapshot.contents(|_, _, _| {});
    #[cfg(feature = "analysis")]
    analyse(snapshot);
}

/// All that is asked of a snapshot of which every number was checked.
#[cfg(feature = "analysis")]
fn analyse(snapshot: Snapshot<'_>) {
    use crate::query;
    let Ok(heap) = query::Heap::new(snapshot, 1) else { return };
    let kept = heap.graph.held(crate::graph::SUPER_ROOT);
    let histogram = query::histogram(&heap).expect("sections that were read before");
    assert_eq!(kept.bytes(), histogram.bytes);
    let reached = heap.graph.reach(&[crate::graph::SUPER_ROOT]);
    assert_eq!(reached.words, kept);
    for block in (0..heap.snapshot.blocks().min(50)).map(crate::BlockIndex) {
        let path = query::path(&heap, block).expect("sections that were read before");
        assert_eq!(path.is_some(), heap.graph.is_reachable(block));
        let ways = query::disjoint_paths(&heap, block, 3).expect("sections that were read before");
        assert_eq!(ways.paths.is_empty(), path.is_none());
    }
    let all = query::RetainedGroup {
        blocks: (0..heap.snapshot.blocks()).step_by(3).map(crate::BlockIndex).collect(),
        kinds: histogram.rows.first().map(|row| row.kind.clone()).into_iter().collect(),
        root_nodes: Vec::new(),
    };
    let freed = query::retained(&heap, &all).expect("sections that were read before");
    let in_heap = freed.bytes.0 - freed.static_bytes.0;
    assert!(in_heap <= freed.retained.0 && freed.retained <= kept.bytes());
}

/// Makes sections of the bytes, each with a checksum that is right, and reads them: so that fuzzing
/// gets behind the checksums. A section is kind, count, a length in two bytes, and its content.
///
/// # Panics
/// If the reader is wrong.
pub fn sections(mut bytes: &[u8]) {
    let mut file = vec![0; FILE_HEADER];
    file[..6].copy_from_slice(MAGIC);
    file[6..8].copy_from_slice(&VERSION.to_le_bytes());
    while let Some(([kind, count, low, high], rest)) = bytes.split_first_chunk::<4>() {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        section(&mut file, u16::from(*kind), u32::from(*count), &rest[..length]);
        bytes = &rest[length..];
    }
    section(&mut file, kind::END, 0, &[]);
    read(&file);
}

/// Reads any bytes as what follows the header of a file of block types: no panic, and what is read is the same when
/// it was written and read again.
///
/// # Panics
/// If the reader is wrong.
#[cfg(feature = "analysis")]
pub fn block_types(bytes: &[u8]) {
    use crate::model::{Heap, Value};
    use crate::{BlockTypes, TypesSource};
    let mut heap = Heap::new();
    for _ in 0..8 {
        heap.block(0, &[Value::Int(1)]);
    }
    let snapshot = heap.bytes();
    let read = || Snapshot::read(&snapshot).expect("a snapshot that is whole");
    let mut snapshot = read();
    let source = TypesSource(1);
    let mut file = Vec::new();
    BlockTypes::default().write_file(&snapshot, source, &mut file).expect("room in memory");
    let checksum = xxhash_rust::xxh3::xxh3_64(bytes).to_le_bytes();
    file.truncate(24);
    file.extend_from_slice(&checksum);
    file.extend_from_slice(bytes);
    let Some(types) = BlockTypes::read_file(&mut snapshot, source, &file) else { return };
    file.clear();
    types.write_file(&snapshot, source, &mut file).expect("room in memory");
    let mut again = read();
    assert_eq!(BlockTypes::read_file(&mut again, source, &file), Some(types));
    assert_eq!(snapshot.labels.variables(), again.labels.variables());
}

fn section(file: &mut Vec<u8>, kind: u16, count: u32, content: &[u8]) {
    let mut header = [0; SECTION_HEADER];
    header[..2].copy_from_slice(&kind.to_le_bytes());
    header[4..8].copy_from_slice(&(content.len() as u32).to_le_bytes());
    header[8..12].copy_from_slice(&(content.len() as u32).to_le_bytes());
    header[12..16].copy_from_slice(&count.to_le_bytes());
    let mut checksum = Xxh3Default::new();
    checksum.update(&header[..16]);
    checksum.update(content);
    header[16..].copy_from_slice(&checksum.digest().to_le_bytes());
    file.extend_from_slice(&header);
    file.extend_from_slice(content);
}

/// A snapshot as the input of [`sections`] that gives it again: to start fuzzing from.
pub fn unpack(snapshot: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let mut at = FILE_HEADER;
    let mut buffer = Vec::new();
    while let Ok((section, next)) = crate::read::sections::section(snapshot, at) {
        if let Ok(content) = section.content(&mut buffer)
            && let Ok(length) = u16::try_from(content.len())
        {
            unpacked.extend_from_slice(&[section.kind as u8, section.count as u8]);
            unpacked.extend_from_slice(&length.to_le_bytes());
            unpacked.extend_from_slice(content);
        }
        at = next;
    }
    unpacked
}
