//! `memtrail top`: what of a running program grows, on the terminal.
//!
//! | file | subject |
//! |---|---|
//! | `args` | what the user asks for |
//! | `watched` | what is watched: a process, or a family, to which processes come |
//! | `watched_process` | a process that is watched, with its figures |
//! | `subject` | a recording that is watched, and its process |
//! | `figures` | what is known of it at a moment, all from the engine and `/proc` |
//! | `family` | the same of all processes of a family |
//! | `process` | what the system says of the process |
//! | `table` | figures as rows of text |
//! | `state` | what the user chose: table, order, filter, rows |
//! | `keys` | what a key does to it |
//! | `screen` | both as cells of the terminal |
//! | `terminal` | the terminal's modes, which are restored however this ends |
//! | `session` | looks, draws and waits for keys, until the user has seen enough |
//! | `once` | one table for those who have no terminal |

mod args;
mod family;
mod figures;
mod keys;
mod once;
mod process;
mod screen;
mod session;
mod state;
mod subject;
mod table;
mod terminal;
mod watched;
mod watched_process;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use crate::error::Failure;
pub(crate) use args::Args;
use watched::Watched;

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let watched = Watched::find(&args.target)?;
    let is_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if args.once || args.json || !is_terminal {
        return once::run(watched, args);
    }
    session::run(watched, args)
}
