//! The types of a snapshot's blocks, the names of its global variables and lines of its functions, as a file beside it:
//! so that they are found once, and travel with it.
//!
//! ```text
//! file  = "MTBTYP" version:u16 snapshot:u64 source:u64 checksum:u64 table_length:u32 table:chunk blocks:u64 chunk*
//! chunk = length:u32 bytes
//! table = types variables files definitions
//! types = number type*
//! type  = derivation:u8 name:text constructor fields
//! constructor = 0:u8 | 1:u8 text
//! fields = 0:u8 | 1:u8 | 2:u8 number text*
//! variables = number variable*
//! variable = label:number name:text type:text position:text
//! files = number text*
//! definitions = number definition*
//! definition = function:number file:number line:number column:number
//! text  = number bytes
//! ```
//!
//! Fixed numbers are little-endian, others have seven bits a byte. Chunks are compressed with LZ4; `table_length` is
//! that of the table before. `snapshot` is the snapshot's checksum, `source` that of what types were found from and by:
//! the keys of the frame ([`file_frame`](crate::file_frame)). The chunks behind `blocks` have a type for each block,
//! as a place in `types` from 1 on in 16 bits; 0 is none, also for the blocks after the last. Each is of 65,536
//! blocks, but for the last. `label` is that of a root of the snapshot; a `position` that is empty is not known.
//! `definition` is where a function of the snapshot is defined, in one of `files`, from 0 on.

#[cfg(feature = "mmap")]
use std::fs::File;
use std::io::{self, Write};
#[cfg(feature = "mmap")]
use std::path::Path;

use lz4_flex::block::{compress, decompress};

use crate::block_types::BlockTypes;
use crate::block_types_column::{self, MAX_EXPANSION, chunk};
use crate::block_types_table::{self, Table};
use crate::file_frame::Frame;
use crate::graph::Place;
use crate::read::Snapshot;

const MAGIC: [u8; 6] = *b"MTBTYP";
/// Raised whenever the bytes or what they mean change: a file of another version is not read.
const VERSION: u16 = 4;

fn frame(snapshot: &Snapshot<'_>, source: TypesSource) -> Frame<2> {
    Frame { magic: MAGIC, version: VERSION, keys: [snapshot.checksum(), source.0] }
}

/// What types of blocks were found from and by, as a checksum: those that were found from something else are not
/// used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypesSource(pub u64);

impl BlockTypes {
    /// Writes the types of a snapshot's blocks, and the names of variables that its labels have.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_file(
        &self,
        snapshot: &Snapshot<'_>,
        source: TypesSource,
        out: impl Write,
    ) -> io::Result<()> {
        let raw = block_types_table::write(self, &snapshot.labels, &snapshot.definitions());
        let table = compress(&raw);
        frame(snapshot, source).write(out, |each| {
            each(&(raw.len() as u32).to_le_bytes())?;
            each(&(table.len() as u32).to_le_bytes())?;
            each(&table)?;
            each(&(self.column().len() as u64).to_le_bytes())?;
            block_types_column::write(self.column(), each)
        })
    }

    /// Makes a file of types one of a copy of its snapshot that has the same blocks. What is no such file stays as it
    /// is.
    pub fn set_snapshot_of_file(file: &mut [u8], copy: &Snapshot<'_>) {
        Frame::<2>::set_key(file, MAGIC, 0, copy.checksum());
    }

    /// Reads the types of a snapshot's blocks, and names its variables. `None` if they are another snapshot's, from
    /// another source, of another version, or damaged: then they have to be found again.
    pub fn read_file(
        snapshot: &mut Snapshot<'_>,
        source: TypesSource,
        bytes: &[u8],
    ) -> Option<Self> {
        let content = frame(snapshot, source).content(bytes, || Frame::<2>::checksum(bytes))?;
        Self::read(snapshot, &Place::Memory, content)
    }

    /// The same of a file, with the column at a place.
    #[cfg(feature = "mmap")]
    pub fn open_file(
        snapshot: &mut Snapshot<'_>,
        source: TypesSource,
        path: &Path,
        place: &Place,
    ) -> Option<Self> {
        let file = File::open(path).ok()?;
        let map = memtrail_map::MappedFile::of(&file).ok()?;
        let checksum = || Frame::<2>::checksum_of_file(&file).ok();
        Self::read(snapshot, place, frame(snapshot, source).content(&map, checksum)?)
    }

    /// What the types in a file were found from, if it is one.
    pub fn source_of_file(bytes: &[u8]) -> Option<TypesSource> {
        let [_, source] = Frame::keys_of(bytes, MAGIC)?;
        Some(TypesSource(source))
    }

    fn read(snapshot: &mut Snapshot<'_>, place: &Place, mut content: &[u8]) -> Option<Self> {
        let (length, rest) = content.split_first_chunk()?;
        content = rest;
        let length = u32::from_le_bytes(*length) as usize;
        let table = chunk(&mut content)?;
        if length / MAX_EXPANSION > table.len() {
            return None;
        }
        let table = decompress(table, length).ok().filter(|table| table.len() == length)?;
        let Table { types, variables, definitions } = Table::read(&table)?;
        let (blocks, content) = content.split_first_chunk()?;
        let blocks = u64::from_le_bytes(*blocks);
        if blocks > u64::from(snapshot.blocks()) {
            return None;
        }
        let blocks = usize::try_from(blocks).ok()?;
        let (of, rest) = block_types_column::read(place, blocks, types.len(), content)?;
        if !rest.is_empty() {
            return None;
        }
        for (label, variable) in variables {
            snapshot.labels.set_variable(label, variable);
        }
        snapshot.define(&definitions);
        Some(Self::from_column(of, types))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_types::{BlockType, BlockTypeId, Derivation, FieldNames};
    use crate::definitions::FunctionDefinition;
    use crate::label::Variable;
    use crate::model::{BETWEEN, Heap, Value};
    use crate::read::Strength;
    use crate::units::LabelId;
    use crate::{BlockIndex, RootKind, tag};

    const SOURCE: TypesSource = TypesSource(7);

    fn snapshot(fields: &[Value]) -> Vec<u8> {
        let mut heap = Heap::new();
        let blocks: Vec<_> = (0..9).map(|_| heap.block(0, fields)).collect();
        let closure = [Value::Raw(BETWEEN + 28), Value::Raw(1 << 56 | 2 << 1 | 1)];
        heap.block(tag::CLOSURE, &closure);
        heap.root(RootKind::GlobalC, "root", Value::Block(blocks[0]), Strength::Strong);
        heap.bytes()
    }

    fn types() -> BlockTypes {
        let named = |name: &str, constructor: Option<&str>, fields, derivation| BlockType {
            name: name.into(),
            constructor: constructor.map(Into::into),
            fields,
            derivation,
        };
        let of = [0, 1, 2, 3, 0, 1, 3].map(BlockTypeId);
        let names = FieldNames::Names(vec!["é".into(), String::new()]);
        BlockTypes::new(
            of.into(),
            vec![
                named("int list", Some("::"), names, Derivation::Variable),
                named("string array", None, FieldNames::Elements, Derivation::Closure),
                named("Hashtbl.t", Some("Cons"), FieldNames::None, Derivation::Contents),
            ],
        )
    }

    fn file(snapshot: &mut Snapshot<'_>) -> Vec<u8> {
        let variable = |position| Variable { name: "Cache.table".into(), ty: "t".into(), position };
        snapshot.labels.set_variable(LabelId(1), variable(None));
        snapshot.labels.set_variable(LabelId(0), variable(Some("cache.ml:3".into())));
        let source_file = b"src/module.ml".to_vec();
        let at = FunctionDefinition { function: 0, file: source_file, line: 30, column: 4 };
        snapshot.define(&[at]);
        assert_eq!(snapshot.definitions().len(), 1);
        let mut file = Vec::new();
        types().write_file(snapshot, SOURCE, &mut file).unwrap();
        file
    }

    #[test]
    fn what_is_written_is_read_again() {
        let bytes = snapshot(&[Value::Int(1)]);
        let mut named = Snapshot::read(&bytes).unwrap();
        let file = file(&mut named);
        assert_eq!(BlockTypes::source_of_file(&file), Some(SOURCE));
        let mut snapshot = Snapshot::read(&bytes).unwrap();
        let read = BlockTypes::read_file(&mut snapshot, SOURCE, &file).unwrap();
        assert_eq!(read, types());
        assert_eq!(snapshot.labels.variables(), named.labels.variables());
        assert_eq!(snapshot.functions, named.functions);
        assert_eq!(read.of(BlockIndex(5)).map(BlockType::text).as_deref(), Some("int list (::)"));
        assert_eq!(read.of(BlockIndex(8)), None);
    }

    #[cfg(feature = "mmap")]
    #[test]
    fn a_file_is_read_as_its_bytes_are() {
        let bytes = snapshot(&[Value::Int(1)]);
        let mut snapshot = Snapshot::read(&bytes).unwrap();
        let path = std::env::temp_dir().join(format!("block-types-{}", std::process::id()));
        std::fs::write(&path, file(&mut snapshot)).unwrap();
        let read = BlockTypes::open_file(&mut snapshot, SOURCE, &path, &Place::Memory);
        let other = BlockTypes::open_file(&mut snapshot, TypesSource(8), &path, &Place::Memory);
        std::fs::remove_file(&path).unwrap();
        assert_eq!((read, other), (Some(types()), None));
        assert_eq!(BlockTypes::open_file(&mut snapshot, SOURCE, &path, &Place::Memory), None);
    }

    #[test]
    fn types_of_others_are_not_read() {
        let (bytes, other) = (snapshot(&[Value::Int(1)]), snapshot(&[Value::Int(2); 2]));
        let mut this = Snapshot::read(&bytes).unwrap();
        let mut other = Snapshot::read(&other).unwrap();
        let file = file(&mut this);
        assert_eq!(BlockTypes::read_file(&mut this, TypesSource(8), &file), None);
        assert_eq!(BlockTypes::read_file(&mut other, SOURCE, &file), None);
    }

    #[test]
    fn damage_is_found() {
        let bytes = snapshot(&[Value::Int(1)]);
        let mut snapshot = Snapshot::read(&bytes).unwrap();
        let file = file(&mut snapshot);
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x10;
            assert_eq!(BlockTypes::read_file(&mut snapshot, SOURCE, &changed), None, "{at}");
            assert_eq!(BlockTypes::read_file(&mut snapshot, SOURCE, &file[..at]), None, "{at}");
        }
    }
}
