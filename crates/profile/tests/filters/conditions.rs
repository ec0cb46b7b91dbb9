//! `conditions.json`, which the page's parser is tested against, too; and conditions of all kinds, written
//! and read again.

use memtrail_profile::filter::{
    Between, Clause, Collected, Condition, Died, Filter, FrameName, FrameScope, Heap, Millionths,
    Moment, Name,
};
use memtrail_profile::time::Elapsed;
use memtrail_trace::{Bytes, DomainId};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn the_examples_mean_what_they_say() {
    let examples: Vec<Value> = serde_json::from_str(include_str!("../conditions.json")).unwrap();
    assert!(examples.len() > 100);
    for example in examples {
        let text = example["text"].as_str().unwrap();
        match text.parse::<Condition>() {
            Ok(condition) => {
                let said = json!({
                    "text": text,
                    "canonical": condition.to_string(),
                    "condition": condition.form(),
                    "description": condition.description(),
                });
                assert_eq!(said, example, "{text}");
                assert_eq!(condition.to_string().parse(), Ok(condition), "{text}");
            }
            Err(error) => {
                assert_eq!(json!(error.at), example["error"]["at"], "{text}: {error}");
                assert_eq!(json!(error.message), example["error"]["message"], "{text}");
                assert!(text.is_char_boundary(error.at));
            }
        }
    }
}

#[test]
fn a_filter_says_which_condition_is_wrong() {
    let error = Filter::parse(&["live:end", "size:4X", "live:"]).unwrap_err();
    assert_eq!((error.condition, error.at), (1, Some(6)));
    let many = vec!["live:end"; Filter::MAX_CONDITIONS + 1];
    assert_eq!(Filter::parse(&many).unwrap_err().condition, Filter::MAX_CONDITIONS);
    assert_eq!(Filter::parse(&many[1..]).unwrap().conditions().len(), Filter::MAX_CONDITIONS);
}

#[test]
fn a_large_regular_expression_is_refused() {
    assert!("in:/(\\pL{99}){99}{99}/".parse::<Condition>().is_err());
}

fn moment() -> impl Strategy<Value = Moment> {
    prop_oneof![
        Just(Moment::Start),
        Just(Moment::Peak),
        Just(Moment::End),
        (0..=Elapsed::LAST.0).prop_map(|us| Moment::At(Elapsed(us))),
        (0..10_000_000_u64).prop_map(|us| Moment::At(Elapsed(us))),
        (0..=1_000_000_u32).prop_map(|part| Moment::Part(Millionths(part))),
    ]
}

fn between<T: Copy + std::fmt::Debug>(
    one: impl Strategy<Value = T> + Clone,
) -> impl Strategy<Value = Between<T>> {
    let ends = (prop::option::of(one.clone()), prop::option::of(one.clone()), one);
    ends.prop_map(|(from, to, default)| match (from, to) {
        (None, None) => Between::only(default),
        (from, to) => Between { from, to },
    })
}

fn forwards<T: PartialOrd>(range: &Between<T>) -> bool {
    range.from.is_none() || range.to.is_none() || range.from <= range.to
}

fn times() -> impl Strategy<Value = Between<Moment>> {
    between(moment().boxed()).prop_filter("forwards", |range| match (range.from, range.to) {
        (Some(Moment::At(from)), Some(Moment::At(to))) => from <= to,
        (Some(Moment::Part(from)), Some(Moment::Part(to))) => from <= to,
        _ => true,
    })
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![
        "[A-Za-zé_.,~/\"\\\\#()' :-]{0,9}".prop_map(Name::Equals),
        "[A-Za-zé_.,~/\"\\\\#()' :-]{0,9}".prop_map(Name::Contains),
        "[a-z,\"]{0,3}(\\\\[.\\\\d])?(/a)?[^a-z\\[\\]\\\\(){}*+?|\\n]?".prop_map(Name::Matches),
    ]
}

fn some<T: std::fmt::Debug>(one: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(one, 1..4)
}

fn clause() -> impl Strategy<Value = Clause> {
    let heap = prop::sample::select(vec![Heap::Minor, Heap::Major, Heap::External]);
    let died = prop_oneof![Just(Died::Never), heap.clone().prop_map(Died::In)];
    let collected = prop_oneof![Just(Collected::Never), times().prop_map(Collected::Within)];
    let lifetime = between((0..=Elapsed::LAST.0).prop_map(Elapsed).boxed());
    let size = between((0..=1_u64 << 53).prop_map(Bytes).boxed());
    let which = prop::sample::select(vec![FrameScope::Any, FrameScope::Innermost]);
    let what = prop::sample::select(vec![FrameName::Function, FrameName::Module, FrameName::File]);
    prop_oneof![
        some(times()).prop_map(Clause::Allocated),
        some(times()).prop_map(Clause::Live),
        some(collected).prop_map(Clause::Collected),
        some(lifetime.prop_filter("forwards", forwards)).prop_map(Clause::Lifetime),
        some(size.prop_filter("forwards", forwards)).prop_map(Clause::Size),
        some(heap).prop_map(Clause::Heap),
        some(died).prop_map(Clause::Died),
        some(any::<u16>().prop_map(DomainId)).prop_map(Clause::Domain),
        some(name()).prop_map(Clause::Thread),
        some(name()).prop_map(Clause::Process),
        (which, what, some(name()))
            .prop_map(|(which, what, names)| { Clause::Frame(which, what, names) }),
        some(name()).prop_map(Clause::Hide),
        some(name()).prop_map(Clause::Collapse),
    ]
}

proptest! {
    #[test]
    fn conditions_read_as_they_were_written(not in any::<bool>(), clause in clause()) {
        let not = not && !clause.transforms_paths();
        let condition = Condition { not, clause };
        prop_assert_eq!(condition.to_string().parse(), Ok(condition));
    }

    #[test]
    fn any_text_is_a_condition_or_says_where_it_is_wrong(
        text in "-?(live|size|in|heap|lifetime|domain|collected|hide|x)?:?[0-9a-z.,%~/\"\\\\é ]{0,12}",
    ) {
        match text.parse::<Condition>() {
            Ok(condition) => prop_assert_eq!(condition.to_string().parse(), Ok(condition)),
            Err(error) => prop_assert!(text.is_char_boundary(error.at)),
        }
    }
}
