//! The files of one recording in a lake. They are written under temporary names and renamed at the end; a second export
//! of a recording replaces its files.

use std::fs::{self, File, OpenOptions};
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::place::{EXTENSION, Partition, file_stem};
use crate::schema::Table;
use crate::sources::compacted_file_of;
use crate::value::Value;
use crate::writer::TableWriter;

/// Ending of temporary names. Engines skip names that begin with a dot.
pub const PARTIAL: &str = "partial";

/// A file that is being written.
#[derive(Debug)]
pub struct NewFile {
    writer: Option<TableWriter<BufWriter<File>>>,
    temporary: PathBuf,
    path: PathBuf,
    rows: u64,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Its table.
    pub table: Table,
    /// Its path.
    pub path: PathBuf,
    /// Its rows.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
}

impl NewFile {
    /// Starts a file of a table, in folders that are made if there are none.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(table: Table, path: &Path) -> Result<Self, Error> {
        let (temporary, file) = temporary(path)?;
        let mut new = Self { writer: None, temporary, path: path.to_path_buf(), rows: 0 };
        let writer = TableWriter::new(table, BufWriter::new(file));
        new.writer = Some(writer.map_err(Error::write(path))?);
        Ok(new)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it cannot be written.
    #[inline]
    pub fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        self.rows += 1;
        writer.row(values).map_err(Error::write(&self.path))
    }

    /// Writes the footer. The file keeps its temporary name.
    fn close(&mut self) -> Result<(), Error> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let out = writer.finish().map_err(Error::write(&self.path))?;
        let flushed = out.into_inner().map_err(std::io::IntoInnerError::into_error);
        flushed.map_err(Error::io("write", &self.path)).map(drop)
    }

    fn rename(&mut self, table: Table) -> Result<WrittenFile, Error> {
        fs::rename(&self.temporary, &self.path).map_err(Error::io("write", &self.path))?;
        self.temporary = PathBuf::new();
        let bytes = fs::metadata(&self.path).map_or(0, |file| file.len());
        Ok(WrittenFile { table, path: self.path.clone(), rows: self.rows, bytes })
    }
}

/// A file that did not come to its end is removed.
impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Creates a file with a temporary name beside the one that it will be.
pub(crate) fn temporary(path: &Path) -> Result<(PathBuf, File), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.{PARTIAL}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(&temporary).map_err(Error::io("create", &temporary))?;
    Ok((temporary, file))
}

/// The files of a recording.
#[derive(Debug)]
pub struct RecordingFiles {
    files: Vec<(Table, Option<NewFile>, PathBuf)>,
}

impl RecordingFiles {
    /// Starts the files of a recording: those of all tables, or of all that have no row for each block.
    ///
    /// # Errors
    /// If one cannot be created, or the lake was compacted with the recording in it.
    pub fn create(
        lake: &Path,
        partition: &Partition,
        recording: i64,
        blocks: bool,
    ) -> Result<Self, Error> {
        let folder = partition.folder(lake, Table::Recordings);
        if let Some(path) = compacted_file_of(&folder, &file_stem(recording))? {
            return Err(Error::Compacted { path });
        }
        let mut files = Vec::new();
        for table in Table::ALL {
            let name = format!("{}.{EXTENSION}", file_stem(recording));
            let path = partition.folder(lake, table).join(name);
            let is_wanted = blocks || !table.is_of_blocks();
            let file = is_wanted.then(|| NewFile::create(table, &path)).transpose()?;
            files.push((table, file, path));
        }
        Ok(Self { files })
    }

    /// Adds a row to a table. One of a table that is not written is left out.
    ///
    /// # Errors
    /// If it cannot be written.
    #[inline]
    pub fn row(&mut self, table: Table, values: &[Value<'_>]) -> Result<(), Error> {
        match self.files.get_mut(table as usize) {
            Some((_, Some(file), _)) => file.row(values),
            _ => Ok(()),
        }
    }

    /// Gives the files their names. Tables come before `recordings`, so that a recording that can be counted has all its
    /// rows; tables that this export leaves out lose what an earlier one wrote.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self) -> Result<Vec<WrittenFile>, Error> {
        for (_, file, _) in &mut self.files {
            file.as_mut().map_or(Ok(()), NewFile::close)?;
        }
        let mut written = Vec::new();
        for (table, file, path) in self.files.iter_mut().rev() {
            match file {
                Some(file) => written.push(file.rename(*table)?),
                None => match fs::remove_file(&*path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(Error::io("remove", path)(error));
                    }
                    _ => {}
                },
            }
        }
        written.reverse();
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition() -> Partition {
        Partition::new("shop", "1", 0)
    }

    fn names(lake: &Path, table: Table) -> Vec<String> {
        let folder = partition().folder(lake, table);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn edge(files: &mut RecordingFiles, source: i64) {
        let values = [1, source, 2].map(Value::Int);
        files.row(Table::HeapEdges, &values).unwrap();
    }

    #[test]
    fn files_appear_when_all_are_whole_and_replace_older_ones() {
        let lake = tempfile::tempdir().unwrap();
        let mut files = RecordingFiles::create(lake.path(), &partition(), 7, true).unwrap();
        edge(&mut files, 1);
        assert!(names(lake.path(), Table::HeapEdges)[0].ends_with(PARTIAL));
        let written = files.finish().unwrap();
        assert_eq!(written.len(), Table::ALL.len());
        assert_eq!(written[Table::HeapEdges as usize].rows, 1);
        assert_eq!(names(lake.path(), Table::HeapEdges), ["0000000000000007.parquet"]);
        // An export without blocks leaves no older ones of the recording behind.
        RecordingFiles::create(lake.path(), &partition(), 7, false).unwrap().finish().unwrap();
        assert!(names(lake.path(), Table::HeapEdges).is_empty());
        assert_eq!(names(lake.path(), Table::Samples).len(), 1);
    }

    #[test]
    fn an_export_that_fails_leaves_nothing() {
        let lake = tempfile::tempdir().unwrap();
        let mut files = RecordingFiles::create(lake.path(), &partition(), 7, true).unwrap();
        edge(&mut files, 1);
        drop(files);
        assert!(Table::ALL.iter().all(|table| names(lake.path(), *table).is_empty()));
    }
}
