//! Processes of a trace that several were merged into: each is the outermost frame of its callstacks,
//! `[ocamlopt.opt-13743]`, with the program as its file.

use memtrail_trace::{FrameId, FunctionId, StackId};
use rustc_hash::FxHashMap;

use crate::profile::Profile;

/// A process, by what its frame tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessName {
    /// What tells it from all others: `ocamlopt.opt-13743`, or `ocamlopt.opt 2`.
    pub label: String,
    /// The program's name without its folder.
    pub program: String,
    /// Its process id, if the label has it.
    pub pid: Option<u32>,
}

/// The name of the frame of a process.
pub fn frame_name(label: &str) -> String {
    format!("[{label}]")
}

impl ProcessName {
    /// Reads the name and the file of a frame. `None` if it is not a process's.
    pub fn of_frame(function: &str, file: &str) -> Option<Self> {
        let label = function.strip_prefix('[')?.strip_suffix(']')?;
        // Other names in brackets, such as those that programs give by themselves, have no file.
        if file.is_empty() {
            return None;
        }
        let program = file.rsplit('/').next().unwrap_or(file);
        let of_program = label.strip_prefix(program).and_then(|rest| rest.strip_prefix('-'));
        let numbers = of_program.unwrap_or_else(|| last_numbers(label));
        // A second image of one process has a number of its own after that.
        let pid = numbers.split('-').next().and_then(|number| number.parse().ok());
        Some(Self { label: label.to_owned(), program: program.to_owned(), pid })
    }

    /// All that a process can be called.
    pub fn names(&self) -> [String; 3] {
        let pid = self.pid.map_or_else(String::new, |pid| pid.to_string());
        [self.label.clone(), self.program.clone(), pid]
    }
}

/// The numbers at the end of the label of a process that goes by another name than its program's file, two at most.
fn last_numbers(label: &str) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut start = label.len();
    for part in label.rsplit('-').take(2).take_while(|part| is_number(part)) {
        start = start.saturating_sub(part.len() + 1);
    }
    label.get(start..).unwrap_or_default().trim_start_matches('-')
}

/// The processes of a trace by the functions that stand for them; none unless all that was allocated is of one.
pub fn processes(profile: &Profile) -> FxHashMap<FunctionId, ProcessName> {
    let (parents, frames) = (profile.stacks.parents(), profile.stacks.frames());
    // The root is its own parent.
    let outermost =
        parents.iter().zip(frames).skip(1).filter(|(parent, _)| **parent == StackId::ROOT);
    let process = |(_, frame): (&StackId, &FrameId)| {
        let site = profile.locations.at(*frame).first()?;
        let at = profile.locations.resolve(*site);
        let [function, file] = [at.function, at.file].map(String::from_utf8_lossy);
        Some((site.function, ProcessName::of_frame(&function, &file)?))
    };
    outermost.map(process).collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_processes_tell_program_and_process_id() {
        for (label, file, program, pid) in [
            ("coqc-4711", "/usr/bin/coqc", "coqc", Some(4711)),
            ("coqc-4711-2", "/usr/bin/coqc", "coqc", Some(4711)),
            ("serve-8080-4711", "serve-8080", "serve-8080", Some(4711)),
            ("coqc 2", "coqc", "coqc", None),
            // `osemgrep` is a link to the program.
            ("osemgrep-31352", "/opt/semgrep-core", "semgrep-core", Some(31352)),
            ("osemgrep-31352-2", "/opt/semgrep-core", "semgrep-core", Some(31352)),
            // A folder that was renamed.
            ("before", "/usr/bin/coqc", "coqc", None),
            ("coqc-", "coqc", "coqc", None),
        ] {
            let expected =
                ProcessName { label: label.to_owned(), program: program.to_owned(), pid };
            assert_eq!(ProcessName::of_frame(&frame_name(label), file), Some(expected));
        }
        for function in ["Cache.load", "[]x", "", "["] {
            assert_eq!(ProcessName::of_frame(function, "cache.ml"), None, "{function:?}");
        }
        assert_eq!(ProcessName::of_frame("[no OCaml code]", ""), None);
    }
}
