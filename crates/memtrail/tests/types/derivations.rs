//! Types on real heaps against derivations that do not depend on the one that gave them: where blocks were
//! allocated, and from which root they were reached.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use memtrail_heap::graph::Graph;
use memtrail_heap::query::{Heap, ModuleBlock, module_blocks};
use memtrail_heap::read::{Columns, Snapshot};
use memtrail_heap::{BlockIndex, BlockType, BlockTypes, Derivation, Space};
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

/// What walks from some of the units gave, beside that from all.
struct Walks {
    /// How many types of blocks were compared.
    compared: u64,
    /// How many of them are of blocks that several walks reach.
    several: u64,
    /// What differs: the walk's first unit, and both types.
    differ: BTreeSet<String>,
}

/// The types that some of the units give alone, against those that all give. `groups` makes the units of each walk.
fn walks_against_all(
    recording: &Path,
    groups: impl Fn(usize) -> Vec<Vec<usize>>,
    is_known: impl Fn(&BlockType, &BlockType) -> bool,
) -> Walks {
    let stored = Types::read(&fs::read(recording.join("types")).unwrap()).unwrap();
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 2).unwrap();
    let heap = Heap { snapshot, graph, threads: 2, types: BlockTypes::default() };
    let modules = module_blocks(&heap).unwrap();
    let units = units(&modules, &stored);
    let all = types_from(&heap.snapshot, &stored, &units);
    let mut walks = Walks { compared: 0, several: 0, differ: BTreeSet::new() };
    let mut seen = vec![false; heap.snapshot.blocks() as usize];
    let in_heap = in_heap(&heap.snapshot);
    let has_pointers = with_pointers(&heap.snapshot);
    for group in groups(units.len()) {
        let some: Vec<UnitBlock<'_>> = group.iter().map(|at| units[*at]).collect();
        let one = types_from(&heap.snapshot, &stored, &some);
        for block in (0..heap.snapshot.blocks()).map(BlockIndex) {
            // What closures capture is known less well: `Derivation::Closure`.
            let Some(of_one) = one.of(block).filter(|ty| ty.derivation == Derivation::Variable)
            else {
                continue;
            };
            let at = block.0 as usize;
            walks.compared += 1;
            walks.several += u64::from(std::mem::replace(&mut seen[at], true));
            let of_all = all.of(block).expect("a type from these roots");
            // The compiler makes one block of constants that are alike in memory: it has the types of all.
            let may_be_shared = !in_heap[at] || !has_pointers[at];
            if !may_be_shared && head(of_one) != head(of_all) && !is_known(of_one, of_all) {
                let unit = some[0].name;
                walks.differ.insert(format!("{unit}: {} or {}", of_one.text(), of_all.text()));
            }
        }
    }
    println!("{} types, {} of blocks that several walks reach", walks.compared, walks.several);
    println!("{} differ", walks.differ.len());
    walks
}

/// Each unit alone, of `every` one.
fn alone(every: usize) -> impl Fn(usize) -> Vec<Vec<usize>> {
    move |units| (0..units).step_by(every).map(|unit| vec![unit]).collect()
}

/// All units in so many groups.
fn in_groups(groups: usize) -> impl Fn(usize) -> Vec<Vec<usize>> {
    move |units| (0..groups).map(|first| (first..units).step_by(groups).collect()).collect()
}

/// Whether two types of a block of coqc are spellings of one, or one knows less: long names are cut; an exception that
/// a module exports under a name of its own is called after the module that is a root; without the unit that defines an
/// exception, its values are of some exception. Any value: see [`wrong_of_two`].
fn is_one_type(one: &BlockType, other: &BlockType) -> bool {
    let either = |is: fn(&BlockType) -> bool| is(one) || is(other);
    let own = |ty: &BlockType| ty.name.rsplit('.').next().unwrap_or_default().to_owned();
    let are = |name: &str| one.name.starts_with(name) && other.name.starts_with(name);
    either(|ty| ty.name == "Vmvalues.values")
        || either(|ty| ty.name.ends_with('…')) && one.constructor == other.constructor
        || are("constructor ") && own(one) == own(other)
        || one.name == "exn" && other.name == "exn" && either(|ty| ty.constructor.is_none())
}

#[test]
fn one_root_gives_the_types_that_all_give() {
    let folder = tempfile::tempdir().unwrap();
    let walks = walks_against_all(&ocamlopt(folder.path()), alone(EVERY), |_, _| false);
    assert!(walks.compared > 10_000, "{}", walks.compared);
    assert_eq!(walks.differ, BTreeSet::new());
}

fn coqc(folder: &Path, theory: &str) -> PathBuf {
    fs::write(folder.join("theory.v"), theory).unwrap();
    recorded(folder, &["coqc", "-q", "theory.v"])
}

// Every unit's variables are the roots of one of the walks.
#[test]
fn roots_of_coqc_give_the_types_that_all_give() {
    let folder = tempfile::tempdir().unwrap();
    let walks = walks_against_all(&coqc(folder.path(), THEORY), in_groups(4), is_one_type);
    assert!(
        walks.compared > 100_000 && walks.several > 10_000,
        "{} {}",
        walks.compared,
        walks.several
    );
    assert_eq!(walks.differ, BTreeSet::new());
}

#[test]
#[ignore = "walks from each of 460 units: an hour"]
fn each_root_of_coqc_gives_the_types_that_all_give() {
    let folder = tempfile::tempdir().unwrap();
    let walks = walks_against_all(&coqc(folder.path(), THEORY), alone(1), is_one_type);
    assert_eq!(walks.differ, BTreeSet::new());
}

#[test]
#[ignore = "a theory of the standard library: ten minutes"]
fn a_large_theory_has_no_wrong_types() {
    let theory = fs::read_to_string("/usr/lib/ocaml/coq/theories/FSets/FMapAVL.v").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let recording = coqc(folder.path(), &theory);
    let (pairs, wrong) = wrong_of_two(&recording);
    println!("{pairs} pairs of types, {} are not of what is shared", wrong.len());
    let (compared, several) = by_site(&recording);
    println!("{compared} blocks compared; {} sites differ", several.len());
    let walks = walks_against_all(&recording, in_groups(4), is_one_type);
    assert_eq!((wrong, several, walks.differ), (vec![], vec![], BTreeSet::new()));
}
