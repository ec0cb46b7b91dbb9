//! The verdict on a recording, in one sentence. The command line, gates and the page show this one.

use memtrail_text::rounded::{bytes, grouped, percent};

use super::descriptions::{covers_little, is_unjudged, unjudged_share};
use super::response::{Conclusion, LeakVerdict, LeaksResponse, UnreachableResponse};
use crate::references::estimate;

impl Conclusion {
    /// The verdict on what was found so far.
    #[must_use]
    pub fn of(found: &LeaksResponse) -> Self {
        let unreachable = found.unreachable.as_ref();
        let leaked = unreachable.and_then(unreachable_blocks);
        let count = found.suspects.len() + found.left_out;
        let suspects = (count > 0).then(|| {
            let plural = if count == 1 { "suspect" } else { "suspects" };
            format!("{} leak {plural}", grouped(count as u64))
        });
        let (verdict, mut description) = if leaked.is_some() || suspects.is_some() {
            let parts: Vec<String> = leaked.into_iter().chain(suspects).collect();
            return Self { verdict: LeakVerdict::Leaks, description: parts.join("; ") };
        } else if let Some(unrecorded) = &found.unrecorded {
            let part = percent(unrecorded.share);
            let description =
                format!("no leak found, but {part} of resident memory was not recorded");
            (LeakVerdict::Undecided, description)
        } else if found.evidence.is_sparse() {
            let samples = found.evidence.before + found.evidence.after;
            let blocks = if samples == 1 { "block was" } else { "blocks were" };
            let description = format!(
                "no leak found, but {} {blocks} sampled: too few to judge; sample more (--rate)",
                if samples == 0 { "no".to_owned() } else { grouped(samples) }
            );
            (LeakVerdict::Undecided, description)
        } else if let Some(freed) = found.freed_at_end {
            let description = format!(
                "no leak found, but {} that had been kept was freed shortly before the last snapshot; take some while the program \
                 works (--snapshot every-major)",
                bytes(freed.0 as f64)
            );
            (LeakVerdict::Undecided, description)
        } else if is_unjudged(found) {
            let part = percent(unjudged_share(found));
            let description =
                format!("no leak found, but too little evidence on {part} of the heap");
            (LeakVerdict::Undecided, description)
        } else if let Some(damaged) = found.damaged.first() {
            let number = damaged.number;
            let description = format!("no leak found, but snapshot {number} is damaged");
            (LeakVerdict::Undecided, description)
        } else if let Some(why) = &found.incomplete {
            let description = format!("no leak found, but the recording is not whole: {why}");
            (LeakVerdict::Undecided, description)
        } else if let Some(why) = &found.unexamined {
            (LeakVerdict::Undecided, format!("no leak found, but {why}"))
        } else {
            (LeakVerdict::NoLeak, "no leak found".to_owned())
        };
        if let Some(unreachable) = unreachable {
            let other = if unreachable.forgotten > 0 { "other " } else { "" };
            let kind = format!("; no {other}unreachable block was sampled (conservative scan)");
            description.push_str(&kind);
        }
        Self { verdict, description }
    }

    /// The verdict on several processes: a leak in one of them is a leak, and all have to be judged.
    #[must_use]
    pub fn of_processes(verdicts: &[LeakVerdict]) -> Self {
        let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        let all = verdicts.len();
        let (leaks, undecided) = (count(LeakVerdict::Leaks), count(LeakVerdict::Undecided));
        if leaks > 0 {
            let description = format!("leaks in {leaks} of {all} processes");
            Self { verdict: LeakVerdict::Leaks, description }
        } else if undecided > 0 {
            let description =
                format!("no leak found, but too little evidence in {undecided} of {all} processes");
            Self { verdict: LeakVerdict::Undecided, description }
        } else {
            let description = "no leak found in any process".to_owned();
            Self { verdict: LeakVerdict::NoLeak, description }
        }
    }
}

/// The blocks to which nothing refers. A sampled one is a leak: chance decides only which blocks are sampled.
fn unreachable_blocks(found: &UnreachableResponse) -> Option<String> {
    let sites = if found.count == 1 { "call site" } else { "call sites" };
    (found.unreachable.sampled > 0).then(|| {
        format!(
            "nothing refers to {}, from {} {sites} (conservative scan)",
            estimate(&found.unreachable),
            found.count
        )
    })
}

impl LeaksResponse {
    /// Sentences that readers should know before they act on a suspect.
    pub(crate) fn reservations(&self) -> impl Iterator<Item = String> {
        // Unreachable blocks are leaks for sure, however short the run was.
        let growth = (!self.suspects.is_empty()).then_some(self);
        let unrecorded = self.unrecorded.as_ref().map(|found| found.description.clone());
        let teardown = self.teardown.map(|teardown| teardown.description());
        unrecorded.into_iter().chain(teardown).chain(growth.and_then(covers_little))
    }

    /// Leaves out all but so many suspects, and stores the verdict on all of them.
    pub fn conclude(&mut self, limit: usize) {
        self.left_out += self.suspects.len().saturating_sub(limit);
        self.suspects.truncate(limit);
        if let Some(unreachable) = &mut self.unreachable {
            unreachable.sites.truncate(limit);
        }
        self.conclusion = Conclusion::of(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "1 leak suspect" was the verdict on three with `--limit 1`.
    #[test]
    fn suspects_that_the_limit_left_out_count() {
        let mut found = LeaksResponse { left_out: 2, ..LeaksResponse::default() };
        found.conclude(0);
        assert_eq!(found.conclusion.description, "2 leak suspects");
        assert_eq!(found.conclusion.verdict, LeakVerdict::Leaks);
    }

    /// A recording that a full disk had cut had "no leak".
    #[test]
    fn what_was_not_written_is_not_cleared() {
        let why = Some("ended when writing failed".to_owned());
        let mut found = LeaksResponse { incomplete: why, ..LeaksResponse::default() };
        found.conclude(10);
        assert_eq!(found.conclusion.verdict, LeakVerdict::Undecided);
        let expected = "no leak found, but the recording is not whole: ended when writing failed";
        assert_eq!(found.conclusion.description, expected);
    }

    /// `leaks` found no leak, and `check` could not judge: a snapshot had failed.
    #[test]
    fn without_references_that_were_looked_for_nothing_is_cleared() {
        let why = Some("what refers to blocks is not known: the snapshot failed".to_owned());
        let mut found = LeaksResponse { unexamined: why, ..LeaksResponse::default() };
        found.conclude(10);
        assert_eq!(found.conclusion.verdict, LeakVerdict::Undecided);
        let expected = "no leak found, but what refers to blocks is not known: the snapshot failed";
        assert_eq!(found.conclusion.description, expected);
    }

    #[test]
    fn a_family_is_judged_by_all_its_processes() {
        use LeakVerdict::{Leaks, NoLeak, Undecided};
        let of = |verdicts: &[LeakVerdict]| Conclusion::of_processes(verdicts).description;
        assert_eq!(of(&[NoLeak, Leaks, Undecided]), "leaks in 1 of 3 processes");
        assert_eq!(
            of(&[NoLeak, Undecided]),
            "no leak found, but too little evidence in 1 of 2 processes"
        );
        assert_eq!(of(&[NoLeak, NoLeak]), "no leak found in any process");
    }
}
