//! The words that were replaced, by what, and where the word is right.

use std::path::Path;

/// A word, or words, of identifiers.
pub(super) struct Term {
    /// As in a type, a function or a constant: `Shelf`, `lock_soon`, `MOST`.
    pub(super) old: &'static str,
    pub(super) new: &'static str,
    /// Folders below which it is replaced; empty for all.
    within: &'static [&'static str],
    /// Whether only identifiers that are the word, not those that contain it.
    whole: bool,
    /// Identifiers in which it is the standard term, with the reason.
    allowed: &'static [(&'static str, &'static str)],
}

/// A phrase of running text, as a regular expression.
pub(super) struct Phrase {
    pub(super) pattern: &'static str,
    pub(super) new: &'static str,
    /// What may be around it, with the reason.
    pub(super) allowed: &'static [(&'static str, &'static str)],
}

const fn term(old: &'static str, new: &'static str) -> Term {
    Term { old, new, within: &[], whole: false, allowed: &[] }
}

impl Term {
    const fn within(self, within: &'static [&'static str]) -> Term {
        Term { within, ..self }
    }

    const fn whole(self) -> Term {
        Term { whole: true, ..self }
    }

    const fn except(self, allowed: &'static [(&'static str, &'static str)]) -> Term {
        Term { allowed, ..self }
    }
}

const AGENT: &[&str] = &["crates/agent", "crates/preload"];
const HEAP: &[&str] = &["crates/heap"];
const ENGINE: &[&str] = &["crates/engine", "crates/server", "crates/wasm", "web"];
const PROFILE: &[&str] = &["crates/profile"];
const COMMANDS: &[&str] = &["crates/cli/src"];

const TERMS: &[Term] = &[
    // Server, engine and page.
    term("News", "Event"),
    term("Latest", "RecordingState"),
    term("bell", "Condvar"),
    term("ring", "notify").whole().within(ENGINE),
    term("wait_for_work", "wait"),
    term("Shelf", "SnapshotStore"),
    term("Ask", "Query"),
    term("Asked", "Query"),
    term("Asking", "Query"),
    term("ask", "query").whole().within(ENGINE).except(&[("asks", "the verb, in texts")]),
    term("Refusal", "ApiError"),
    term("Reply", "Response"),
    term("Answer", "Response").within(ENGINE),
    term("Opened", "LoadedSnapshot"),
    term("Taker", "SnapshotTrigger"),
    term("taking", "trigger").whole(),
    term("Chip", "Condition"),
    term("Sentence", "description"),
    term("sentence", "description"),
    term("Choice", "Selection").within(ENGINE),
    term("chosen", "selected").within(ENGINE),
    term("Chosen", "Selected").within(ENGINE),
    // Agent.
    term("Wish", "SnapshotRequest"),
    term("wish", "request"),
    term("try_to_fulfil", "try_snapshot"),
    term("Order", "WriteJob").within(AGENT),
    term("Moment", "Safepoint").within(AGENT),
    term("Frozen", "ForkedView"),
    term("freeze", "fork_snapshot"),
    term("shortage", "memory_pressure"),
    term("exhausted", "out_of_memory").within(AGENT),
    term("fence", "ffi_guard")
        .within(AGENT)
        .except(&[("compiler_fence", "the standard library's")]),
    term("fenced", "ffi_guard").within(AGENT),
    term("Fence", "ErrorBoundary"),
    term("near", "trampoline_page").whole().within(AGENT),
    term("Detour", "Hook"),
    term("arm", "preflight").whole().within(AGENT),
    term("Armed", "PendingStart"),
    term("yielding", "handover"),
    term("Yielding", "Handover"),
    term("give_way", "hand_over"),
    term("early_death", "premature_dealloc"),
    term("Author", "ThreadId"),
    term("author", "thread"),
    term("Receipt", "CaptureToken"),
    term("RECEIPT", "TOKEN"),
    term("Places", "SiteCache").within(AGENT),
    term("Piece", "Segment").within(AGENT),
    term("Part", "Segment").within(AGENT),
    term("Held", "LockGuard").within(AGENT),
    term("lock_soon", "try_lock_for"),
    term("OVER", "EXIT_HANDLED")
        .within(AGENT)
        .except(&[("HANDING_OVER_TO_CHILD", "the verb to hand over")]),
    term("OURS", "OUR_PROFILE"),
    term("TOLD", "REPORTED"),
    term("tell", "report").within(AGENT),
    term("ask", "request").whole().within(&["crates/agent/src/snapshot", "crates/recording"]),
    term("gather", "collect_root").within(AGENT),
    // Heap.
    term("Holder", "RootNode"),
    term("EVERYTHING", "SUPER_ROOT"),
    term("Heads", "BlockStarts").within(HEAP),
    term("head", "tree_root").whole().within(HEAP),
    term("above", "parent").whole().within(&["crates/heap/src/query"]),
    term("via", "predecessor").whole().within(HEAP),
    term("exits", "cross_edges").whole().within(HEAP),
    term("crowd", "large_set"),
    term("Scratch", "MappedArena"),
    term("Spool", "ChunkBuffer"),
    term("Gone", "RemovalSet").within(HEAP),
    term("More", "ConditionalEdge").within(HEAP),
    term("Way", "Path").within(&["crates/heap", "crates/engine", "web"]),
    term("Ways", "Paths").within(&["crates/heap", "crates/engine", "web"]),
    term("Hops", "PathEdges"),
    term("Told", "Details"),
    term("together", "jointly_retained"),
    // Profile.
    term("Course", "LiveSeries"),
    term("suspects", "hot_fragments").within(PROFILE),
    term("Suspects", "Points"),
    term("thin", "subsample").within(PROFILE),
    term("Thin", "Subsample"),
    term("Thinned", "Subsampled").within(ENGINE),
    term("tails", "live_packets").within(&["crates/cli/src", "crates/recording"]),
    // Command line.
    term("patiently", "with_spinner"),
    term("settle", "finalize").whole().within(COMMANDS),
    term("RunAsItIs", "Unrecorded"),
    // All.
    term("MOST", "MAX"),
    term("LONGEST", "MAX"),
    term("NONE", "what is absent: NO_BLOCK").whole(),
    term("Runtime", "a prefix").whole().within(&[
        "crates/agent",
        "crates/heap",
        "crates/recording",
    ]),
];

/// In documents, help texts and comments.
pub(super) const PHRASES: &[Phrase] = &[
    phrase(r"\bheap down\b", "\"takes a heap snapshot\""),
    phrase(r"\bke(ep|eps|pt|eping)( \w+){0,2} alive\b", "\"retains\", \"retained by\""),
    phrase(r"\bhow \w+( \w+)? (is|are) held\b", "\"retaining path\""),
    phrase(r"\bways that share nothing\b", "\"disjoint paths\""),
    phrase(r"\b(stands?|stood|standing) still\b", "\"pauses\""),
    phrase(r"\b(told|tells?) (\w+ ){0,3}apart\b", "\"distinguished\", \"reported separately\""),
    phrase(r"\bseveral (of \w+ )?together\b", "\"jointly retained\""),
    phrase(r"\bof these together\b", "\"jointly retained\""),
    phrase(r"\bcan be got( at)?\b", "\"is reachable\""),
    phrase(r"\bat most so many\b", "\"maximum number of\""),
    phrase(r"\btak(e|es|ing) part\b", "\"is instrumented\""),
    phrase(r"\bwhat strings say\b", "\"string contents\""),
    phrase(r"\bnobody knows\b", "\"is unknown\""),
    phrase(r"\bthinned out\b", "\"subsampled\""),
    phrase(r"\btold as\b", "\"counted as\", \"shown as\""),
    phrase(r"\b(no|on|of) news\b", "\"events\""),
    phrase(r"\b(stands?|lies?) in\b", "\"is in\", \"is stored in\""),
    phrase(
        r"(\}|`) is no (size|duration|number|rate)\b",
        "\"invalid size\", with what is expected",
    ),
    phrase(r"\b(a|the|its|his|their|this|each|whose) wish(es)?\b|\bin peace\b", "\"request\""),
];

/// In documents and help texts only.
pub(super) const PHRASES_FOR_USERS: &[Phrase] = &[
    phrase(r"\b(memory|bytes|words) outside (the|ocaml's|the ocaml) heap\b", "\"off-heap\""),
    phrase(r"\b(is|are|was|were|be) told\b", "\"is reported\""),
    phrase(r"\bsays?\b", "\"shows\", \"reports\""),
    phrase(r"\bstands?\b", "\"is\""),
];

const fn phrase(pattern: &'static str, new: &'static str) -> Phrase {
    Phrase { pattern, new, allowed: &[] }
}

/// The replaced terms, in words.
pub(super) struct Terms(Vec<(Vec<&'static str>, &'static Term)>);

impl Terms {
    pub(super) fn new() -> Terms {
        Terms(TERMS.iter().map(|term| (words(term.old), term)).collect())
    }

    /// The replaced term that an identifier has in it.
    pub(super) fn in_identifier(&self, file: &Path, identifier: &str) -> Option<&'static Term> {
        let words = words(identifier);
        let found = self.0.iter().find(|(old, term)| {
            let matches = if term.whole {
                same(&words, old)
            } else {
                words.windows(old.len()).any(|part| same(part, old))
            };
            let applies = |folder| file.starts_with(folder);
            matches
                && (term.within.is_empty() || term.within.iter().any(applies))
                && !term.allowed.iter().any(|(allowed, _)| *allowed == identifier)
        });
        found.map(|(_, term)| *term)
    }
}

/// The same words, or the plural.
fn same(words: &[&str], old: &[&str]) -> bool {
    let plural = |word: &str, old: &str| word == old || word.strip_suffix('s') == Some(old);
    words.len() == old.len() && words.iter().zip(old).all(|(word, old)| plural(word, old))
}

/// `TimesPart` is `Times`, `Part`; `MAX_ROWS` is `MAX`, `ROWS`.
fn words(identifier: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in identifier.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let mut start = 0;
        let chars: Vec<(usize, char)> = part.char_indices().collect();
        for pair in chars.windows(2) {
            let ((_, before), (at, c)) = (pair[0], pair[1]);
            if c.is_uppercase() && !before.is_uppercase() {
                words.push(&part[start..at]);
                start = at;
            }
        }
        words.push(&part[start..]);
    }
    words
}

#[test]
fn terms_are_found_as_words_of_identifiers() {
    let found = |file: &str, identifier: &str| {
        Terms::new().in_identifier(Path::new(file), identifier).map(|term| term.old)
    };
    assert_eq!(found("crates/heap/src/a.rs", "SnapshotShelf"), Some("Shelf"));
    assert_eq!(found("crates/heap/src/a.rs", "MOST_ROWS"), Some("MOST"));
    assert_eq!(found("crates/heap/src/a.rs", "try_to_fulfil"), Some("try_to_fulfil"));
    assert_eq!(found("web/src/a.ts", "useAsk"), Some("Ask"));
    assert_eq!(found("web/src/a.ts", "Suspects"), Some("Suspects"));
    for (file, identifier) in [
        ("crates/heap/src/a.rs", "Task"),
        ("crates/heap/src/a.rs", "almost"),
        ("crates/text/src/a.rs", "via"),
        ("crates/agent/src/a.rs", "compiler_fence"),
    ] {
        assert_eq!(found(file, identifier), None, "{identifier} in {file}");
    }
    assert_eq!(words("useAskOnce_TWO"), ["use", "Ask", "Once", "TWO"]);
}
