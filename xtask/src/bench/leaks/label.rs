//! The expected verdicts, which the first comment of each program of the corpus states: in OCaml between `(*` and `*)`,
//! else in the first lines that begin with `//`, in scripts with `#`.
//!
//! One line a run: `run ARGUMENTS: OWNER grows, allocated in SITE or SITE`, `run ARGUMENTS: no suspect`, or
//! `run ARGUMENTS: not recorded` where memory grows that a recording without `--native` does not see. A run whose verdict
//! differs between the collectors has two lines, `run ARGUMENTS on OCaml 4: …` and `run ARGUMENTS on OCaml 5: …`. A line
//! `with unix lwt.unix` names packages, a line `needs OCaml 5` leaves out the older compilers. `long N` is the last argument where a run
//! has to be long enough for automatic snapshots. A script names the programs that it `needs`, and says `native` if they are not
//! written in OCaml; the owner `something` is any.
//!
//! A program in C, C++ or Rust has the roots that retain its memory for an owner: `variable table`, `stack`, `thread-local`;
//! `nothing` where it is unreachable.

/// What `leaks` has to say of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    /// An owner whose name begins so grows; one of these functions allocated it, if there are any.
    Grows {
        /// The beginning of the owner's name.
        owner: String,
        /// Beginnings of names of functions.
        sites: Vec<String>,
    },
    /// Nothing grows.
    Sound,
    /// Memory grows that the recording tells nothing of: it cannot be judged.
    NotRecorded,
}

/// A run of a program and its expected verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) arguments: Vec<String>,
    /// The major version of OCaml that it is for, if it is for one only.
    pub(super) version: Option<char>,
    pub(super) truth: Truth,
}

/// The labels of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Labels {
    pub(super) runs: Vec<Run>,
    pub(super) packages: Vec<String>,
    pub(super) needs_ocaml5: bool,
    pub(super) long: Option<String>,
    /// Programs that have to be installed.
    pub(super) tools: Vec<String>,
    /// A script whose programs are recorded with `--native`.
    pub(super) is_native: bool,
}

impl Labels {
    /// Read the labels from a program's source. The error is the line that is none.
    pub(super) fn read(source: &str) -> Result<Self, String> {
        let lines: Vec<&str> = if source.starts_with("//") {
            source.lines().map_while(|line| line.strip_prefix("//")).collect()
        } else if source.starts_with('#') {
            source.lines().map_while(|line| line.strip_prefix('#')).collect()
        } else {
            source.split("*)").next().unwrap_or_default().lines().collect()
        };
        let mut labels = Self::default();
        for line in lines.into_iter().map(|line| line.trim_start_matches(['(', '*', ' ']).trim()) {
            if let Some(rest) = line.strip_prefix("run").filter(|rest| rest.starts_with([' ', ':']))
            {
                labels.runs.push(run(rest.trim_start()).ok_or_else(|| line.to_owned())?);
            } else if let Some(rest) = line.strip_prefix("with ") {
                labels.packages = rest.split_whitespace().map(str::to_owned).collect();
            } else if let Some(number) = line.strip_prefix("long ") {
                labels.long = Some(number.to_owned());
            } else if line == "needs OCaml 5" {
                labels.needs_ocaml5 = true;
            } else if let Some(tools) = line.strip_prefix("needs ") {
                labels.tools = tools.split_whitespace().map(str::to_owned).collect();
            } else if line == "native" {
                labels.is_native = true;
            }
        }
        Ok(labels)
    }

    /// The runs of a program that a compiler of this version built.
    pub(super) fn runs_of(&self, compiler: &str) -> impl Iterator<Item = &Run> {
        let major = compiler.chars().next();
        self.runs.iter().filter(move |run| run.version.is_none() || run.version == major)
    }

    /// The arguments of a run, which is long or not.
    pub(super) fn arguments(&self, run: &Run, is_long: bool) -> Vec<String> {
        let mut arguments = run.arguments.clone();
        if let (true, Some(long), Some(last)) = (is_long, &self.long, arguments.last_mut()) {
            last.clone_from(long);
        }
        arguments
    }
}

fn run(line: &str) -> Option<Run> {
    let (arguments, verdict) = line.split_once(": ")?;
    let (arguments, version) = match arguments.split_once(" on OCaml ") {
        Some((arguments, version)) => (arguments, version.chars().next()),
        None => (arguments, None),
    };
    let truth = match verdict {
        "no suspect" => Truth::Sound,
        "not recorded" => Truth::NotRecorded,
        _ => {
            let (owner, rest) = verdict.split_once(" grows")?;
            let sites = match rest {
                "" => Vec::new(),
                _ => {
                    rest.strip_prefix(", allocated in ")?.split(" or ").map(str::to_owned).collect()
                }
            };
            let owner = if owner == "something" { "" } else { owner };
            Truth::Grows { owner: owner.to_owned(), sites }
        }
    };
    let arguments = arguments.split_whitespace().map(str::to_owned).collect();
    Some(Run { arguments, version, truth })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_the_first_comment_are_read() {
        let source = "(* A table.\n   with unix\n   run leak 3: A.table grows, allocated in A.add or A.put\n   \
                      long 90\n   run sound: no suspect *)\nlet () = () (* run x: no suspect *)";
        let labels = Labels::read(source).unwrap();
        assert_eq!(labels.packages, ["unix"]);
        let [leak, sound] = &labels.runs[..] else { panic!("{labels:?}") };
        assert_eq!(leak.arguments, ["leak", "3"]);
        assert_eq!(labels.arguments(leak, true), ["leak", "90"]);
        let sites = vec!["A.add".to_owned(), "A.put".to_owned()];
        assert_eq!(leak.truth, Truth::Grows { owner: "A.table".to_owned(), sites });
        assert_eq!(sound.truth, Truth::Sound);
        assert!(Labels::read("(* run x: perhaps *)").is_err());
    }

    #[test]
    fn labels_of_other_languages_are_in_the_first_lines() {
        let source = "// A table.\n// run leak 3: variable table grows, allocated in put\nint n; // run x: none";
        let labels = Labels::read(source).unwrap();
        let sites = vec!["put".to_owned()];
        let truth = Truth::Grows { owner: "variable table".to_owned(), sites };
        assert_eq!(labels.runs.iter().map(|run| &run.truth).collect::<Vec<_>>(), [&truth]);
    }

    #[test]
    fn labels_of_scripts_name_what_they_need() {
        let source = "# A server.\n# native\n# needs curl redis-server\n# run leak: something grows\nexit 1 # run x: no";
        let labels = Labels::read(source).unwrap();
        assert!(labels.is_native && !labels.needs_ocaml5);
        assert_eq!(labels.tools, ["curl", "redis-server"]);
        let truth = Truth::Grows { owner: String::new(), sites: Vec::new() };
        assert_eq!(labels.runs.iter().map(|run| &run.truth).collect::<Vec<_>>(), [&truth]);
    }

    #[test]
    fn a_run_can_have_a_verdict_for_each_collector() {
        let source = "(* run 9 on OCaml 4: no suspect\n run 9 on OCaml 5: A.table grows *)";
        let labels = Labels::read(source).unwrap();
        let truth = |compiler| {
            let runs: Vec<_> = labels.runs_of(compiler).collect();
            assert_eq!(runs.len(), 1);
            assert_eq!(runs[0].arguments, ["9"]);
            runs[0].truth == Truth::Sound
        };
        assert!(truth("4.14") && truth("4.13") && !truth("5.3"));
    }
}
