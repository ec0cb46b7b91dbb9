//! Install the distribution's packages that the tests need.

use std::process::{Command, Stdio};

use crate::command::{Outcome, find, output, run};

/// How it is told whether a package is there.
enum Sign {
    /// By a program that it brings, wherever that came from.
    Program(&'static str),
    /// By dpkg: a library. Without dpkg it is taken to be there.
    Installed,
}
use Sign::{Installed, Program};

/// What must be there, which Debian package brings it, and what for. Recommended packages are not
/// installed: what is needed is named.
const NEEDED: &[(Sign, &str, &str)] = &[
    (Program("gcc"), "gcc", "links OCaml programs"),
    (Program("make"), "make", "builds OCaml"),
    (Program("npm"), "npm", "fetches OCaml's sources, Flow, and what the page is built with"),
    (Program("node"), "nodejs", "builds the viewer's page and runs its tests"),
    (Program("pip3"), "python3-pip", "fetches semgrep, SQL engines and messages of profile stores"),
    (Program("chromium"), "chromium", "the browser that tries the viewer's page"),
    (Program("ocamlopt"), "ocaml-nox", "the distribution's OCaml"),
    (Program("ocamlopt.opt"), "ocaml-nox", "a program to record"),
    (Program("ocamlfind"), "ocaml-findlib", "finds OCaml libraries"),
    (Program("dune"), "ocaml-dune", "builds the OCaml library, and is a program to record"),
    (Program("coqc"), "coq", "a program to record"),
    (Installed, "libcoq-core-ocaml-dev", "its .cmt files and plugins"),
    (Program("spatch"), "coccinelle", "a program to record"),
    (Program("cppo"), "cppo", "a program to record"),
    (Program("menhir"), "menhir", "a program to record"),
    (Program("ocsigenserver.opt"), "ocsigenserver", "a program to record"),
    (Program("eliomopt"), "eliom", "builds a page that leaks"),
    (Installed, "libeliom-ocaml-dev", "what that page is linked with"),
    (Installed, "libocsipersist-sqlite-ocaml-dev", "where the server keeps that page's data"),
    (Program("git"), "git", "a native program to record"),
    (Program("sqlite3"), "sqlite3", "a native program to record"),
    (Installed, "python3", "a native program to record"),
    (
        Installed,
        "rustc",
        "a native program to record; another one may have an allocator of its own",
    ),
    (Installed, "libjemalloc2", "an allocator of native programs"),
    (Installed, "libmimalloc2.0", "an allocator of native programs"),
    (Installed, "libtcmalloc-minimal4", "an allocator of native programs"),
    (Installed, "libgoogle-perftools4", "an allocator of native programs"),
    (Program("curl"), "curl", "visits the page that leaks"),
    (Program("openssl"), "openssl", "makes certificates of a server"),
    (Program("patch"), "patch", "mends the page that leaks"),
    (Program("gcore"), "gdb", "writes core files of programs that run"),
    (Program("musl-gcc"), "musl-tools", "links OCaml programs with another C library"),
];

/// Makes the tests of the page take half as long. They run without it, too, and older distributions do not have it.
const HEADLESS: (&str, &str) = ("chromium-headless-shell", "chromium-headless-shell");

fn is_there((sign, package, _): &(Sign, &str, &str)) -> bool {
    match sign {
        Program(program) => find(program).is_some(),
        Installed if find("dpkg-query").is_none() => true,
        Installed => {
            let mut query = Command::new("dpkg-query");
            query.args(["--show", "--showformat=${db:Status-Status}", package]);
            query.output().is_ok_and(|answer| answer.stdout == b"installed")
        }
    }
}

/// Bring what is missing; with nothing missing, do nothing.
pub(crate) fn install() -> Outcome {
    install_needed()?;
    if let Err(message) = install_programs(&[HEADLESS]) {
        eprintln!("warning: tests of the page take longer without {}: {message}", HEADLESS.0);
    }
    Ok(())
}

fn install_needed() -> Outcome {
    let missing: Vec<_> = NEEDED.iter().filter(|needed| !is_there(needed)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut packages: Vec<&str> = missing.iter().map(|(_, package, _)| *package).collect();
    packages.dedup();
    if find("apt-get").is_none() {
        let list: Vec<String> =
            missing.iter().map(|(_, package, why)| format!("  {package} ({why})")).collect();
        return Err(format!(
            "these packages of Debian's are missing, and there is no apt-get:\n{}",
            list.join("\n")
        ));
    }
    install_packages(&packages)?;
    match NEEDED.iter().find(|needed| !is_there(needed)) {
        Some((Program(program), package, _)) => {
            Err(format!("package {package} is installed, but there is no {program} on PATH"))
        }
        Some((Installed, package, _)) => Err(format!("package {package} is not installed")),
        None => Ok(()),
    }
}

/// Installs the packages of programs that are missing; each package has a program that it brings.
pub(crate) fn install_programs(needed: &[(&str, &str)]) -> Outcome {
    let missing = needed.iter().filter(|(program, _)| find(program).is_none());
    let packages: Vec<_> = missing.map(|(_, package)| *package).collect();
    if packages.is_empty() { Ok(()) } else { install_packages(&packages) }
}

fn install_packages(packages: &[&str]) -> Outcome {
    if find("apt-get").is_none() {
        let names = packages.join(" ");
        return Err(format!("packages of Debian's are missing, and there is no apt-get: {names}"));
    }
    eprintln!("installing with apt-get: {}", packages.join(" "));
    // One unreachable source among several is no reason to stop: the install will tell.
    if let Err(message) = apt(&["update", "--quiet=2"]) {
        eprintln!("warning: {message}");
    }
    let mut install = vec!["install", "--yes", "--quiet=2", "--no-install-recommends"];
    install.extend(packages);
    apt(&install)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::repository;

    /// With `eliom` but without its recommended packages the page ended with code 53.
    #[test]
    fn each_package_that_the_eliom_page_needs_is_installed_by_name() {
        for file in
            ["docs/hunt-eliom.md", "examples/eliom-feed/run", "examples/eliom-feed/README.md"]
        {
            let text = std::fs::read_to_string(repository().join(file)).unwrap();
            let named =
                text.lines().find_map(|line| line.split_once("apt-get install ")).unwrap().1;
            let packages: Vec<_> = named.split('"').next().unwrap().split_whitespace().collect();
            assert!(packages.contains(&"libocsipersist-sqlite-ocaml-dev"), "{file}: {packages:?}");
            for package in packages {
                assert!(NEEDED.iter().any(|(_, needed, _)| *needed == package), "{package}");
            }
        }
    }

    #[test]
    fn a_library_that_is_not_installed_is_missing() {
        if find("dpkg-query").is_some() {
            assert!(!is_there(&(Installed, "libthat-nobody-packaged-ocaml-dev", "a test")));
            assert!(is_there(&(Installed, "dpkg", "a test")));
        }
    }
}
