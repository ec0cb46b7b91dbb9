//! Packages of Debian suites other than the installed one: fetched and unpacked into a folder, never installed.
//!
//! apt gets a configuration and lists of its own, so that nothing of the system's changes, and checks the
//! signatures of the suites with the system's keys. The mirror is the one that the system uses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Outcome, find, output, run};

/// The lists of some suites, in a folder.
pub(crate) struct Suites {
    folder: PathBuf,
    names: String,
}

impl Suites {
    /// Fetches the lists of `suites` into `folder`, which is made. Without an architecture they are the system's.
    pub(crate) fn fetch(
        folder: &Path,
        suites: &[&str],
        architecture: Option<&str>,
    ) -> Outcome<Self> {
        if find("apt-get").is_none() {
            return Err("there is no apt-get, which fetches packages of Debian's".into());
        }
        let mirror = mirror()?;
        let failed = |error: std::io::Error| format!("cannot write {}: {error}", folder.display());
        for inner in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(inner)).map_err(failed)?;
        }
        let lines = suites.iter().map(|suite| format!("deb {mirror} {suite} main\n"));
        fs::write(folder.join("sources.list"), lines.collect::<String>()).map_err(failed)?;
        fs::write(folder.join("apt.conf"), configuration(folder, architecture)).map_err(failed)?;
        let suites = Self { folder: folder.to_owned(), names: suites.join(", ") };
        run(&mut suites.apt("apt-get", &["--quiet=2", "update"]))?;
        Ok(suites)
    }

    /// The newest version of a package that begins with `prefix`, such as `5.4.`.
    pub(crate) fn newest(&self, package: &str, prefix: &str) -> Outcome<String> {
        let table = output(&mut self.apt("apt-cache", &["madison", package]))?;
        newest_in(&table, prefix)
            .ok_or_else(|| format!("no suite of Debian's ({}) has {package} {prefix}", self.names))
    }

    /// The package that a package without files of its own stands for.
    pub(crate) fn dependency(&self, package: &str) -> Outcome<String> {
        let table = output(&mut self.apt("apt-cache", &["depends", package]))?;
        let first = table.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
        first.map(str::to_owned).ok_or_else(|| format!("{package} depends on no package"))
    }

    /// Fetches packages, each `name` or `name=version`, and unpacks them into `root`.
    pub(crate) fn unpack(&self, packages: &[String], root: &Path) -> Outcome {
        let archives = self.folder.join("debs");
        let failed = |error: std::io::Error| format!("{}: {error}", archives.display());
        if archives.exists() {
            fs::remove_dir_all(&archives).map_err(failed)?;
        }
        fs::create_dir_all(&archives).map_err(failed)?;
        fs::create_dir_all(root).map_err(failed)?;
        let mut download = self.apt("apt-get", &["--quiet=2", "download"]);
        run(download.args(packages).current_dir(&archives))?;
        for archive in fs::read_dir(&archives).map_err(failed)?.filter_map(Result::ok) {
            run(Command::new("dpkg-deb").arg("--extract").arg(archive.path()).arg(root))?;
        }
        Ok(())
    }

    fn apt(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.env("APT_CONFIG", self.folder.join("apt.conf")).args(arguments);
        command.stdin(Stdio::null());
        command
    }
}

fn configuration(folder: &Path, architecture: Option<&str>) -> String {
    let folder = folder.display();
    let architecture = architecture.map_or(String::new(), |name| {
        format!("APT::Architecture \"{name}\";\nAPT::Architectures \"{name}\";\n")
    });
    // The lists are small without translations. Root's own downloads need no other user.
    format!(
        "Dir::Etc::sourcelist \"{folder}/sources.list\";\n\
         Dir::Etc::sourceparts \"-\";\n\
         Dir::State::lists \"{folder}/lists\";\n\
         Dir::State::status \"/dev/null\";\n\
         Dir::Cache \"{folder}/cache\";\n\
         Acquire::Languages \"none\";\n\
         APT::Sandbox::User \"root\";\n{architecture}"
    )
}

/// The mirror of Debian that the system's own packages come from.
pub(crate) fn mirror() -> Outcome<String> {
    let mut query = Command::new("apt-get");
    query.args(["indextargets", "--format", "$(SITE) $(ORIGIN) $(LABEL)", "Created-By: Packages"]);
    let table = output(&mut query)?;
    let site = table.lines().find_map(|line| line.strip_suffix(" Debian Debian"));
    Ok(site.ok_or("apt has no source of Debian's packages\nhint: apt-get update")?.to_owned())
}

/// apt-cache writes `package | version | site suite/component index`.
fn newest_in(table: &str, prefix: &str) -> Option<String> {
    let versions = table.lines().filter_map(|line| Some(line.split('|').nth(1)?.trim()));
    let numbers = |version: &str| -> Vec<u32> {
        version.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse().ok()).collect()
    };
    let fitting = versions.filter(|version| version.starts_with(prefix));
    fitting.max_by_key(|version| numbers(version)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = " ocaml |    5.4.1-1 | a mirror testing/main amd64 Packages
 ocaml |   5.4.10-1 | a mirror sid/main amd64 Packages
 ocaml | 5.5.2-1~exp1 | a mirror experimental/main amd64 Packages
";

    #[test]
    fn the_newest_of_a_series_is_chosen() {
        assert_eq!(newest_in(TABLE, "5.4.").as_deref(), Some("5.4.10-1"));
        assert_eq!(newest_in(TABLE, "5.5.").as_deref(), Some("5.5.2-1~exp1"));
        assert_eq!(newest_in(TABLE, "5.6."), None);
    }
}
