//! What allocated blocks and what holds them, at once.

use serde_json::Value;

use crate::{Held, answer, complaint, heap, printed};

#[test]
fn sites_are_those_of_the_blocks_that_retain_most() {
    // At this rate every larger block is sampled.
    let held = Held::sampled("1", "system", &[]);
    let by_retained = ["--by", "function", "--sort", "retained", "--limit", "1000"];
    let sites = answer("sites", held.recording(), &by_retained);
    let rows = sites["rows"].as_array().unwrap();
    let mut retained: Vec<u64> = rows.iter().map(|row| row["retained"].as_u64().unwrap()).collect();
    assert!(retained.is_sorted_by(|a, b| a >= b), "{retained:?}");
    retained.dedup();
    assert!(retained.len() > 3, "{retained:?}");
    // The array of 7,777 words that a finaliser keeps is made by the module's own code.
    let own = rows.iter().find(|row| row["name"] == "Heap_held").unwrap();
    assert!(own["retained"].as_u64().unwrap() >= 7_778 * 8, "{own}");

    // One of them: how it is held ends with it, and calls lead from the program to its function.
    for row in rows.iter().take(5) {
        let number = row["example"].to_string();
        let block = answer("block", held.recording(), &[&number]);
        assert_eq!(block["block"], row["example"]);
        assert_eq!(block["path"].as_array().unwrap().last().unwrap()["block"], row["example"]);
        assert_eq!(block["sample"]["frames"][0]["name"], row["name"]);
    }
    let number = rows[0]["example"].to_string();
    let text =
        printed(["block", &held.recording().display().to_string(), &number, "--width", "60"]);
    for word in ["allocated", "retained by", "retains"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
}

/// A site with 391 samples, some 31 MiB, was shown as 309 KiB: the sum of its sampled blocks.
#[test]
fn sites_are_estimates_of_all_their_blocks() {
    let figure = |row: &Value, name: &str| row["alive"][name].as_f64().unwrap();
    // With all words sampled, they are the sums over the blocks, without error.
    let held = Held::sampled("1", "system", &[]);
    let exact = answer("sites", held.recording(), &["--by", "function", "--limit", "0"]);
    let rows = exact["rows"].as_array().unwrap();
    assert!(rows.iter().map(|row| figure(row, "value")).is_sorted_by(|a, b| a >= b));
    for row in rows {
        assert!(figure(row, "stderr") < 1.0, "{row}");
        // Blocks that nothing retains are not counted, but memory off the heap is, as a block.
        let has_more = row["alive_blocks"]["value"].as_f64() > row["blocks"].as_f64();
        let own = row["bytes"].as_f64().unwrap();
        assert!(has_more || figure(row, "value") <= own + 1.0, "{row}");
    }
    let of = |sites: &Value, name: &str| {
        let rows = sites["rows"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["name"] == name)
    };
    let truth = figure(&of(&exact, "Heap_held").unwrap(), "value");
    // With a hundredth of them, they are close to these.
    let held = Held::sampled("1e-2", "system", &[]);
    let sites = answer("sites", held.recording(), &["--by", "function", "--limit", "0"]);
    let row = of(&sites, "Heap_held").unwrap();
    let (value, stderr) = (figure(&row, "value"), figure(&row, "stderr"));
    assert!(stderr > 0.0 && (value - truth).abs() <= 4.0 * stderr, "{value} ±{stderr}, {truth}");
    assert!(value > 2.0 * row["blocks"].as_f64().unwrap(), "{row}");
}

/// `--limit 0` printed no row of `sites` and `block`, and no string.
#[test]
fn limit_zero_is_all_rows() {
    let held = Held::sampled("1", "system", &[]);
    let rows =
        |args: &[&str]| answer("sites", held.recording(), args)["rows"].as_array().unwrap().clone();
    let all = rows(&["--limit", "0"]);
    assert!(all.len() > 3, "{}", all.len());
    assert_eq!(rows(&["--limit", "100000"]), all);
    assert_eq!(rows(&["--limit", "2"]), all[..2]);
    let number = all[0]["example"].to_string();
    let path = held.recording().display().to_string();
    let block = |limit: &str| printed(["block", &path, &number, "--limit", limit]);
    assert_eq!(block("0"), block("100000"));
    assert!(!block("0").contains("--limit"), "{}", block("0"));
}

#[test]
fn what_cannot_be_joined_is_refused() {
    let held = Held::new("system", &[]);
    let (file, recording) = (held.last(), held.recording().display().to_string());
    for (args, code) in [
        (vec!["sites".to_owned(), file.display().to_string()], 2),
        (vec!["sites".into(), recording.clone(), "--snapshot".into(), "77".into()], 3),
        (vec!["block".into(), recording.clone(), "99999999".into()], 2),
        (vec!["block".into(), "nothing.memtrail".into(), "1".into()], 3),
        (vec!["block".into(), recording], 2),
    ] {
        let (found, said) = complaint(&heap(&args));
        assert_eq!(found, Some(code), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn what_survived_and_what_was_added_is_what_is_alive() {
    for rate in ["1", "1e-2"] {
        let held = Held::sampled(rate, "system", &[]);
        let of = answer("survivors", held.recording(), &["--limit", "0"]);
        let alive = |snapshot: &Value| {
            let number = snapshot.to_string();
            let sites = answer("sites", held.recording(), &["--snapshot", &number]);
            sites["alive"]["value"].as_f64().unwrap()
        };
        assert!(of["from"].as_u64() < of["to"].as_u64(), "{of:#}");
        let sum = |one: &Value, name: &str| one[name]["bytes"]["value"].as_f64().unwrap();
        let (before, after) = (alive(&of["from"]), alive(&of["to"]));
        assert!((sum(&of, "survived") + sum(&of, "freed") - before).abs() < 1.0, "{of:#}");
        assert!((sum(&of, "survived") + sum(&of, "added") - after).abs() < 1.0, "{of:#}");
        let rows = of["rows"].as_array().unwrap();
        for name in ["survived", "freed", "added"] {
            let all: f64 = rows.iter().map(|row| sum(row, name)).sum();
            assert!((all - sum(&of, name)).abs() < 1.0, "{name}");
        }
        let survived: Vec<f64> = rows.iter().map(|row| sum(row, "survived")).collect();
        assert!(survived.is_sorted_by(|a, b| a >= b), "{survived:?}");
        let oldest = answer("survivors", held.recording(), &["--sort", "oldest", "--limit", "0"]);
        let moments: Vec<Option<f64>> = oldest["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["survived"]["allocated"][1].as_f64())
            .collect();
        let known: Vec<f64> = moments.iter().map_while(|moment| *moment).collect();
        assert!(known.is_sorted() && moments[known.len()..].iter().all(Option::is_none));
    }
}

#[test]
fn two_snapshots_are_compared_in_their_order() {
    let held = Held::new("system", &[]);
    let path = held.recording().display().to_string();
    let output = heap(["survivors", &path, "--from", "2", "--to", "1"]);
    let (code, message) = complaint(&output);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("snapshot 2 is not before snapshot 1\nhint: "), "{message}");
    let output = heap(["survivors", &path, "--to", "1"]);
    let (code, message) = complaint(&output);
    assert!(code == Some(3) || code == Some(2), "{code:?} {message}");
    assert!(message.contains("two snapshots are needed, there is one"), "{message}");
}
