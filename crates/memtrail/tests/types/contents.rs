//! Types by contents against declared ones, in published programs. `cargo test -- --nocapture` prints figures.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use memtrail_heap::contents::types_by_contents;
use memtrail_heap::graph::Graph;
use memtrail_heap::query::Heap;
use memtrail_heap::read::{Columns, Snapshot};
use memtrail_heap::{BlockType, BlockTypes};
use memtrail_test_support::compilers;
use memtrail_types::Types;
use serde_json::Value;

use super::coverage::{THEORY, functions, recorded};
use super::flow::types_of;
use super::{compile, printed};

/// Whether a declared type is what a block was recognised as. What differs are other types with the same layout,
/// as far as they are known.
fn agrees(recognised: &BlockType, declared: &BlockType) -> bool {
    let name = &declared.name;
    let is_node = declared.constructor.as_deref() == Some("Node");
    match recognised.name.as_str() {
        // The names of long types are cut.
        // Coq's signatures of commands are lists of their own, whose elements are strings.
        "list" => match declared.constructor.as_deref() {
            Some("TyTerminal" | "TyIdent") => {
                name.ends_with(" Vernacextend.ty_sig")
                    || name.ends_with(" Ltac_plugin.Tacentries.ty_sig")
            }
            constructor => constructor == Some("::"),
        },
        "array" => name.ends_with(" array"),
        "Map.t" => is_node && name.contains("Map"),
        // The compiler's own sets of identifiers are balanced trees with the same four fields.
        "Set.t" => is_node && (name.contains("Set") || name.ends_with(" Ident.tbl")),
        // Those of `CEphemeron` are called `EHashtbl`, and `Ephemeron.K1.Make` makes them.
        "Hashtbl.t" => name.contains("Hashtbl") && !name.contains("CEphemeron"),
        "Ephemeron.S.t" => name.contains("CEphemeron.EHashtbl"),
        "Queue.t" => name.contains("Queue"),
        "Buffer.t" => name.contains("Buffer"),
        _ => false,
    }
}

fn check(program: &str, file: &str, text: &str, arguments: &[&str]) {
    let (_folder, recording) = recorded(program, file, text, arguments);
    let types = Types::read(&fs::read(recording.join("types")).unwrap()).unwrap();
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 2).unwrap();
    let heap = Heap { snapshot, graph, threads: 2, types: BlockTypes::default() };
    let (declared, _) = types_of(&heap, &types);
    let recognised = types_by_contents(&heap.snapshot, 2).unwrap();
    let (mut same, mut words, mut all) = (0u64, 0u64, 0u64);
    let mut different: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut columns = Columns::new();
    for section in 0..heap.snapshot.sections() {
        heap.snapshot.decode(section, &mut columns).unwrap();
        for block in columns.iter().filter(|block| heap.graph.is_reachable(block.index)) {
            all += block.size().0;
            let Some(found) = recognised.of(block.index) else { continue };
            words += block.size().0;
            let Some(known) = declared.of(block.index) else { continue };
            if agrees(found, known) {
                same += 1;
            } else {
                *different.entry((found.text(), known.text())).or_default() += 1;
            }
        }
    }
    let share = 100.0 * words as f64 / all as f64;
    println!(
        "{program}: {share:.1} % of words recognised, {same} blocks as declared; {different:#?}"
    );
    assert!(same > 1000, "{same}");
    assert_eq!(different, BTreeMap::new());
}

#[test]
fn what_ocamlopt_declares_is_recognised() {
    check("ocamlopt.opt", "big.ml", &functions(), &["-c", "-S", "big.ml"]);
}

#[test]
fn what_coqc_declares_is_recognised() {
    check("coqc", "theory.v", THEORY, &["-q", "theory.v"]);
}

const GROWING: &str = "\
type page = { number : int; text : string }
let pages : page list ref = ref []
let () =
  for i = 1 to 4 do
    pages := List.init 1000 (fun n -> { number = n; text = string_of_int i }) @ !pages;
    Gc.full_major ();
    (* One snapshot is written before the next is taken. *)
    let start = Sys.time () in
    while Sys.time () -. start < 0.5 do () done
  done;
  print_int (List.length !pages)
";

/// Summaries that were left before types were stored have other names.
#[test]
fn growth_has_the_types_that_are_stored_now() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pages.ml"), GROWING).unwrap();
    compile(&compilers::named("system"), folder.path(), &["-o", "program", "pages.ml"]);
    let recording = folder.path().join("R");
    let status = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--snapshot", "every-major", "-o"])
        .args([recording.as_os_str(), "--".as_ref(), folder.path().join("program").as_os_str()])
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    let growth = || {
        let words = ["heap".as_ref(), "growth".as_ref(), recording.as_os_str(), "--json".as_ref()];
        let rows: Value = serde_json::from_str(&printed(words)).unwrap();
        let names = rows["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let has = |names: &[String], name: &str| names.iter().any(|known| known == name);
    let before = growth();
    assert!(has(&before, "~ list (::)") && !has(&before, "Pages.page"), "{before:?}");
    printed(["types".as_ref(), recording.as_os_str()]);
    let after = growth();
    assert!(has(&after, "Pages.page") && has(&after, "Pages.page list (::)"), "{after:?}");
    assert!(!has(&after, "~ list (::)"), "{after:?}");
}
