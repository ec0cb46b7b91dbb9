//! Build the viewer's page and its WebAssembly engine into `crates/server/assets`.
//!
//! What is built is committed, so that users need neither Node nor the wasm target. The same
//! sources and the same compiler give the same bytes, wherever the repository lies.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Outcome, memtrail, output, repository, run};
use crate::stamp::{self, Stamp};

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGE: &str = "memtrail-wasm";
/// The engine, compressed as pages that are opened from disk have it.
const ENGINE: &str = "engine.wasm.xz";
/// What the page's build leaves.
const PAGE: [&str; 4] = ["index.html", "viewer.css", "viewer.js", "offline.js"];

/// Where built files are kept.
pub(crate) fn assets() -> PathBuf {
    repository().join("crates/server/assets")
}

/// Build everything into the assets.
pub(crate) fn build() -> Outcome {
    let assets = assets();
    let packed =
        xz(&["--compress", "--stdout", "-9e", "--check=crc32", "--threads=1"], &engine()?)?;
    let to = assets.join(ENGINE);
    fs::write(&to, packed).map_err(|e| format!("cannot write {}: {e}", to.display()))?;
    Stamp::of_now()?.save(&assets)?;
    page(&assets)
}

/// Build the page aside, and compare it with the assets; the engine too if `with_engine`, which takes a minute. Without
/// it a unit test compares the engine's stamp with its sources.
pub(crate) fn check(with_engine: bool) -> Outcome {
    let assets = assets();
    let aside = scratch()?.join("check");
    fs::create_dir_all(&aside).map_err(|e| format!("cannot create {}: {e}", aside.display()))?;
    page(&aside)?;
    let mut different = Vec::new();
    let mut compare = |name: &'static str| -> Outcome {
        if read(&aside.join(name))? != read(&assets.join(name))? {
            different.push(name);
        }
        Ok(())
    };
    for name in PAGE {
        compare(name)?;
    }
    let (then, now) = (Stamp::load(&assets)?, Stamp::of_now()?);
    if with_engine && then.rustc == now.rustc {
        // Not the compressed files: versions of `xz` differ.
        if engine()? != xz(&["--decompress", "--stdout"], &read(&assets.join(ENGINE))?)? {
            different.push(ENGINE);
        }
    } else if with_engine {
        println!("{ENGINE} was built by {}, not compared with {}", then.rustc, now.rustc);
    }
    if then.sources != now.sources {
        different.push(stamp::FILE);
    }
    if different.is_empty() {
        Ok(())
    } else {
        let list = different.join(", ");
        Err(format!("not what its sources give: {list}; `cargo xtask web` builds it"))
    }
}

/// Whether the page's types agree.
pub(crate) fn check_types() -> Outcome {
    dependencies()?;
    npm(&["run", "--silent", "check"])
}

/// Whether the page keeps to the rules of `.oxlintrc.json`, those of hooks among them.
pub(crate) fn lint() -> Outcome {
    dependencies()?;
    npm(&["run", "--silent", "lint"])
}

/// Whether the page's sources are laid out as its formatter does.
pub(crate) fn format() -> Outcome {
    dependencies()?;
    npm(&["run", "--silent", "format:check"])
}

/// The page's tests: by themselves, and in a browser with the `memtrail` that is built here.
/// A whole run has those of `testInWholeRun`, and each test in both places.
pub(crate) fn tests(filter: Option<&str>, all: bool) -> Outcome<Vec<(&'static str, Command)>> {
    dependencies()?;
    let program = memtrail()?;
    let command = |script: &str, more: &[&str]| {
        let mut command = Command::new("node");
        command.current_dir(repository().join("web")).arg(script).args(more).args(filter);
        command.env("MEMTRAIL", &program);
        if all {
            command.env("MEMTRAIL_TEST_ALL", "1");
        }
        command
    };
    Ok(vec![
        ("tests of the page's code", command("test.mjs", &[])),
        ("tests in a browser", command("e2e/run.mjs", &[])),
    ])
}

/// Draws the manual's pictures of the viewer from these recordings.
pub(crate) fn pictures(recordings: &[PathBuf]) -> Outcome {
    dependencies()?;
    let mut command = Command::new("node");
    command.current_dir(repository().join("web")).arg("pictures.mjs").args(recordings);
    run(command.env("MEMTRAIL", memtrail()?))
}

/// What the builds need besides Node: the compiler's library for WebAssembly.
pub(crate) fn install() -> Outcome {
    let library =
        output(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
    if Path::new(&library).is_dir() {
        return Ok(());
    }
    run(Command::new("rustup").args(["target", "add", TARGET]).stdin(Stdio::null()))
}

/// Builds the engine.
fn engine() -> Outcome<Vec<u8>> {
    let scratch = scratch()?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(repository());
    cargo.args(["build", "--quiet", "--locked", "--package", PACKAGE, "--target", TARGET]);
    cargo.args(["--profile", "wasm", "--target-dir"]).arg(&scratch);
    // Bytes must not depend on the settings of whoever builds, nor on where things lie.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let ours = ["CARGO_PROFILE_", "CARGO_BUILD_", "CARGO_TARGET_", "RUSTFLAGS", "RUSTC"];
        if ours.iter().any(|prefix| text.starts_with(prefix)) {
            cargo.env_remove(&name);
        }
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", remaps()?.join("\x1f"));
    run(&mut cargo)?;
    read(&scratch.join(TARGET).join("wasm").join("memtrail_wasm.wasm"))
}

/// Runs `xz` on these bytes.
fn xz(arguments: &[&str], bytes: &[u8]) -> Outcome<Vec<u8>> {
    let mut command = Command::new("xz");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().map_err(|e| format!("cannot run xz: {e}"))?;
    let mut input = process.stdin.take().expect("it is piped");
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(move || input.write_all(bytes));
        let output = process.wait_with_output();
        (writer.join().expect("it does not panic"), output)
    });
    match written {
        (Ok(()), Ok(output)) if output.status.success() => Ok(output.stdout),
        (Err(error), _) | (_, Err(error)) => Err(format!("xz: {error}")),
        (_, Ok(output)) => Err(format!("xz ended with {}", output.status)),
    }
}

/// Paths that get into panic messages, without what is particular to this machine.
fn remaps() -> Outcome<Vec<String>> {
    let root = fs::canonicalize(repository()).map_err(|e| format!("the repository: {e}"))?;
    let mut remaps = vec![remap(&root, "/memtrail")];
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir().ok_or("no HOME, and no CARGO_HOME")?.join(".cargo"),
    };
    let sources = home.join("registry/src");
    let registries = fs::read_dir(&sources).map_err(|e| format!("{}: {e}", sources.display()))?;
    for registry in registries.filter_map(Result::ok) {
        remaps.push(remap(&registry.path(), "/registry"));
    }
    Ok(remaps)
}

fn remap(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

fn page(to: &Path) -> Outcome {
    dependencies()?;
    npm(&["run", "--silent", "build", "--", &to.to_string_lossy()])
}

/// Node's modules, as the lock file names them, unless they are there.
fn dependencies() -> Outcome {
    let web = repository().join("web");
    let time = |path: PathBuf| fs::metadata(path).and_then(|m| m.modified()).ok();
    let installed = time(web.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= time(web.join("package-lock.json")) {
        return Ok(());
    }
    npm(&["ci", "--silent", "--no-audit", "--no-fund"])
}

fn npm(arguments: &[&str]) -> Outcome {
    let web = repository().join("web");
    run(Command::new("npm").args(arguments).current_dir(web).stdin(Stdio::null()))
}

fn scratch() -> Outcome<PathBuf> {
    Ok(crate::command::cache()?.join("web"))
}

fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}
