//! The sampled blocks of a snapshot, and where in the source each was allocated.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_heap::read::{Columns, Snapshot};
use memtrail_heap::{BlockIndex, BlockType, BlockTypes, Derivation, FieldNames};
use memtrail_trace::{Detail, Event, Reader};

/// A recording of a program with samples at a rate, and a snapshot at exit.
pub(super) fn sampled(folder: &Path, rate: &str, program: &[&str]) -> PathBuf {
    let recording = folder.join("R");
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .current_dir(folder)
        .args(["run", "--rate", rate, "--snapshot", "exit", "-o"])
        .args([recording.as_os_str(), "--".as_ref()])
        .args(program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    recording
}

/// A sampled block.
pub(super) struct SampledBlock {
    pub(super) block: BlockIndex,
    pub(super) tag: u8,
    pub(super) wosize: u64,
    /// The function that allocated it.
    pub(super) function: String,
    /// The function, and the place in its file.
    pub(super) site: String,
}

/// The sampled blocks of a recording's snapshot, in order.
pub(super) fn sampled_blocks(recording: &Path, snapshot: &Snapshot<'_>) -> Vec<SampledBlock> {
    let trace = fs::read(recording.join("trace.ctf")).unwrap();
    let mut sites: HashMap<u64, (String, String)> = HashMap::new();
    Reader::new(&trace).unwrap().for_each(Detail::Codes, |event, tables| {
        if let Event::Alloc(alloc) = event
            && let Some(code) = alloc.backtrace.last()
            && let Some(site) = tables.locations.of(*code).last()
        {
            let place = tables.locations.resolve(*site);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (function, file) = (text(place.function), text(place.file));
            // The cell of `(a, b) :: list` starts where the pair does.
            let columns = format!("{}-{}", place.start_col, place.end_col);
            let site = format!("{function} {file}:{}:{columns}", place.line);
            sites.insert(alloc.id.0, (function, site));
        }
    });
    let mut sampled: HashMap<u32, &(String, String)> = HashMap::new();
    for sample in &snapshot.samples {
        if let Some(site) = sites.get(&sample.id) {
            sampled.insert(sample.block.0, site);
        }
    }
    let mut found = Vec::new();
    let mut columns = Columns::new();
    for section in 0..snapshot.sections() {
        snapshot.decode(section, &mut columns).unwrap();
        for block in columns.iter() {
            if let Some((function, site)) = sampled.get(&block.index.0) {
                found.push(SampledBlock {
                    block: block.index,
                    tag: block.tag,
                    wosize: block.wosize.0,
                    function: function.clone(),
                    site: site.clone(),
                });
            }
        }
    }
    found
}

/// A type without its arguments, and the constructor: what all instances of a declaration have in common. Modules that a
/// functor makes have names of their own, and so have they in a functor's body: of their types, that is left out.
pub(super) fn head(ty: &BlockType) -> String {
    if ty.name.starts_with("module ") {
        return "module".to_owned();
    }
    let mut depth = 0;
    let mut outer = String::new();
    let mut is_of_functor = false;
    // The arrows of functions close nothing.
    for letter in ty.name.replace("->", "→").chars() {
        match letter {
            '(' | '[' | '<' => {
                is_of_functor |= depth == 0 && outer.ends_with(char::is_alphanumeric);
                depth += 1;
            }
            ')' | ']' | '>' => depth -= 1,
            _ if depth == 0 => {
                is_of_functor &= letter != ' ';
                outer.push(letter);
            }
            _ => {}
        }
    }
    let declared = outer.split_whitespace().last().unwrap_or("");
    let own = declared.rsplit('.').next().unwrap_or(declared);
    let head = match () {
        () if outer.contains(" * ") => "tuple",
        () if is_of_functor => own,
        () => declared,
    };
    format!("{head} {}", ty.constructor.as_deref().unwrap_or_default()).trim().to_owned()
}

#[test]
fn heads_of_types() {
    for (name, expected) in [
        ("(string, int list) Hashtbl.t", "Hashtbl.t Node"),
        ("int Map.Make(Shop.Key).t", "t Node"),
        ("(int * string) A.Make(B)(C.D(E)).Table.t", "t Node"),
        ("Map.Make(Key).t Cache.entry", "Cache.entry Node"),
        ("int * Map.Make(Key).t", "tuple Node"),
        ("(int -> (unit -> page)) Hashtbl.t array", "array Node"),
    ] {
        let ty = BlockType {
            name: name.into(),
            constructor: Some("Node".into()),
            fields: FieldNames::None,
            derivation: Derivation::Variable,
        };
        assert_eq!(head(&ty), expected);
    }
}

/// Types by what they have in common: how many blocks, and the type of one.
type Heads = BTreeMap<String, (usize, String)>;

/// The blocks of one place in the source and of one size have one type: how many have a type, and the places where types
/// differ.
pub(super) fn of_one_site<'s>(
    sampled: impl IntoIterator<Item = &'s SampledBlock>,
    types: &BlockTypes,
) -> (usize, Vec<String>) {
    let mut found: BTreeMap<(&str, u8, u64), Heads> = BTreeMap::new();
    let mut compared = 0;
    for SampledBlock { block, tag, wosize, site, .. } in sampled {
        let Some(ty) = types.of(*block) else { continue };
        compared += 1;
        let heads = found.entry((site, *tag, *wosize)).or_default();
        heads.entry(head(ty)).or_insert_with(|| (0, ty.text())).0 += 1;
    }
    let several = found.iter().filter(|(_, heads)| heads.len() > 1);
    let several = several.map(|((site, tag, size), heads)| {
        let heads: Vec<String> =
            heads.values().map(|(count, text)| format!("{count} {text}")).collect();
        format!("{site}, tag {tag}, {size} fields: {}", heads.join("; "))
    });
    (compared, several.collect())
}
