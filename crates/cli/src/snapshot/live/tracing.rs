//! The tracer, as memtrail sees it: a child that answers with lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::refusal;
use super::report::{AGAIN, CopyReport, Report};
use crate::error::{Failure, Kind};

/// A tracer that runs.
pub(super) struct Tracing {
    pid: u32,
    tracer: Child,
    orders: Option<ChildStdin>,
    reports: BufReader<ChildStdout>,
    copies: u32,
}

impl Tracing {
    /// Starts the tracer of a process.
    pub(super) fn start(pid: u32) -> Result<Self, Failure> {
        let failed = |error| {
            Failure::new(Kind::Work, format_args!("cannot start the tracer of {pid}: {error}"))
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg("copy-process").arg(pid.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut tracer = command.spawn().map_err(failed)?;
        let orders = tracer.stdin.take();
        let reports =
            tracer.stdout.take().ok_or_else(|| failed(std::io::ErrorKind::Other.into()))?;
        Ok(Self { pid, tracer, orders, reports: BufReader::new(reports), copies: 0 })
    }

    /// Has the process copied; an earlier copy is thrown away.
    pub(super) fn take_copy(&mut self) -> Result<CopyReport, Failure> {
        if self.copies > 0
            && let Some(orders) = &mut self.orders
        {
            // A tracer that has ended is found by its missing answer.
            let _ = writeln!(orders, "{AGAIN}");
        }
        self.copies += 1;
        let mut line = String::new();
        let _ = self.reports.read_line(&mut line);
        match serde_json::from_str(&line) {
            Ok(Report::Copied(frozen)) => Ok(frozen),
            Ok(Report::Refused(refused)) => Err(refusal::of(self.pid, &refused)),
            Err(_) => {
                let pid = self.pid;
                let message = format_args!(
                    "no snapshot of process {pid}: its tracer ended without an answer"
                );
                let failure = Failure::new(Kind::Work, message)
                    .hint(format_args!("the process runs on; try again: memtrail snapshot {pid}"));
                Err(refusal::unless_it_ends(pid, failure))
            }
        }
    }

    /// Has the copy killed, and waits for the tracer's end.
    pub(super) fn end(&mut self) {
        self.orders = None;
        let _ = self.tracer.wait();
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        self.end();
    }
}
