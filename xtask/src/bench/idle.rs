//! Wakeups of a recorded program that waits: of the agent's threads, and of the launcher.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::folders::scratch;
use super::table::Table;
use crate::command::{Outcome, cache, output, run};

/// The program waits for so long before it is looked at, and is looked at for so long.
const BEFORE: Duration = Duration::from_secs(90);
const DURING: Duration = Duration::from_secs(30);

/// Measure, and print a table.
pub(super) fn measure(memtrail: &Path) -> Outcome {
    println!("### Wakeups a second of a program that waits\n");
    let mut table = Table::new(&["OCaml", "alone", "recorded", "launcher"]);
    for compiler in [PathBuf::from("ocamlopt"), cache()?.join("ocaml-5.3.0/bin/ocamlopt")] {
        let version = output(Command::new(&compiler).arg("-version"))?.trim().to_owned();
        let program = waiting(&compiler, &version)?;
        let mut alone = started(&mut Command::new(&program))?;
        let recording = program.with_extension("memtrail");
        if recording.exists() {
            fs::remove_dir_all(&recording).map_err(|e| format!("old recording: {e}"))?;
        }
        let mut command = Command::new(memtrail);
        command.args(["run", "-q", "-o"]).arg(&recording).arg("--").arg(&program);
        let mut launcher = started(&mut command)?;
        sleep(BEFORE);
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", launcher.id()));
        let child = children.unwrap_or_default().trim().parse().map_err(|_| "no child")?;
        let pids = [alone.id(), child, launcher.id()];
        let before = pids.map(switches);
        sleep(DURING);
        let after = pids.map(switches);
        let a_second = |index: usize| {
            let wakeups = after[index].saturating_sub(before[index]);
            format!("{:.2}", wakeups as f64 / DURING.as_secs_f64())
        };
        table.row(vec![version, a_second(0), a_second(1), a_second(2)]);
        for child in [&mut alone, &mut launcher] {
            drop(child.stdin.take());
            child.wait().map_err(|e| format!("cannot wait: {e}"))?;
        }
    }
    table.print();
    Ok(())
}

fn started(command: &mut Command) -> Outcome<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().map_err(|e| format!("cannot start {command:?}: {e}"))
}

/// A program that reads a line and ends.
fn waiting(compiler: &Path, version: &str) -> Outcome<PathBuf> {
    let folder = scratch()?.join(format!("idle-{version}"));
    let failed = |error| format!("cannot write into {}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let text = "let () = match input_line stdin with _ -> () | exception End_of_file -> ()\n";
    fs::write(folder.join("waiting.ml"), text).map_err(failed)?;
    run(Command::new(compiler).current_dir(&folder).args(["-o", "waiting", "waiting.ml"]))?;
    Ok(folder.join("waiting"))
}

/// Counts how often the threads of a process were given a processor.
fn switches(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once("ctxt_switches:"));
        lines.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum::<u64>()
    };
    threads.map(of).sum()
}
