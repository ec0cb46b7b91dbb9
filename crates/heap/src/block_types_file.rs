//! The types of a snapshot's blocks, the names of its global variables and lines of its functions, as a file beside it: so that they are
//! found once, and travel with it.
//!
//! ```text
//! file  = "MTBTYP" version:u16 snapshot:u64 source:u64 checksum:u64 blocks:u64 of:u16[blocks]
//!         zeros, up to a multiple of 8, types variables definitions
//! types = number type*
//! type  = derivation:u8 name:text constructor fields
//! constructor = 0:u8 | 1:u8 text
//! fields = 0:u8 | 1:u8 | 2:u8 number text*
//! variables = number variable*
//! variable = label:number name:text type:text position:text
//! definitions = number definition*
//! definition = function:number file:text line:number column:number
//! text  = number bytes
//! ```
//!
//! Fixed numbers are little-endian, others have seven bits a byte. `snapshot` is the snapshot's checksum,
//! `source` that of what types were found from and by: the keys of the frame ([`file_frame`](crate::file_frame)). `of` has a type for each
//! block, as a place in `types` from 1 on; 0 is none, also for the blocks after the last. `label` is that of a root of
//! the snapshot; a `position` that is empty is not known. `definition` is where a function of the snapshot is defined.

#[cfg(feature = "mmap")]
use std::fs::File;
use std::io::{self, Write};
#[cfg(feature = "mmap")]
use std::path::Path;

use memtrail_leb128::{Cursor, put, put_bytes};

use crate::block_types::{BlockType, BlockTypes, Derivation, FieldNames};
use crate::definitions::FunctionDefinition;
use crate::file_frame::Frame;
use crate::graph::column::Column;
use crate::label::{Labels, Variable};
use crate::read::Snapshot;
use crate::units::LabelId;

const MAGIC: [u8; 6] = *b"MTBTYP";
/// Raised whenever the bytes or what they mean change: a file of another version is not read.
const VERSION: u16 = 3;
/// Where the column begins.
#[cfg(feature = "mmap")]
const OF: usize = Frame::<2>::LENGTH + 8;

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
        let table = self.table(&snapshot.labels, &snapshot.definitions());
        frame(snapshot, source).write(out, |each| self.each_part(&table, each))
    }

    /// Makes a file of types one of a copy of its snapshot that has the same blocks. What is no such file stays as it
    /// is.
    pub fn set_snapshot_of_file(file: &mut [u8], copy: &Snapshot<'_>) {
        Frame::<2>::set_key(file, MAGIC, 0, copy.checksum());
    }

    fn each_part(
        &self,
        table: &[u8],
        each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let of = self.column();
        each(&(of.len() as u64).to_le_bytes())?;
        let mut buffer = Vec::with_capacity(2 * 8192);
        for some in of.chunks(8192) {
            buffer.clear();
            for id in some {
                buffer.extend_from_slice(&id.to_le_bytes());
            }
            each(&buffer)?;
        }
        let length = of.len() * 2;
        each(&[0; 8][..length.next_multiple_of(8) - length])?;
        each(table)
    }

    fn table(&self, labels: &Labels, definitions: &[FunctionDefinition]) -> Vec<u8> {
        let mut table = Vec::new();
        put(&mut table, self.iter().count() as u64);
        for (_, ty) in self.iter() {
            table.push(ty.derivation as u8);
            put_bytes(&mut table, ty.name.as_bytes());
            match &ty.constructor {
                None => table.push(0),
                Some(constructor) => {
                    table.push(1);
                    put_bytes(&mut table, constructor.as_bytes());
                }
            }
            match &ty.fields {
                FieldNames::None => table.push(0),
                FieldNames::Elements => table.push(1),
                FieldNames::Names(names) => {
                    table.push(2);
                    put(&mut table, names.len() as u64);
                    for name in names {
                        put_bytes(&mut table, name.as_bytes());
                    }
                }
            }
        }
        let variables = labels.variables();
        put(&mut table, variables.len() as u64);
        for (label, variable) in variables {
            put(&mut table, u64::from(label.0));
            put_bytes(&mut table, variable.name.as_bytes());
            put_bytes(&mut table, variable.ty.as_bytes());
            put_bytes(&mut table, variable.position.as_deref().unwrap_or_default().as_bytes());
        }
        put(&mut table, definitions.len() as u64);
        for FunctionDefinition { function, file, line, column } in definitions {
            put(&mut table, u64::from(*function));
            put_bytes(&mut table, file);
            put(&mut table, u64::from(*line));
            put(&mut table, u64::from(*column));
        }
        table
    }

    /// Reads the types of a snapshot's blocks, and names its variables. `None` if they are another snapshot's, from another source, of
    /// another version, or damaged: then they have to be found again.
    pub fn read_file(
        snapshot: &mut Snapshot<'_>,
        source: TypesSource,
        bytes: &[u8],
    ) -> Option<Self> {
        let content = frame(snapshot, source).content(bytes, || Frame::<2>::checksum(bytes))?;
        let parts = Parts::read(snapshot, content)?;
        let of = parts.of.as_chunks().0.iter().map(|two| u16::from_le_bytes(*two));
        parts.apply(snapshot, of.collect::<Vec<u16>>().into())
    }

    /// The same of a file, of which no more than is needed is read into memory.
    #[cfg(feature = "mmap")]
    pub fn open_file(
        snapshot: &mut Snapshot<'_>,
        source: TypesSource,
        path: &Path,
    ) -> Option<Self> {
        let file = File::open(path).ok()?;
        let map = memtrail_map::MappedFile::of(&file).ok()?;
        // Columns are little-endian.
        if cfg!(target_endian = "big") {
            return Self::read_file(snapshot, source, &map);
        }
        let checksum = || Frame::<2>::checksum_of_file(&file).ok();
        let parts = Parts::read(snapshot, frame(snapshot, source).content(&map, checksum)?)?;
        let of = match parts.of.len() / 2 {
            0 => Column::default(),
            count => Column::Mapped(crate::mapped_arena::map_index(&file, OF, count).ok()?),
        };
        parts.apply(snapshot, of)
    }

    /// What the types in a file were found from, if it is one.
    pub fn source_of_file(bytes: &[u8]) -> Option<TypesSource> {
        let [_, source] = Frame::keys_of(bytes, MAGIC)?;
        Some(TypesSource(source))
    }
}

/// The parts of a file.
struct Parts<'b> {
    /// The bytes of the column.
    of: &'b [u8],
    types: Vec<BlockType>,
    variables: Vec<(LabelId, Variable)>,
    definitions: Vec<FunctionDefinition>,
}

impl<'b> Parts<'b> {
    /// Reads them.
    fn read(snapshot: &Snapshot<'_>, content: &'b [u8]) -> Option<Self> {
        let (blocks, rest) = content.split_first_chunk()?;
        let blocks = u64::from_le_bytes(*blocks);
        if blocks > u64::from(snapshot.blocks()) {
            return None;
        }
        let length = usize::try_from(blocks).ok()?.checked_mul(2)?;
        let of = rest.get(..length)?;
        let mut cursor = Cursor::new(rest.get(length.checked_next_multiple_of(8)?..)?);
        let count = cursor.count()?;
        u16::try_from(count).ok()?;
        let types: Option<Vec<BlockType>> = (0..count).map(|_| block_type(&mut cursor)).collect();
        let count = cursor.count()?;
        let variables: Option<Vec<_>> = (0..count).map(|_| variable(&mut cursor)).collect();
        let count = cursor.count()?;
        let definitions: Option<Vec<_>> = (0..count).map(|_| definition(&mut cursor)).collect();
        let is_whole = cursor.left() == 0;
        let (types, variables, definitions) = (types?, variables?, definitions?);
        is_whole.then_some(Self { of, types, variables, definitions })
    }

    /// The types, if all numbers of the column are in the table; then variables have their names.
    fn apply(self, snapshot: &mut Snapshot<'_>, of: Column<u16>) -> Option<BlockTypes> {
        let Self { types, variables, definitions, .. } = self;
        if !of.iter().all(|id| usize::from(*id) <= types.len()) {
            return None;
        }
        for (label, variable) in variables {
            snapshot.labels.set_variable(label, variable);
        }
        snapshot.define(&definitions);
        Some(BlockTypes::from_column(of, types))
    }
}

fn definition(cursor: &mut Cursor<'_>) -> Option<FunctionDefinition> {
    let function = u32::try_from(cursor.number()?).ok()?;
    let file = cursor.bytes()?.to_vec();
    let mut number = || u32::try_from(cursor.number()?).ok();
    Some(FunctionDefinition { function, file, line: number()?, column: number()? })
}

fn variable(cursor: &mut Cursor<'_>) -> Option<(LabelId, Variable)> {
    let label = LabelId(u32::try_from(cursor.number()?).ok()?);
    let (name, ty, position) = (cursor.text()?, cursor.text()?, cursor.text()?);
    let position = (!position.is_empty()).then_some(position);
    Some((label, Variable { name, ty, position }))
}

fn block_type(cursor: &mut Cursor<'_>) -> Option<BlockType> {
    let derivation = cursor.byte()?;
    let derivation = Derivation::ALL.into_iter().find(|known| *known as u8 == derivation)?;
    let name = cursor.text()?;
    let constructor = match cursor.byte()? {
        0 => None,
        1 => Some(cursor.text()?),
        _ => return None,
    };
    let fields = match cursor.byte()? {
        0 => FieldNames::None,
        1 => FieldNames::Elements,
        2 => {
            let count = cursor.count()?;
            let names: Option<Vec<String>> = (0..count).map(|_| cursor.text()).collect();
            FieldNames::Names(names?)
        }
        _ => return None,
    };
    Some(BlockType { name, constructor, fields, derivation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_types::BlockTypeId;
    use crate::model::{BETWEEN, Heap, Value};
    use crate::read::Strength;
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
        // Two bytes a block.
        assert_eq!(file.len() - types().table(&named.labels, &named.definitions()).len(), 40 + 16);
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
        let read = BlockTypes::open_file(&mut snapshot, SOURCE, &path);
        let other = BlockTypes::open_file(&mut snapshot, TypesSource(8), &path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!((read, other), (Some(types()), None));
        assert_eq!(BlockTypes::open_file(&mut snapshot, SOURCE, &path), None);
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
