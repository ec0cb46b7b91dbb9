//! What is found, what is missing, and what is wrong with the input.

use std::fs;

use memtrail_test_support::compilers;
use serde_json::Value;

use super::{compile, memtrail, printed};

fn program() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("cache.mli", "val find : int -> string option\n");
    write(
        "cache.ml",
        "let table = Hashtbl.create 7\nlet find : int -> string option = Hashtbl.find_opt table\n",
    );
    write("main.ml", "let count = ref 0\nlet () = incr count; ignore (Cache.find 1)\n");
    let arguments = ["-o", "main", "cache.mli", "cache.ml", "main.ml"];
    compile(&compilers::named("system"), folder.path(), &arguments);
    folder
}

#[test]
fn found_and_missing() {
    let folder = program();
    let path = folder.path().join("main");
    let text = printed(["types".as_ref(), path.as_os_str()]);
    assert!(text.contains("fields named (100 %)"), "{text}");
    let text = printed(["types".as_ref(), path.as_os_str(), "--unit".as_ref(), "Cache".as_ref()]);
    insta::assert_snapshot!(text, @r"
    Cache: 2 of 2 fields named
        0  find : int -> string option  cache.ml:2
        1  table : (int, string) Hashtbl.t  cache.ml:1
    ");
    fs::remove_file(folder.path().join("cache.cmt")).unwrap();
    let text = printed(["types".as_ref(), path.as_os_str()]);
    assert!(text.contains("Cache: 1 unnamed, only its interface was found (.cmi)"), "{text}");
    assert!(text.contains("hint: name the folder"), "{text}");
    let json = printed(["types".as_ref(), path.as_os_str(), "--json".as_ref()]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let cache = json["units"].as_array().unwrap().iter().find(|unit| unit["name"] == "Cache");
    let cache = cache.unwrap();
    assert_eq!((&cache["fields"], &cache["named"]), (&2.into(), &1.into()));
    assert_eq!(json["fields"].as_u64().unwrap() - json["named"].as_u64().unwrap(), 1);
}

#[test]
fn what_is_no_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "no program").unwrap();
    let refused = |args: &[&std::ffi::OsStr]| {
        let output = memtrail(["types".as_ref()].iter().chain(args));
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, reported) = refused(&[text.as_os_str()]);
    assert_eq!(code, Some(3));
    assert!(
        reported.contains("is not a 64-bit ELF file") && reported.contains("\nhint: "),
        "{reported}"
    );
    let (code, reported) = refused(&["/bin/true".as_ref()]);
    assert_eq!(code, Some(3));
    assert!(reported.contains("has no list of its OCaml units"), "{reported}");
    assert_eq!(refused(&[folder.path().join("nothing").as_os_str()]).0, Some(3));
    assert_eq!(refused(&[folder.path().as_os_str()]).0, Some(3));
    let program = program();
    let path = program.path().join("main");
    let (code, reported) = refused(&[path.as_os_str(), "--types".as_ref(), "/no/folder".as_ref()]);
    assert_eq!((code, reported.contains("no folder /no/folder")), (Some(2), true), "{reported}");
    let (code, reported) = refused(&[path.as_os_str(), "--unit".as_ref(), "Nothing".as_ref()]);
    assert_eq!((code, reported.contains("has no unit Nothing")), (Some(2), true), "{reported}");
}

#[test]
fn names_in_messages_do_not_control_the_terminal() {
    let folder = program();
    let path = folder.path().join("main");
    let unit = "\u{1b}[31mred";
    let output = memtrail(["types".as_ref(), path.as_os_str(), "--unit".as_ref(), unit.as_ref()]);
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(reported.contains("has no unit \u{fffd}[31mred\n"), "{reported:?}");
}
