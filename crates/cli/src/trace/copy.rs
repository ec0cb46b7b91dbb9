//! Writes the events of one trace into another, which appears under its name only when whole.

use std::io::BufWriter;
use std::path::Path;

use memtrail_trace::rewrite::{Rewrite, rewrite};
use memtrail_trace::{Decoded, Reader};

use crate::error::Failure;
use crate::output::Output;
use crate::trace::progress::Progress;

/// Copies what `how` lets through to the file `to`.
pub(super) fn copy<R: Rewrite>(
    reader: &Reader<'_>,
    to: &Path,
    how: &mut R,
) -> Result<Decoded, Failure> {
    let output = Output::create(to)?;
    let out = BufWriter::with_capacity(1 << 18, &output.file);
    let mut progress = Progress::new();
    let written = rewrite(reader, out, how, || progress.tick());
    let (_, decoded) = written.map_err(|error| output.failure(&error))?;
    output.keep()?;
    Ok(decoded)
}
