//! Packed libraries (`-pack`) of which nothing but the interface is installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use memtrail_test_support::compilers;
use memtrail_test_support::on_each;
use serde_json::Value;

use super::{compile, printed};

const INTERFACE: &str = "type entry = { word : string; count : int }\n\
    val table : (string, entry) Hashtbl.t\n\
    val add : int -> unit\n";
/// Its block has a field more than its interface says.
const MEMBER: &str = "type entry = { word : string; count : int }\n\
    let seen = ref []\n\
    let table : (string, entry) Hashtbl.t = Hashtbl.create 100\n\
    let add count =\n\
    \x20 let word = string_of_int count in\n\
    \x20 seen := word :: !seen;\n\
    \x20 Hashtbl.replace table word { word; count }\n";
const MAIN: &str = "let () = for i = 1 to 1000 do Lib.Store.Cache.add i; Lib.Plain.add i done\n";

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

// Each member contradicted its type, so that nothing in it had one.
fn check_pack(name: &str) {
    let compiler = compilers::named(name);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let members = folder.join("members");
    fs::create_dir(&members).unwrap();
    for member in ["cache", "plain"] {
        write(&members, &format!("{member}.mli"), INTERFACE);
        write(&members, &format!("{member}.ml"), MEMBER);
    }
    write(folder, "main.ml", MAIN);
    let compile_in = |words: &[&str]| compile(&compiler, &members, words);
    compile_in(&["-for-pack", "Lib.Store", "-c", "cache.mli", "cache.ml"]);
    compile_in(&["-for-pack", "Lib", "-pack", "-o", "store.cmx", "cache.cmx"]);
    compile_in(&["-for-pack", "Lib", "-c", "plain.mli", "plain.ml"]);
    compile_in(&["-pack", "-o", "../lib.cmx", "store.cmx", "plain.cmx"]);
    fs::remove_dir_all(&members).unwrap();
    compile(&compiler, folder, &["-o", "main", "lib.cmx", "main.ml"]);
    let recording = folder.join("R");
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--snapshot", "exit", "-o"])
        .args([recording.as_os_str(), "--".as_ref(), folder.join("main").as_os_str()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut words = vec!["types".as_ref(), recording.as_os_str(), "--json".as_ref()];
    if compiler.ocamlopt.is_absolute() {
        words.extend(["--compiler".as_ref(), compiler.ocamlopt.as_os_str()]);
    }
    let found: Value = serde_json::from_str(&printed(words)).unwrap();
    let units = found["units"].as_array().unwrap();
    for name in ["Lib.Store.Cache", "Lib.Plain"] {
        // `Lib__Plain` before OCaml 5.2.
        let is_it = |unit: &&Value| unit["name"].as_str().unwrap().replace("__", ".") == name;
        let unit = units.iter().find(is_it).expect(name);
        assert_eq!(unit["named"], 2, "{unit}");
        assert!(unit["fields"].as_u64() >= Some(2), "{unit}");
    }
    let roots = printed(["heap".as_ref(), "roots".as_ref(), recording.as_os_str()]);
    for variable in ["Lib.Store.Cache.table", "Lib.Plain.table"] {
        assert!(roots.contains(&format!("{variable} : (string, entry) Hashtbl.t")), "{roots}");
    }
    let words = ["heap".as_ref(), "coverage".as_ref(), recording.as_os_str(), "--json".as_ref()];
    let coverage: Value = serde_json::from_str(&printed(words)).unwrap();
    assert_eq!((&coverage["contradictions"], &coverage["differing"]), (&0.into(), &0.into()));
    let words = ["heap", "histogram", "--by", "type", "--json"].map(std::ffi::OsStr::new);
    let histogram: Value =
        serde_json::from_str(&printed(words.into_iter().chain([recording.as_os_str()]))).unwrap();
    let rows = histogram["rows"].as_array().unwrap();
    for (kind, count) in [("Lib.Store.Cache.entry", 1_000), ("Lib.Plain.entry", 1_000)] {
        let row = rows.iter().find(|row| row["kind"] == kind).expect(kind);
        assert_eq!(row["blocks"], count, "{row}");
    }
}
on_each!(members_have_names_and_types, check_pack);
