//! Members that are missing, cut or unreadable take nothing from the others.

use std::fs;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

use super::{json, memtrail};

#[test]
fn what_can_be_read_of_a_family_is_shown() {
    let case = Case::new(&build(&named("ocaml-4.14.1000"), "family"), &[]);
    let case = case.options(&["--rate", "1", "--children"]);
    let (_, recordings) = case.recorded_in_folder();
    let family = recordings[0].parent().expect("a folder");
    let whole = json(&["report", "--json"], family);
    let processes = whole["family"]["processes"].as_array().expect("processes");
    let name = |index: usize| family.join(processes[index]["recording"].as_str().unwrap());

    // The first is the largest, and stays whole.
    fs::remove_dir_all(name(1)).unwrap();
    fs::write(name(2).join("recording.json"), "{").unwrap();
    fs::remove_file(name(3).join("trace.ctf")).unwrap();
    let trace = name(4).join("trace.ctf");
    let bytes = fs::read(&trace).unwrap();
    fs::write(&trace, &bytes[..bytes.len() * 2 / 3]).unwrap();
    fs::write(family.join("notes.txt"), "not a recording").unwrap();

    let output = memtrail(&["report", "--json"], family);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let cut = name(4);
    let cut = cut.file_name().unwrap().to_str().unwrap();
    assert!(stderr.contains(&format!("{cut} is damaged")), "{stderr}");
    assert!(stderr.contains("hint: the other processes were used"), "{stderr}");
    let rest: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let left = rest["family"]["processes"].as_array().unwrap();
    assert_eq!(left.len(), processes.len() - 1);
    assert_eq!(left[0]["totals"], processes[0]["totals"]);
    let all = |whole: &serde_json::Value| {
        whole["report"]["totals"]["allocated"]["bytes"].as_f64().unwrap()
    };
    assert!(all(&rest) < all(&whole) && all(&rest) > 0.3 * all(&whole));

    let text = memtrail(&["report"], family);
    assert!(!text.stdout.is_empty());
    assert!(String::from_utf8_lossy(&text.stdout).contains("cannot be read"), "{text:?}");
}
