//! Rows of a table into a Parquet file, in row groups of bounded size.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};

use crate::buffer::{Buffer, DELTA, declaration};
use crate::schema::{SCHEMA, SCHEMA_KEY, Table, WRITER_KEY};
use crate::value::Value;

/// Rows of a row group. `duckdb` reads row groups in parallel, and wants 122,880 rows in each.
pub const GROUP_ROWS: usize = 1 << 18;
/// Elements of lists in a row group: callstacks may be deep.
const GROUP_ELEMENTS: usize = 4 << 20;
/// Level of zstd. Higher ones take longer and save little.
const LEVEL: i32 = 3;

/// A Parquet file of a table that is being written.
pub struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Buffer>,
    rows: usize,
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(table: Table, out: W) -> Result<Self> {
        let file = SerializedFileWriter::new(out, schema(table)?, Arc::new(properties(table)?))?;
        let columns = table.columns().iter().map(|column| Buffer::new(*column)).collect();
        Ok(Self { file, columns, rows: 0 })
    }

    /// Adds a row: a value for each column of the table, in their order.
    ///
    /// # Errors
    /// If a row group is full and cannot be written.
    #[inline]
    pub fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        debug_assert_eq!(values.len(), self.columns.len());
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(*value);
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS
            || (self.rows.is_multiple_of(1024)
                && self.columns.iter().any(|column| column.len() >= GROUP_ELEMENTS))
        {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes the rest and the footer, and gives back what is written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<W> {
        self.flush()?;
        self.file.into_inner()
    }
}

/// The schema of a table's files.
pub(crate) fn schema(table: Table) -> Result<TypePtr> {
    let columns: String = table.columns().iter().map(declaration).collect();
    let text = format!("message {} {{ {columns} }}", table.name());
    Ok(Arc::new(parse_message_type(&text)?))
}

/// Compression, encodings and metadata of a table's files.
pub(crate) fn properties(table: Table) -> Result<WriterProperties> {
    let metadata = vec![
        KeyValue::new(SCHEMA_KEY.to_owned(), SCHEMA.to_string()),
        KeyValue::new(WRITER_KEY.to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_created_by(concat!("memtrail ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata));
    for column in table.columns().iter().filter(|column| column.is_delta) {
        let path: ColumnPath = column.name.into();
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, DELTA);
    }
    Ok(properties.build())
}
