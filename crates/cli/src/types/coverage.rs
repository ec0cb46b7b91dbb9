//! Counts the variables of a program that would have names, before it is recorded.

use std::path::Path;

use memtrail_types::{Unit, compiler};

use super::print::hint_for;
use super::problems;
use super::search::{is_off, search};
use super::subject::Subject;
use crate::error::{Failure, Kind};
use crate::shell_quote;

/// The part of a program that has names.
pub(crate) struct Coverage {
    pub(crate) named: u64,
    /// Fields of all modules.
    pub(crate) fields: u64,
    /// Why there are not more, if that is one reason for all.
    pub(crate) problem: Option<String>,
    /// The way to more names.
    pub(crate) hint: Option<String>,
}

/// Searches for the files of a program's build, as `memtrail types` does.
pub(crate) fn coverage(program: &Path) -> Result<Coverage, Failure> {
    if is_off() {
        let message = "names are not searched, as MEMTRAIL_TYPES is off in the environment";
        let program = shell_quote::path(program);
        return Err(
            Failure::new(Kind::Usage, message).hint(format_args!("memtrail types {program}"))
        );
    }
    let subject = Subject::of(program, None)?;
    let map = subject.open()?;
    let (types, error) = search(&subject, &map, &[], &compiler::compilers(&[]))?;
    let with_fields: Vec<&Unit> =
        types.units.iter().filter(|unit| unit.fields.is_some_and(|n| n > 0)).collect();
    let lacking: Vec<&Unit> =
        with_fields.iter().copied().filter(|unit| Some(unit.named()) != unit.fields).collect();
    let hint = match &error {
        Some(error) => Some(hint_for(error).to_owned()),
        None => problems::hints(&lacking, program).first().map(|hint| (*hint).to_owned()),
    };
    Ok(Coverage {
        named: with_fields.iter().map(|unit| unit.named()).sum(),
        fields: with_fields.iter().filter_map(|unit| unit.fields).sum(),
        problem: error.map(|error| error.to_string()),
        hint,
    })
}
