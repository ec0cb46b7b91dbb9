//! Stored evidence of the programs in `tests/leaks`, judged again. `evidence/NAME.MODE.json` is from
//! `memtrail leaks REC --evidence`.

use std::fs;
use std::path::Path;

use memtrail_engine::leaks::verdict::{Class, Evidence, Judged, judge};

/// Programs that leak, and the beginning of the owner's name.
const LEAKS: [(&str, &str); 25] = [
    ("grows_at_work", "Grows_at_work"),
    ("resize", "Resize"),
    ("grows", "Grows"),
    ("idle", "Idle"),
    ("ticker", "Ticker"),
    ("callers", "Callers"),
    ("editor_cache", "Editor_cache"),
    ("hashtbl_shadow", "Hashtbl_shadow"),
    ("finaliser_cycle", "Finaliser_cycle"),
    ("weak_dead", "Weak_dead"),
    ("lwt_stop", "Lwt_stop"),
    // A frame that holds the table for a moment is no second suspect.
    ("metrics_labels", "Metrics_labels.Metrics.counters"),
    // Servers that loaded their data first, before other work: a table that grew since was of a stage of a task.
    ("load_small", "Load.sessions"),
    ("load_large", "Load_large.sessions"),
    ("load_native", "serve"),
    // Each block is half as large again as the one that it replaces.
    ("realloc_by_halves", "vec_add"),
    ("metrics_labels_ocaml_5", "Metrics_labels.Metrics.counters"),
    // On OCaml 5 finalisers that remove entries fall behind: the table grows, and so do the finalisers.
    ("finalisers_behind", "Finaliser_cycle_fixed."),
    // The weak table grows because the list keeps its keys.
    ("weak_dead_again", "Weak_dead.Session.log"),
    // Each collection comes while a call copies all into a new array or buffer: no leak of the call's.
    ("array_append", "Array_append / field 1"),
    ("buffer_log", "Buffer_log / field 1"),
    // A frame freed as much since the snapshot before, long ago: the trail "came and went", as if the frame had handed it over.
    ("large_base", "Large_base / field 4"),
    // A server that loaded its data first, stopped by a signal: two sizes dated its growth before its first block.
    ("serve_swept", "Serve2.sessions"),
    // `realloc` makes it a little larger each time: the number of samples of one block varied more than its size grew.
    ("growing_buffer", "append"),
    // The base is the snapshot that was taken as memtrail was attached. `attached_full_table` is its sound twin.
    ("attached_leak", "Memo5 / field 0"),
];

/// Owners on which there is too little evidence, and the beginning of their names: they are neither suspects nor cleared.
const UNDECIDED: [(&str, &str); 9] = [
    // A cache that was filled, and leaks one entry in five since: "filled once".
    ("cache_leaks_on", "Ocache / field 8"),
    ("cache_leaks_onx1", "Ocache / field 8"),
    // 93 of 98 samples are of what was loaded first, and stand for a tenth of it; the rest grows evenly: "filled once".
    ("coqc_states", "Stm.VCS"),
    // The start of the interpreter is nearly half of the work: "one stage of a task".
    ("python_keeps", "PyByteArray_Resize"),
    // Five samples in all: "comes and goes", "filled once".
    ("hardly_sampled", "svc::"),
    // A queue of which one message in four is read, and five collections in all: what they freed late seemed to be old: "comes and
    // goes", one run in 40.
    ("queue_read_in_part", "Domains_mailbox / field 3"),
    // An array of 60,000 values that are replaced one by one; most of the replaced ones were not collected yet: "keeps growing".
    ("values_replaced", "Refresh.base"),
    // A full table whose entries are replaced; nobody knows what it had before memtrail was attached: "keeps growing".
    ("attached_without_base", "Warm.index"),
    // A forked process that replaces entries of its parent's table: "keeps growing".
    ("forked_full_table", "Fk.t"),
];

/// The evidence of all recordings, by the program and the mode of snapshots.
fn stored() -> Vec<(String, String, Evidence)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdict/evidence");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let [program, mode, "json"] = name.split('.').collect::<Vec<_>>()[..] else {
            panic!("{name}")
        };
        let evidence = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        all.push((program.to_owned(), mode.to_owned(), evidence));
    }
    all.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    all
}

#[test]
fn stored_evidence_has_the_expected_verdict() {
    let all = stored();
    assert!(all.len() >= 20, "{}", all.len());
    let mut wrong = Vec::new();
    for (program, mode, evidence) in &all {
        let judged = judge(evidence);
        let name = |one: &Judged| evidence.owners[one.series.name].name.clone();
        let suspects: Vec<String> =
            judged.iter().filter(|one| one.class.is_suspect()).map(name).collect();
        let undecided: Vec<String> =
            judged.iter().filter(|one| one.class == Class::Undecided).map(name).collect();
        let leak = LEAKS.iter().find(|(leaks, _)| leaks == program);
        if let Some((_, owner)) = UNDECIDED.iter().find(|(leaks, _)| leaks == program) {
            let first = undecided.first();
            assert!(first.is_some_and(|first| first.starts_with(owner)), "{program}: {judged:#?}");
            assert!(suspects.is_empty(), "{program}: {suspects:?}");
            continue;
        }
        let is_right = match (leak, suspects.first()) {
            // Every suspect, not the first one alone.
            (Some((_, owner)), Some(_)) => suspects.iter().all(|name| name.starts_with(owner)),
            // One snapshot may have too few samples; it clears no leak.
            (Some((_, owner)), None) => {
                mode == "exit" && undecided.iter().any(|name| name.starts_with(owner))
            }
            (None, found) => found.is_none(),
        };
        if !is_right {
            wrong.push(format!("{program}.{mode}: {suspects:?}, undecided: {undecided:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
