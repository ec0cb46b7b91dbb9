//! `memtrail who` of a type that a kind is called like.

use serde_json::Value;

use super::flow::typed;
use super::printed;

// Blocks of the kind without a type were left out: `who REC string` was about a few of a program's strings.
#[test]
fn who_of_a_type_means_the_blocks_of_its_row_in_the_histogram() {
    let (_folder, recording) = typed("system", "typed_values.ml", &[]);
    let asked = |words: &[&str]| -> Value {
        let words = words.iter().map(AsRef::as_ref);
        serde_json::from_str(&printed(words.chain([recording.as_os_str()]))).unwrap()
    };
    let histogram = asked(&["heap", "histogram", "--limit", "0", "--json"]);
    let rows = histogram["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["kind"] == "string").unwrap();
    let recording = recording.as_os_str();
    let who = printed(["who".as_ref(), recording, "string".as_ref(), "--json".as_ref()]);
    let who: Value = serde_json::from_str(&who).unwrap();
    assert_eq!(who["of"], "type", "{who}");
    assert_eq!(who["size"], row["bytes"], "{who} {row}");
}
