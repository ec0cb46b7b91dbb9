//! The bytes of a core file, decompressed if need be.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use memtrail_map::MappedFile;
use memtrail_ocaml_snapshot::core_file::CoreError;
use ruzstd::decoding::StreamingDecoder;

use crate::error::{Failure, Kind};

/// First bytes of files that `zstd` compressed, as systemd-coredump stores them.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A core file, mapped.
pub(super) struct CoreInput {
    map: MappedFile,
    written_unix_us: u64,
}

impl CoreInput {
    /// Maps a core file. One that is compressed is decompressed into a file without a name first.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let cannot = |error: io::Error| {
            Failure::unreadable(path, &error).or_hint("name a core file: --core CORE")
        };
        let mut file = File::open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        if metadata.is_dir() {
            return Err(cannot(io::ErrorKind::IsADirectory.into()));
        }
        let written = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let written_unix_us = written.map_or(0, |since| since.as_micros() as u64);
        let mut first = Vec::new();
        file.by_ref().take(4).read_to_end(&mut first).map_err(cannot)?;
        file.rewind().map_err(cannot)?;
        let map = if first == ZSTD {
            MappedFile::of(&decompressed(file).map_err(cannot)?)
        } else {
            MappedFile::of(&file)
        };
        Ok(Self { map: map.map_err(cannot)?, written_unix_us })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// When the file was changed last: cores have no time of their own.
    pub(super) fn written_unix_us(&self) -> u64 {
        self.written_unix_us
    }
}

fn decompressed(file: File) -> io::Result<File> {
    let mut decoder = StreamingDecoder::new(file).map_err(io::Error::other)?;
    let mut plain = tempfile::tempfile()?;
    io::copy(&mut decoder, &mut plain)?;
    Ok(plain)
}

/// Says why a file is no core file that can be read.
pub(super) fn unreadable(path: &Path, error: &CoreError) -> Failure {
    let message = format_args!("cannot read {} as a core file: {error}", path.display());
    let failure = Failure::new(Kind::Input, message);
    match error {
        CoreError::NotElf { .. } => failure.hint(
            "core files are written by the kernel (ulimit -c unlimited), by `gcore PID` and by \
             `coredumpctl dump -o FILE`; compressed ones are read if zstd compressed them",
        ),
        CoreError::NotCore { .. } => failure.hint("name the core file first: --core CORE EXE"),
        CoreError::Bits32 | CoreError::OtherMachine { .. } => {
            failure.hint("memtrail reads core files of 64-bit programs for x86-64")
        }
        CoreError::Truncated { .. } => failure.hint(
            "gdb writes this part last: the disk was full, or the copy was cut off; \
             write the core file again",
        ),
        _ => failure.hint("copy the core file again, or write it again"),
    }
}
