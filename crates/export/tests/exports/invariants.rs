//! Rules of the formats, and sums.

use std::io::Read as _;

use flate2::read::GzDecoder;
use memtrail_export::{Format, Selection, firefox, folded, json, pprof, speedscope};
use prost::Message as _;
use serde_json::Value;

use crate::recorded::{FILTERS, traces, with};

fn each(format: Format, check: impl Fn(&str, &Selection<'_>)) {
    let mut traces = traces();
    traces.push(("written".to_owned(), crate::written::trace()));
    let deep = crate::written::deep();
    with(format, &deep, &[], |selection| check("deep", selection));
    for (name, trace) in traces {
        for conditions in FILTERS {
            with(format, &trace, conditions, |selection| {
                check(&format!("{name} {conditions:?}"), selection);
            });
        }
    }
}

fn bytes(selection: &Selection<'_>, samples: u64) -> f64 {
    samples as f64 * selection.bytes_per_sample()
}

/// Equal but for what adding up in another order may do.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn folded_lines_add_up() {
    each(Format::Folded, |name, selection| {
        let text = String::from_utf8(folded::write(selection)).unwrap();
        let mut sum = 0;
        for line in text.lines() {
            let (path, bytes) = line.rsplit_once(' ').unwrap();
            assert!(!path.is_empty() && path.split(';').all(|name| !name.contains('\r')), "{name}");
            sum += bytes.parse::<i64>().unwrap();
        }
        let total = bytes(selection, selection.total().samples).round() as i64;
        assert_eq!(sum, total, "{name}");
    });
}

#[test]
fn speedscope_events_nest_and_add_up() {
    each(Format::Speedscope, |name, selection| {
        let file: Value = serde_json::from_slice(&speedscope::write(selection)).unwrap();
        let frames = file["shared"]["frames"].as_array().unwrap().len();
        let total = selection.total();
        for (profile, samples) in
            file["profiles"].as_array().unwrap().iter().zip([total.samples, total.live])
        {
            let (mut open, mut at) = (Vec::new(), 0.0);
            for event in profile["events"].as_array().unwrap() {
                let frame = event["frame"].as_u64().unwrap() as usize;
                assert!(frame < frames, "{name}");
                let now = event["at"].as_f64().unwrap();
                assert!(now >= at, "{name}");
                at = now;
                match event["type"].as_str().unwrap() {
                    "O" => open.push(frame),
                    _ => assert_eq!(open.pop(), Some(frame), "{name}"),
                }
            }
            assert!(open.is_empty(), "{name}");
            assert!(near(at, bytes(selection, samples)), "{name}");
            assert!(near(profile["endValue"].as_f64().unwrap(), at), "{name}");
        }
    });
}

// Its importer is recursive: "Maximum call stack size exceeded" with a recording of 10,000 frames.
#[test]
fn speedscope_gets_no_paths_that_it_cannot_open() {
    let trace = crate::written::deepest(10_000);
    with(Format::Speedscope, &trace, &[], |selection| {
        let file: Value = serde_json::from_slice(&speedscope::write(selection)).unwrap();
        let names: Vec<_> = file["shared"]["frames"].as_array().unwrap().iter().collect();
        for (profile, samples) in file["profiles"]
            .as_array()
            .unwrap()
            .iter()
            .zip([selection.total().samples, selection.total().live])
        {
            let (mut open, mut deepest) = (Vec::new(), Vec::new());
            for event in profile["events"].as_array().unwrap() {
                match event["type"].as_str().unwrap() {
                    "O" => open.push(event["frame"].as_u64().unwrap() as usize),
                    _ => drop(open.pop()),
                }
                if open.len() > deepest.len() {
                    deepest.clone_from(&open);
                }
            }
            assert!(deepest.len() <= speedscope::DEEPEST, "{} deep", deepest.len());
            let named = |at: usize| names[deepest[at]]["name"].as_str().unwrap();
            assert_eq!(named(64), "[8,192 to 16,383 frames omitted]");
            // The call site is still there.
            assert_eq!(named(deepest.len() - 1), "Cache.site");
            let end = profile["endValue"].as_f64().unwrap();
            assert!(near(end, bytes(selection, samples)));
        }
    });
}

#[test]
fn pprof_refers_only_to_what_is_there_and_adds_up() {
    each(Format::Pprof, |name, selection| {
        let mut raw = Vec::new();
        GzDecoder::new(&*pprof::write(selection)).read_to_end(&mut raw).unwrap();
        let profile = pprof::Profile::decode(&*raw).unwrap();
        let string = |index: i64| -> &str { &profile.string_table[index as usize] };
        assert_eq!(string(0), "");
        let types: Vec<_> =
            profile.sample_type.iter().map(|t| (string(t.r#type), string(t.unit))).collect();
        let (count, space) = ("count", "bytes");
        assert_eq!(
            types,
            [
                ("alloc_objects", count),
                ("alloc_space", space),
                ("inuse_objects", count),
                ("inuse_space", space)
            ]
        );
        for (at, function) in profile.function.iter().enumerate() {
            assert_eq!(function.id, at as u64 + 1);
            assert!(!string(function.name).is_empty(), "{name}");
            let _ = (string(function.system_name), string(function.filename));
        }
        for (at, location) in profile.location.iter().enumerate() {
            assert_eq!((location.id, location.mapping_id), (at as u64 + 1, 1));
            assert!(!location.line.is_empty(), "{name}");
            for line in &location.line {
                assert!((1..=profile.function.len() as u64).contains(&line.function_id), "{name}");
            }
        }
        let mut sums = [0; 4];
        for sample in &profile.sample {
            assert!(!sample.location_id.is_empty(), "{name}");
            for &location in &sample.location_id {
                assert!((1..=profile.location.len() as u64).contains(&location), "{name}");
            }
            for (sum, value) in sums.iter_mut().zip(&sample.value) {
                *sum += value;
            }
        }
        let total = selection.total();
        let [alloc, inuse] =
            [total.samples, total.live].map(|s| bytes(selection, s).round() as i64);
        assert_eq!([sums[1], sums[3]], [alloc, inuse], "{name}");
        for (sum, blocks) in [(sums[0], total.blocks), (sums[2], total.live_blocks)] {
            assert!((sum as f64 - blocks).abs() <= 1.0, "{name}");
        }
    });
}

#[test]
fn firefox_tables_fit_and_add_up() {
    each(Format::Firefox, |name, selection| {
        let file: Value = serde_json::from_slice(&firefox::write(selection)).unwrap();
        let total = selection.total();
        for (thread, samples) in
            file["threads"].as_array().unwrap().iter().zip([total.samples, total.live])
        {
            let length = |table: &str| thread[table]["length"].as_u64().unwrap();
            for table in ["samples", "stackTable", "frameTable", "funcTable"] {
                for (column, cells) in thread[table].as_object().unwrap() {
                    if let Some(cells) = cells.as_array() {
                        assert_eq!(cells.len() as u64, length(table), "{name} {table} {column}");
                    }
                }
            }
            let below = |cells: &Value, end: u64| {
                let mut cells = cells.as_array().unwrap().iter();
                cells.all(|cell| cell.is_null() || cell.as_u64().unwrap() < end)
            };
            assert!(below(&thread["samples"]["stack"], length("stackTable")), "{name}");
            assert!(below(&thread["stackTable"]["frame"], length("frameTable")), "{name}");
            assert!(below(&thread["frameTable"]["func"], length("funcTable")), "{name}");
            let strings = thread["stringArray"].as_array().unwrap().len() as u64;
            assert!(below(&thread["funcTable"]["name"], strings), "{name}");
            assert!(below(&thread["funcTable"]["fileName"], strings), "{name}");
            let prefixes = thread["stackTable"]["prefix"].as_array().unwrap();
            for (at, prefix) in prefixes.iter().enumerate() {
                assert!(prefix.is_null() || (prefix.as_u64().unwrap() as usize) < at, "{name}");
            }
            assert!(numbers(&thread["samples"]["timeDeltas"]).iter().all(|&delta| delta >= 0.0));
            let sum: f64 = numbers(&thread["samples"]["weight"]).iter().sum();
            assert!(near(sum, bytes(selection, samples).round()), "{name}");
        }
        let live: f64 = numbers(&file["counters"][0]["samples"]["count"]).iter().sum();
        assert!(near(live, bytes(selection, total.live)), "{name}");
    });
}

#[test]
fn json_nodes_add_up() {
    each(Format::Json, |name, selection| {
        let file: Value = serde_json::from_slice(&json::write(selection)).unwrap();
        let frames = file["frames"].as_array().unwrap().len() as u64;
        for field in ["samples", "allocated_bytes", "allocated_blocks", "live_bytes", "live_blocks"]
        {
            let sum: f64 = file["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|node| node.get(field))
                .map(|number| number.as_f64().unwrap())
                .sum();
            assert!(near(sum, file["total"][field].as_f64().unwrap()), "{name} {field}");
        }
        for (at, node) in file["nodes"].as_array().unwrap().iter().enumerate().skip(1) {
            assert!(node["parent"].as_u64().unwrap() < at as u64, "{name}");
            assert!(node["frame"].as_u64().unwrap() < frames, "{name}");
        }
    });
}

#[test]
fn recursion_beyond_all_measure_is_left_out() {
    let deep = crate::written::deep();
    with(Format::Json, &deep, &[], |selection| {
        let file: Value = serde_json::from_slice(&json::write(selection)).unwrap();
        // The toplevel, then one of both functions, the other or none.
        assert_eq!(file["nodes"].as_array().unwrap().len(), 6);
    });
    with(Format::Folded, &deep, &[], |selection| {
        assert_eq!(folded::write(selection).split(|&byte| byte == b'\n').count(), 3);
    });
}

#[test]
fn hidden_functions_are_named_nowhere() {
    let trace = crate::written::trace();
    with(Format::Json, &trace, &["hide:~Cache"], |selection| {
        for text in [folded::write(selection), speedscope::write(selection), json::write(selection)]
        {
            let text = String::from_utf8(text).unwrap().replace("hide:~Cache", "");
            assert!(!text.contains("Cache"), "{text}");
        }
        let profile = pprof::profile(selection);
        assert!(
            profile.function.iter().all(|function| {
                !profile.string_table[function.name as usize].contains("Cache")
            })
        );
    });
}

/// A path is that of the functions, with one name in place of those of a collapsed module that follow each other.
#[test]
fn collapsed_modules_are_one_step_of_a_path() {
    let trace = crate::written::trace();
    let profile = memtrail_profile::Profile::read(&trace, &mut |_| ()).unwrap();
    let mut expected: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    let named = memtrail_profile::filter::names::displayed(&profile.locations);
    for row in profile.blocks.rows() {
        let frames: Vec<_> = profile.stacks.path(profile.blocks.stack(row)).collect();
        let mut path: Vec<String> = Vec::new();
        for site in frames.iter().rev().flat_map(|frame| profile.locations.at(*frame)) {
            let name = &named[site.function.0 as usize];
            let is_collapsed = memtrail_profile::names::module(name) == "Cache";
            let step = if is_collapsed { "Cache (module)" } else { name };
            let is_there = if is_collapsed {
                path.last().is_some_and(|last| last == step)
            } else {
                path.iter().any(|one| one == step)
            };
            if !is_there {
                path.push(step.to_owned());
            }
        }
        let path: Vec<String> = path.iter().map(|step| step.replace([';', '\n'], ":")).collect();
        *expected.entry(path.join(";")).or_default() += profile.blocks.samples(row);
    }
    assert!(expected.keys().any(|path| path.contains("Cache (module)")));
    with(Format::Json, &trace, &["collapse:Cache"], |selection| {
        let text = String::from_utf8(folded::write(selection)).unwrap();
        let each = selection.bytes_per_sample();
        let mut found = 0.0;
        for line in text.lines().filter(|line| line.contains("Cache (module)")) {
            let (path, bytes) = line.rsplit_once(' ').unwrap();
            let samples = expected[path];
            let bytes: f64 = bytes.parse().unwrap();
            assert!((bytes - samples as f64 * each).abs() <= 1.0, "{line}, {samples}");
            found += 1.0;
        }
        let paths = expected.keys().filter(|path| path.contains("Cache (module)"));
        assert_eq!(found as usize, paths.count(), "{text}");
        let pprof = pprof::profile(selection);
        let names: Vec<&str> = pprof
            .function
            .iter()
            .map(|function| pprof.string_table[function.name as usize].as_str())
            .collect();
        assert!(names.contains(&"Cache (module)"), "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with("Cache.")), "{names:?}");
        let json = String::from_utf8(json::write(selection)).unwrap();
        assert!(!json.contains("Cache.add"), "{json}");
    });
}
