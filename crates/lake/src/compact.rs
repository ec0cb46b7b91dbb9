//! Many files of a table and partition into one.
//!
//! The new file's metadata names the recordings that are in it. So an export knows a recording that was compacted, and
//! files that an interrupted compaction left behind are found: a recording has rows in one file only.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use crate::error::Error;
use crate::files::{PARTIAL, temporary};
use crate::footer::{self, entries};
use crate::identity::Hasher;
use crate::place::EXTENSION;
use crate::schema::{PARTITIONS, Table};
use crate::sources::{PREFIX, SOURCES_KEY, is_compacted, sources, stem};
use crate::writer::{GROUP_ROWS, properties, schema};

/// Figures of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Files before.
    pub files_before: u64,
    /// Files after.
    pub files_after: u64,
    /// Their size before.
    pub bytes_before: u64,
    /// Their size after.
    pub bytes_after: u64,
}

impl std::ops::AddAssign for Compacted {
    fn add_assign(&mut self, other: Self) {
        self.files_before += other.files_before;
        self.files_after += other.files_after;
        self.bytes_before += other.bytes_before;
        self.bytes_after += other.bytes_after;
    }
}

/// Checks all files of a table, then makes one of those of each partition.
///
/// # Errors
/// If a file cannot be read, or is of a later schema: nothing is changed then.
pub fn table(lake: &Path, table: Table) -> Result<Compacted, Error> {
    let all = footer::files(lake, table)?;
    for file in &all {
        footer::check(file)?;
    }
    let folders: BTreeSet<&Path> = all.iter().filter_map(|file| file.parent()).collect();
    let mut sum = Compacted::default();
    for folder in folders {
        let files: Vec<&PathBuf> =
            all.iter().filter(|file| file.parent() == Some(folder)).collect();
        sum += partition(table, folder, &files)?;
    }
    Ok(sum)
}

/// A file of a lake, opened.
struct Input<'f> {
    path: &'f Path,
    reader: SerializedFileReader<File>,
}

fn partition(table: Table, folder: &Path, files: &[&PathBuf]) -> Result<Compacted, Error> {
    let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let bytes_before = files.iter().map(|file| size(file)).sum();
    let files_before = files.len() as u64;
    // Files that an interrupted compaction left behind: their rows are in the compacted file.
    let mut inside = BTreeSet::new();
    for file in files.iter().filter(|file| is_compacted(file)) {
        inside.extend(sources(file)?);
    }
    let (old, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.iter().partition(|file| inside.contains(stem(file)));
    if let [_] | [] = files.as_slice() {
        remove(&old)?;
        let bytes_after = files.iter().map(|file| size(file)).sum();
        let files_after = files.len() as u64;
        return Ok(Compacted { files_before, files_after, bytes_before, bytes_after });
    }
    let recordings =
        files.iter().filter(|file| !is_compacted(file)).map(|file| stem(file).to_owned());
    inside.extend(recordings);
    let list: Vec<&str> = inside.iter().map(String::as_str).collect();
    let list = list.join(" ");
    let name = Hasher::default().hash(list.as_bytes()) as u64;
    let path = folder.join(format!("{PREFIX}{name:016x}.{EXTENSION}"));
    let mut inputs = Vec::new();
    for file in &files {
        let opened = File::open(file).map_err(Error::io("open", file))?;
        let reader = SerializedFileReader::new(opened).map_err(Error::damaged(file))?;
        inputs.push(Input { path: file, reader });
    }
    let (temporary, out) = temporary(&path)?;
    let written = write(table, &inputs, list, BufWriter::new(out), &path);
    let renamed =
        written.and_then(|()| fs::rename(&temporary, &path).map_err(Error::io("write", &path)));
    if let Err(error) = renamed {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    drop(inputs);
    remove(&old)?;
    let files: Vec<&PathBuf> = files.into_iter().filter(|file| **file != path).collect();
    remove(&files)?;
    Ok(Compacted { files_before, files_after: 1, bytes_before, bytes_after: size(&path) })
}

fn remove(files: &[&PathBuf]) -> Result<(), Error> {
    files.iter().try_for_each(|file| fs::remove_file(file).map_err(Error::io("remove", file)))
}

/// Writes the rows of all inputs. Of small row groups one is made.
fn write(
    table: Table,
    inputs: &[Input<'_>],
    list: String,
    out: impl Write + Send,
    path: &Path,
) -> Result<(), Error> {
    let writing = || Error::write(path);
    let schema = schema(table).map_err(writing())?;
    for input in inputs {
        let found = input.reader.metadata().file_metadata().schema();
        if *found != *schema {
            let source = ParquetError::General("its columns are not those of its table".to_owned());
            return Err(Error::Damaged { path: input.path.to_path_buf(), source });
        }
    }
    let properties = properties(table).map_err(writing())?;
    let mut file =
        SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(writing())?;
    file.append_key_value_metadata(KeyValue::new(SOURCES_KEY.to_owned(), list));
    let mut batch: Vec<(&Input<'_>, usize)> = Vec::new();
    let mut rows: usize = 0;
    for input in inputs {
        let metadata = input.reader.metadata();
        for group in 0..metadata.num_row_groups() {
            let more = usize::try_from(metadata.row_group(group).num_rows()).unwrap_or(usize::MAX);
            if rows > 0 && rows.saturating_add(more) > GROUP_ROWS {
                copy(&mut file, &batch, path)?;
                batch.clear();
                rows = 0;
            }
            batch.push((input, group));
            rows = rows.saturating_add(more);
        }
    }
    copy(&mut file, &batch, path)?;
    let mut out = file.into_inner().map_err(writing())?;
    out.flush().map_err(Error::io("write", path))
}

/// Writes a row group with the rows of several, column by column.
fn copy<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    batch: &[(&Input<'_>, usize)],
    path: &Path,
) -> Result<(), Error> {
    if batch.is_empty() {
        return Ok(());
    }
    let writing = || Error::write(path);
    let mut group = file.next_row_group().map_err(writing())?;
    let mut place = 0;
    while let Some(mut column) = group.next_column().map_err(writing())? {
        for (input, number) in batch {
            let reader = input.reader.get_row_group(*number);
            let reader = reader.and_then(|group| group.get_column_reader(place));
            let copied = reader.and_then(|reader| match reader {
                ColumnReader::Int64ColumnReader(reader) => append::<Int64Type>(reader, &mut column),
                ColumnReader::DoubleColumnReader(reader) => {
                    append::<DoubleType>(reader, &mut column)
                }
                ColumnReader::BoolColumnReader(reader) => append::<BoolType>(reader, &mut column),
                ColumnReader::ByteArrayColumnReader(reader) => {
                    append::<ByteArrayType>(reader, &mut column)
                }
                _ => Err(ParquetError::General("a column of a type that no table has".to_owned())),
            });
            copied.map_err(Error::damaged(input.path))?;
        }
        column.close().map_err(writing())?;
        place += 1;
    }
    group.close().map_err(writing())?;
    Ok(())
}

fn append<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    into: &mut SerializedColumnWriter<'_>,
) -> ParquetResult<()> {
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        values.clear();
        definitions.clear();
        repetitions.clear();
        let (records, _, _) = from.read_records(
            GROUP_ROWS,
            Some(&mut definitions),
            Some(&mut repetitions),
            &mut values,
        )?;
        if records == 0 {
            return Ok(());
        }
        let definitions = (!definitions.is_empty()).then_some(definitions.as_slice());
        let repetitions = (!repetitions.is_empty()).then_some(repetitions.as_slice());
        into.typed::<T>().write_batch(&values, definitions, repetitions)?;
    }
}

/// Removes the files of all partitions before a date, `2026-11-28`; those of `recordings` first. Returns their number and
/// size.
///
/// # Errors
/// If a file cannot be removed.
pub fn prune(lake: &Path, before: &str) -> Result<(u64, u64), Error> {
    let mut removed = (0, 0);
    let column = PARTITIONS.last().copied().unwrap_or_default();
    for table in Table::ALL {
        for file in footer::files(lake, table)? {
            let folder = file.parent();
            let name = folder.and_then(Path::file_name).and_then(|name| name.to_str());
            let date = name.and_then(|name| name.strip_prefix(column)?.strip_prefix('='));
            if date.is_none_or(|date| date >= before) {
                continue;
            }
            removed.1 += fs::metadata(&file).map_or(0, |file| file.len());
            fs::remove_file(&file).map_err(Error::io("remove", &file))?;
            removed.0 += 1;
            // Folders that are not empty stay.
            let above = file.ancestors().skip(1).take(PARTITIONS.len());
            let _ = above.map(fs::remove_dir).take_while(Result::is_ok).count();
        }
    }
    Ok(removed)
}

/// Removes files that an export left half written and that nobody has written to for a day. Returns their number.
///
/// # Errors
/// If a folder cannot be read, or a file cannot be removed.
pub fn remove_partial(lake: &Path) -> Result<u64, Error> {
    const ABANDONED: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
    let mut folders: Vec<PathBuf> =
        Table::ALL.iter().map(|table| lake.join(table.name())).collect();
    let mut removed = 0;
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_partial = path.extension().is_some_and(|ending| ending == PARTIAL);
            let age = fs::metadata(&path).and_then(|file| file.modified()).ok();
            let age = age.and_then(|modified| modified.elapsed().ok());
            if is_partial && age.is_some_and(|age| age > ABANDONED) {
                fs::remove_file(&path).map_err(Error::io("remove", &path))?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::RecordingFiles;
    use crate::place::Partition;

    const DAY: u64 = 24 * 60 * 60 * 1_000_000;

    #[test]
    fn old_days_are_removed_with_their_folders() {
        let lake = tempfile::tempdir().unwrap();
        for day in [0, 1, 2] {
            let partition = Partition::new("shop", "1", day * DAY);
            let files = RecordingFiles::create(lake.path(), &partition, 7, false);
            files.unwrap().finish().unwrap();
        }
        let (files, bytes) = prune(lake.path(), "1970-01-02").unwrap();
        assert_eq!(files, 8);
        assert!(bytes > 0);
        let left =
            |day: u64| Partition::new("shop", "1", day * DAY).folder(lake.path(), Table::Samples);
        assert!(!left(0).exists() && left(1).exists() && left(2).exists());
        assert_eq!(prune(lake.path(), "1970-01-02").unwrap(), (0, 0));
        prune(lake.path(), "2000-01-01").unwrap();
        assert!(!lake.path().join("samples/service_name=shop").exists());
    }

    #[test]
    fn only_abandoned_files_are_removed() {
        let lake = tempfile::tempdir().unwrap();
        let folder = Partition::new("shop", "1", 0).folder(lake.path(), Table::Samples);
        fs::create_dir_all(&folder).unwrap();
        let [old, new] =
            ["old", "new"].map(|name| folder.join(format!(".{name}.parquet.1.{PARTIAL}")));
        for path in [&old, &new] {
            fs::write(path, "half").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3 * 86_400);
        File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        assert_eq!(remove_partial(lake.path()).unwrap(), 1);
        assert!(!old.exists() && new.exists());
    }
}
