//! Prints answers: as text for people, or as JSON for programs.

use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

use serde::Serialize;

use crate::canvas::{Canvas, STRONG};
use crate::error::{Failure, Kind};
use crate::json::Versioned;
use crate::problems::Problems;

/// Options for printing an answer.
#[derive(clap::Args)]
pub(crate) struct OutputArgs {
    /// Print the answer as JSON; sizes in bytes
    #[arg(long)]
    pub(crate) json: bool,
    /// Output width [default: that of the terminal; without one, rows of tables are not broken]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    width: Option<u16>,
}

impl OutputArgs {
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

/// An answer that was found, and what is wrong with the files that it is about.
pub(crate) struct Answer<'a, T> {
    pub(crate) value: &'a T,
    /// Damage of a snapshot, if the answer is about the part before it.
    pub(crate) damage: Option<String>,
    pub(crate) problems: Problems,
}

/// Whoever gets an answer: a command prints it, a server sends its JSON.
pub(crate) trait Recipient {
    /// Result of receiving an answer: an exit code, or JSON.
    type Received;

    /// Takes an answer, of which `draw` makes text.
    fn receive<T: Serialize>(
        self,
        form: &OutputArgs,
        answer: Answer<'_, T>,
        draw: impl FnOnce(&mut Canvas),
    ) -> Result<Self::Received, Failure>;
}

/// Prints answers.
pub(crate) struct Printer;

impl Recipient for Printer {
    type Received = ExitCode;

    fn receive<T: Serialize>(
        self,
        form: &OutputArgs,
        answer: Answer<'_, T>,
        draw: impl FnOnce(&mut Canvas),
    ) -> Result<ExitCode, Failure> {
        let Answer { value, damage, problems } = answer;
        let printed = put(form, damage, value, draw);
        let code = problems.finish();
        Ok(code.unwrap_or(printed?))
    }
}

/// Makes JSON of answers, the same that `--json` prints.
pub(crate) struct JsonMaker;

/// The JSON of an answer.
pub(crate) struct JsonAnswer {
    pub(crate) value: serde_json::Value,
    pub(crate) problems: Vec<Failure>,
}

impl Recipient for JsonMaker {
    type Received = JsonAnswer;

    fn receive<T: Serialize>(
        self,
        _: &OutputArgs,
        answer: Answer<'_, T>,
        _: impl FnOnce(&mut Canvas),
    ) -> Result<JsonAnswer, Failure> {
        let Answer { value, damage, problems } = answer;
        let value = serde_json::to_value(Versioned::new(value, damage.as_deref()));
        let value = value.map_err(std::io::Error::from)?;
        Ok(JsonAnswer { value, problems: problems.into_failures() })
    }
}

/// Prints an answer about snapshots. With `damaged`, the damage of one of them, it is marked as partial, and the command
/// fails.
pub(crate) fn put<T: Serialize>(
    form: &OutputArgs,
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
