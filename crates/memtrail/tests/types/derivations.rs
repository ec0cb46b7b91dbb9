//! Types on real heaps against derivations that do not depend on the one that gave them: where blocks were
//! allocated, and from which root they were reached.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use memtrail_heap::graph::Graph;
use memtrail_heap::query::{Heap, ModuleBlock, module_blocks};
use memtrail_heap::read::{Columns, Snapshot};
use memtrail_heap::{BlockIndex, BlockTypes, Derivation, Space};
use memtrail_ocaml::names::write_name;
use memtrail_typeflow::{Difference, NO_LIMIT, UnitBlock, flow};
use memtrail_types::Types;

use super::coqc::THEORY;
use super::memtrail;
use super::sampled_blocks::{SampledBlock, head, of_one_site, sampled, sampled_blocks};

/// Functions that allocate blocks of any type: they copy blocks, or read values that were written with
/// `output_value`.
const ANY_TYPE: &[&str] = &[
    "Stdlib.Marshal.",
    "Stdlib.Obj.",
    "CamlinternalOO.",
    // ocamlopt: `input_value`.
    "Cmi_format.input_cmi",
    "Compilenv.read_unit_info",
    // coqc: the same.
    "System.marshal_in",
];

/// Of so many units one is a root by itself: each takes as long as all together.
const EVERY: usize = 12;

/// A recording of a program with samples and a snapshot at exit, with its types.
fn recorded(folder: &Path, program: &[&str]) -> PathBuf {
    let recording = sampled(folder, "1e-3", program);
    // What units have no files is reported.
    assert_eq!(memtrail(["types".as_ref(), recording.as_os_str()]).status.code(), Some(0));
    recording
}

fn ocamlopt(folder: &Path) -> PathBuf {
    let functions = (0..300).map(|number| {
        format!("let f{number} x y = List.map (fun z -> z + x) y, (x + {number}, \"{number}\")\n")
    });
    fs::write(folder.join("functions.ml"), functions.collect::<String>()).unwrap();
    recorded(folder, &["ocamlopt.opt", "-c", "functions.ml"])
}

/// The blocks of modules whose units have a layout.
fn units<'t>(modules: &[ModuleBlock], types: &'t Types) -> Vec<UnitBlock<'t>> {
    let unit = |module: &ModuleBlock| {
        let is_called = |name: &str| write_name(name.as_bytes(), &mut [0; 512]) == module.name;
        let unit = types.units.iter().find(|unit| is_called(&unit.name))?;
        let layout = unit.layout.as_ref().filter(|_| unit.fields == Some(module.fields))?;
        Some(UnitBlock { block: module.block, name: &unit.name, layout })
    };
    modules.iter().filter_map(unit).collect()
}

fn types_from(snapshot: &Snapshot<'_>, types: &Types, units: &[UnitBlock<'_>]) -> BlockTypes {
    flow(snapshot, &types.table, units, NO_LIMIT, None).unwrap().types
}

/// For each place in the source and size the types of the sampled blocks that were allocated there: those of one
/// place have one. Gives how many blocks were compared, and the places with several.
fn by_site(recording: &Path) -> (usize, Vec<String>) {
    let stored = Types::read(&fs::read(recording.join("types")).unwrap()).unwrap();
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 2).unwrap();
    let heap = Heap { snapshot, graph, threads: 2, types: BlockTypes::default() };
    let modules = module_blocks(&heap).unwrap();
    let types = types_from(&heap.snapshot, &stored, &units(&modules, &stored));
    let sampled = sampled_blocks(recording, &heap.snapshot);
    let is_of_any_type =
        |block: &&SampledBlock| ANY_TYPE.iter().any(|name| block.function.starts_with(name));
    of_one_site(sampled.iter().filter(|block| !is_of_any_type(block)), &types)
}

/// Which blocks are not in the program's data.
fn in_heap(snapshot: &Snapshot<'_>) -> Vec<bool> {
    let mut in_heap = Vec::new();
    let mut columns = Columns::new();
    for section in 0..snapshot.sections() {
        snapshot.decode(section, &mut columns).unwrap();
        for (space, end) in columns.spaces() {
            in_heap.resize(columns.first.0 as usize + end, space != Space::Static);
        }
    }
    in_heap
}

#[test]
fn blocks_of_one_site_have_one_type() {
    let folder = tempfile::tempdir().unwrap();
    let (compared, several) = by_site(&ocamlopt(folder.path()));
    println!("{compared} blocks compared; {} sites differ", several.len());
    assert!(compared > 100, "{compared}");
    assert_eq!(several, Vec::<String>::new());
}

/// The blocks to which one way gives one type and another way another, where both are not true: those of
/// `coverage.differences`, each a block of a pair of types.
///
/// A block has several types where the compiler made one of constants that are alike: in static data, and where such
/// data was written with `output_value` and read again. `(Unfold_nth _ | Extern _) as h -> h` returns a `raw_hint
/// hint_ast` as a `hint hint_ast`: constructors that do not hold the parameter are of the type with any argument.
/// `Vmvalues.values` are any values: `external val_of_annot_switch : annot_switch -> values = "%identity"`.
fn wrong_of_two(recording: &Path) -> (usize, Vec<String>) {
    let stored = Types::read(&fs::read(recording.join("types")).unwrap()).unwrap();
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 2).unwrap();
    let heap = Heap { snapshot, graph, threads: 2, types: BlockTypes::default() };
    let modules = module_blocks(&heap).unwrap();
    let units = units(&modules, &stored);
    let (snapshot, graph) = (&heap.snapshot, &heap.graph);
    let flowed = flow(snapshot, &stored.table, &units, NO_LIMIT, Some(graph)).unwrap();
    let differences = flowed.coverage.unwrap().differences;
    let in_heap = in_heap(snapshot);
    let has_pointers = with_pointers(snapshot);
    let declared = |ty: &str| ty.rsplit(' ').next().unwrap_or_default().to_owned();
    let is_any = |ty: &str| ty == "Vmvalues.values";
    let is_wrong = |one: &&Difference| {
        let block = one.block.0 as usize;
        in_heap[block]
            && has_pointers[block]
            && declared(&one.r#type) != declared(&one.other)
            && !is_any(&one.r#type)
            && !is_any(&one.other)
    };
    let text = |one: &Difference| format!("{}: {} or {}", one.block.0, one.r#type, one.other);
    (differences.len(), differences.iter().filter(is_wrong).map(text).collect())
}

/// Which blocks point to others.
fn with_pointers(snapshot: &Snapshot<'_>) -> Vec<bool> {
    let mut has_pointers = vec![false; snapshot.blocks() as usize];
    let mut columns = Columns::new();
    for section in 0..snapshot.sections() {
        snapshot.decode(section, &mut columns).unwrap();
        for block in columns.iter() {
            has_pointers[block.index.0 as usize] = !block.targets.is_empty();
        }
    }
    has_pointers
}

#[test]
fn coqc_has_no_wrong_types() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("theory.v"), THEORY).unwrap();
    let recording = recorded(folder.path(), &["coqc", "-q", "theory.v"]);
    let (compared, several) = by_site(&recording);
    println!("{compared} blocks compared; {} sites differ", several.len());
    assert!(compared > 1000, "{compared}");
    assert_eq!(several, Vec::<String>::new());
    let (pairs, wrong) = wrong_of_two(&recording);
    println!("{pairs} pairs of types, {} are not of what is shared", wrong.len());
    assert!(pairs > 5, "{pairs}");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn one_root_gives_the_types_that_all_give() {
    let folder = tempfile::tempdir().unwrap();
    let recording = ocamlopt(folder.path());
    let stored = Types::read(&fs::read(recording.join("types")).unwrap()).unwrap();
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 2).unwrap();
    let heap = Heap { snapshot, graph, threads: 2, types: BlockTypes::default() };
    let modules = module_blocks(&heap).unwrap();
    let units = units(&modules, &stored);
    let all = types_from(&heap.snapshot, &stored, &units);
    let (mut compared, mut several, mut differ) = (0u64, 0u64, BTreeSet::new());
    let mut seen = vec![false; heap.snapshot.blocks() as usize];
    let in_heap = in_heap(&heap.snapshot);
    for unit in units.iter().step_by(EVERY) {
        let one = types_from(&heap.snapshot, &stored, std::slice::from_ref(unit));
        for block in (0..heap.snapshot.blocks()).map(BlockIndex) {
            // What closures capture is known less well: `Derivation::Closure`.
            let Some(of_one) = one.of(block).filter(|ty| ty.derivation == Derivation::Variable)
            else {
                continue;
            };
            compared += 1;
            several += u64::from(std::mem::replace(&mut seen[block.0 as usize], true));
            let of_all = all.of(block).expect("a type from this root");
            // The compiler makes one block of constants that are alike in memory: it has the types of all.
            if !in_heap[block.0 as usize] {
                continue;
            }
            if head(of_one) != head(of_all) {
                differ.insert(format!("{}: {} or {}", unit.name, of_one.text(), of_all.text()));
            }
        }
    }
    println!("{compared} types, {several} of blocks that several units reach");
    println!("{} differ", differ.len());
    assert!(compared > 10_000, "{compared}");
    assert_eq!(differ, BTreeSet::new());
}
