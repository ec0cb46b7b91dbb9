//! Files that are missing, stale, damaged, or another compiler's: reported, and never a wrong name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_test_support::compilers::{self, Compiler};
use memtrail_test_support::on_each;
use memtrail_types::term::{Content, Term};
use memtrail_types::{Reason, Types, Unit};

use crate::names::{found, on_path, unit};

const INTERFACE: &str = "val second : int ref\nval first : string list ref\n";
const IMPLEMENTATION: &str = "\
let hidden = Hashtbl.create 1
let first = ref [ \"a\" ]
let second = ref 1
let get () : string = Hashtbl.find hidden 1
module Inner = struct let deep = ref 2.5 end
";
const MAIN: &str =
    "let own = ref 0\nlet () = incr own; incr Lib.second; Lib.first := []; print_int !Lib.second\n";

/// A program of two units, and the folder with its files.
pub(crate) struct Built {
    folder: tempfile::TempDir,
    ocamlopt: PathBuf,
    version: String,
}

impl Built {
    fn new(name: &str) -> Self {
        Self::of(name, &[("lib.mli", INTERFACE), ("lib.ml", IMPLEMENTATION), ("main.ml", MAIN)])
    }

    /// A program of these files, in the order in which they are linked, by its name `main`.
    pub(crate) fn of(name: &str, files: &[(&str, &str)]) -> Self {
        let compiler = compilers::named(name);
        let ocamlopt = match name {
            "system" => on_path("ocamlopt"),
            _ => compiler.ocamlopt.clone(),
        };
        let folder = tempfile::tempdir().unwrap();
        let built = Self { folder, ocamlopt, version: version(&compiler) };
        let mut arguments = vec!["-o", "main"];
        for (name, text) in files {
            built.write(name, text);
            arguments.push(name);
        }
        built.compile(&arguments);
        built
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn compile(&self, arguments: &[&str]) {
        let mut command = Command::new(&self.ocamlopt);
        command.args(["-g", "-bin-annot"]).args(arguments).current_dir(self.folder.path());
        assert!(command.status().unwrap().success());
    }

    fn types(&self) -> Types {
        self.types_in(self.folder.path())
    }

    /// What the compiler prints of a file's interface.
    pub(crate) fn printed_interface(&self, file: &str) -> String {
        let mut command = Command::new(&self.ocamlopt);
        let output = command.args(["-i", file]).current_dir(self.folder.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// With the standard library's files, too.
    pub(crate) fn types_with(&self, library: &Path) -> Types {
        found(&self.path("main"), &[self.folder.path(), library], &self.ocamlopt, &self.version)
    }

    fn types_in(&self, folder: &Path) -> Types {
        found(&self.path("main"), &[folder], &self.ocamlopt, &self.version)
    }
}

fn version(compiler: &Compiler) -> String {
    format!("{}.{}", compiler.version.0, compiler.version.1)
}

/// `variable : type  position`, exported ones first.
fn shown(unit: &Unit) -> Vec<String> {
    let Some(layout) = &unit.layout else { return Vec::new() };
    let slots = layout.exported.iter().chain(&layout.hidden);
    slots
        .map(|slot| {
            let position = slot.position.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{} : {}  {position}", slot.variable(), slot.type_or_kind())
        })
        .collect()
}

fn reasons(unit: &Unit) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = unit.problems.iter().map(|problem| problem.reason).collect();
    reasons.sort();
    reasons.dedup();
    reasons
}

const ALL: [&str; 6] = [
    "second : int ref  lib.ml:3",
    "first : string list ref  lib.ml:2",
    "hidden : (int, string) Hashtbl.t  lib.ml:1",
    "get : unit -> string  lib.ml:4",
    "Inner : module  lib.ml:5",
    "Inner.deep : float ref  lib.ml:5",
];

fn check_all_there(name: &str) {
    let types = Built::new(name).types();
    let lib = unit(&types, "Lib");
    assert_eq!(shown(lib), ALL);
    assert_eq!((lib.fields, lib.named()), (Some(6), 6));
    assert_eq!(reasons(lib), []);
}
on_each!(all_there, check_all_there);

fn check_missing(name: &str) {
    let built = Built::new(name);
    let empty = tempfile::tempdir().unwrap();
    let types = built.types_in(empty.path());
    assert_eq!(unit(&types, "Lib").layout, None);
    assert_eq!(reasons(unit(&types, "Lib")), []);
    // Only the interface: what it exports is named, the rest is not.
    fs::copy(built.path("lib.cmi"), empty.path().join("lib.cmi")).unwrap();
    let types = built.types_in(empty.path());
    let lib = unit(&types, "Lib");
    assert_eq!(lib.named(), 2);
    assert_eq!(shown(lib), ["second : int ref  lib.mli:1", "first : string list ref  lib.mli:2"]);
    // Only the implementation: the order is not known without the interface.
    fs::remove_file(empty.path().join("lib.cmi")).unwrap();
    fs::copy(built.path("lib.cmt"), empty.path().join("lib.cmt")).unwrap();
    let types = built.types_in(empty.path());
    assert_eq!(unit(&types, "Lib").layout, None);
    assert_eq!(reasons(unit(&types, "Lib")), [Reason::Incomplete]);
}
on_each!(missing, check_missing);

/// The same interface, another implementation: of another size, of the same size with other functions, and
/// without functions, where only the digest differs.
fn check_stale_implementation(name: &str) {
    let longer = format!("let added = ref 0\n{IMPLEMENTATION}");
    let other_order = "\
let first = ref [ \"a\" ]
let second = ref 1
let get () : string = \"x\"
let hidden = Hashtbl.create 1
module Inner = struct let deep = ref 2.5 end
let () = Hashtbl.replace hidden 1 \"y\"
";
    for (text, reason) in
        [(longer.as_str(), Reason::OtherSize), (other_order, Reason::OtherImplementation)]
    {
        let built = Built::new(name);
        built.write("lib.ml", text);
        built.compile(&["-c", "lib.ml"]);
        let types = built.types();
        let lib = unit(&types, "Lib");
        assert_eq!(lib.named(), 2, "{text}");
        assert_eq!(reasons(lib), [reason], "{text}");
        let expected = ["second : int ref  lib.mli:1", "first : string list ref  lib.mli:2"];
        assert_eq!(shown(lib), expected, "{text}");
    }
    // Without a function that differs.
    let built = Built::new(name);
    let silent = |text: &str| text.replace("let get () : string = Hashtbl.find hidden 1\n", "");
    built.write("lib.ml", silent(IMPLEMENTATION));
    built.compile(&["-o", "main", "lib.mli", "lib.ml", "main.ml"]);
    built.write("lib.ml", silent(IMPLEMENTATION).replace("let deep = ref 2.5", "let other = 3"));
    built.compile(&["-c", "lib.ml"]);
    let types = built.types();
    assert_eq!(unit(&types, "Lib").named(), 2);
    assert_eq!(reasons(unit(&types, "Lib")), [Reason::OtherImplementation]);
}
on_each!(stale_implementation, check_stale_implementation);

fn check_stale_interface(name: &str) {
    let built = Built::new(name);
    built.write("lib.mli", "val first : string list ref\nval second : int ref\n");
    built.compile(&["-c", "lib.mli", "lib.ml"]);
    let types = built.types();
    assert_eq!(unit(&types, "Lib").layout, None);
    assert_eq!(reasons(unit(&types, "Lib")), [Reason::Stale]);
    // Other units are not concerned.
    assert!(unit(&types, "Main").layout.is_some());
}
on_each!(stale_interface, check_stale_interface);

/// A file that is cut anywhere, or has bytes that are not its own, gives all names, or some, or none, but no
/// wrong ones.
fn check_damaged(name: &str) {
    let built = Built::new(name);
    let whole = fs::read(built.path("lib.cmt")).unwrap();
    for end in [0, 5, 12, 13, 40, whole.len() / 2, whole.len() - 1] {
        built.write("lib.cmt", &whole[..end]);
        let types = built.types();
        let lib = unit(&types, "Lib");
        assert_eq!(lib.named(), 2, "cut after {end}");
        assert_eq!(reasons(lib), [Reason::Damaged], "cut after {end}");
    }
    let mut zeros = whole.clone();
    for byte in zeros.iter_mut().skip(60).step_by(97) {
        *byte = 0xff;
    }
    built.write("lib.cmt", &zeros);
    let types = built.types();
    assert!(matches!(unit(&types, "Lib").named(), 0 | 2), "{:?}", unit(&types, "Lib"));
    assert!(unit(&types, "Main").layout.is_some(), "the others are read all the same");
}
on_each!(damaged, check_damaged);

#[test]
fn files_of_another_compiler_are_reported() {
    let built = Built::new("ocaml-4.14.1000");
    let other = Built::new("ocaml-5.3.0");
    let types = found(
        &built.path("main"),
        &[other.folder.path(), &compilers::named("ocaml-4.14.1000").headers()],
        &built.ocamlopt,
        &built.version,
    );
    let lib = unit(&types, "Lib");
    assert_eq!(lib.layout, None);
    assert_eq!(reasons(lib), [Reason::Foreign]);
    assert!(unit(&types, "Stdlib__Hashtbl").layout.is_some());
}

/// An interface without an implementation is read for its types alone. If its file is damaged, these are unknown, and
/// all others are as before.
fn check_damaged_interface(name: &str) {
    let interface = "type t = { words : string list }\n";
    let text = "let value : Only.t = { words = [] }\nlet other = [ Some 1 ]\n";
    let built = Built::of(name, &[("only.mli", interface), ("main.ml", text)]);
    let held = || {
        let types = built.types_with(&compilers::named(name).headers());
        let layout = unit(&types, "Main").layout.as_ref().expect("a layout");
        let texts = layout.exported.iter().map(|slot| match slot.content {
            Content::Value(id) => match types.table.term(id) {
                Some(Term::Unknown(reason)) => reason.clone(),
                _ => types.table.text(id),
            },
            _ => "?".into(),
        });
        texts.collect::<Vec<_>>()
    };
    assert_eq!(held(), ["Only.t", "int option list"]);
    // It has the interface, too.
    fs::remove_file(built.path("only.cmti")).unwrap();
    assert_eq!(held(), ["Only.t", "int option list"]);
    let whole = fs::read(built.path("only.cmi")).unwrap();
    let damaged = |step: usize| {
        let mut bytes = whole.clone();
        bytes.iter_mut().skip(40).step_by(step).for_each(|byte| *byte = 0xff);
        bytes
    };
    for bytes in [whole[..whole.len() / 2].to_vec(), damaged(97), damaged(31), damaged(7)] {
        built.write("only.cmi", bytes);
        assert_eq!(held(), ["no file for unit Only", "int option list"]);
    }
}
on_each!(damaged_interface, check_damaged_interface);

/// The module of a library's aliases, `Lib__`, was written `Lib.`: `Lib..Part.t`.
fn check_types_through_aliases(name: &str) {
    let files = [
        ("lib__Part.ml", "type t = Part of string"),
        ("lib__.ml", "module Part = Lib__Part"),
        ("main.ml", "let values : Lib__.Part.t list ref = ref []"),
    ];
    let types = Built::of(name, &files).types();
    let layout = unit(&types, "Main").layout.as_ref().unwrap();
    assert_eq!(layout.exported[0].ty, "Lib.Part.t list ref");
}
on_each!(types_through_aliases, check_types_through_aliases);

/// Where a library has an interface for servers and one for clients, the other one was reported as stale.
fn check_interface_of_another_library(name: &str) {
    let built = Built::new(name);
    for file in ["lib.cmt", "lib.cmti"] {
        fs::remove_file(built.path(file)).unwrap();
    }
    let client =
        Built::of(name, &[("lib.mli", "val other : int\n"), ("lib.ml", "let other = 1\n")]);
    fs::create_dir(built.path("client")).unwrap();
    fs::copy(client.path("lib.cmi"), built.path("client/lib.cmi")).unwrap();
    let types = built.types();
    let lib = unit(&types, "Lib");
    assert_eq!(lib.layout.as_ref().unwrap().exported.len(), 2);
    assert_eq!(lib.problems, []);
}
on_each!(interface_of_another_library, check_interface_of_another_library);
