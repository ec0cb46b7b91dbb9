//! Stacks of names that are no calls, as files of other tools: retaining paths, from the root down.

use memtrail_text::rounded::grouped;
use rustc_hash::FxHashMap;

use crate::folded::Lines;
use crate::pprof::{self, Function, Line, Location, Mapping, Profile, Sample, Strings, ValueType};
use crate::weight::Rounding;

/// A stack of names, and what it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedStack {
    /// The outermost first.
    pub names: Vec<String>,
    /// Bytes, an estimate.
    pub bytes: f64,
    /// Blocks, an estimate.
    pub blocks: f64,
}

/// A line a stack, with bytes, as [`folded`](crate::folded) writes those of calls.
pub fn folded(stacks: &[NamedStack]) -> Vec<u8> {
    let mut rounding = Rounding::default();
    let mut lines = Lines::new(Vec::new());
    for stack in stacks {
        lines.clear();
        stack.names.iter().for_each(|name| lines.enter(name.as_bytes()));
        match rounding.next(stack.bytes) {
            0 => {}
            bytes => lines.end(bytes).expect("writing into memory does not fail"),
        }
    }
    lines.into_inner()
}

/// The same for pprof, gzipped. `title` is what they are about.
pub fn pprof(stacks: &[NamedStack], title: &str) -> Vec<u8> {
    pprof::compressed(&profile(stacks, title))
}

/// The message in it.
pub fn profile(stacks: &[NamedStack], title: &str) -> Profile {
    let mut strings = Strings::default();
    let mut value_type =
        |r#type, unit| ValueType { r#type: strings.index(r#type), unit: strings.index(unit) };
    let sample_type =
        vec![value_type("inuse_objects", "count"), value_type("inuse_space", "bytes")];
    let mut ids: FxHashMap<&str, u64> = FxHashMap::default();
    let (mut function, mut location) = (Vec::new(), Vec::new());
    let mut rounding = [Rounding::default(); 2];
    let mut sample = Vec::with_capacity(stacks.len());
    for stack in stacks {
        let mut location_id = Vec::with_capacity(stack.names.len());
        for name in stack.names.iter().rev() {
            let next = ids.len() as u64 + 1;
            let id = *ids.entry(name).or_insert(next);
            if id == next {
                let name = strings.index(name);
                function.push(Function { id, name, system_name: name, filename: 0 });
                let line = vec![Line { function_id: id, line: 0, column: 0 }];
                location.push(Location { id, mapping_id: 1, address: 0, line });
            }
            location_id.push(id);
        }
        let [blocks, bytes] = &mut rounding;
        sample.push(Sample {
            location_id,
            value: vec![blocks.next(stack.blocks), bytes.next(stack.bytes)],
            label: Vec::new(),
        });
    }
    let mapping = Mapping {
        id: 1,
        filename: strings.index(title),
        has_functions: true,
        has_filenames: false,
        has_line_numbers: false,
        has_inline_frames: true,
    };
    let note = format!("retaining paths of the same shape: {}", grouped(stacks.len() as u64));
    let comment = [concat!("memtrail ", env!("CARGO_PKG_VERSION")), &note];
    let comment = comment.map(|text| strings.index(text)).to_vec();
    Profile {
        sample_type,
        sample,
        mapping: vec![mapping],
        location,
        function,
        default_sample_type: strings.index("inuse_space"),
        comment,
        string_table: strings.into_table(),
        ..Profile::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<NamedStack> {
        let stack = |names: &[&str], bytes, blocks| NamedStack {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            bytes,
            blocks,
        };
        vec![
            stack(&["global", "Cache.table", "a;b"], 10.6, 1.5),
            stack(&["global", "Cache.table", "Cache.table"], 10.6, 1.5),
        ]
    }

    #[test]
    fn lines_have_a_stack_each_and_the_sum_of_bytes_stays() {
        let text = String::from_utf8(folded(&stacks())).unwrap();
        assert_eq!(text, "global;Cache.table;a:b 11\nglobal;Cache.table;Cache.table 10\n");
    }

    #[test]
    fn profiles_have_the_same_stacks_with_the_leaf_first() {
        let profile = profile(&stacks(), "Cache.remember");
        let text = |index: i64| profile.string_table[index as usize].clone();
        let name = |id: &u64| {
            let location = profile.location.iter().find(|one| one.id == *id).unwrap();
            let of = location.line[0].function_id;
            text(profile.function.iter().find(|one| one.id == of).unwrap().name)
        };
        let read: Vec<(Vec<String>, Vec<i64>)> = profile
            .sample
            .iter()
            .map(|sample| {
                let names: Vec<String> = sample.location_id.iter().map(name).collect();
                (names, sample.value.clone())
            })
            .collect();
        let names = |names: [&str; 3]| names.map(str::to_owned).to_vec();
        assert_eq!(
            read,
            [
                (names(["a;b", "Cache.table", "global"]), vec![2, 11]),
                (names(["Cache.table", "Cache.table", "global"]), vec![1, 10]),
            ]
        );
        assert_eq!(text(profile.mapping[0].filename), "Cache.remember");
        assert_eq!(text(profile.default_sample_type), "inuse_space");
        assert_eq!(pprof(&stacks(), "x")[..2], [0x1f, 0x8b], "gzip");
    }
}
