//! The outcome of one run: its expected verdict against what `leaks` and `check` say.

use serde_json::Value;

use super::label::Truth;

/// Exit code of `check` on a recording that cannot be judged.
const UNDECIDED: i32 = 6;
/// Exit code of `check` on a recording with a suspect.
const FAILED: i32 = 4;

/// How a verdict compares with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Outcome {
    /// The verdict is right: owner and call site first, or no suspect.
    Right,
    /// There is too little evidence, and it says so.
    Undecided,
    /// The owner is right, and no call site is named.
    SiteUnknown,
    /// A leak, and no suspect, and not undecided.
    Missed,
    /// The first suspect is another owner, or another function allocated it.
    Wrong,
    /// A suspect that does not grow.
    False,
    /// `leaks` and `check` do not agree.
    Disagree,
}

impl Outcome {
    pub(super) const ALL: [Self; 7] = [
        Self::Right,
        Self::Undecided,
        Self::SiteUnknown,
        Self::Missed,
        Self::Wrong,
        Self::False,
        Self::Disagree,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Undecided => "undecided",
            Self::SiteUnknown => "site unknown",
            Self::Missed => "missed",
            Self::Wrong => "wrong",
            Self::False => "false suspect",
            Self::Disagree => "disagree",
        }
    }

    /// The outcome of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// Compare the truth with the JSON of `leaks` and the exit code of `check --no-leak`.
pub(super) fn compare(truth: &Truth, leaks: &Value, check: i32) -> Outcome {
    let suspects = leaks["suspects"].as_array().map_or(&[][..], Vec::as_slice);
    let leaked = leaks["unreachable"]["unreachable"]["sampled"].as_u64().unwrap_or(0);
    let is_listed = !suspects.is_empty() || leaked > 0;
    if is_listed != (check == FAILED) {
        return Outcome::Disagree;
    }
    if leaks.is_null() {
        return if check == UNDECIDED { Outcome::Undecided } else { Outcome::Disagree };
    }
    match truth {
        Truth::Sound if check == UNDECIDED => Outcome::Undecided,
        Truth::Sound if !is_listed => Outcome::Right,
        Truth::Sound => Outcome::False,
        Truth::NotRecorded => match (suspects.is_empty(), check) {
            (true, UNDECIDED) => Outcome::Right,
            (true, _) => Outcome::Missed,
            (false, _) => Outcome::False,
        },
        Truth::Grows { owner, sites } => match suspects {
            [] if check == UNDECIDED => Outcome::Undecided,
            [] => Outcome::Missed,
            [first, rest @ ..] => {
                let is_owner = |suspect: &Value| {
                    let named = |name: &Value| {
                        name.as_str().is_some_and(|name| name.starts_with(owner.as_str()))
                    };
                    if suspect["kind"] != "site" {
                        return named(&suspect["owner"]);
                    }
                    let retainer = &suspect["retained_by"][0]["name"];
                    (retainer.is_null() || named(retainer))
                        && site(suspect, sites) == Outcome::Right
                };
                if !is_owner(first) {
                    Outcome::Wrong
                } else if !rest.iter().all(is_owner) {
                    Outcome::False
                } else {
                    site(first, sites)
                }
            }
        },
    }
}

/// Of a suspect that is the right owner.
fn site(suspect: &Value, sites: &[String]) -> Outcome {
    let allocated = suspect["allocated"].as_array().map_or(&[][..], Vec::as_slice);
    let named = |function: &Value| {
        let function = function.as_str().unwrap_or_default();
        sites.iter().any(|site| function.starts_with(site.as_str()))
    };
    if sites.is_empty() || allocated.iter().any(|place| named(&place["function"])) {
        Outcome::Right
    } else if allocated.is_empty() {
        Outcome::SiteUnknown
    } else {
        Outcome::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn verdicts_are_compared_with_the_truth() {
        let grows = Truth::Grows { owner: "A.table".into(), sites: vec!["A.add".into()] };
        let found = |owner: &str, site: &str| json!({ "suspects": [{ "owner": owner, "allocated": [{ "function": site }] }] });
        let none = json!({ "suspects": [] });
        let table = Truth::Grows { owner: "variable table".into(), sites: vec!["put".into()] };
        let retained = |by: &str| {
            json!({ "suspects": [{
            "kind": "site", "owner": "put (a.c:12)", "retained_by": [{ "name": by, "share": 1.0 }],
            "allocated": [{ "function": "put" }],
        }] })
        };
        let unreachable =
            json!({ "suspects": [], "unreachable": { "unreachable": { "sampled": 3 } } });
        let cases = [
            (&grows, found("A.table", "A.add.(fun)"), 4, Outcome::Right),
            (&grows, found("A.table", "B.add"), 4, Outcome::Wrong),
            (&grows, found("B.table", "A.add"), 4, Outcome::Wrong),
            (&grows, none.clone(), 6, Outcome::Undecided),
            (&grows, none.clone(), 0, Outcome::Missed),
            (&grows, found("A.table", "A.add"), 0, Outcome::Disagree),
            (&Truth::Sound, none.clone(), 0, Outcome::Right),
            (&Truth::Sound, none.clone(), 4, Outcome::Disagree),
            (&Truth::Sound, found("A.table", "A.add"), 4, Outcome::False),
            (&Truth::NotRecorded, none.clone(), 6, Outcome::Right),
            (&Truth::NotRecorded, none.clone(), 0, Outcome::Missed),
            (&table, retained("variable table (a.c:9)"), 4, Outcome::Right),
            (&table, retained("variable other (a.c:3)"), 4, Outcome::Wrong),
            (&Truth::Sound, unreachable.clone(), 4, Outcome::False),
            (&table, unreachable, 4, Outcome::Missed),
        ];
        for (truth, leaks, check, expected) in cases {
            assert_eq!(compare(truth, &leaks, check), expected, "{truth:?} {leaks} {check}");
        }
    }
}
