//! Chores of this repository: `cargo xtask --help`.
#![forbid(unsafe_code)]

mod bench;
mod command;
mod compilers;
mod docs;
mod layers;
mod ocaml_tests;
mod packages;
mod picture;
mod setup;
mod stamp;
mod tally;
mod test;
mod types;
#[cfg(test)]
mod vocabulary;
mod web;
mod wild;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the memtrail repository", version)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Install what the tests need: Debian packages, OCaml 4.14 and 5.3, programs of others
    ///
    /// Packages come from apt, and only those that are missing. The compilers are built from the
    /// npm registry's source packages, about five minutes each, once: they stay in `memtrail`
    /// under the user's cache folder. Running it again costs nothing.
    Setup {
        /// Build OCaml 4.14 with flambda, and 5.1, as well; tests use them where they are installed
        #[arg(long)]
        all_compilers: bool,
    },
    /// Run everything: setup, format, lints, unit and integration tests
    ///
    /// The last line is `N passed, N failed`; the exit code is 0 when none failed. `test ocaml` is
    /// another matter: OCaml's own testsuite, recorded; `test ocaml 5.3` that of one version.
    Test {
        /// Use what is installed; do not run setup first
        #[arg(long)]
        no_setup: bool,
        /// Only tests whose name contains this
        filter: Option<String>,
        /// With `ocaml`: only this version
        version: Option<String>,
        /// With `ocaml` and a version: only programs whose name contains this
        program: Option<String>,
    },
    /// Measure what recording costs and how fast traces are read, as Markdown tables
    ///
    /// Runs are paired, figures are medians of CPU time. Programs linked with memtrace and
    /// memtrace's tools are measured beside ours when `MEMTRAIL_PEER_MEMTRACE` names a folder
    /// that holds them.
    Bench(bench::Options),
    /// Build the viewer's page and its WebAssembly engine into `crates/server/assets`
    ///
    /// Run it after a change in `web/` or in a crate that the engine is made of, and commit what
    /// it leaves. `cargo xtask test` fails when that was forgotten.
    Web {
        /// Build aside, and say what differs from the assets
        #[arg(long)]
        check: bool,
    },
    /// Write the command reference of the manual, `docs/commands.md`, and check the manual's links
    ///
    /// Run it after a change of a help text. `mdbook build docs` makes the book; nothing else needs
    /// mdBook.
    Docs {
        /// Say whether the reference is current, write nothing
        #[arg(long)]
        check: bool,
    },
    /// Print the cycles between the modules of a crate, and imports from a higher layer
    ///
    /// Without names, of the crates that the tests check.
    Layers {
        /// Folders below `crates`
        crates: Vec<String>,
    },
    /// Write the page's types of what the engine and the server send into `web/src/generated`
    ///
    /// Run it after a change of a response. `cargo xtask test` fails when that was forgotten.
    Types {
        /// Say whether they are current, write nothing
        #[arg(long)]
        check: bool,
    },
    /// Draw the pictures of README and manual from real runs: `docs/report.svg`, `docs/viewer/`
    Picture,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Setup { all_compilers } => setup::run(all_compilers),
        Chore::Bench(options) => bench::bench(&options),
        Chore::Web { check: true } => web::check(),
        Chore::Web { check: false } => web::install().and_then(|()| web::build()),
        Chore::Docs { check: true } => docs::check(),
        Chore::Docs { check: false } => docs::build(),
        Chore::Layers { crates } => layers::print(&crates),
        Chore::Types { check: true } => types::check(),
        Chore::Types { check: false } => types::write(),
        Chore::Picture => picture::draw(),
        Chore::Test { filter: Some(filter), version, program, .. } if filter == "ocaml" => {
            return test::ocaml(version.as_deref(), program.as_deref());
        }
        Chore::Test { no_setup, filter, .. } => {
            return test::run_and_report(!no_setup, filter.as_deref());
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
