//! Build the OCaml compilers of `tests/compilers.txt` into the cache.
//!
//! A prefix is baked into what `make install` leaves, so a compiler is built where it will stay.
//! It counts as built once its stamp says so, with the options it was built with: an interrupted
//! or differently built one is removed and built anew.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::command::{Outcome, cache, output, run};

const LIST: &str = include_str!("../../tests/compilers.txt");
const OPTIONS: &[&str] = &[
    "--disable-ocamldoc",
    "--disable-debugger",
    "--disable-ocamltest",
    "--disable-stdlib-manpages",
];
/// Written last, into the prefix.
const STAMP: &str = ".built-by-memtrail";

struct Compiler {
    package: &'static str,
    prefix: PathBuf,
    /// Options of `configure` beside those of all.
    options: Vec<&'static str>,
    /// Whether tests do without it.
    optional: bool,
}

fn listed(cache: &Path) -> Vec<Compiler> {
    LIST.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, package) = (words.next()?, words.next()?);
            let rest: Vec<_> = words.collect();
            let optional = !rest.is_empty();
            let options = rest.into_iter().filter(|option| *option != "-").collect();
            let prefix = cache.join(name);
            (package != "-").then_some(Compiler { package, prefix, options, optional })
        })
        .collect()
}

/// Build each compiler that the cache does not have; those that tests do without only if `all`.
pub(crate) fn install(all: bool) -> Outcome {
    let cache = cache()?;
    fs::create_dir_all(&cache).map_err(|e| format!("cannot create {}: {e}", cache.display()))?;
    // Two setups at once: the second waits, then finds the work done.
    let lock_path = cache.join("setup.lock");
    let lock = File::create(&lock_path)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|e| format!("cannot lock {}: {e}", lock_path.display()))?;
    for compiler in listed(&cache) {
        if all || !compiler.optional {
            compiler.ensure(&cache)?;
        }
    }
    drop(lock);
    Ok(())
}

/// The names of those that are not in the cache, which tests do without.
pub(crate) fn absent() -> Vec<String> {
    let Ok(cache) = cache() else { return Vec::new() };
    let absent = listed(&cache).into_iter().filter(|one| !one.is_built());
    absent.filter_map(|one| Some(one.prefix.file_name()?.to_string_lossy().into_owned())).collect()
}

impl Compiler {
    fn recipe(&self) -> String {
        let words = [self.package].into_iter().chain(OPTIONS.iter().chain(&self.options).copied());
        words.collect::<Vec<_>>().join(" ") + "\n"
    }

    fn is_built(&self) -> bool {
        fs::read_to_string(self.prefix.join(STAMP)).is_ok_and(|text| text == self.recipe())
    }

    fn ensure(&self, cache: &Path) -> Outcome {
        if self.is_built() {
            return Ok(());
        }
        let stamp = self.prefix.join(STAMP);
        let build = cache.join(format!("build-{}", self.package));
        for dir in [&self.prefix, &build] {
            if dir.exists() {
                fs::remove_dir_all(dir)
                    .map_err(|e| format!("cannot remove {}: {e}", dir.display()))?;
            }
        }
        fs::create_dir_all(&build)
            .map_err(|e| format!("cannot create {}: {e}", build.display()))?;
        eprintln!("building {} into {}", self.package, self.prefix.display());
        self.build(&build)?;
        fs::write(&stamp, self.recipe())
            .map_err(|e| format!("cannot write {}: {e}", stamp.display()))?;
        fs::remove_dir_all(&build).map_err(|e| format!("cannot remove {}: {e}", build.display()))
    }

    fn build(&self, dir: &Path) -> Outcome {
        let archive =
            output(Command::new("npm").args(["pack", "--silent", self.package]).current_dir(dir))?;
        let archive = archive.lines().last().unwrap_or_default();
        run(Command::new("tar").args(["xzf", archive]).current_dir(dir))?;
        let source = dir.join("package");
        let log_path = dir.join("log");
        let log = File::create(&log_path)
            .map_err(|e| format!("cannot create {}: {e}", log_path.display()))?;
        let step = |program: &str, arguments: &[&str]| -> Outcome {
            let out = log.try_clone().map_err(|e| format!("{}: {e}", log_path.display()))?;
            let err = log.try_clone().map_err(|e| format!("{}: {e}", log_path.display()))?;
            let mut command = Command::new(program);
            command.args(arguments).current_dir(&source);
            command.stdin(Stdio::null()).stdout(out).stderr(err);
            run(&mut command).map_err(|e| format!("{e}\n  see {}", log_path.display()))
        };
        // Archives of the npm registry do not always keep the executable bit.
        let prefix = self.prefix.to_string_lossy();
        let mut configure = vec!["configure", "--prefix", &*prefix];
        configure.extend(OPTIONS.iter().chain(&self.options));
        step("sh", &configure)?;
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        step("make", &[&format!("-j{jobs}")])?;
        step("make", &["install"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_the_compilers_to_build() {
        let compilers = listed(Path::new("/cache"));
        let found: Vec<_> = compilers
            .iter()
            .map(|c| (c.package, c.prefix.to_string_lossy(), c.options.as_slice()))
            .collect();
        assert_eq!(
            found,
            [
                ("ocaml@4.14.1000", "/cache/ocaml-4.14.1000".into(), &[][..]),
                ("ocaml@5.3.0", "/cache/ocaml-5.3.0".into(), &[]),
                ("ocaml@4.14.1000", "/cache/ocaml-4.14-flambda".into(), &["--enable-flambda"]),
                ("ocaml@5.1.4", "/cache/ocaml-5.1.4".into(), &[])
            ]
        );
        let optional: Vec<_> = compilers.iter().map(|compiler| compiler.optional).collect();
        assert_eq!(optional, [false, false, true, true]);
    }

    /// The stamps of those that are in caches already stay as they are.
    #[test]
    fn a_recipe_has_the_options() {
        let compilers = listed(Path::new("/cache"));
        let plain = "ocaml@4.14.1000 --disable-ocamldoc --disable-debugger --disable-ocamltest \
                     --disable-stdlib-manpages";
        assert_eq!(compilers[0].recipe(), format!("{plain}\n"));
        assert_eq!(compilers[2].recipe(), format!("{plain} --enable-flambda\n"));
    }
}
