//! Types of blocks against what the program says of them: each string of `tests/programs/typed_values.ml` that begins
//! with @ is what the block that points to it must be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_heap::graph::Graph;
use memtrail_heap::query::{Heap, module_blocks};
use memtrail_heap::read::{Columns, Snapshot};
use memtrail_heap::{BlockIndex, BlockTypes};
use memtrail_ocaml::names::write_name;
use memtrail_test_support::{compilers, on_each_build};
use memtrail_typeflow::{Coverage, NO_LIMIT, UnitBlock, flow};
use memtrail_types::Types;
use serde_json::Value;

use super::{compile, memtrail, printed};

/// A recording of a program with a snapshot at exit, with its types.
pub(super) fn typed(name: &str, program: &str, options: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    fs::copy(programs.join(program), folder.path().join(program)).unwrap();
    let compiler = compilers::named(name);
    let arguments = [options, &["-w", "-a", "-o", "program", program]].concat();
    compile(&compiler, folder.path(), &arguments);
    let recording = folder.path().join("R");
    let status = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--contents", "--snapshot", "exit", "-o"])
        .args([recording.as_os_str(), "--".as_ref(), folder.path().join("program").as_os_str()])
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    let mut words = vec!["types".as_ref(), recording.as_os_str()];
    if name != "system" {
        words.extend(["--compiler".as_ref(), compiler.ocamlopt.as_os_str()]);
    }
    printed(words);
    (folder, recording)
}

/// The types of a snapshot's blocks, and how far they reach.
pub(super) fn types_of(heap: &Heap<'_>, types: &Types) -> (BlockTypes, Coverage) {
    let modules = module_blocks(heap).unwrap();
    let mut units = Vec::new();
    for module in &modules {
        let unit = types.units.iter().find(|unit| {
            let mut text = [0; 512];
            write_name(unit.name.as_bytes(), &mut text) == module.name
        });
        if let Some(unit) = unit
            && let Some(layout) = &unit.layout
            && unit.fields == Some(module.fields)
        {
            units.push(UnitBlock { block: module.block, name: &unit.name, layout });
        }
    }
    let found = flow(&heap.snapshot, &types.table, &units, NO_LIMIT, Some(&heap.graph)).unwrap();
    (found.types, found.coverage.unwrap())
}

/// Types of blocks against those that strings below them contain: equal ones, and others.
fn compare(name: &str, heap: &Heap<'_>, types: &BlockTypes) -> (usize, Vec<String>) {
    let mut texts: BTreeMap<u32, String> = BTreeMap::new();
    let read = heap.snapshot.contents(|block, _, text| {
        if text.starts_with(b"@") || text.starts_with(b"?") {
            texts.insert(block.0, String::from_utf8(text.to_vec()).unwrap());
        }
    });
    read.unwrap();
    let (mut right, mut wrong) = (0, Vec::new());
    let mut columns = Columns::new();
    // Values that flambda makes in static data have their fields as roots. Blocks of modules have texts, too.
    let mut roots: BTreeMap<BlockIndex, Vec<u32>> = BTreeMap::new();
    for root in &heap.snapshot.roots {
        let above = |label| heap.snapshot.labels.get(label).and_then(|label| label.parent);
        let is_value = above(root.label).and_then(above).is_some();
        if let Some((block, _)) = root.field_of.filter(|_| is_value) {
            roots.entry(block).or_default().push(root.block.0);
        }
    }
    for section in 0..heap.snapshot.sections() {
        heap.snapshot.decode(section, &mut columns).unwrap();
        for block in columns.iter() {
            let fields = roots.get(&block.index);
            let is_live = heap.graph.is_reachable(block.index) || fields.is_some();
            let targets =
                block.targets.iter().filter(|_| is_live).chain(fields.into_iter().flatten());
            for target in targets {
                let Some(text) = texts.get(target) else { continue };
                let is_text = |name: &str| ["string", "bytes"].contains(&name);
                if types.of(BlockIndex(*target)).is_some_and(|ty| !is_text(&ty.name)) {
                    wrong.push(format!("{text} is no string"));
                }
                let Some(wanted) = text.strip_prefix('@') else { continue };
                // Up to 4.14, the runtime's own module has the type.
                let wanted = if name.starts_with("ocaml-5") {
                    wanted.to_owned()
                } else {
                    wanted.replace(" Atomic.t", " CamlinternalAtomic.t")
                };
                let found = types.of(block.index).map_or_else(
                    || "nothing".to_owned(),
                    |ty| match &ty.constructor {
                        Some(constructor) => format!("{}.{constructor}", ty.name),
                        None => ty.name.clone(),
                    },
                );
                if found == wanted {
                    right += 1;
                } else {
                    wrong.push(format!("{wanted} has become {found}"));
                }
            }
        }
    }
    (right, wrong)
}

fn check_values(name: &str) {
    check_values_with(name, &[]);
    if compilers::named(name).has_flambda() {
        check_values_with(name, &["-O3"]);
        check_values_with(name, &["-Oclassic"]);
    }
}

fn check_values_with(name: &str, options: &[&str]) {
    let (_folder, recording) = typed(name, "typed_values.ml", options);
    let types = Types::read(&fs::read(recording.join("types")).unwrap()).unwrap();
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 2).unwrap();
    let heap = Heap { snapshot, graph, threads: 2, types: BlockTypes::default() };
    let (found, coverage) = types_of(&heap, &types);
    let (right, mut wrong) = compare(name, &heap, &found);
    if compilers::named(name).has_flambda() {
        // What functions capture has no type; and a function may hold a tuple's fields instead of the tuple.
        let is_captured = |one: &String| {
            ["has become nothing", "has become function"].iter().any(|end| one.ends_with(end))
        };
        wrong.retain(|one| !is_captured(one));
    }
    let figures = |coverage: &Coverage| {
        let share = 100.0 * coverage.share();
        format!("{share:.2} % of {} bytes, {:?}", coverage.bytes.0, coverage.stops)
    };
    println!("{name} {options:?}: {right} right; {}", figures(&coverage));
    assert_eq!(wrong, Vec::<String>::new(), "{:?}", coverage.rejected);
    assert!(right > 60, "{right}");
    assert_eq!(coverage.contradictions, 0, "{:?}", coverage.rejected);
    if name == "system" {
        check_text(&recording);
    }
    // The command says the same.
    let words = ["heap".as_ref(), "coverage".as_ref(), recording.as_os_str(), "--json".as_ref()];
    let mut answer: Value = serde_json::from_str(&printed(words)).unwrap();
    let mut added = |name: &str| answer.as_object_mut().and_then(|answer| answer.remove(name));
    assert_eq!((added("format"), added("left_out")), (Some(1.into()), Some(0.into())));
    assert_eq!(answer, serde_json::to_value(&coverage).unwrap());
}
on_each_build!(values, check_values);

/// Lines are no wider than asked for; without stored types there is an error and what to do.
fn check_text(recording: &Path) {
    for width in ["40", "80", "200"] {
        let command = ["heap".as_ref(), "coverage".as_ref(), recording.as_os_str()];
        let text = printed(command.into_iter().chain(["--width".as_ref(), width.as_ref()]));
        let first = text.lines().next().unwrap();
        assert!(first.ends_with("reachable have a type"), "{text}");
        let is_elided = width == "40";
        assert!(is_elided || text.contains("no type: instance variables of an object"), "{text}");
        let columns: usize = width.parse().unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
    }
    let snapshot = recording.join("0001.heap");
    let alone = tempfile::tempdir().unwrap();
    let copy = alone.path().join("0001.heap");
    fs::copy(snapshot, &copy).unwrap();
    let output = memtrail(["heap".as_ref(), "coverage".as_ref(), copy.as_os_str()]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "memtrail: nothing is known of the types of this recording's program\n\
         hint: find them with `memtrail types REC`\n"
    );
}
