//! The page with everything in it.
//!
//! ```html
//! <meta http-equiv="Content-Security-Policy" …>   nothing is fetched, only these scripts run
//! <script type="application/x-memtrail-script">   the page's script: gzip, base64; a short one unpacks it
//! <script type="application/x-memtrail-wasm">     the engine: xz, base64
//! <script type="application/x-memtrail-trace" data-description="{…}">   one a recording: gzip, base64
//! <script type="application/x-memtrail-snapshot" data-recording="0" data-snapshot="{…}">   the same;
//!                                                 empty where only what is said of it is there
//! <script type="application/x-memtrail-types">    types of blocks and names of variables of the snapshot before it:
//!                                                 the same
//! <script type="application/x-memtrail-answer" data-recording="0" data-snapshot="7" data-query="heapleaks">   a response
//!                                                 about the last snapshot, where that is not there: the same
//! <script type="application/x-memtrail-references" data-recording="0" data-facts="{…}">   references to blocks from
//!                                                 malloc, the same; empty where only the reason is there why there are none
//! <script type="application/x-memtrail-sources">  source files, if there are any: the same
//! <script type="application/x-memtrail-view">     what stands behind # at first
//! ```

use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use memtrail_server::assets::{ENGINE_XZ, INDEX, OFFLINE, SCRIPT, STYLE};
use sha2::{Digest as _, Sha256};

use super::attribute::attribute;
use super::fit::Packed;
use super::gzip::gzip;
use super::source_files::PackedSources;

/// The page's script as it is in the file: to compress it takes 40 ms.
static PACKED_SCRIPT: LazyLock<String> =
    LazyLock::new(|| BASE64_STANDARD.encode(gzip(SCRIPT.as_bytes())));

/// How the served page names its style; `crates/server/assets/index.html` has these very words.
const STYLE_LINK: &str = r#"<link rel="stylesheet" href="viewer.css">"#;
/// How the served page names its script.
const SCRIPT_LINK: &str = r#"<script src="viewer.js" defer></script>"#;
const HEAD: &str = "<head>";
const BODY_END: &str = "</body>";

/// Bytes of the page without any recording.
pub(super) fn bare(sources: &PackedSources) -> u64 {
    assemble(&[], sources, "").len() as u64
}

/// The file's text.
pub(super) fn assemble(recordings: &[Packed], sources: &PackedSources, fragment: &str) -> String {
    // In a page the text of an element ends where its end tag seems to begin.
    let unpacks = OFFLINE.replace("</script", "<\\/script").replace("<!--", "<\\!--");
    let style = STYLE.replace("</style", "<\\/style");
    let policy = format!(
        "default-src 'none'; script-src '{}' '{}' 'wasm-unsafe-eval'; style-src '{}'; \
         img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'",
        hash(&unpacks),
        hash(SCRIPT),
        hash(&style)
    );
    let policy = format!(r#"<meta http-equiv="Content-Security-Policy" content="{policy}">"#);

    let mut data = String::new();
    let mut element = |kind: &str, attributes: &str, content: &str| {
        let kind = format!(r#"type="application/x-memtrail-{kind}"{attributes}"#);
        let _ = writeln!(data, "<script {kind}>{content}</script>");
    };
    if !fragment.is_empty() {
        element("view", "", fragment);
    }
    for (number, packed) in recordings.iter().enumerate() {
        let Packed { description, trace, snapshots, answers, references, .. } = packed;
        element("trace", &attribute("description", description), &BASE64_STANDARD.encode(trace));
        for snapshot in snapshots {
            let facts = attribute("snapshot", &snapshot.facts);
            let attributes = format!(r#" data-recording="{number}"{facts}"#);
            element("snapshot", &attributes, &BASE64_STANDARD.encode(&snapshot.bytes));
            if !snapshot.types.is_empty() {
                element("types", "", &BASE64_STANDARD.encode(&snapshot.types));
            }
        }
        for answer in answers {
            let attributes = format!(
                r#" data-recording="{number}" data-snapshot="{}" data-query="{}""#,
                answer.snapshot, answer.query
            );
            element("answer", &attributes, &BASE64_STANDARD.encode(&answer.bytes));
        }
        if let Some(references) = references {
            let facts = attribute("facts", &references.facts);
            let attributes = format!(r#" data-recording="{number}"{facts}"#);
            element("references", &attributes, &BASE64_STANDARD.encode(&references.bytes));
        }
    }
    if !sources.bytes.is_empty() {
        element("sources", "", &BASE64_STANDARD.encode(&sources.bytes));
    }
    element("script", "", &PACKED_SCRIPT);
    element("wasm", "", &BASE64_STANDARD.encode(ENGINE_XZ));

    let index = INDEX
        .replacen(HEAD, &format!("{HEAD}\n    {policy}"), 1)
        .replacen(STYLE_LINK, "", 1)
        .replacen(SCRIPT_LINK, &format!("<style>{style}</style>"), 1);
    index.replacen(BODY_END, &format!("{data}<script>{unpacks}</script>\n  {BODY_END}"), 1)
}

/// As a content policy names a script.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use memtrail_engine::Description;
    use memtrail_trace::Anomalies;

    use super::super::gzip::gunzip;
    use super::*;

    fn page(name: &str) -> String {
        let description = Description { name: name.into(), ..Description::default() };
        let packed = Packed {
            description,
            trace: vec![1, 2, 3],
            damage: Anomalies::default(),
            snapshots: Vec::new(),
            answers: Vec::new(),
            wanted: 0,
            references: None,
            withheld: false,
        };
        assemble(&[packed], &PackedSources::default(), "f=live:end")
    }

    #[test]
    fn everything_is_inside() {
        let page = page("leak");
        assert!(!page.contains("viewer.js") && !page.contains("viewer.css"));
        assert!(!page.contains("src=\"") && page.matches("href=\"").count() == 1);
        assert!(page.contains(r#"<link rel="icon" href="data:,">"#));
        assert!(page.contains(">AQID</script>"), "the trace");
        assert!(page.contains(">f=live:end</script>"));
        assert_eq!(page.matches("</head>").count(), 1);
    }

    #[test]
    fn a_page_without_recordings_is_small_enough_for_a_bug_report() {
        let bytes = bare(&PackedSources::default());
        assert!(bytes <= 1_258_291, "{bytes} bytes, more than 1.2 MiB");
    }

    #[test]
    fn the_policy_lets_exactly_our_own_script_and_style_run() {
        let page = page("leak");
        let between = |start: &str, end: &str| {
            let from = page.rfind(start).unwrap() + start.len();
            page[from..from + page[from..].find(end).unwrap()].to_owned()
        };
        let unpacks = between("\n<script>", "</script>");
        let script =
            BASE64_STANDARD.decode(between(r#"x-memtrail-script">"#, "</script>")).unwrap();
        let script = String::from_utf8(gunzip(&script).unwrap()).unwrap();
        let style = between("<style>", "</style>");
        let policy = between(r#"Policy" content=""#, r#"">"#);
        let allowed = format!("script-src '{}' '{}'", hash(&unpacks), hash(&script));
        assert!(policy.contains(&allowed), "{policy}");
        assert!(policy.contains(&format!("style-src '{}'", hash(&style))), "{policy}");
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"));
    }

    #[test]
    fn names_are_no_markup() {
        let page = page(r#""><script>alert(1)</script>"#);
        assert!(!page.contains("<script>alert"));
        assert!(page.contains("&quot;&gt;&lt;script&gt;alert(1)"), "the name is still there");
    }
}
