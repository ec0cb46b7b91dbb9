//! What is rounded for people reads the same in the terminal and in the page: `rounded.json` holds this
//! crate and `web/src/text/units.ts` to one text.

use memtrail_text::rounded::{bytes, bytes_with_error, count, grouped, percent, seconds};
use serde_json::Value;

fn examples() -> Value {
    serde_json::from_str(include_str!("rounded.json")).unwrap()
}

/// Numbers and the text that they give.
fn cases(of: &str) -> Vec<(Vec<f64>, String)> {
    let examples = examples();
    let cases = examples[of].as_array().unwrap().iter().map(|case| {
        let (text, numbers) = case.as_array().unwrap().split_last().unwrap();
        let numbers = numbers.iter().map(|number| number.as_f64().unwrap()).collect();
        (numbers, text.as_str().unwrap().to_owned())
    });
    cases.collect()
}

#[test]
fn each_example_has_its_text() {
    let format = |of: &str, numbers: &[f64]| match (of, numbers) {
        ("bytes", &[size]) => bytes(size),
        ("bytes_with_error", &[size, stderr]) => bytes_with_error(size, stderr),
        ("count", &[number]) => count(number),
        ("grouped", &[number]) => grouped(number as u64),
        ("percent", &[share]) => percent(share),
        ("seconds", &[time]) => seconds(time),
        _ => panic!("no function is called {of}"),
    };
    let kinds: Vec<String> = examples().as_object().unwrap().keys().cloned().collect();
    assert_eq!(kinds.len(), 6);
    for of in kinds {
        for (numbers, text) in cases(&of) {
            assert_eq!(format(&of, &numbers), text, "{of} of {numbers:?}");
        }
    }
    assert!(bytes(1e300).ends_with(" EiB"));
}
