//! The machine: its kernel, limits and permissions.

use std::fs;

use memtrail_ptrace::Status;
use memtrail_text::rounded::bytes;
use serde::Serialize;

use super::ability::Ability;
use super::draw::fact;
use crate::canvas::Canvas;
use crate::run::{self, Native};
use crate::snapshot;

const RUN: &str = "memtrail run";
const SNAPSHOT: &str = "memtrail snapshot PID";

/// Facts of the machine and of the user's limits on it.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    kernel: String,
    processor: &'static str,
    /// Effective user id.
    user: u32,
    /// `kernel.yama.ptrace_scope`; null where the kernel does not have it.
    ptrace_scope: Option<String>,
    /// True if memtrail runs under a filter of system calls, as in most containers.
    seccomp: bool,
    memory_available: Option<u64>,
    /// Limit of the cgroup, in bytes.
    memory_limit: Option<u64>,
    /// `ulimit -v`, in bytes.
    address_space_limit: Option<u64>,
    /// `ulimit -n`.
    open_files_limit: Option<u64>,
}

impl Machine {
    pub(super) fn look() -> Self {
        let line = |file: &str| Some(fs::read_to_string(file).ok()?.trim().to_owned());
        let number = |file: &str| line(file)?.parse().ok();
        Self {
            kernel: line("/proc/sys/kernel/osrelease").unwrap_or_default(),
            processor: std::env::consts::ARCH,
            user: run::user_id(),
            ptrace_scope: line("/proc/sys/kernel/yama/ptrace_scope"),
            seccomp: Status::of_process(std::process::id()).is_ok_and(|own| own.is_filtered),
            memory_available: field("/proc/meminfo", "MemAvailable:").map(|kib| kib << 10),
            memory_limit: number("/sys/fs/cgroup/memory.max"),
            address_space_limit: run::address_space(),
            open_files_limit: field("/proc/self/limits", "Max open files"),
        }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas) {
        fact(canvas, "kernel", &format!("Linux {} on {}", self.kernel, self.processor));
        let scope = match self.ptrace_scope.as_deref() {
            None => "not restricted by Yama".to_owned(),
            Some(scope) => format!("kernel.yama.ptrace_scope is {scope}"),
        };
        let filter = if self.seccomp { "; a seccomp filter is active" } else { "" };
        fact(canvas, "ptrace", &format!("{scope}{filter}; user id {}", self.user));
        let size = |size: Option<u64>, otherwise: &str| {
            size.map_or(otherwise.to_owned(), |size| bytes(size as f64))
        };
        let text = format!(
            "{} available, limit of the cgroup: {}, of the address space: {}",
            size(self.memory_available, "unknown"),
            size(self.memory_limit, "none"),
            size(self.address_space_limit, "none")
        );
        fact(canvas, "memory", &text);
        if let Some(files) = self.open_files_limit {
            fact(canvas, "open files", &format!("at most {files}"));
        }
    }
}

/// The number behind a name in a file of the kernel's.
fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Abilities that depend on the machine alone.
pub(super) fn abilities() -> Vec<Ability> {
    let run = match run::check_machine(Native::None) {
        Ok(()) => Ability::yes(RUN, None),
        Err(obstacle) => Ability::no(RUN, obstacle.reason, obstacle.hint),
    };
    vec![run, Ability::judge(SNAPSHOT, snapshot::check_machine(), "processes of your own")]
}
