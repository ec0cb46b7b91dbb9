//! What the numbers of a file of block types mean: types, names of variables, definitions of functions.

use memtrail_leb128::{Cursor, put, put_bytes};

use crate::block_types::{BlockType, BlockTypes, Derivation, FieldNames};
use crate::definitions::FunctionDefinition;
use crate::label::{Labels, Variable};
use crate::units::LabelId;

/// Types, variables and definitions.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) types: Vec<BlockType>,
    pub(crate) variables: Vec<(LabelId, Variable)>,
    pub(crate) definitions: Vec<FunctionDefinition>,
}

/// The bytes of a table, before they are compressed.
pub(crate) fn write(
    types: &BlockTypes,
    labels: &Labels,
    definitions: &[FunctionDefinition],
) -> Vec<u8> {
    let mut table = Vec::new();
    put(&mut table, types.iter().count() as u64);
    for (_, ty) in types.iter() {
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
    let mut files: Vec<&[u8]> = definitions.iter().map(|one| one.file.as_slice()).collect();
    files.sort_unstable();
    files.dedup();
    put(&mut table, files.len() as u64);
    for file in &files {
        put_bytes(&mut table, file);
    }
    put(&mut table, definitions.len() as u64);
    for FunctionDefinition { function, file, line, column } in definitions {
        put(&mut table, u64::from(*function));
        put(&mut table, files.binary_search(&file.as_slice()).unwrap_or_default() as u64);
        put(&mut table, u64::from(*line));
        put(&mut table, u64::from(*column));
    }
    table
}

impl Table {
    /// Reads it; `None` if it is damaged.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(bytes);
        let count = cursor.count()?;
        u16::try_from(count).ok()?;
        let types: Option<Vec<BlockType>> = (0..count).map(|_| block_type(&mut cursor)).collect();
        let count = cursor.count()?;
        let variables: Option<Vec<_>> = (0..count).map(|_| variable(&mut cursor)).collect();
        let count = cursor.count()?;
        let files: Option<Vec<&[u8]>> = (0..count).map(|_| cursor.bytes()).collect();
        let files = files?;
        let count = cursor.count()?;
        let definitions: Option<Vec<_>> =
            (0..count).map(|_| definition(&mut cursor, &files)).collect();
        let is_whole = cursor.left() == 0;
        let (types, variables, definitions) = (types?, variables?, definitions?);
        is_whole.then_some(Self { types, variables, definitions })
    }
}

fn definition(cursor: &mut Cursor<'_>, files: &[&[u8]]) -> Option<FunctionDefinition> {
    let mut number = || u32::try_from(cursor.number()?).ok();
    let (function, file) = (number()?, number()?);
    let file = files.get(file as usize)?.to_vec();
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
