//! Chores of this repository: `cargo xtask --help`.
#![forbid(unsafe_code)]

mod arm64;
mod bench;
mod command;
mod compilers;
mod debian;
mod docs;
mod layers;
mod mcp_clients;
mod nextest;
mod ocaml_tests;
mod packages;
mod picture;
mod profile_stores;
mod release;
mod setup;
mod sql_engines;
mod stamp;
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
    /// Install what the tests need: Debian packages, OCaml 4.14, 5.3 and 5.4, programs of others
    ///
    /// Packages come from apt, and only those that are missing. OCaml 4.14 and 5.3 are built from the npm registry's
    /// source packages, about five minutes each, once; OCaml 5.4 is unpacked from packages of newer suites of
    /// Debian. They stay in `memtrail` under the user's cache folder. Running it again costs nothing.
    Setup {
        /// Bring the other compilers of `tests/compilers.txt`, too; tests use them where they are installed
        #[arg(long)]
        all_compilers: bool,
    },
    /// Run the tests of each change: setup, format, lints, unit, integration and browser tests
    ///
    /// The last line is `N passed, N failed`; the exit code is 0 when none failed. OCaml programs are compiled with
    /// the system's OCaml and with the newest. The tests run in a copy of the repository in the cache, so a fresh
    /// clone builds only what has changed since the last run.
    Test {
        /// Run everything: all compilers, long programs, documentation, OCaml's own testsuite
        ///
        /// An interrupted run goes on with the step at which it was interrupted.
        #[arg(long)]
        all: bool,
        /// Run another suite: `ocaml`, OCaml's own testsuite, recorded; `arm64`, some programs in an emulated machine
        #[arg(long, value_name = "NAME", value_parser = ["ocaml", "arm64"])]
        suite: Option<String>,
        /// Use what is installed; do not run setup first
        #[arg(long)]
        no_setup: bool,
        /// Run in this folder instead of the copy in the cache
        #[arg(long)]
        here: bool,
        /// Tests to run, of any layer: part of the name, or of the file's name for browser tests
        pattern: Option<String>,
        /// With `--suite ocaml`: programs to run, part of the name; PATTERN is then OCaml's version
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
    /// Write the command reference and the outputs of the manual, and check its links
    ///
    /// `docs/commands.md` is what `--help` prints. Outputs of commands in README and manual are those of the stored
    /// recordings in `tests/recordings`. Run it after a change of a help text or an output. `mdbook build docs` makes the
    /// book; nothing else needs mdBook. `MEMTRAIL=FILE` names a binary other than the one that is built here.
    Docs {
        /// Say whether reference and outputs are current, write nothing
        #[arg(long)]
        check: bool,
    },
    /// Print the cycles between the modules of a crate or of the page, and imports from a higher layer
    ///
    /// Checks all crates and the page, unless some are named.
    Layers {
        /// Folders below `crates`; `web` for the page
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
    /// Build what users install without Rust: a tarball, a Debian package, a wheel; and try each
    ///
    /// The launcher is one static file. The agents that it carries run in programs with glibc 2.31 and later. Each artefact
    /// is installed in minimal Debians 11, 12 and 13, and used there by a user without privileges and without a network. It
    /// needs root, for the changes of root folder.
    Release {
        /// Build and pack alone
        #[arg(long)]
        no_trial: bool,
    },
    /// Draw the pictures of README and manual from real runs: `docs/report.svg`, `docs/viewer/`
    Picture,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Setup { all_compilers } => setup::run(all_compilers),
        Chore::Bench(options) => bench::bench(&options),
        Chore::Web { check: true } => web::check(true),
        Chore::Web { check: false } => web::install().and_then(|()| web::build()),
        Chore::Docs { check: true } => docs::check(),
        Chore::Docs { check: false } => docs::build(),
        Chore::Layers { crates } => layers::print(&crates),
        Chore::Types { check: true } => types::check(),
        Chore::Types { check: false } => types::write(),
        Chore::Picture => picture::draw(),
        Chore::Release { no_trial } => release::release(!no_trial),
        Chore::Test { suite: Some(suite), .. } if suite == "arm64" => return test::arm64(),
        Chore::Test { suite: Some(_), pattern, program, .. } => {
            return test::ocaml(pattern.as_deref(), program.as_deref());
        }
        Chore::Test { all, no_setup, here, pattern, .. } => {
            // A pattern is for the minute after a change, when setup has long run.
            let setup = !no_setup && pattern.is_none();
            return test::run_and_report(&test::Selection { all, setup, pattern, here });
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
