//! A program that forks: sums, generations, one process, exports and heaps.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use memtrail_test_support::on_each;
use serde_json::Value;

use super::{json, memtrail, printed, recorded};

const EXACT: [&str; 5] = ["--rate", "1", "--children", "--snapshot", "exit"];

/// Exact, as all words are sampled.
fn bytes(amount: &Value) -> u64 {
    amount["bytes"].as_f64().expect("bytes").round() as u64
}

on_each!(a_family_is_the_sum_of_its_processes, |compiler| {
    let (_case, seen, family) = recorded(compiler, "family", &EXACT);
    assert!(seen.status.success(), "{seen:?}");
    let whole = json(&["report", "--json"], &family);
    let processes = whole["family"]["processes"].as_array().expect("processes");
    let origin = |process: &Value| process["origin"].as_str().unwrap().to_owned();
    let mut origins: Vec<String> = processes.iter().map(origin).collect();
    origins.sort();
    assert_eq!(origins, ["first", "forked", "forked", "forked", "forked", "replaced"]);
    let generations: Vec<(u64, u64)> = (whole["family"]["generations"].as_array().unwrap().iter())
        .map(|one| (one["generation"].as_u64().unwrap(), one["processes"].as_u64().unwrap()))
        .collect();
    assert_eq!(generations, [(0, 1), (1, 3), (2, 1)]);

    each_process_is_as_alone(&family, &whole, processes);
    exports_have_processes_as_outermost_frames(&family, processes);
    leaks_are_of_all_processes(&family, processes);
    // Pages and sums of heaps do not depend on the runtime.
    if compiler == "system" {
        heaps_are_sums_over_processes(&family, processes);
        pages_have_all_processes(&family, processes);
    }

    let text = printed(&["report", "--width", "100"], &family);
    assert!(text.contains("6 processes, each by itself"), "{text}");
    assert!(text.contains("family (fork)"), "{text}");
    assert!(text.contains("generation 1: 3 processes"), "{text}");
    for command in [&["trace", "info"][..], &["trace", "hotspots"], &["trace", "folded"]] {
        assert!(!printed(command, &family).is_empty(), "{command:?}");
    }
});

fn each_process_is_as_alone(family: &Path, whole: &Value, processes: &[Value]) {
    let (mut sum, mut peaks, mut largest_peak) = (0, 0, 0);
    for process in processes {
        let folder = family.join(process["recording"].as_str().unwrap());
        let alone = json(&["report", "--json"], &folder);
        assert_eq!(process["totals"], alone["report"]["totals"], "{}", folder.display());
        sum += bytes(&process["totals"]["allocated"]);
        let peak = bytes(&process["totals"]["peak"]);
        (largest_peak, peaks) = (largest_peak.max(peak), peaks + peak);
    }
    let totals = &whole["report"]["totals"];
    assert_eq!(bytes(&totals["allocated"]), sum);
    assert_eq!(bytes(&whole["family"]["allocated"]), sum);
    let peak = bytes(&totals["peak"]);
    assert!(largest_peak <= peak && peak <= peaks, "{largest_peak} {peak} {peaks}");
    // All others have ended by then, and their memory is free.
    assert_eq!(totals["live_at_end"], processes[0]["totals"]["live_at_end"]);

    // 2,100 elements of its own, and 1,000: what was there before the fork is counted once.
    assert_eq!(processes[0]["origin"], "first");
    assert_eq!(processes[1]["parent"], processes[0]["pid"]);
    let allocated = |process: &Value| bytes(&process["totals"]["allocated"]);
    let share = allocated(&processes[1]) as f64 / allocated(&processes[0]) as f64;
    assert!((0.2..0.9).contains(&share), "{share}");

    let pid = processes[1]["pid"].to_string();
    let one = json(&["report", "--json", "--process", &pid], family);
    assert_eq!(one["report"]["totals"], processes[1]["totals"]);
    let absent = memtrail(&["report", "--process", "1"], family);
    assert_eq!(absent.status.code(), Some(2), "{absent:?}");
    assert!(String::from_utf8_lossy(&absent.stderr).contains("no process 1 in"), "{absent:?}");
}

fn exports_have_processes_as_outermost_frames(family: &Path, processes: &[Value]) {
    let folded = printed(&["export", "--format", "folded"], family);
    let mut by_process: BTreeMap<String, u64> = BTreeMap::new();
    for line in folded.lines() {
        let (stack, bytes) = line.rsplit_once(' ').expect("a number");
        let process = stack.split(';').next().expect("a frame");
        *by_process.entry(process.to_owned()).or_default() += bytes.parse::<u64>().unwrap();
    }
    assert_eq!(by_process.len(), processes.len());
    for process in processes {
        let label = process["recording"].as_str().unwrap().strip_suffix(".memtrail").unwrap();
        let label = format!("[{label}]");
        let expected = bytes(&process["totals"]["allocated"]);
        assert_eq!(by_process[&label], expected, "{label}");
    }
    let total = |conditions: &[&str]| {
        let filters = conditions.iter().flat_map(|condition| ["--filter", condition]);
        let words: Vec<&str> = ["export", "--json"].into_iter().chain(filters).collect();
        json(&words, family)["total"]["allocated_bytes"].as_f64().map(|bytes| bytes.round() as u64)
    };
    let label = by_process.keys().next().unwrap();
    assert_eq!(total(&[&format!("in:{label}")]), Some(by_process[label]));
    let process = &processes[1];
    let pid = format!("process:{}", process["pid"]);
    assert_eq!(total(&[&pid]), Some(bytes(&process["totals"]["allocated"])), "{pid}");
    let others = format!("-{pid}");
    assert_eq!(total(&[&pid]).zip(total(&[&others])).map(|(a, b)| a + b), total(&[]));
    assert_eq!(total(&["process:family"]), total(&[]));
    let alone = family.join(process["recording"].as_str().unwrap());
    let refused = memtrail(&["export", "--json", "--filter", "process:family"], &alone);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(stderr.contains("this recording is of one process alone\nhint: "), "{stderr}");
}

fn heaps_are_sums_over_processes(family: &Path, processes: &[Value]) {
    let count = processes.iter().filter(|process| process["snapshots"] != 0).count();
    let figure = |of: &Value, name: &str| of[name].as_u64().unwrap_or_else(|| panic!("{of:#}"));
    let info = json(&["heap", "info", "--json"], family);
    let roots = json(&["heap", "roots", "--limit", "0", "--json"], family);
    let processes = info["processes"].as_array().expect("processes");
    assert_eq!(processes.len(), count);
    assert_eq!(roots["all"], info["all"]);
    let mut of_all: BTreeMap<String, u64> = BTreeMap::new();
    for process in processes {
        let folder = Path::new(process["recording"].as_str().unwrap());
        let alone = json(&["heap", "info", "--json"], folder);
        assert_eq!(process["blocks"], alone["reachable_blocks"]);
        assert_eq!(process["owned"], alone["reachable_bytes"]);
        assert_eq!(process["answer"]["reachable_bytes"], alone["reachable_bytes"]);
        let alone = json(&["heap", "roots", "--limit", "0", "--json"], folder);
        *of_all.entry("owned".into()).or_default() += figure(&alone, "owned");
    }
    assert_eq!(figure(&info["all"], "owned"), of_all["owned"]);
    assert_eq!(figure(&roots, "owned"), of_all["owned"]);
    let rows = roots["rows"].as_array().expect("rows");
    let owned: u64 = rows.iter().map(|row| figure(row, "owned")).sum();
    assert_eq!(owned, of_all["owned"]);
    for row in rows {
        let parts = row["processes"].as_array().expect("parts");
        let sum: u64 = parts.iter().map(|part| figure(part, "owned")).sum();
        assert_eq!(sum, figure(row, "owned"), "{row:#}");
    }
    let text = printed(&["heap", "roots", "--width", "80"], family);
    assert!(text.contains("all that is reachable") && text.contains("with snapshots"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// The page has all processes together, and each alone.
fn pages_have_all_processes(family: &Path, processes: &[Value]) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("family.html").display().to_string();
    let written = json(&["html", "--json", "-o", &file], family);
    let names: Vec<&str> = (written["recordings"].as_array().expect("recordings").iter())
        .map(|recording| recording["name"].as_str().unwrap())
        .collect();
    assert_eq!(Some(names[0]), family.file_name().and_then(|name| name.to_str()));
    let recordings: Vec<&str> =
        processes.iter().map(|process| process["recording"].as_str().unwrap()).collect();
    assert!(names.len() > 2, "{names:?}");
    assert!(names[1..].iter().all(|name| recordings.contains(name)), "{names:?}");
    let one = processes[0]["pid"].to_string();
    let written = json(&["html", "--json", "--process", &one, "-o", &file], family);
    assert_eq!(written["recordings"].as_array().map(Vec::len), Some(1));

    // Redacted, the numbers of processes are in no trace and no description.
    printed(&["html", "--redact", "-o", &file], family);
    let page = std::fs::read_to_string(&file).expect("the page");
    let mut traces = 0;
    for element in page.split("<script type=\"application/x-memtrail-trace\"").skip(1) {
        let (description, rest) = element.split_once("\">").expect("attributes");
        let (content, _) = rest.split_once("</script>").expect("an end");
        let mut trace = Vec::new();
        let zipped = BASE64_STANDARD.decode(content).expect("base64");
        GzDecoder::new(zipped.as_slice()).read_to_end(&mut trace).expect("gzip");
        let trace = String::from_utf8_lossy(&trace);
        for process in processes {
            let pid = format!("-{}", process["pid"]);
            assert!(!trace.contains(&pid) && !description.contains(&pid), "{pid} {description}");
        }
        traces += 1;
    }
    assert_eq!(traces, names.len());
}

fn leaks_are_of_all_processes(family: &Path, processes: &[Value]) {
    let with_snapshots: Vec<&Value> =
        processes.iter().filter(|process| process["snapshots"] != 0).collect();
    assert!(with_snapshots.len() > 2, "{processes:?}");
    let leaks = json(&["leaks", "--json"], family);
    assert_eq!(leaks["processes"].as_array().unwrap().len(), with_snapshots.len());
    assert!(leaks["suspects"].is_array());
    let pid = processes[0]["pid"].to_string();
    let one = json(&["heap", "info", "--json", "--process", &pid], family);
    let alone = family.join(processes[0]["recording"].as_str().unwrap());
    assert_eq!(one, json(&["heap", "info", "--json"], &alone));
}
