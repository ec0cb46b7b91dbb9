//! Compile the programs of `tests/programs`, once for each content and compiler.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xxhash_rust::xxh3::Xxh3;

use crate::compilers::{Compiler, named};
use crate::executable::temporary;

/// `tests/programs` and `tests/leaks` of the repository, and its OCaml library.
fn sources() -> [PathBuf; 3] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    [root.join("tests/programs"), root.join("tests/leaks"), root.join("ocaml")]
}

/// What a program's header says about it.
struct Header {
    libraries: Vec<String>,
    variables: Vec<(String, String)>,
}

fn header(source: &str) -> Header {
    let directive = |name: &str| {
        let prefix = format!("(* {name}:");
        source.lines().filter_map(move |line| {
            Some(line.strip_prefix(&prefix)?.strip_suffix("*)")?.trim().to_owned())
        })
    };
    Header {
        libraries: directive("libs")
            .flat_map(|l| l.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .collect(),
        variables: directive("env")
            .filter_map(|v| v.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
            .collect(),
    }
}

/// A program ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    /// What its header asks to be set.
    pub variables: Vec<(String, String)>,
}

/// Compile `tests/programs/NAME.ml` with debug information.
pub fn build(compiler: &Compiler, name: &str) -> Program {
    build_with(compiler, name, &[])
}

/// The same with other files, which come before it.
pub fn build_with(compiler: &Compiler, name: &str, others: &[&str]) -> Program {
    let file = format!("{name}.ml");
    let header = header(&read(&file));
    let mut arguments = vec![OsString::from("-g")];
    arguments.extend(libraries(compiler, &header.libraries));
    arguments.extend(others.iter().map(OsString::from));
    arguments.extend(["-o".into(), name.into(), file.clone().into()]);
    let files: Vec<&str> = std::iter::once(file.as_str()).chain(others.iter().copied()).collect();
    let dir = cached(compiler, &files, &format!("{arguments:?}"), |dir| {
        let mut command = Command::new(&compiler.ocamlopt);
        compile(command.args(&arguments).current_dir(dir));
    });
    Program { path: dir.join(name), variables: header.variables }
}

/// The same with packages that ocamlfind knows, and with what `memtrail types` reads beside it: OCaml of the system.
pub fn build_with_packages(name: &str, packages: &str) -> Program {
    let file = format!("{name}.ml");
    let dir = cached(&named("system"), &[&file], packages, |dir| {
        let mut command = Command::new("ocamlfind");
        command.args(["ocamlopt", "-thread", "-package", packages, "-linkpkg", "-g", "-bin-annot"]);
        compile(command.args(["-o", name, &file]).current_dir(dir));
    });
    Program { path: dir.join(name), variables: Vec::new() }
}

/// `tests/programs/NAME.ml` as an extension of Debian's ocsigenserver, which loads it.
pub fn build_server_extension(name: &str) -> PathBuf {
    let (file, plugin) = (format!("{name}.ml"), format!("{name}.cmxs"));
    let dir = cached(&named("system"), &[&file], "ocsigenserver", |dir| {
        let mut command = Command::new("ocamlfind");
        command.args(["ocamlopt", "-thread", "-package", "ocsigenserver", "-shared", "-g"]);
        compile(command.args(["-o", &plugin, &file]).current_dir(dir));
    });
    dir.join(plugin)
}

/// Compile `tests/programs/NAME.ml` with the runtime that checks its own assertions.
pub fn build_checked(compiler: &Compiler, name: &str) -> Program {
    let file = format!("{name}.ml");
    let dir = cached(compiler, &[&file], "checked", |dir| {
        let mut command = Command::new(&compiler.ocamlopt);
        compile(command.args(["-g", "-runtime-variant", "d", "-o", name, &file]).current_dir(dir));
    });
    // It says on standard error that it is that runtime, unless told not to.
    let quiet = ("OCAMLRUNPARAM".to_owned(), "v=0".to_owned());
    Program { path: dir.join(name), variables: vec![quiet] }
}

/// Compile `tests/programs/NAME.ml` with the runtime in a shared library.
pub fn build_shared(compiler: &Compiler, name: &str) -> Program {
    let file = format!("{name}.ml");
    let dir = cached(compiler, &[&file], "shared", |dir| {
        let mut ocaml = Command::new(&compiler.ocamlopt);
        ocaml.args(["-g", "-output-obj", "-o", "whole.o", &file]);
        compile(ocaml.current_dir(dir));
        let runtime = compiler.headers();
        let mut c = Command::new("gcc");
        c.args(["-o", name, "whole.o", "-Wl,-E", "-lasmrun_shared", "-lm", "-lpthread", "-L"]);
        compile(c.arg(&runtime).arg("-Wl,-rpath").arg(&runtime).current_dir(dir));
    });
    Program { path: dir.join(name), variables: Vec::new() }
}

/// Compile `tests/programs/NAME.ml` to bytecode.
pub fn build_bytecode(compiler: &Compiler, name: &str) -> Program {
    let file = format!("{name}.ml");
    let dir = cached(compiler, &[&file], "bytecode", |dir| {
        let mut command = Command::new(compiler.ocamlc());
        compile(command.args(["-g", "-o", name, &file]).current_dir(dir));
    });
    Program { path: dir.join(name), variables: Vec::new() }
}

/// The place of the interpreter of a bytecode program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpreter {
    /// `ocamlrun` interprets its file.
    Separate,
    /// It is in the same file, in front of the bytecode.
    InFile,
    /// The bytecode is a part of its data.
    WithData,
}

/// Compile `tests/programs/NAME.ml` to bytecode with an interpreter of one of these kinds.
pub fn build_interpreted(compiler: &Compiler, name: &str, interpreter: Interpreter) -> Program {
    let file = format!("{name}.ml");
    let header = header(&read(&file));
    let option = match interpreter {
        Interpreter::Separate => None,
        Interpreter::InFile => Some("-custom"),
        Interpreter::WithData => Some("-output-complete-exe"),
    };
    let dir = cached(compiler, &[&file], &format!("bytecode {option:?}"), |dir| {
        let mut command = Command::new(compiler.ocamlc());
        command.arg("-g").args(option);
        for library in &header.libraries {
            if compiler.version >= (5, 0) || library == "threads" {
                command.arg("-I").arg(format!("+{library}"));
            }
        }
        command.args(header.libraries.iter().map(|library| format!("{library}.cma")));
        compile(command.args(["-o", name, &file]).current_dir(dir));
    });
    Program { path: dir.join(name), variables: header.variables }
}

/// Compile `tests/programs/NAME.ml` without any shared library.
pub fn build_static(compiler: &Compiler, name: &str) -> Program {
    let file = format!("{name}.ml");
    let header = header(&read(&file));
    let dir = cached(compiler, &[&file], "static", |dir| {
        let mut command = Command::new(&compiler.ocamlopt);
        command.args(["-g", "-ccopt", "-static"]).args(libraries(compiler, &header.libraries));
        compile(command.args(["-o", name, &file]).current_dir(dir));
    });
    Program { path: dir.join(name), variables: header.variables }
}

/// Compile `tests/programs/NAME.ml` with musl's C library: dynamically or statically linked.
pub fn build_with_musl(compiler: &Compiler, name: &str, is_static: bool) -> Program {
    let file = format!("{name}.ml");
    let header = header(&read(&file));
    let link = if is_static { "-static" } else { "-no-pie" };
    let dir = cached(compiler, &[&file, "musl_stubs.c"], &format!("musl {link}"), |dir| {
        let mut c = Command::new("musl-gcc");
        compile(c.args(["-O1", "-c", "musl_stubs.c"]).current_dir(dir));
        let mut command = Command::new(&compiler.ocamlopt);
        command.args(["-g", "-cc", "musl-gcc", "-ccopt", link, "musl_stubs.o"]);
        command.args(libraries(compiler, &header.libraries));
        compile(command.args(["-o", name, &file]).current_dir(dir));
    });
    Program { path: dir.join(name), variables: header.variables }
}

/// The host of native plugins, and the plugin.
pub fn build_plugin(compiler: &Compiler) -> (Program, PathBuf) {
    build_as_plugin(compiler, "plugin")
}

/// The host of native plugins, and `tests/programs/NAME.ml` as a plugin.
pub fn build_as_plugin(compiler: &Compiler, name: &str) -> (Program, PathBuf) {
    let (file, plugin) = (format!("{name}.ml"), format!("{name}.cmxs"));
    let files = ["registry.ml", "plugin_host.ml", &file];
    let dir = cached(compiler, &files, name, |dir| {
        let mut host = Command::new(&compiler.ocamlopt);
        host.arg("-g").args(libraries(compiler, &["dynlink".to_owned()]));
        compile(
            host.args(["-linkall", "registry.ml", "plugin_host.ml", "-o", "host"]).current_dir(dir),
        );
        let mut command = Command::new(&compiler.ocamlopt);
        compile(command.args(["-g", "-shared", &file, "-o", &plugin]).current_dir(dir));
    });
    (Program { path: dir.join("host"), variables: Vec::new() }, dir.join(plugin))
}

/// A C program that starts the OCaml runtime itself.
pub fn build_embedded(compiler: &Compiler) -> Program {
    build_around(compiler, "embed.c")
}

/// Another C program around the same OCaml code.
pub fn build_around(compiler: &Compiler, main: &str) -> Program {
    let dir = cached(compiler, &["embedded.ml", main], "embedded", |dir| {
        let mut ocaml = Command::new(&compiler.ocamlopt);
        ocaml.args(["-g", "-output-complete-obj", "-o", "from_ocaml.o", "embedded.ml"]);
        compile(ocaml.current_dir(dir));
        let mut c = Command::new("gcc");
        c.arg("-I").arg(compiler.headers());
        c.args(["-g", main, "from_ocaml.o", "-o", "embed", "-Wl,-E", "-lm", "-ldl", "-lpthread"]);
        compile(c.current_dir(dir));
    });
    Program { path: dir.join("embed"), variables: Vec::new() }
}

/// A copy of a program without its symbol table and debug sections.
pub fn strip(program: &Program) -> Program {
    Program { path: strip_file(&program.path), ..program.clone() }
}

/// A copy of a program or plugin without its symbol table and debug sections.
pub fn strip_file(file: &Path) -> PathBuf {
    let path = file.with_extension("stripped");
    let temporary = path.with_extension(format!("stripped.{}", std::process::id()));
    compile(Command::new("strip").arg("-o").arg(&temporary).arg(file));
    fs::rename(&temporary, &path).expect("rename the stripped copy");
    path
}

fn read(file: &str) -> String {
    let places = sources().map(|folder| folder.join(file));
    let path = places.iter().find(|path| path.is_file()).unwrap_or(&places[0]);
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn libraries(compiler: &Compiler, names: &[String]) -> Vec<OsString> {
    let mut arguments = Vec::new();
    for name in names {
        // Before OCaml 5 only threads has a folder of its own.
        if compiler.version >= (5, 0) || name == "threads" {
            arguments.extend(["-I".into(), format!("+{name}").into()]);
        }
    }
    arguments.extend(names.iter().map(|name| format!("{name}.cmxa").into()));
    arguments
}

/// A folder with the files compiled in it, made only when there is none of that content. It is
/// made aside and renamed, so that tests in parallel never see half of one.
fn cached(compiler: &Compiler, files: &[&str], recipe: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let mut hash = Xxh3::new();
    for part in [compiler.ocamlopt.to_string_lossy().as_ref(), recipe] {
        hash.update(part.as_bytes());
    }
    hash.update(format!("{:?}", compiler.version).as_bytes());
    let contents: Vec<String> = files.iter().map(|file| read(file)).collect();
    for content in &contents {
        hash.update(content.as_bytes());
    }
    let root = temporary().join("programs");
    let stem = files[0].trim_end_matches(".ml");
    let dir = root.join(format!("{}-{stem}-{:016x}", compiler.name, hash.digest()));
    if dir.is_dir() {
        return dir;
    }
    fs::create_dir_all(&root).expect("create the folder of compiled programs");
    let aside = tempfile::tempdir_in(&root).expect("create a folder to compile in");
    for (file, content) in files.iter().zip(&contents) {
        fs::write(aside.path().join(file), content).expect("copy a source file");
    }
    make(aside.path());
    let aside = aside.keep();
    if fs::rename(&aside, &dir).is_err() {
        // Another test was faster.
        assert!(dir.is_dir(), "cannot rename {} to {}", aside.display(), dir.display());
        let _ = fs::remove_dir_all(&aside);
    }
    dir
}

fn compile(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
