//! Install the distribution's packages that the tests need.

use std::process::{Command, Stdio};

use crate::command::{Outcome, find, output, run};

/// What must be there, which Debian package brings it, and what for.
const NEEDED: &[(&str, &str, &str)] = &[
    ("gcc", "gcc", "links OCaml programs"),
    ("make", "make", "builds OCaml"),
    ("npm", "npm", "fetches OCaml's sources, and what the viewer's page is built with"),
    ("node", "nodejs", "builds the viewer's page and runs its tests"),
    ("chromium", "chromium", "the browser that tries the viewer's page"),
    ("ocamlopt", "ocaml-nox", "the distribution's OCaml"),
    ("ocamlopt.opt", "ocaml-nox", "a program to record"),
    ("ocamlfind", "ocaml-findlib", "finds OCaml libraries"),
    ("dune", "ocaml-dune", "builds the OCaml library"),
    ("coqc", "coq", "a program to record"),
    ("ocsigenserver.opt", "ocsigenserver", "a program to record"),
    ("eliomopt", "eliom", "builds a page that leaks"),
    ("curl", "curl", "visits the page that leaks"),
    ("patch", "patch", "mends the page that leaks"),
];

/// Bring what is missing; with nothing missing, do nothing.
pub(crate) fn install() -> Outcome {
    let missing: Vec<_> = NEEDED.iter().filter(|(program, ..)| find(program).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut packages: Vec<&str> = missing.iter().map(|(_, package, _)| *package).collect();
    packages.dedup();
    if find("apt-get").is_none() {
        let list: Vec<String> = missing
            .iter()
            .map(|(program, package, why)| format!("  {program} ({why}; Debian: {package})"))
            .collect();
        return Err(format!(
            "these programs are missing, and there is no apt-get:\n{}",
            list.join("\n")
        ));
    }
    eprintln!("installing with apt-get: {}", packages.join(" "));
    // One unreachable source among several is no reason to stop: the install will tell.
    if let Err(message) = apt(&["update", "--quiet=2"]) {
        eprintln!("warning: {message}");
    }
    let mut install = vec!["install", "--yes", "--quiet=2", "--no-install-recommends"];
    install.extend(&packages);
    apt(&install)?;
    match NEEDED.iter().find(|(program, ..)| find(program).is_none()) {
        Some((program, package, _)) => {
            Err(format!("package {package} is installed, but there is no {program} on PATH"))
        }
        None => Ok(()),
    }
}

fn apt(arguments: &[&str]) -> Outcome {
    let root = output(Command::new("id").arg("-u"))? == "0";
    let mut command = if root {
        Command::new("env")
    } else if find("sudo").is_some() {
        let mut sudo = Command::new("sudo");
        sudo.arg("env");
        sudo
    } else {
        return Err(format!("run as root: apt-get {}", arguments.join(" ")));
    };
    // A daemon among the packages must not stop for questions.
    command.arg("DEBIAN_FRONTEND=noninteractive").arg("apt-get").args(arguments);
    run(command.stdin(Stdio::null()))
}
