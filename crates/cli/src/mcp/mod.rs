//! `memtrail mcp`: answers the questions of an assistant about recordings.
//!
//! A tool is a command: it calls the function that computes the command's answer, and gives its figures.

mod budget;
mod call;
mod folder;
mod next;
mod recordings;
mod server;
mod stdio;
mod tools;
mod untrusted;
mod words;
mod worker;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_heap::Bytes;
use memtrail_text::Size;
use serde_json::{Map, Value};

use self::folder::Folder;
use self::tools::{SNAPSHOT, TOOLS};
use self::worker::Worker;
use crate::error::{Failure, Kind};

/// Let an assistant ask about recordings (Model Context Protocol)
///
/// An assistant starts this server and talks to it over standard input and output. It can list the recordings in one
/// folder and ask what `leaks`, `report`, `heap roots`, `heap histogram`, `why`, `who`, `heap path` and `diff` print. It
/// cannot start programs, and it reads recordings in that folder only.
///
/// Names of functions, types, variables and files go to the assistant's provider. Contents of strings, command lines and
/// the name of the machine do not. --call shows an answer as the assistant gets it.
#[derive(clap::Args)]
#[command(after_help = "\
Add it to Claude Code:
  claude mcp add memtrail -- memtrail mcp --dir ~/recordings

Or to the configuration of any other assistant, with full paths:
  { \"mcpServers\": { \"memtrail\": {
      \"command\": \"memtrail\", \"args\": [\"mcp\", \"--dir\", \"/home/me/recordings\"] } } }

Then ask: which of my recordings leak, and what should I change?

See what an assistant sees:
  memtrail mcp --call leaks '{\"recording\": \"server-4711.memtrail\"}'")]
pub(crate) struct Args {
    /// Folder with the recordings that the assistant may ask about
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// Let the assistant take heap snapshots of programs that run and are recorded in that folder
    #[arg(long)]
    allow_snapshot: bool,

    /// Analyse snapshots within about this much memory, and keep traces up to this size open
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = memtrail_text::some_size)]
    memory: Size,

    /// Print the answer of one tool, and end
    #[arg(long, value_name = "TOOL")]
    call: Option<String>,

    /// Arguments of that tool, a JSON object
    #[arg(value_name = "ARGUMENTS", requires = "call")]
    arguments: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let folder = Folder::enter(&args.dir)?;
    let worker = Worker::start(folder, Bytes(args.memory.0))?;
    if let Some(tool) = &args.call {
        return call_once(args, &worker, tool);
    }
    if std::io::stdin().is_terminal() {
        message!("memtrail: waiting for an assistant on standard input; Ctrl-D ends that");
        message!("hint: memtrail mcp --help shows how to add it to an assistant");
    }
    server::serve(worker, args.allow_snapshot)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what an assistant would get.
fn call_once(args: &Args, worker: &Worker, name: &str) -> Result<ExitCode, Failure> {
    let tool = call::tool(name).ok_or_else(|| {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        Failure::new(Kind::Usage, format_args!("there is no tool {name:?}"))
            .hint(format_args!("tools are {}", names.join(", ")))
    })?;
    if tool.name == SNAPSHOT && !args.allow_snapshot {
        return Err(Failure::new(Kind::Usage, "snapshots are not allowed")
            .hint("memtrail mcp --allow-snapshot allows them"));
    }
    let text = args.arguments.as_deref().unwrap_or("{}");
    let arguments: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        Failure::new(Kind::Usage, format_args!("the arguments are no JSON object: {error}"))
            .hint("memtrail mcp --call leaks '{\"recording\": \"server-4711.memtrail\"}'")
    })?;
    let called = worker
        .ask(tool, arguments)
        .blocking_recv()
        .map_err(|_| Failure::new(Kind::Work, "the thread that answers has ended"))?;
    let mut text = serde_json::to_string_pretty(&called.json).map_err(std::io::Error::from)?;
    text.push('\n');
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(if called.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
