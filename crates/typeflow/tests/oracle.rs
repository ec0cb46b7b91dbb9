//! Types of random heaps against a slow walk that keeps all types of a block, and against what each block was made as.
//!
//! The walk shares nothing with the crate: its types are trees, and arguments are substituted where they stand.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Program, fields};
use memtrail_heap::model::{Made, Value};
use memtrail_heap::tag;
use memtrail_types::term::{Constructor, DeclarationId, Definition, Term, TermId};
use proptest::prelude::*;

/// A type as a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tree {
    Int,
    String,
    Float,
    Variable(u32),
    Tuple(Vec<Tree>),
    Array(Box<Tree>),
    Lazy(Box<Tree>),
    Declared(usize, Vec<Tree>),
}

/// What a declared type is.
#[derive(Clone, Debug)]
enum Meaning {
    Alias(Tree),
    Unboxed(Tree),
    Record(Vec<Tree>),
    /// Arguments of each constructor.
    Variant(Vec<Vec<Tree>>),
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Declarations, by number; each with as many parameters as it has.
struct Declared {
    parameters: Vec<u32>,
    meanings: Vec<Meaning>,
}

impl Declared {
    fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(5);
        let parameters: Vec<u32> = (0..count).map(|_| random.below(3) as u32).collect();
        let mut declared = Self { parameters, meanings: Vec::new() };
        for number in 0..count {
            let variables = declared.parameters[number];
            let several = |random: &mut Random, least| {
                (0..least + random.below(3))
                    .map(|_| declared.tree(random, variables, 2, count))
                    .collect::<Vec<_>>()
            };
            let meaning = match random.below(6) {
                // Only earlier ones, so that abbreviations end.
                0 => Meaning::Alias(declared.tree(random, variables, 2, number)),
                1 => Meaning::Unboxed(declared.tree(random, variables, 2, number)),
                2 | 3 => Meaning::Record(several(random, 1)),
                _ => Meaning::Variant((0..=random.below(3)).map(|_| several(random, 0)).collect()),
            };
            declared.meanings.push(meaning);
        }
        declared
    }

    /// Arguments of declared types are variables or have no parts: then there is no end of types.
    fn tree(&self, random: &mut Random, variables: u32, depth: usize, below: usize) -> Tree {
        let simple = |random: &mut Random| match random.below(4) {
            0 if variables > 0 => Tree::Variable(random.below(variables as usize) as u32),
            1 => Tree::Int,
            2 => Tree::Float,
            _ => Tree::String,
        };
        match random.below(if depth == 0 { 3 } else { 8 }) {
            3 => {
                let parts = 2 + random.below(2);
                Tree::Tuple(
                    (0..parts).map(|_| self.tree(random, variables, depth - 1, below)).collect(),
                )
            }
            4 => Tree::Array(Box::new(self.tree(random, variables, depth - 1, below))),
            5 => Tree::Lazy(Box::new(self.tree(random, variables, depth - 1, below))),
            6 | 7 if below > 0 => {
                let number = random.below(below);
                let count = self.parameters[number];
                Tree::Declared(number, (0..count).map(|_| simple(random)).collect())
            }
            _ => simple(random),
        }
    }

    fn head(&self, tree: &Tree) -> Tree {
        let mut at = tree.clone();
        while let Tree::Declared(number, arguments) = &at {
            let (Meaning::Alias(of) | Meaning::Unboxed(of)) = &self.meanings[*number] else {
                break;
            };
            at = substitute(of, arguments);
        }
        at
    }

    /// What the fields of a block are, if it can be of this type; and the type that it is then.
    fn check(&self, tree: &Tree, tag: u8, size: usize) -> Option<(Tree, Option<usize>, Vec<Tree>)> {
        let head = self.head(tree);
        let types = match &head {
            Tree::Int | Tree::Variable(_) => return None,
            Tree::String => (tag == tag::STRING).then_some((None, Vec::new())),
            Tree::Float => (tag == tag::DOUBLE).then_some((None, Vec::new())),
            Tree::Tuple(parts) => (tag == 0 && parts.len() == size).then(|| (None, parts.clone())),
            Tree::Array(of) if tag == 0 => Some((None, vec![(**of).clone(); size])),
            Tree::Array(of) => (tag == tag::DOUBLE_ARRAY && self.head(of) == Tree::Float)
                .then_some((None, Vec::new())),
            Tree::Lazy(of) if tag == tag::FORWARD => {
                (size == 1).then(|| (None, vec![(**of).clone()]))
            }
            Tree::Lazy(of) => return self.check(of, tag, size),
            Tree::Declared(number, arguments) => {
                let all = |parts: &[Tree]| parts.iter().map(|p| substitute(p, arguments)).collect();
                match &self.meanings[*number] {
                    Meaning::Record(parts) => {
                        (tag == 0 && parts.len() == size).then(|| (None, all(parts)))
                    }
                    Meaning::Variant(constructors) => {
                        let with = constructors.iter().enumerate().filter(|(_, c)| !c.is_empty());
                        let found =
                            with.enumerate().find(|(number, _)| *number == usize::from(tag));
                        found
                            .filter(|(_, (_, parts))| parts.len() == size)
                            .map(|(_, (place, parts))| (Some(place), all(parts)))
                    }
                    Meaning::Alias(_) | Meaning::Unboxed(_) => None,
                }
            }
        };
        types.map(|(constructor, types)| (head, constructor, types))
    }

    /// As the crate writes it.
    fn text(tree: &Tree, is_part: bool) -> String {
        let all = |trees: &[Tree], by: &str, is_part| {
            trees.iter().map(|tree| Self::text(tree, is_part)).collect::<Vec<_>>().join(by)
        };
        match tree {
            Tree::Int => "int".into(),
            Tree::String => "string".into(),
            Tree::Float => "float".into(),
            Tree::Variable(_) => "_".into(),
            Tree::Tuple(parts) if is_part => format!("({})", all(parts, " * ", true)),
            Tree::Tuple(parts) => all(parts, " * ", true),
            Tree::Array(of) => format!("{} array", Self::text(of, true)),
            Tree::Lazy(of) => format!("{} lazy_t", Self::text(of, true)),
            Tree::Declared(number, arguments) => match arguments.as_slice() {
                [] => format!("d{number}"),
                [only] => format!("{} d{number}", Self::text(only, true)),
                several => format!("({}) d{number}", all(several, ", ", false)),
            },
        }
    }

    fn shown(&self, tree: &Tree, constructor: Option<usize>) -> String {
        let text = Self::text(tree, false);
        let Tree::Declared(number, _) = tree else { return text };
        match (&self.meanings[*number], constructor) {
            (Meaning::Variant(all), Some(place)) if all.len() > 1 => format!("{text}.C{place}"),
            _ => text,
        }
    }
}

fn substitute(tree: &Tree, arguments: &[Tree]) -> Tree {
    let all = |trees: &[Tree]| trees.iter().map(|tree| substitute(tree, arguments)).collect();
    match tree {
        Tree::Variable(number) => arguments[*number as usize].clone(),
        Tree::Tuple(parts) => Tree::Tuple(all(parts)),
        Tree::Array(of) => Tree::Array(Box::new(substitute(of, arguments))),
        Tree::Lazy(of) => Tree::Lazy(Box::new(substitute(of, arguments))),
        Tree::Declared(number, of) => Tree::Declared(*number, all(of)),
        other => other.clone(),
    }
}

/// A heap that is made by types, and what each block was made as.
struct Heap {
    program: Program,
    made_as: Vec<String>,
    of_type: BTreeMap<String, Vec<Made>>,
    blocks: Vec<(u8, Vec<Value>)>,
    roots: Vec<(Tree, Value)>,
}

impl Heap {
    fn term(&mut self, tree: &Tree) -> TermId {
        let all =
            |heap: &mut Self, trees: &[Tree]| trees.iter().map(|tree| heap.term(tree)).collect();
        let term = match tree {
            Tree::Int => Term::Constant("int".into()),
            Tree::String => Term::String("string".into()),
            Tree::Float => Term::Float,
            Tree::Variable(number) => Term::Variable(*number),
            Tree::Tuple(parts) => Term::Tuple(all(self, parts)),
            Tree::Array(of) => Term::Array(self.term(of)),
            Tree::Lazy(of) => Term::Lazy(self.term(of)),
            Tree::Declared(number, of) => {
                Term::Declared(DeclarationId(*number as u32), all(self, of))
            }
        };
        self.program.term(term)
    }

    fn declare(&mut self, declared: &Declared) {
        for (number, meaning) in declared.meanings.iter().enumerate() {
            let labelled = |heap: &mut Self, parts: &[Tree]| {
                let terms: Vec<TermId> = parts.iter().map(|part| heap.term(part)).collect();
                fields(&terms.iter().map(|term| ("", *term)).collect::<Vec<_>>())
            };
            let definition = match meaning {
                Meaning::Alias(of) => Definition::Alias(self.term(of)),
                Meaning::Unboxed(of) => Definition::Unboxed(self.term(of)),
                Meaning::Record(parts) => {
                    Definition::Record { fields: labelled(self, parts), is_floats: false }
                }
                Meaning::Variant(constructors) => {
                    let mut tags = 0..;
                    let all = constructors.iter().enumerate().map(|(place, parts)| Constructor {
                        name: format!("C{place}"),
                        tag: (!parts.is_empty()).then(|| tags.next().unwrap()),
                        arguments: labelled(self, parts),
                        result: None,
                    });
                    Definition::Variant(all.collect())
                }
            };
            self.program.declare(&format!("d{number}"), declared.parameters[number], definition);
        }
    }

    fn add(&mut self, tag: u8, fields: &[Value], shown: String) -> Value {
        let made = self.program.heap.block(tag, fields);
        self.blocks.push((tag, fields.to_vec()));
        self.of_type.entry(shown.clone()).or_default().push(made);
        self.made_as.push(shown);
        Value::Block(made)
    }

    /// A value of a type; deep ones end with integers, which any field can be as the heap shows pointers alone.
    fn value(
        &mut self,
        declared: &Declared,
        random: &mut Random,
        tree: &Tree,
        depth: usize,
    ) -> Value {
        let head = declared.head(tree);
        if depth == 0 {
            return Value::Int(0);
        }
        let (constructor, tag, types) = match &head {
            Tree::Int | Tree::Variable(_) => return Value::Int(1),
            // The collector puts no lazy value in the place of the one that it is the value of.
            Tree::Lazy(of)
                if !matches!(declared.head(of), Tree::Lazy(_)) && random.below(2) == 0 =>
            {
                return self.value(declared, random, of, depth);
            }
            Tree::String => (None, tag::STRING, None),
            Tree::Float => (None, tag::DOUBLE, None),
            Tree::Lazy(of) => (None, tag::FORWARD, Some(vec![(**of).clone()])),
            Tree::Tuple(parts) => (None, 0, Some(parts.clone())),
            Tree::Array(of) if declared.head(of) == Tree::Float => (None, tag::DOUBLE_ARRAY, None),
            Tree::Array(of) => (None, 0, Some(vec![(**of).clone(); 1 + random.below(4)])),
            Tree::Declared(number, arguments) => {
                let all = |parts: &[Tree]| parts.iter().map(|p| substitute(p, arguments)).collect();
                match &declared.meanings[*number] {
                    Meaning::Record(parts) => (None, 0, Some(all(parts))),
                    Meaning::Variant(constructors) => {
                        let place = random.below(constructors.len());
                        if constructors[place].is_empty() {
                            return Value::Int(place as i64);
                        }
                        let before = &constructors[..place];
                        let tag = before.iter().filter(|c| !c.is_empty()).count() as u8;
                        (Some(place), tag, Some(all(&constructors[place])))
                    }
                    Meaning::Alias(_) | Meaning::Unboxed(_) => unreachable!("heads are expanded"),
                }
            }
        };
        let shown = declared.shown(&head, constructor);
        if random.below(3) == 0
            && let Some(there) = self.of_type.get(&shown)
        {
            return Value::Block(there[random.below(there.len())]);
        }
        let fields = match types {
            None => vec![Value::Raw(0x0700_0000_0000_0000)],
            Some(types) => {
                types.iter().map(|ty| self.value(declared, random, ty, depth - 1)).collect()
            }
        };
        self.add(tag, &fields, shown)
    }

    fn random(seed: u64, is_damaged: bool) -> (Self, Declared) {
        let mut random = Random(seed);
        let declared = Declared::random(&mut random);
        let mut heap = Self {
            program: Program::new(),
            made_as: Vec::new(),
            of_type: BTreeMap::new(),
            blocks: Vec::new(),
            roots: Vec::new(),
        };
        heap.declare(&declared);
        for _ in 0..=random.below(4) {
            let tree = declared.tree(&mut random, 0, 2, declared.meanings.len());
            let value = heap.value(&declared, &mut random, &tree, 6);
            heap.roots.push((tree, value));
        }
        if is_damaged && !heap.blocks.is_empty() {
            for _ in 0..=random.below(3) {
                let block = random.below(heap.blocks.len());
                if heap.blocks[block].0 >= tag::ABSTRACT {
                    continue;
                }
                let field = random.below(heap.blocks[block].1.len());
                let value = Value::Block(Made(random.below(heap.blocks.len())));
                heap.blocks[block].1[field] = value;
                heap.program.heap.set(Made(block), field, value);
            }
        }
        for (tree, value) in heap.roots.clone() {
            let term = heap.term(&tree);
            heap.program.global(term, value);
        }
        (heap, declared)
    }

    /// All types of each block.
    fn walk(&self, declared: &Declared) -> Vec<BTreeSet<String>> {
        let mut found = vec![BTreeSet::new(); self.blocks.len()];
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<(Tree, Value)> = self.roots.clone();
        while let Some((tree, value)) = waiting.pop() {
            let Value::Block(made) = value else { continue };
            if !seen.insert((made, tree.clone())) {
                continue;
            }
            let (tag, fields) = &self.blocks[made.0];
            if let Some((head, constructor, types)) = declared.check(&tree, *tag, fields.len()) {
                found[made.0].insert(declared.shown(&head, constructor));
                waiting.extend(types.into_iter().zip(fields.iter().copied()));
            }
        }
        found
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn blocks_have_the_types_that_they_were_made_as(seed in any::<u64>()) {
        let (heap, declared) = Heap::random(seed, false);
        let (types, coverage) = heap.program.types();
        prop_assert_eq!(&types, &heap.made_as);
        prop_assert_eq!((coverage.contradictions, coverage.differing), (0, 0));
        let all: Vec<Vec<String>> =
            heap.walk(&declared).into_iter().map(|types| types.into_iter().collect()).collect();
        prop_assert_eq!(all, types.into_iter().map(|ty| vec![ty]).collect::<Vec<_>>());
    }

    /// Pointers that no type allows, or that give a block several.
    #[test]
    fn types_are_among_those_of_a_slow_walk(seed in any::<u64>()) {
        let (heap, declared) = Heap::random(seed, true);
        let (types, _) = heap.program.types();
        let all = heap.walk(&declared);
        let is_clear = all.iter().all(|types| types.len() <= 1);
        for (ty, all) in types.iter().zip(&all) {
            if ty == "?" {
                prop_assert!(!is_clear || all.is_empty(), "{:?} have no type", all);
            } else {
                prop_assert!(all.contains(ty), "{} is none of {:?}", ty, all);
            }
        }
    }
}
