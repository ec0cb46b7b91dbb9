//! What lines of source files allocate, against loops over the backtraces.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memtrail_engine::{Engine, RecordingId, ResponseBody, SourceFile, SourcesInMemory};
use memtrail_profile::Profile;
use memtrail_profile::allocating_frame::allocating;
use memtrail_profile::filter::Filter;
use memtrail_trace::StackId;
use serde_json::json;

use crate::queries::recorded::{answer, column, engine, fixture, traces};

/// Samples in total, by the line itself, and never collected.
type Lines = BTreeMap<u32, (u64, u64, u64)>;

fn slowly(profile: &Profile, conditions: &[&str], file: &str) -> Lines {
    let filter = Filter::parse(conditions).unwrap().resolve(profile).unwrap();
    let locations = &profile.locations;
    let is_here =
        |site: &&memtrail_trace::Site| locations.files().get(site.file) == file.as_bytes();
    let mut lines = Lines::new();
    for kept in filter.rows(profile) {
        let (stack, samples) = (profile.blocks.stack(kept.row), profile.blocks.samples(kept.row));
        let path = profile.stacks.path(stack);
        let on_path: BTreeSet<u32> = path
            .flat_map(|frame| locations.at(frame).iter().filter(is_here).map(|site| site.line))
            .collect();
        for line in on_path {
            let sums = lines.entry(line).or_default();
            sums.0 += samples;
            sums.2 += if kept.died.is_none() { samples } else { 0 };
        }
        let own = allocating(locations, &profile.stacks, stack);
        if own != StackId::ROOT {
            let site = locations.at(profile.stacks.frame(own)).last().filter(is_here);
            if let Some(site) = site {
                lines.entry(site.line).or_default().1 += samples;
            }
        }
    }
    lines
}

/// An engine with a file of as many lines under each of these names.
fn with_files(trace: &[u8], names: &[String], count: usize) -> Engine {
    let engine = engine(&[trace]);
    let lines: Vec<String> = (1..=count).map(|line| format!("(* {line} *)")).collect();
    let text = lines.join("\n");
    let file = |name: &String| {
        let file =
            SourceFile { name: format!("src/{name}"), text: text.clone(), ..Default::default() };
        (name.clone(), file)
    };
    engine.set_source_files(Arc::new(SourcesInMemory(names.iter().map(file).collect())));
    engine
}

fn ask(engine: &Engine, conditions: &[&str], file: &str, line: u32) -> ResponseBody {
    let query = json!({ "query": "sourcetext", "filter": conditions, "file": file, "line": line });
    answer(engine, &query)
}

#[test]
fn each_line_has_what_backtraces_through_it_allocate() {
    for (name, trace) in traces() {
        let profile = Profile::read(&trace, &mut |_| ()).unwrap();
        let names: Vec<String> = profile
            .locations
            .files()
            .iter()
            .filter_map(|(_, file)| String::from_utf8(file.to_vec()).ok())
            .take(12)
            .collect();
        let engine = with_files(&trace, &names, 900);
        let each = profile.estimator.bytes_per_sample();
        for conditions in [&[][..], &["live:end"], &["heap:major"]] {
            for file in &names {
                let found = ask(&engine, conditions, file, 1);
                let [total, own, live] = ["total", "own", "live"].map(|name| column(&found, name));
                let expected = slowly(&profile, conditions, file);
                for line in 1..=900 {
                    let at = line as usize - 1;
                    let sums = expected.get(&line).copied().unwrap_or_default();
                    let sums = [sums.0, sums.1, sums.2].map(|samples| samples as f64 * each);
                    let shown = [total[at], own[at], live[at]];
                    let close = shown.iter().zip(sums).all(|(a, b)| (a - b).abs() <= b * 1e-9);
                    assert!(close, "{name} {conditions:?} {file}:{line}: {shown:?}, {sums:?}");
                }
            }
        }
    }
}

#[test]
fn long_files_are_shown_around_the_line() {
    let file = "cache.ml".to_owned();
    let engine = with_files(&fixture("cache-v2.ctf"), std::slice::from_ref(&file), 5000);
    for (line, first) in [(0, 1), (1, 1), (400, 1), (2500, 2001), (5000, 4001), (u32::MAX, 4001)] {
        let found = ask(&engine, &[], &file, line);
        assert_eq!(found.header()["first"], first, "{line}");
        assert_eq!(found.header()["count"], 5000);
        assert_eq!(found.header()["lines"].as_array().unwrap().len(), 1000);
        assert_eq!(found.header()["lines"][0], format!("(* {first} *)"));
        assert_eq!(column(&found, "total").len(), 1000);
    }
}

#[test]
fn files_that_are_not_there_are_no_error() {
    let trace = fixture("cache-v2.ctf");
    let without = engine(&[&trace]);
    let about = answer(&without, &json!({ "query": "about" }));
    assert_eq!(about.header()["sources"], false);
    assert!(ask(&without, &[], "cache.ml", 1).header()["missing"].is_string());
    let with = with_files(&trace, &["cache.ml".to_owned(), "other.ml".to_owned()], 3);
    let about = answer(&with, &json!({ "query": "about" }));
    assert_eq!(about.header()["sources"], true);
    // Neither a file that is there and not in the recording, nor the opposite.
    for file in ["other.ml", "list.ml", "", "../cache.ml"] {
        let found = ask(&with, &[], file, 1);
        assert!(found.header()["missing"].is_string(), "{file}");
        assert_eq!(column(&found, "total"), Vec::<f64>::new());
    }
    assert!(ask(&with, &[], "cache.ml", 1).header()["missing"].is_null());
}

#[test]
fn a_page_needs_the_files_with_most_first() {
    let engine = engine(&[&fixture("cache-v2.ctf")]);
    let files = engine.files_by_size(RecordingId(0)).unwrap();
    assert_eq!(files[0], "cache.ml");
    let table = json!({ "query": "table", "by": "file" });
    let rows = answer(&engine, &table).header()["rows"].as_array().unwrap().clone();
    let keys: Vec<&str> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert_eq!(files, keys);
    assert!(engine.files_by_size(RecordingId(1)).is_err());
}
