//! The files of a small trace, as they are.

use memtrail_export::{Format, firefox, folded, json, pprof, speedscope, svg};

use crate::recorded::with;
use crate::written::trace;

fn pretty(json: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(json).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

#[test]
fn folded() {
    let text = with(Format::Folded, &trace(), &[], folded::write);
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
}

#[test]
fn speedscope() {
    insta::assert_snapshot!(pretty(&with(
        Format::Speedscope,
        &trace(),
        &["live:end"],
        speedscope::write
    )));
}

#[test]
fn pprof() {
    insta::assert_debug_snapshot!(with(Format::Pprof, &trace(), &["live:end"], pprof::profile));
}

#[test]
fn firefox() {
    insta::assert_snapshot!(pretty(&with(Format::Firefox, &trace(), &[], firefox::write)));
}

#[test]
fn json() {
    insta::assert_snapshot!(pretty(&with(Format::Json, &trace(), &["in:Cache.add"], json::write)));
}

#[test]
fn svg() {
    let shown = |parent, name, group, bytes| svg::Box {
        parent,
        name,
        details: format!("{bytes} bytes"),
        group,
        bytes,
    };
    let picture = svg::Picture {
        title: "program <&>",
        subtitle: "live at the end",
        boxes: vec![
            shown(0, "all code", "", 100.0),
            shown(0, "Main.serve", "Main", 70.0),
            shown(0, "<script>alert(1)</script>", "Élan", 30.0),
            shown(1, "Cache.add", "Cache", 69.0),
            shown(2, "Élan.démarrer.(fun)", "Élan", 5.0),
        ],
    };
    insta::assert_snapshot!(String::from_utf8(picture.write()).unwrap());
}
