//! `memtrail man`: the help of all commands as manual pages.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_mangen::Man;

use crate::error::{Failure, Kind};

/// Print a manual page, or write all of them into a folder
///
/// Examples:
///   memtrail man heap roots | man -l -
///   memtrail man --output ~/.local/share/man/man1
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Command to print the page of; without one, the page of memtrail itself
    #[arg(conflicts_with = "output")]
    command: Vec<String>,

    /// Write the pages of all commands into this folder, which is created if it is missing
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Prints or writes pages; `root` is the description of all commands.
pub(crate) fn run(args: &Args, mut root: Command) -> Result<ExitCode, Failure> {
    root.build();
    if let Some(folder) = &args.output {
        fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(root, folder))
            .map_err(|e| unwritable(folder, &e))?;
    } else {
        let mut text = Vec::new();
        Man::new(find(&root, &args.command)?.clone()).render(&mut text)?;
        io::stdout().write_all(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The command that the words name.
fn find<'a>(root: &'a Command, words: &[String]) -> Result<&'a Command, Failure> {
    words.iter().try_fold(root, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let for_users = command.get_subcommands().filter(|known| !known.is_hide_set());
            let known: Vec<_> = for_users.map(Command::get_name).collect();
            let message = format!("no command \"{word}\" in \"{}\"", command.get_name());
            let failure = Failure::new(Kind::Usage, message);
            if known.is_empty() { failure } else { failure.hint(known.join(", ")) }
        })
    })
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Kind::Work, format_args!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let args = Args { command: Vec::new(), output: Some(folder.path().to_path_buf()) };
        run(&args, Cli::command()).unwrap();
        let page = fs::read_to_string(folder.path().join("memtrail-heap-roots.1")).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
        assert!(page.contains("memtrail\\-heap\\-roots"), "{page}");
    }

    #[test]
    fn unknown_commands_are_named() {
        let mut root = Cli::command();
        root.build();
        assert!(find(&root, &["heap".into(), "roots".into()]).is_ok());
        assert!(find(&root, &["heap".into(), "rots".into()]).is_err());
        let Err(unknown) = find(&root, &["nosuch".into()]) else { panic!("no such command") };
        let known = unknown.hint_text().unwrap_or_default();
        assert!(known.contains("leaks") && !known.contains("keep-session"), "{known}");
    }
}
