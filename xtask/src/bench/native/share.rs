//! Which share of a recorded program's CPU time is spent in the agent, by samples of `perf`: a figure that other load on the
//! machine hardly changes, and of less than its noise.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::folders::scratch;
use crate::command::Outcome;

/// How the agent's library is called in the cache, as `perf` shows it.
const AGENT: &str = "libmemtrail-agent-";

/// Whether `perf` can sample: its package is there, and the kernel allows it.
pub(super) fn is_possible() -> bool {
    let record = Command::new("perf")
        .args(["record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "--", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    record.is_ok_and(|status| status.success())
}

/// The share of all samples of a command that are in the agent, between 0 and 1.
pub(super) fn in_agent(command: &Command) -> Outcome<f64> {
    let samples = scratch()?.join("native.perf");
    let mut record = Command::new("perf");
    record.args(["record", "-q", "-e", "cpu-clock", "-F", "4999", "-o"]).arg(&samples).arg("--");
    record.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            record.env(name, value);
        }
    }
    record.stdout(Stdio::null()).stderr(Stdio::null());
    let status = record.status().map_err(|e| format!("cannot start perf: {e}"))?;
    if !status.success() {
        return Err(format!("perf record: {status}"));
    }
    let share = shares(&samples);
    let _ = std::fs::remove_file(&samples);
    share
}

fn shares(samples: &Path) -> Outcome<f64> {
    let output = Command::new("perf")
        .args(["report", "--stdio", "--sort", "dso", "-i"])
        .arg(samples)
        .stderr(Stdio::null())
        .output()
        .map_err(|e| format!("cannot start perf: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| line.trim().split_once('%'));
    let agent = lines.filter(|(_, library)| library.trim().starts_with(AGENT));
    let percent: f64 = agent.filter_map(|(share, _)| share.parse::<f64>().ok()).sum();
    Ok(percent / 100.0)
}
