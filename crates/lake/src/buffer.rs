//! Values of one column of a row group that is being filled.

use parquet::basic::{Encoding, Repetition};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use std::io::Write;

use crate::schema::{Column, Type};
use crate::value::Value;

/// Values of one column, with the levels by which Parquet tells nulls and lists.
#[derive(Debug)]
pub(crate) struct Buffer {
    column: Column,
    values: Values,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

#[derive(Debug)]
enum Values {
    Int(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
    Texts(Vec<ByteArray>, Vec<ByteArray>),
}

impl Buffer {
    pub(crate) fn new(column: Column) -> Self {
        let values = match column.r#type {
            Type::Int | Type::Ints => Values::Int(Vec::new()),
            Type::Float => Values::Float(Vec::new()),
            Type::Bool => Values::Bool(Vec::new()),
            Type::Text => Values::Text(Vec::new()),
            Type::Texts => Values::Texts(Vec::new(), Vec::new()),
        };
        Self { column, values, definitions: Vec::new(), repetitions: Vec::new() }
    }

    /// Adds a value. One of another type than the column's is a mistake of this crate: the column has a null or an empty
    /// value then, which tests of each table would show.
    #[inline]
    pub(crate) fn push(&mut self, value: Value<'_>) {
        if self.column.is_nullable {
            let is_defined = !matches!(value, Value::Null);
            self.definitions.push(i16::from(is_defined));
            if !is_defined {
                return;
            }
        }
        match (&mut self.values, value) {
            (Values::Int(values), Value::Int(value)) => values.push(value),
            (Values::Float(values), Value::Float(value)) => values.push(value),
            (Values::Bool(values), Value::Bool(value)) => values.push(value),
            (Values::Text(values), Value::Text(text)) => push_text(values, text),
            (Values::Int(values), Value::Ints(list)) => {
                values.extend_from_slice(list);
                levels(&mut self.definitions, &mut self.repetitions, list.len());
            }
            (Values::Texts(keys, values), Value::Texts(pairs)) => {
                for (key, value) in pairs {
                    push_text(keys, key);
                    push_text(values, value);
                }
                levels(&mut self.definitions, &mut self.repetitions, pairs.len());
            }
            (Values::Int(values), _) => values.push(0),
            (Values::Float(values), _) => values.push(0.0),
            (Values::Bool(values), _) => values.push(false),
            (Values::Text(values), _) => push_text(values, ""),
            (Values::Texts(..), _) => levels(&mut self.definitions, &mut self.repetitions, 0),
        }
    }

    /// Bytes of lists and texts, by which row groups are bounded.
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::Int(values) => values.len(),
            Values::Texts(keys, _) => keys.len(),
            _ => 0,
        }
    }

    /// Writes the values into a row group, and forgets them.
    pub(crate) fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let has_definitions = self.column.is_nullable || self.is_repeated();
        let definitions = has_definitions.then_some(self.definitions.as_slice());
        let repetitions = self.is_repeated().then_some(self.repetitions.as_slice());
        macro_rules! put {
            ($values:expr, $type:ty) => {{
                if let Some(mut column) = group.next_column()? {
                    column.typed::<$type>().write_batch($values, definitions, repetitions)?;
                    column.close()?;
                }
                $values.clear();
            }};
        }
        match &mut self.values {
            Values::Int(values) => put!(values, Int64Type),
            Values::Float(values) => put!(values, DoubleType),
            Values::Bool(values) => put!(values, BoolType),
            Values::Text(values) => put!(values, ByteArrayType),
            Values::Texts(keys, values) => {
                put!(keys, ByteArrayType);
                put!(values, ByteArrayType);
            }
        }
        self.definitions.clear();
        self.repetitions.clear();
        Ok(())
    }

    const fn is_repeated(&self) -> bool {
        matches!(self.column.r#type, Type::Ints | Type::Texts)
    }
}

/// Adds a text; one that is the same as the one before shares its bytes.
fn push_text(values: &mut Vec<ByteArray>, text: &str) {
    let same = values.last().filter(|last| last.data() == text.as_bytes()).cloned();
    values.push(same.unwrap_or_else(|| ByteArray::from(text)));
}

/// Adds the levels of a list of so many elements.
fn levels(definitions: &mut Vec<i16>, repetitions: &mut Vec<i16>, count: usize) {
    let entries = count.max(1);
    definitions.extend(std::iter::repeat_n(i16::from(count > 0), entries));
    repetitions.extend((0..entries).map(|element| i16::from(element > 0)));
}

/// A column in Parquet's language of schemas.
pub(crate) fn declaration(column: &Column) -> String {
    let Column { name, r#type, is_nullable, .. } = column;
    let repetition = if *is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    match r#type {
        Type::Int => format!("{repetition} INT64 {name};"),
        Type::Float => format!("{repetition} DOUBLE {name};"),
        Type::Bool => format!("{repetition} BOOLEAN {name};"),
        Type::Text => format!("{repetition} BYTE_ARRAY {name} (UTF8);"),
        Type::Ints => format!(
            "{repetition} GROUP {name} (LIST) {{ REPEATED GROUP list {{ REQUIRED INT64 element; }} }}"
        ),
        Type::Texts => format!(
            "{repetition} GROUP {name} (MAP) {{ REPEATED GROUP key_value {{ REQUIRED BYTE_ARRAY key (UTF8); \
             REQUIRED BYTE_ARRAY value (UTF8); }} }}"
        ),
    }
}

/// The encoding of differences.
pub(crate) const DELTA: Encoding = Encoding::DELTA_BINARY_PACKED;
