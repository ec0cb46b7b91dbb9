//! `memtrail completions`: completion scripts for shells.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::error::Failure;

/// Print a completion script for a shell
///
/// Examples:
///   memtrail completions bash > ~/.local/share/bash-completion/completions/memtrail
///   memtrail completions zsh > "${fpath[1]}/_memtrail"
///   memtrail completions fish > ~/.config/fish/completions/memtrail.fish
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
#[allow(rustdoc::broken_intra_doc_links, reason = "`fpath[1]` is a variable of zsh")]
pub(crate) struct Args {
    /// Shell to print the script for
    shell: Shell,
}

/// Prints the script; `root` is the description of all commands.
pub(crate) fn run(args: &Args, mut root: Command) -> Result<ExitCode, Failure> {
    // `generate` panics where writing fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut root, "memtrail", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
