//! Lines of source files with what each allocates, where the engine's host has the files.

use std::collections::BTreeMap;
use std::fmt::Debug;

use memtrail_profile::calls::Label;
use memtrail_profile::sites::By;
use memtrail_profile::source_lines::source_lines;
use serde::{Deserialize, Serialize};

use crate::api_error::ApiError;
use crate::names::Budget;
use crate::query::SourceText;
use crate::recording::Recording;
use crate::response_body::ResponseBody;

/// Maximum number of lines of a response.
const MAX_LINES: usize = 1000;
/// Characters of a line that are shown.
const MAX_WIDTH: usize = 300;

/// A source file, as far as pages show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceFile {
    /// Its name below the folder that it was found in.
    pub name: String,
    /// Its path, for an editor; none where there is no editor to open it.
    pub path: Option<String>,
    /// When it was last changed, in seconds since 1970.
    pub modified: Option<f64>,
    /// What is in it.
    pub text: String,
}

/// Where an engine finds source files.
pub trait SourceFiles: Debug + Send + Sync {
    /// The file that a recording calls `recorded`.
    ///
    /// # Errors
    /// Why there is none, as a sentence without its end.
    fn find(&self, recorded: &str) -> Result<SourceFile, String>;

    /// The address that opens a file in an editor, with `{path}`, `{line}` and `{column}` in it.
    fn editor(&self) -> Option<&str> {
        None
    }
}

/// Source files by the names that recordings have for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourcesInMemory(pub BTreeMap<String, SourceFile>);

impl SourceFiles for SourcesInMemory {
    fn find(&self, recorded: &str) -> Result<SourceFile, String> {
        self.0
            .get(recorded)
            .cloned()
            .ok_or_else(|| "This source file is not in the page".to_owned())
    }
}

/// Lines of a source file. Columns, of each line: `total`, `stderr` and `own`, in bytes; `live`, what of the total
/// was never collected.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct SourceTextResponse {
    /// The file's name below the folder that it was found in.
    name: String,
    /// Its path, for an editor.
    path: Option<String>,
    /// Why there are no lines.
    missing: Option<String>,
    /// Whether the file was changed after the recording began: lines may not be those that were compiled.
    changed: bool,
    /// The number of the first of these lines, from 1.
    first: usize,
    /// How many lines the file has.
    count: usize,
    lines: Vec<String>,
}

pub(crate) fn source_text(
    recording: &Recording,
    files: Option<&dyn SourceFiles>,
    query: &SourceText,
) -> Result<ResponseBody, ApiError> {
    let missing = |why: String| {
        let none = || Vec::<f64>::new();
        let response = SourceTextResponse { missing: Some(why), ..SourceTextResponse::default() };
        let body = ResponseBody::new(response);
        Ok(body
            .with("total", none())
            .with("stderr", none())
            .with("own", none())
            .with("live", none()))
    };
    let selection = recording.choose(&query.filter)?;
    let Some(Label::File(file)) = recording.entities.find_label(By::File, &query.file) else {
        return missing("The recording has no such source file".to_owned());
    };
    let Some(files) = files else { return missing("There are no source files here".to_owned()) };
    let found = match files.find(&query.file) {
        Ok(found) => found,
        Err(why) => return missing(why),
    };
    let count = found.text.lines().count();
    let line = (query.line as usize).clamp(1, count.max(1));
    let first = line.saturating_sub(MAX_LINES / 2).min(count.saturating_sub(MAX_LINES)) + 1;
    let mut budget = Budget::new();
    let lines = found.text.lines().skip(first - 1).take(MAX_LINES).map(shown_line);
    let lines: Vec<String> = lines.take_while(|line| budget.take(line.len() + 3)).collect();

    let profile = recording.profile();
    let mut columns = [(); 4].map(|()| vec![0.0; lines.len()]);
    for figures in source_lines(profile, &selection.filter, file) {
        let Some(at) = (figures.line as usize).checked_sub(first).filter(|at| *at < lines.len())
        else {
            continue;
        };
        let total = profile.estimator.bytes(&figures.total);
        let each = profile.estimator.bytes_per_sample();
        let own = figures.own.samples as f64 * each;
        let row = [total.value, total.stderr, own, figures.live as f64 * each];
        for (column, figure) in columns.iter_mut().zip(row) {
            column[at] = figure;
        }
    }
    let begun = profile.info.start.0 as f64 / 1e6;
    let [total, stderr, own, live] = columns;
    let response = SourceTextResponse {
        name: found.name,
        path: found.path,
        missing: None,
        changed: found.modified.is_some_and(|modified| modified > begun),
        first,
        count,
        lines,
    };
    let body = ResponseBody::new(response);
    Ok(body.with("total", total).with("stderr", stderr).with("own", own).with("live", live))
}

/// A line without its end; control characters but tabs are replaced, and the rest of a long line is cut.
fn shown_line(line: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    let mut text: String = line.chars().take(MAX_WIDTH).map(shown).collect();
    if line.chars().nth(MAX_WIDTH).is_some() {
        text.push('…');
    }
    text
}

/// The files that allocate, those with most first.
pub(crate) fn files_by_size(recording: &Recording) -> Result<Vec<String>, ApiError> {
    let selection = recording.choose(&[])?;
    let entities = &recording.entities;
    let mut lines = memtrail_profile::calls::table(selection.view(entities), By::File);
    memtrail_profile::calls::sort(
        &mut lines,
        entities,
        memtrail_profile::calls::Column::Total,
        true,
    );
    Ok(lines.iter().map(|line| entities.label_key(line.label).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_text_that_can_be_shown() {
        assert_eq!(
            shown_line("\tlet x = \"\u{1b}[31m\u{0}\""),
            "\tlet x = \"\u{fffd}[31m\u{fffd}\""
        );
        let long = shown_line(&"é".repeat(MAX_WIDTH + 1));
        assert_eq!(long.chars().count(), MAX_WIDTH + 1);
        assert!(long.ends_with('…'));
    }
}
