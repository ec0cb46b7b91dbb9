//! The kernel's status of a process or thread (`proc_pid_status(5)`).

use std::fs;
use std::io;
use std::path::Path;

/// The kernel's status of a process or thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The letter of its state: `R`, `S`, `D`, `T`, `t`, `Z`, `X`.
    pub state: char,
    /// Its parent.
    pub parent: u32,
    /// The process that traces it; 0 without one.
    pub tracer: u32,
    /// Its effective user.
    pub user: u32,
    /// Its number in the innermost namespace that it is in.
    pub inner_pid: u32,
    /// Filters of system calls that it runs under; 0 if the kernel does not say.
    pub filters: u32,
    /// True if it may make few system calls, or runs under filters.
    pub is_filtered: bool,
    /// The signals that it blocks, a bit each.
    pub blocked: u64,
}

impl Status {
    /// Reads the status of a process.
    ///
    /// # Errors
    /// Those of reading it: the process may have ended.
    pub fn of_process(pid: u32) -> io::Result<Self> {
        Self::read(format!("/proc/{pid}/status").as_ref())
    }

    /// Reads the status of a thread of a process.
    ///
    /// # Errors
    /// Those of reading it: the thread may have ended.
    pub fn of_thread(pid: u32, tid: u32) -> io::Result<Self> {
        Self::read(format!("/proc/{pid}/task/{tid}/status").as_ref())
    }

    fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::parse(&fs::read_to_string(path)?))
    }

    /// True if it has ended, and only its number is left.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    fn parse(text: &str) -> Self {
        let mut status = Self::default();
        let number = |text: &str| text.parse().unwrap_or(0);
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name {
                "State" => status.state = value.chars().next().unwrap_or_default(),
                "PPid" => status.parent = number(value),
                "TracerPid" => status.tracer = number(value),
                "Uid" => status.user = value.split_whitespace().nth(1).map_or(0, number),
                "NSpid" => status.inner_pid = value.split_whitespace().last().map_or(0, number),
                "Seccomp" => status.is_filtered = value != "0",
                "Seccomp_filters" => status.filters = number(value),
                "SigBlk" => status.blocked = u64::from_str_radix(value, 16).unwrap_or(0),
                _ => {}
            }
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_status() {
        let text = "Name:\tserver: 1\nState:\tS (sleeping)\nPPid:\t7\nTracerPid:\t12\n\
                    Uid:\t1000\t1001\t1002\t1003\nNSpid:\t4711\t3\nSigBlk:\t0000000000010000\n\
                    Seccomp:\t2\nSeccomp_filters:\t1\n";
        let expected = Status {
            state: 'S',
            parent: 7,
            tracer: 12,
            user: 1001,
            inner_pid: 3,
            filters: 1,
            is_filtered: true,
            blocked: 1 << 16,
        };
        assert_eq!(Status::parse(text), expected);
        assert_eq!(Status::parse("no field\n"), Status::default());
    }
}
