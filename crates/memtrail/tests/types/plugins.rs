//! Units of plugins, which are in no executable.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_test_support::compilers::{self, Compiler};
use memtrail_test_support::on_each;
use serde_json::Value;

use super::{compile, printed};

const SHARED: &str = "let registered : string list ref = ref []\n";
const PLUGIN: &str = "type entry = { word : string; count : int }\n\
    let entries : entry list ref = ref [ { word = Sys.argv.(0); count = 1 } ]\n\
    let () = Shared.registered := \"plugin\" :: !Shared.registered\n";
const MAIN: &str = "let () = Dynlink.loadfile Sys.argv.(1)\n\
    let () = print_string (String.concat \" \" !Shared.registered)\n";

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

fn record(folder: &Path) -> PathBuf {
    let recording = folder.join("R");
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--snapshot", "exit", "-o"])
        .args([recording.as_os_str(), "--".as_ref(), folder.join("main").as_os_str()])
        .arg(folder.join("plugin.cmxs"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"plugin");
    recording
}

fn types(recording: &Path, compiler: &Compiler) -> Value {
    let mut words = vec!["types".as_ref(), recording.as_os_str(), "--json".as_ref()];
    if compiler.ocamlopt.is_absolute() {
        words.extend(["--compiler".as_ref(), compiler.ocamlopt.as_os_str()]);
    }
    serde_json::from_str(&printed(words)).unwrap()
}

fn unit<'a>(types: &'a Value, name: &str) -> Option<&'a Value> {
    types["units"].as_array().unwrap().iter().find(|unit| unit["name"] == name)
}

fn check_plugin(name: &str) {
    let compiler = compilers::named(name);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "shared.ml", SHARED);
    write(folder, "plugin.ml", PLUGIN);
    write(folder, "main.ml", MAIN);
    let dynlink = ["-I", "+dynlink", "dynlink.cmxa"];
    let program = ["-linkall", "-o", "main", "shared.ml", "main.ml"];
    compile(&compiler, folder, &[dynlink.as_slice(), &program].concat());
    compile(&compiler, folder, &["-shared", "-o", "plugin.cmxs", "plugin.ml"]);
    let recording = record(folder);
    let found = types(&recording, &compiler);
    let plugin = unit(&found, "Plugin").expect("the plugin's unit");
    assert_eq!((&plugin["fields"], &plugin["named"]), (&1.into(), &1.into()));
    assert_ne!(plugin["evidence"], Value::Null);
    let words =
        ["heap".as_ref(), "roots".as_ref(), recording.as_os_str(), "Plugin.entries".as_ref()];
    let text = printed(words);
    assert!(text.contains("Plugin.entries : entry list ref"), "{text}");
    // One that the program cannot load is not the one that it loaded.
    write(folder, "shared.ml", &format!("{SHARED}let more = 1\n"));
    compile(&compiler, folder, &["-c", "shared.ml"]);
    compile(&compiler, folder, &["-shared", "-o", "plugin.cmxs", "plugin.ml"]);
    let found = types(&recording, &compiler);
    assert_eq!(unit(&found, "Plugin"), None);
}
on_each!(plugin, check_plugin);
