//! Debian's coqc with the .cmt files of its development package: most of its units are in the executable, others in
//! plugins.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::printed;

/// Loads plugins and a part of the standard library.
pub(super) const THEORY: &str = "Require Import Arith.\n\
    Lemma commutes : forall x y : nat, x + y = y + x. Proof. intros. ring. Qed.\n";

#[test]
fn coqc() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("theory.v"), THEORY).unwrap();
    let recording = folder.path().join("R");
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .current_dir(folder.path())
        .args(["run", "--rate", "1e-6", "--snapshot", "exit", "-o"])
        .args([recording.as_os_str(), "--".as_ref(), "coqc".as_ref(), "theory.v".as_ref()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let words = ["types".as_ref(), recording.as_os_str(), "--json".as_ref()];
    let types: Value = serde_json::from_str(&printed(words)).unwrap();
    let units = types["units"].as_array().unwrap();
    let is_described = |unit: &&Value| !unit["implementation"].is_null();
    let sum = |key: &str| {
        units.iter().filter(is_described).filter_map(|unit| unit[key].as_u64()).sum::<u64>()
    };
    let (fields, named) = (sum("fields"), sum("named"));
    println!("{named} of {fields} fields of units with a .cmt; {}", types["types"]);
    assert!(named * 100 >= fields * 98 && fields > 18_000, "{named} of {fields}");
    assert!(units.iter().any(|unit| unit["name"] == "Ltac_plugin__Tacinterp"));
    // Paths lead to declarations, if there is a file at all.
    let unknown = types["types"]["unknown"].as_object().unwrap();
    let known =
        ["existential type", "type variable", "local type", "type of a functor's parameter"];
    for reason in unknown.keys() {
        let is_known = known.contains(&reason.as_str()) || reason.starts_with("no file for unit ");
        assert!(is_known, "{reason}");
    }
    // Dynamic values, which are what libraries are stored as, have types: without, it would be 90 %.
    let words = ["heap".as_ref(), "coverage".as_ref(), recording.as_os_str(), "--json".as_ref()];
    let coverage: Value = serde_json::from_str(&printed(words)).unwrap();
    let size = |key: &str| coverage[key].as_u64().unwrap();
    let (typed, all) = (size("by_variable") + size("by_closure"), size("bytes"));
    println!("{typed} of {all} bytes have a type");
    assert!(typed * 100 >= all * 98, "{}", coverage["stops"]);
    assert_eq!(coverage["contradictions"], 0, "{}", coverage["rejected"]);
    // So have the states that coqc keeps in maps by tags: in them, `Obj.t` would be 0.3 % here, 10 % in larger theories.
    let stops = coverage["stops"].as_array().unwrap();
    let any = stops.iter().find(|stop| stop["reason"] == "Obj.t");
    let any = any.map_or(0, |stop| stop["bytes"].as_u64().unwrap());
    println!("{any} bytes are of any type");
    assert!(any * 1000 <= all, "{any} of {all}");
}
