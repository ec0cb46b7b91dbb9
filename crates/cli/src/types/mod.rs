//! `memtrail types`: names and types of a program's global variables.

mod args;
mod counts;
mod coverage;
pub(crate) mod lookup;
mod plugins;
mod print;
mod problems;
mod search;
mod sibling;
mod subject;

use std::process::ExitCode;

use memtrail_types::compiler;

use crate::error::{Failure, Kind};
use crate::recording_source::Need;
pub(crate) use args::Args;
pub(crate) use coverage::coverage;
use search::search;
use subject::Subject;

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let path = args.process.one(&args.path, Need::Snapshots)?;
    let subject = Subject::of(&path, args.program.as_deref())?;
    let map = match subject.open() {
        Ok(map) => map,
        // Somebody else's recording, or a program that was rebuilt: there is what was stored.
        Err(failure) => {
            let Some((types, path)) = subject.stored()? else { return Err(failure) };
            return print::print(args, &types, None, Some(&path));
        }
    };
    if let Some(folder) = args.types.iter().find(|folder| !folder.is_dir()) {
        return Err(Failure::new(Kind::Usage, format_args!("no folder {}", folder.display()))
            .hint("--types takes a folder with .cmt files, or with folders that have them"));
    }
    let (types, error) = search(&subject, &map, &args.types, &compiler::compilers(&args.compiler))?;
    let stored = subject.store(&types)?;
    print::print(args, &types, error.as_ref(), stored.as_deref())
}
