//! Prints answers: as text for people, or as JSON for programs.

use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

use serde::Serialize;

use crate::canvas::{Canvas, STRONG};
use crate::error::{Failure, Kind};
use crate::json::Versioned;

/// Options for printing an answer.
#[derive(clap::Args)]
pub(crate) struct Form {
    /// Print the answer as JSON; sizes in bytes
    #[arg(long)]
    pub(crate) json: bool,
    /// Output width [default: that of the terminal; without one, rows of tables are not broken]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    width: Option<u16>,
}

impl Form {
    /// Prints an answer as JSON, or as text by `draw`. With `partial`, the damage of a snapshot, it is marked as an
    /// answer about a part of it.
    fn put<T: Serialize>(
        &self,
        answer: &T,
        partial: Option<&str>,
        draw: impl FnOnce(&mut Canvas),
    ) -> Result<(), Failure> {
        if self.json {
            let mut out = BufWriter::new(std::io::stdout().lock());
            serde_json::to_writer_pretty(&mut out, &Versioned::new(answer, partial))
                .map_err(std::io::Error::from)?;
            writeln!(out)?;
            out.flush()?;
        } else {
            let mut canvas = Canvas::of_output(self.width);
            if let Some(why) = partial {
                let text = format!("partial: {why}; all figures are of the part before");
                canvas.paragraph(STRONG, 2, &text);
                canvas.gap();
            }
            draw(&mut canvas);
            let mut out = anstream::stdout().lock();
            out.write_all(canvas.finish().as_bytes())?;
            out.flush()?;
        }
        Ok(())
    }
}

/// Prints an answer about snapshots. With `damaged`, the damage of one of them, it is marked as partial, and the command
/// fails.
pub(crate) fn put<T: Serialize>(
    form: &Form,
    damaged: Option<String>,
    answer: &T,
    draw: impl FnOnce(&mut Canvas),
) -> Result<ExitCode, Failure> {
    form.put(answer, damaged.as_deref(), draw)?;
    match damaged {
        None => Ok(ExitCode::SUCCESS),
        Some(damaged) => Err(Failure::new(Kind::Input, damaged)
            .hint("what is said is of the part before that alone")),
    }
}
