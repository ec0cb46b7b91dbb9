//! Threads, where a recording knows them.

use memtrail_engine::{Description, Engine, Setting, ThreadList};
use serde_json::json;

use crate::queries::recorded::{answer, api_error, column, fixture};

#[test]
fn blocks_belong_to_threads() {
    let trace = fixture("cache-v2.ctf");
    let threads = ThreadList {
        names: vec!["main (1)".into(), "worker (2)".into()],
        switches: [(0, vec![(0, 0), (1000, 1)])].into(),
    };
    let description = Description { threads: Some(threads), ..Description::default() };
    let whole = Engine::new(Setting::default());
    whole.add(&trace, description.clone(), &mut |_| ()).unwrap();
    let grown = Engine::new(Setting::default());
    let id = grown.add_growing(description, None);
    grown.finish(id, &trace).unwrap();
    for engine in [&whole, &grown] {
        let about = answer(engine, &json!({ "query": "about" }));
        let names = json!(["main (1)", "worker (2)"]);
        assert_eq!(about.header()["recordings"][0]["threads"], names);
        let values = answer(engine, &json!({ "query": "complete", "kind": "thread", "text": "W" }));
        assert_eq!(values.header()["values"], json!(["worker (2)"]));
        let bytes = |conditions: &[&str]| {
            let answer =
                answer(engine, &json!({ "query": "table", "filter": conditions, "limit": 1 }));
            let total = answer.header()["count"].as_u64().unwrap();
            (total > 0).then(|| column(&answer, "total")[0])
        };
        let [all, main, worker] =
            [&[][..], &["thread:main (1)"], &["thread:worker (2)"]].map(bytes);
        assert!(main.is_some() && worker.is_some() && main < all && worker < all);
    }
}

#[test]
fn a_recording_without_threads_says_so() {
    let engine = crate::queries::recorded::engine(&[&fixture("cache-v2.ctf")]);
    let query = json!({ "query": "overview", "filter": ["live:end", "thread:main"] });
    let (_, error) = api_error(&engine, query.to_string().as_bytes());
    assert_eq!(error["condition"], 1);
}
