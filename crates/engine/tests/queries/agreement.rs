//! Answers are what the library says of the same trace and filter.

use std::cmp::Ordering::Equal;

use memtrail_profile::Profile;
use memtrail_profile::calls::{
    self, CallTree, Column, Entities, FlameSides, Limits, Recursion, Transforms, View,
};
use memtrail_profile::filter::{Filter, Resolved};
use memtrail_profile::selected::{Selected, choose, peak};
use memtrail_profile::sites::By;
use serde_json::{Value, json};

use crate::queries::recorded::{answer, column, engine, is, traces};

const FILTERS: &[&[&str]] =
    &[&[], &["live:end"], &["heap:major", "size:..64"], &["hide:~List"], &["size:1G.."]];

struct Slow {
    profile: Profile,
    entities: Entities,
    tree: CallTree,
    filter: Resolved,
    selected: Selected,
}

impl Slow {
    fn new(trace: &[u8], conditions: &[&str]) -> Self {
        let profile = Profile::read(trace, &mut |_| ()).unwrap();
        let filter = Filter::parse(conditions).unwrap().resolve(&profile).unwrap();
        let entities = Entities::new(&profile);
        let transforms = Transforms::of(&filter, Recursion::Folded);
        let tree = CallTree::new(&profile, &entities, &transforms);
        let selected = choose(&profile, &filter, tree.leaf_of_stack(), tree.len());
        Self { profile, entities, tree, filter, selected }
    }

    fn view(&self) -> View<'_> {
        View { tree: &self.tree, entities: &self.entities, cells: &self.selected.cells }
    }

    fn bytes(&self, samples: u64) -> f64 {
        self.profile.estimator.bytes_of(samples)
    }
}

fn each(check: impl Fn(&str, &memtrail_engine::Engine, &Slow, &[&str])) {
    for (name, trace) in traces() {
        let engine = engine(&[&trace]);
        for conditions in FILTERS {
            check(
                &format!("{name} {conditions:?}"),
                &engine,
                &Slow::new(&trace, conditions),
                conditions,
            );
        }
    }
}

#[test]
fn overview() {
    each(|name, engine, slow, conditions| {
        let answer =
            answer(engine, &json!({ "query": "overview", "filter": conditions, "points": 100 }));
        let points = slow.profile.live_series.points(100);
        let times: Vec<f64> = points.iter().map(|point| point.time.seconds()).collect();
        assert_eq!(column(&answer, "time"), times, "{name}");
        let major: Vec<f64> =
            points.iter().map(|point| f64::from(slow.bytes(point.major) as f32)).collect();
        assert_eq!(column(&answer, "major"), major, "{name}");
        let live = slow.profile.live_series.at(&slow.selected.live_series, &points);
        let live: Vec<f64> =
            live.into_iter().map(|samples| f64::from(slow.bytes(samples) as f32)).collect();
        assert_eq!(column(&answer, "selected"), live, "{name}");
        let selected = &answer.header()["selected"];
        let bytes = slow.profile.estimator.bytes(&slow.selected.sum);
        assert!(is(&selected["allocated"]["value"], bytes.value), "{name}");
        assert!(is(&selected["allocated"]["stderr"], bytes.stderr), "{name}");
        assert!(is(&selected["live_end"], slow.bytes(slow.selected.live_end)), "{name}");
        let peak = peak(&slow.profile, &slow.filter, &slow.selected);
        assert!(is(&selected["peak"]["time"], peak.time.seconds()), "{name}");
        assert!(is(&selected["peak"]["bytes"], slow.bytes(peak.samples)), "{name}");
        let top = slow.profile.live_series.peak();
        assert!(is(&answer.header()["total"]["peak"]["bytes"], slow.bytes(top.samples)), "{name}");
    });
}

#[test]
fn flame() {
    each(|name, engine, slow, conditions| {
        let mut focus = Vec::new();
        for _ in 0..3 {
            let limits = Limits { cutoff: 0.01, boxes: 50 };
            let keys: Vec<&str> = focus.iter().map(|&entity| slow.entities.key(entity)).collect();
            let answer = answer(
                engine,
                &json!({
                    "query": "flame", "filter": conditions, "focus": keys, "cutoff": 0.01, "limit": 100,
                    "direction": "both",
                }),
            );
            let flame = calls::flame(slow.view(), &focus, FlameSides::Both, limits);
            assert!(is(&answer.header()["focus_bytes"], slow.bytes(flame.focus.samples)), "{name}");
            assert!(is(&answer.header()["total"], slow.bytes(slow.selected.sum.samples)), "{name}");
            for (side, boxes) in [("down", &flame.down), ("up", &flame.up)] {
                let numbers =
                    |of: &dyn Fn(usize) -> f64| (0..boxes.len()).map(of).collect::<Vec<_>>();
                let column = |what: &str| column(&answer, &format!("{side}_{what}"));
                assert_eq!(column("parent"), numbers(&|at| boxes.parent[at].into()), "{name}");
                assert_eq!(column("entity"), numbers(&|at| boxes.entity[at].0.into()), "{name}");
                let bytes = |at: usize| slow.bytes(boxes.cell[at].samples);
                assert_eq!(column("bytes"), numbers(&bytes), "{name}");
                assert_eq!(column("more"), numbers(&|at| f64::from(u8::from(boxes.more[at]))));
            }
            // The heaviest callee is the next focus.
            focus = flame.down.entity.get(1).map(|&entity| vec![entity]).unwrap_or_default();
        }
    });
}

#[test]
fn tables_and_what_they_open_into() {
    each(|name, engine, slow, conditions| {
        for (by, word) in [
            (By::Function, "function"),
            (By::Site, "site"),
            (By::Module, "module"),
            (By::File, "file"),
        ] {
            let mut lines = calls::table(slow.view(), by);
            calls::sort(&mut lines, &slow.entities, Column::Own, true);
            let table = answer(
                engine,
                &json!({
                    "query": "table", "filter": conditions, "by": word, "sort": "self", "limit": 10,
                    "offset": 1,
                }),
            );
            assert_eq!(table.header()["count"], json!(lines.len()), "{name}");
            let shown = &lines[lines.len().min(1)..lines.len().min(11)];
            let keys: Vec<&str> =
                shown.iter().map(|line| slow.entities.label_key(line.label)).collect();
            let rows = table.header()["rows"].as_array().unwrap();
            let told: Vec<&str> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
            assert_eq!(told, keys, "{name}");
            let totals: Vec<f64> =
                shown.iter().map(|line| slow.bytes(line.total.samples)).collect();
            assert_eq!(column(&table, "total"), totals, "{name}");

            let Some(&key) = keys.first() else { continue };
            let label = slow.entities.find_label(by, key).unwrap();
            let callers = calls::branches(slow.view(), by, &[label], calls::Branch::Callers);
            let loaded = answer(
                engine,
                &json!({ "query": "branches", "filter": conditions, "by": word, "path": [key] }),
            );
            assert_eq!(loaded.header()["count"], json!(callers.len()), "{name}");
            let sum: f64 = callers.iter().map(|line| slow.bytes(line.total.samples)).sum();
            let told: f64 = column(&loaded, "total").iter().sum();
            if callers.len() <= 100 {
                assert!((told - sum).abs() <= 1e-9 * sum.max(1.0), "{name}: {told} {sum}");
            }
        }
    });
}

#[test]
fn points_of_interest_and_searches() {
    each(|name, engine, slow, conditions| {
        let hot_fragments =
            answer(engine, &json!({ "query": "hotfragments", "filter": conditions }));
        let expected = calls::hot_fragments(slow.view(), calls::SIGNIFICANCE);
        let paths = |list: &[calls::Suspect]| -> Vec<Value> {
            let path = |suspect: &calls::Suspect| {
                // Of very long ones the innermost part is told.
                let path = &suspect.path[suspect.path.len().saturating_sub(200)..];
                json!(path.iter().map(|&entity| slow.entities.key(entity)).collect::<Vec<_>>())
            };
            list.iter().map(path).collect()
        };
        let told = |list: &str| -> Vec<Value> {
            let list = hot_fragments.header()[list].as_array().unwrap();
            list.iter().map(|suspect| suspect["path"].clone()).collect()
        };
        assert_eq!(told("functions"), paths(&expected.functions), "{name}");
        // Of very many the heaviest are told, and how many there are.
        let told = told("paths");
        assert_eq!(told, paths(&expected.paths)[..told.len()], "{name}");
        assert!(told.len() >= expected.paths.len().min(40), "{name}: {}", told.len());
        assert_eq!(hot_fragments.header()["path_count"], expected.paths.len(), "{name}");

        for (text, regex) in [("list", false), ("^Stdlib", true)] {
            let pattern = if regex {
                calls::Pattern::regex(text).unwrap()
            } else {
                calls::Pattern::text(text)
            };
            let found = calls::search(slow.view(), &pattern, &[]);
            let query =
                json!({ "query": "search", "filter": conditions, "text": text, "regex": regex });
            let answer = answer(engine, &query);
            assert!(is(&answer.header()["bytes"], slow.bytes(found.cell.samples)), "{name}");
            let entities: Vec<f64> =
                found.entities.iter().map(|entity| f64::from(entity.0)).collect();
            assert_eq!(column(&answer, "entities"), entities, "{name}");
        }
    });
}

#[test]
fn names_are_those_that_queries_take() {
    each(|name, engine, slow, conditions| {
        let flame = answer(engine, &json!({ "query": "flame", "filter": conditions }));
        let entities = column(&flame, "down_entity");
        let ids: Vec<u32> = entities.iter().take(50).map(|&entity| entity as u32).collect();
        let names = answer(engine, &json!({ "query": "names", "entities": ids }));
        let names = names.header()["names"].as_array().unwrap();
        for (id, told) in ids.iter().zip(names) {
            let key = told["key"].as_str().unwrap();
            assert_eq!(slow.entities.find(key).map(|entity| entity.0), Some(*id), "{name}");
        }
    });
}

#[test]
fn a_recording_compared_with_itself_is_the_same() {
    for (name, trace) in traces() {
        let engine = engine(&[&trace, &trace]);
        for other in [0, 1] {
            for normalise in ["none", "duration", "allocated"] {
                let query = json!({
                    "query": "compare", "a": { "rec": 0 }, "b": { "rec": other },
                    "normalise": normalise,
                });
                let table = answer(&engine, &query);
                for row in table.header()["rows"].as_array().unwrap() {
                    assert_eq!(row["status"], "same", "{name}");
                }
                assert!(column(&table, "delta").iter().all(|&delta| delta == 0.0), "{name}");
                let mut query = query;
                query["view"] = json!("flame");
                let flame = answer(&engine, &query);
                assert_eq!(column(&flame, "before"), column(&flame, "after"), "{name}");
                let statuses = flame.header()["statuses"].as_array().unwrap().clone();
                for status in column(&flame, "status") {
                    assert_eq!(statuses[status as usize], "same", "{name}");
                }
            }
        }
    }
}

#[test]
fn two_filters_of_one_recording_are_new_and_gone() {
    let engine = engine(&[&crate::queries::recorded::fixture("cache-v2.ctf")]);
    let query = json!({
        "query": "compare", "a": { "filter": ["size:1G.."] }, "b": { "filter": [] }, "limit": 3,
    });
    let table = answer(&engine, &query);
    assert_eq!(table.header()["rows"][0]["status"], "new");
    assert_eq!(column(&table, "before"), [0.0; 3]);
    assert!(column(&table, "after")[0] > 0.0);
}

#[test]
fn presets_are_filters_that_are_taken() {
    for (name, trace) in traces() {
        let engine = engine(&[&trace]);
        let presets = answer(&engine, &json!({ "query": "presets" }));
        let presets = presets.header()["presets"].as_array().unwrap().clone();
        let ids: Vec<&str> = presets.iter().map(|preset| preset["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["leak", "peak", "temporary", "growth"], "{name}");
        for preset in presets {
            answer(&engine, &json!({ "query": "overview", "filter": preset["conditions"] }));
        }
    }
}

#[test]
fn what_is_typed_becomes_names() {
    let engine = engine(&[&crate::queries::recorded::fixture("cache-v2.ctf")]);
    for kind in ["function", "module", "file"] {
        let all = answer(&engine, &json!({ "query": "complete", "kind": kind, "limit": 100 }));
        let all = all.header()["values"].as_array().unwrap().clone();
        assert!(!all.is_empty(), "{kind}");
        for value in all {
            let text = value.as_str().unwrap();
            let query = json!({ "query": "complete", "kind": kind, "text": text.to_uppercase() });
            let found = answer(&engine, &query);
            let found = found.header()["values"].as_array().unwrap().clone();
            assert_eq!(found.first(), Some(&value), "{kind} {text}");
        }
    }
}

#[test]
fn conditions_are_said_and_refused() {
    let engine = engine(&[]);
    let conditions =
        answer(&engine, &json!({ "query": "conditions", "texts": ["live:end", "size:4X"] }));
    let conditions = &conditions.header()["conditions"];
    assert_eq!(conditions[0]["description"], "live at the end");
    assert_eq!(conditions[1]["error"]["at"], 6);
}

#[test]
fn a_recording_is_described() {
    let trace = crate::queries::recorded::fixture("cache-v2.ctf");
    let engine = engine(&[&trace]);
    let about = answer(&engine, &json!({ "query": "about" }));
    let recording = &about.header()["recordings"][0];
    let slow = Slow::new(&trace, &[]);
    assert_eq!(recording["trace_bytes"], json!(trace.len()));
    assert_eq!(recording["blocks_recorded"], json!(slow.profile.blocks.len()));
    assert_eq!(recording["program"], json!(slow.profile.info.executable));
    assert_eq!(recording["domains"], json!([0]));
    assert_eq!(recording["damage"], json!([]));
    assert_eq!(recording["state"], "ended");
    let mut events = 0;
    let reader = memtrail_trace::Reader::new(&trace).unwrap();
    reader.for_each(memtrail_trace::Detail::Marks, |_, _| events += 1);
    assert_eq!(recording["events"], json!(events));
}

#[test]
fn damage_is_told_with_its_place() {
    let trace = crate::queries::recorded::fixture("cache-v2.ctf");
    let engine = engine(&[&trace[..trace.len() / 2]]);
    let about = answer(&engine, &json!({ "query": "about" }));
    let damage = about.header()["recordings"][0]["damage"].as_array().unwrap();
    assert!(damage[0].as_str().unwrap().contains("the file ends inside a packet"), "{damage:?}");
}

/// A table with a baseline has what the comparison of both says of its rows.
#[test]
fn a_table_beside_a_baseline() {
    let traces = traces();
    let all: Vec<&[u8]> = traces.iter().map(|(_, trace)| trace.as_slice()).collect();
    let engine = engine(&all);
    for (rec, before) in [(0, 0), (0, 1), (2, 1)] {
        for by in ["function", "site", "module", "file"] {
            let side = json!({ "rec": before, "filter": ["live:end"] });
            let asked = json!({ "query": "table", "rec": rec, "by": by, "baseline": side });
            let table = answer(&engine, &asked);
            let after = json!({ "rec": rec, "filter": [] });
            let asked = json!({ "query": "compare", "view": "table", "by": by, "a": side, "b": after,
                "limit": 10_000 });
            let compared = answer(&engine, &asked);
            let keys = compared.header()["rows"].as_array().unwrap();
            let expected = column(&compared, "before");
            let (shown, statuses) = (column(&table, "before"), column(&table, "status"));
            for (at, row) in table.header()["rows"].as_array().unwrap().iter().enumerate() {
                let same = keys.iter().position(|other| other["key"] == row["key"]).unwrap();
                assert_eq!(shown[at].total_cmp(&expected[same]), Equal, "{rec} {before} {row}");
                let status = &table.header()["statuses"][statuses[at] as usize];
                assert_eq!(*status, keys[same]["status"], "{rec} {before} {row}");
            }
        }
    }
    let alone = answer(&engine, &json!({ "query": "table" }));
    assert_eq!(alone.header()["statuses"], json!([]));
    assert!(alone.column("before").is_none());
    let missing = json!({ "query": "table", "baseline": { "rec": 99, "filter": [] } });
    assert_eq!(
        crate::queries::recorded::api_error(&engine, missing.to_string().as_bytes()).0,
        memtrail_engine::Status::Unknown
    );
}
