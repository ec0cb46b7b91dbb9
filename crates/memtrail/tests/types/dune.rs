//! A dune project: its files are found in `_build`, without any option. A program alone is built without the
//! `.cmt` files of modules that have interfaces; `@check` makes them.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::printed;

#[test]
fn a_dune_project_is_named_whole() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("dune-project", "(lang dune 2.9)\n");
    write("lib/dune", "(library (name store))\n");
    write("lib/cache.ml", "let table : (int, string) Hashtbl.t = Hashtbl.create 7\n");
    write("lib/index.mli", "val find : int -> string\n");
    write("lib/index.ml", "let hits = ref 0\nlet find n = incr hits; Hashtbl.find Cache.table n\n");
    write("bin/dune", "(executable (name main) (libraries store))\n");
    write("bin/settings.ml", "let names = ref [ \"a\" ]\n");
    write(
        "bin/main.ml",
        "let () = print_int (List.length !Settings.names);\n  print_string (try Store.Index.find 1 with Not_found -> \"\")\n",
    );
    let built = Command::new("dune")
        .args(["build", "--root", ".", "./bin/main.exe", "@check"])
        .current_dir(folder.path())
        .output()
        .expect("dune");
    assert!(built.status.success(), "{built:?}");
    let program = folder.path().join("_build/default/bin/main.exe");
    let text = printed(["types".as_ref(), program.as_os_str()]);
    assert!(text.contains("fields named (100 %)"), "{text}");
    assert!(!text.contains("unnamed"), "{text}");
    for (unit, field, variable, ty, position) in [
        ("Store.Cache", 0, "table", "(int, string) Hashtbl.t", "lib/cache.ml:1"),
        ("Store.Index", 1, "hits", "int ref", "lib/index.ml:1"),
        ("Dune.exe.Settings", 0, "names", "string list ref", "bin/settings.ml:1"),
    ] {
        let words = ["types".as_ref(), program.as_os_str(), "--json".as_ref(), "--unit".as_ref()];
        let json = printed(words.into_iter().chain([unit.as_ref()]));
        let json: Value = serde_json::from_str(&json).unwrap();
        let unit = &json["units"][0];
        assert_eq!(unit["evidence"], "implementation");
        let row = &unit["variables"][field];
        assert_eq!(row["variable"], variable);
        assert_eq!(row["type"], ty);
        assert_eq!(row["position"], position);
    }
}
