//! The process that is to be recorded, as far as it can be looked at while it runs.

use std::fs;
use std::io;

use memtrail_map::MappedFile;
use memtrail_ocaml::inspect::{Interpreter, Reason, Verdict, inspect, interpreter};
use memtrail_ptrace::Status;
use memtrail_recording::{is_alive, preload};

use crate::error::{Failure, Kind};
use crate::next_commands::{self, ProgramKind};
use crate::run::user_id;
use crate::snapshot::find;
use crate::snapshot::live::refusal;

/// Entry of the auxiliary vector: where the program was entered (`getauxval(3)`).
const AT_ENTRY: u64 = 9;

/// A process that runs.
pub(super) struct Subject {
    pub(super) pid: u32,
    /// Its number for itself: another one in a container.
    pub(super) inner_pid: u32,
    pub(super) executable: MappedFile,
    pub(super) entry: u64,
    /// True if OCaml's heap is recorded, false if calls of `malloc` are.
    pub(super) is_ocaml: bool,
}

impl Subject {
    /// Finds a process, and refuses those that cannot be recorded: as a native program, or as an OCaml one.
    pub(super) fn find(pid: u32, is_native: bool) -> Result<Self, Failure> {
        if !is_alive(pid) {
            return Err(refusal::no_process(pid));
        }
        let command = if is_native { "attach --native" } else { "attach" };
        let unseen = |error: io::Error| refusal::unseen_by(command, pid, &error);
        let status = Status::of_process(pid).map_err(unseen)?;
        refuse_recorded(pid)?;
        refuse_by_status(pid, &status, is_native)?;
        let executable = MappedFile::open(format!("/proc/{pid}/exe").as_ref()).map_err(unseen)?;
        if is_native {
            refuse_by_linking(pid, &executable, true)?;
        } else {
            refuse_by_program(pid, &executable)?;
        }
        refuse_by_place(pid)?;
        let auxiliary = fs::read(format!("/proc/{pid}/auxv")).map_err(unseen)?;
        let entry =
            auxiliary_entry(&auxiliary, AT_ENTRY).ok_or_else(|| refusal::no_process(pid))?;
        Ok(Self { pid, inner_pid: status.inner_pid, executable, entry, is_ocaml: !is_native })
    }
}

fn refuse_recorded(pid: u32) -> Result<(), Failure> {
    let Some(target) = find::recorded(pid)? else {
        if find::session(pid).is_some() {
            let message = format_args!("process {pid} is being attached already");
            return Err(Failure::new(Kind::Input, message)
                .hint(format_args!("end that first: memtrail detach {pid}")));
        }
        return Ok(());
    };
    let (folder, recorded) = (target.folder.display(), target.pid);
    let message = format_args!("process {recorded} is recorded already, in {folder}");
    let next = next_commands::while_recorded(recorded, &target.folder);
    Err(Failure::new(Kind::Input, message).hint(format_args!("look at it: {next}")))
}

fn refuse_by_status(pid: u32, status: &Status, is_native: bool) -> Result<(), Failure> {
    let refuse = |why: &str| Failure::new(Kind::Input, format_args!("process {pid} {why}"));
    let kind = || if is_native { ProgramKind::Native } else { ProgramKind::of_process(pid) };
    let own = user_id();
    if status.user != own {
        let user = status.user;
        return Err(refuse(&format!("belongs to another user (uid {user}, yours is {own})"))
            .hint(format_args!("attach as that user: sudo -u '#{user}' {}", kind().attach(pid))));
    }
    if status.state == 'T' {
        return Err(refuse("is stopped, by SIGSTOP or its terminal")
            .hint(format_args!("let it go on first: kill -CONT {pid}")));
    }
    let filters = Status::of_process(std::process::id()).map_or(0, |status| status.filters);
    if status.is_filtered && (status.filters == 0 || status.filters > filters) {
        return Err(refuse(
            "forbids itself system calls (seccomp), and could be ended for one of the agent's",
        )
        .hint(next_commands::instead_of_attach(pid, kind())));
    }
    Ok(())
}

fn refuse_by_program(pid: u32, file: &[u8]) -> Result<(), Failure> {
    let refuse = |why: &str| Failure::new(Kind::Input, format_args!("process {pid} {why}"));
    match inspect(file) {
        Verdict::Ocaml(program) => {
            if !program.version.can_sample() {
                let version = program.version;
                return Err(refuse(&format!(
                    "has the runtime of OCaml {version}, which has no sampler: it can be recorded from its start only"
                ))
                .hint("memtrail run -- PROGRAM"));
            }
        }
        Verdict::Refused(reason @ Reason::Static) => {
            return Err(refuse(&reason.to_string())
                .hint(format_args!("take heap snapshots of it: memtrail snapshot {pid}")));
        }
        Verdict::Refused(reason) => {
            return Err(refuse(&reason.to_string()).hint(reason.hint()));
        }
        Verdict::NotOcaml(_) => {
            return Err(refuse("is no native OCaml program").hint(format_args!(
                "record a program in C, C++ or Rust: {}",
                ProgramKind::Native.attach(pid)
            )));
        }
    }
    refuse_by_linking(pid, file, false)
}

/// Refuses a program that cannot load the agent. One that is no OCaml program has no heap to be looked at instead.
fn refuse_by_linking(pid: u32, file: &[u8], is_native: bool) -> Result<(), Failure> {
    let why = match interpreter(file) {
        Interpreter::None => preload::STATIC,
        Interpreter::OtherMachine => preload::OTHER_MACHINE,
        Interpreter::Path(linker) if !preload::is_glibc(linker) => preload::OTHER_LIBC,
        Interpreter::Path(_) | Interpreter::NoProgram => return Ok(()),
    };
    let failure = Failure::new(Kind::Input, format_args!("process {pid} {why}"));
    Err(if is_native {
        failure
    } else {
        failure.hint(format_args!("take heap snapshots of it: memtrail snapshot {pid}"))
    })
}

/// The agent's file, the session and the recording have paths, which must lead to the same files there.
fn refuse_by_place(pid: u32) -> Result<(), Failure> {
    let mounts = |of: &str| fs::read_link(of).ok();
    let is_here = find::has_our_root(pid)
        && mounts(&format!("/proc/{pid}/ns/mnt")) == mounts("/proc/self/ns/mnt");
    if is_here {
        return Ok(());
    }
    let message = format_args!("process {pid} runs in another container or root folder");
    let failure = Failure::new(Kind::Input, message);
    Err(match ProgramKind::of_process(pid).snapshot(pid) {
        Some(snapshot) => failure.hint(format_args!(
            "run memtrail in there; from here, take heap snapshots: {snapshot}"
        )),
        None => failure.hint("run memtrail in there"),
    })
}

/// The value of an entry of the kernel's auxiliary vector.
fn auxiliary_entry(bytes: &[u8], wanted: u64) -> Option<u64> {
    let word = |bytes: &[u8]| bytes.first_chunk().copied().map(u64::from_le_bytes);
    let mut entries = bytes.chunks_exact(16);
    entries.find(|entry| word(entry) == Some(wanted)).and_then(|entry| word(entry.get(8..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_cannot_load_the_agent_are_refused() {
        let own = std::fs::read("/proc/self/exe").expect("this program");
        assert!(refuse_by_linking(1, &own, true).is_ok());
        let mut of_32_bits = own;
        // EI_CLASS (`elf.h`).
        of_32_bits[4] = 1;
        assert!(refuse_by_linking(1, &of_32_bits, true).is_err());
    }
}
