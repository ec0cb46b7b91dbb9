//! Bring the OCaml compilers of `tests/compilers.txt` into the cache: built from sources, or unpacked.
//!
//! A prefix is baked into what `make install` leaves, so a compiler is built where it will stay.
//! It counts as built once its stamp says so, with the options it was built with: an interrupted
//! or differently built one is removed and built anew.

mod build;
mod bytecode;
pub(crate) mod unpack;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::command::{Outcome, cache};

const LIST: &str = include_str!("../../../tests/compilers.txt");
/// Before the name of a package whose binaries are unpacked, instead of sources that are built.
const BINARY: &str = "debian:ocaml@";
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
        if !all && compiler.optional {
            continue;
        }
        match compiler.ensure(&cache) {
            // Suites of a distribution move on; tests without it say so.
            Err(reason) if compiler.series().is_some() => eprintln!("not installed: {reason}"),
            ensured => ensured?,
        }
    }
    drop(lock);
    Ok(())
}

/// The names of those that are not in the cache, which tests do without; those that only `--all` runs if `all`.
pub(crate) fn absent(all: bool) -> Vec<String> {
    let Ok(cache) = cache() else { return Vec::new() };
    let meant = listed(&cache).into_iter().filter(|one| all || !one.optional);
    let absent = meant.filter(|one| !one.is_built());
    absent.filter_map(|one| Some(one.prefix.file_name()?.to_string_lossy().into_owned())).collect()
}

impl Compiler {
    /// The series whose binaries are unpacked; none if it is built.
    fn series(&self) -> Option<&'static str> {
        self.package.strip_prefix(BINARY)
    }

    fn recipe(&self) -> String {
        let common = if self.series().is_some() { &[] } else { build::OPTIONS };
        let words = [self.package].into_iter().chain(common.iter().chain(&self.options).copied());
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
        let name = self.prefix.file_name().unwrap_or_default().to_string_lossy();
        let build = cache.join(format!("build-{name}"));
        for dir in [&self.prefix, &build] {
            if dir.exists() {
                fs::remove_dir_all(dir)
                    .map_err(|e| format!("cannot remove {}: {e}", dir.display()))?;
            }
        }
        fs::create_dir_all(&build)
            .map_err(|e| format!("cannot create {}: {e}", build.display()))?;
        let prefix = &self.prefix;
        if let Some(series) = self.series() {
            eprintln!("unpacking OCaml {series} into {}", prefix.display());
            unpack::from_debian(series, &unpack::HERE, prefix, &build)?;
        } else {
            eprintln!("building {} into {}", self.package, prefix.display());
            build::from_sources(self.package, &self.options, prefix, &build)?;
        }
        fs::write(&stamp, self.recipe())
            .map_err(|e| format!("cannot write {}: {e}", stamp.display()))?;
        fs::remove_dir_all(&build).map_err(|e| format!("cannot remove {}: {e}", build.display()))
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
        let expected = [
            ("ocaml@4.14.1000", "/cache/ocaml-4.14.1000".into(), &[][..]),
            ("ocaml@5.3.0", "/cache/ocaml-5.3.0".into(), &[]),
            ("debian:ocaml@5.4", "/cache/ocaml-5.4".into(), &[]),
            ("debian:ocaml@5.5", "/cache/ocaml-5.5".into(), &[]),
            ("ocaml@4.14.1000", "/cache/ocaml-4.14-flambda".into(), &["--enable-flambda"]),
            ("ocaml@5.1.4", "/cache/ocaml-5.1.4".into(), &[]),
        ];
        assert_eq!(found[..expected.len()], expected);
        let optional: Vec<_> = compilers.iter().map(|compiler| compiler.optional).collect();
        assert_eq!(optional[..4], [false, false, false, true]);
        assert!(optional[4..].iter().all(|optional| *optional));
    }

    /// The stamps of those that are in caches already stay as they are.
    #[test]
    fn a_recipe_has_the_options() {
        let compilers = listed(Path::new("/cache"));
        let plain = "ocaml@4.14.1000 --disable-ocamldoc --disable-debugger --disable-ocamltest \
                     --disable-stdlib-manpages";
        assert_eq!(compilers[0].recipe(), format!("{plain}\n"));
        assert_eq!(compilers[4].recipe(), format!("{plain} --enable-flambda\n"));
        assert_eq!(compilers[2].recipe(), "debian:ocaml@5.4\n");
    }
}
